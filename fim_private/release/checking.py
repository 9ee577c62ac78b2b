"""Whether what was read as a release is one: the right kind of value in every place that the program looks at."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from fim_private.release.record import Release

MOST = 1 << 63
"""Counts are below this: tables hold them in 64 bits."""


def check(release: Release) -> None:
    """Let pass what `mine` could have written.

    Raises:
        ValueError: it could not.
    """
    _expect(
        all(
            _whole(itemset.rank, least=1)
            and _texts(itemset.items)
            and itemset.items
            and all(
                _whole(count) for count in _given(itemset.count, itemset.count_low, itemset.count_high, itemset.lead)
            )
            and all(_number(support) for support in _given(itemset.support))
            for itemset in release.itemsets
        )
        and all(_texts([item.item]) and _number(item.count) for item in release.found or ())
        and _texts([release.mechanism, release.version, *_given(release.command, release.id)])
        and isinstance(release.seeded, bool)
        and isinstance(release.privacy, dict)
        and isinstance(release.plan, dict)
    )
    _expect(
        _whole(release.plan.get("size"), least=1)
        and all(_number(release.privacy.get(name)) for name in ("epsilon", "delta"))
        and _texts([release.privacy.get("neighbours"), release.privacy.get("unit")])
    )
    # JSON as Python reads it may also hold halves of characters, which no file takes, and infinity.
    json.dumps([release.privacy, release.plan], allow_nan=False, ensure_ascii=False).encode()


def _expect(found: object) -> None:
    if not found:
        raise ValueError


def _given(*values: Any) -> list[Any]:
    return [value for value in values if value is not None]


def _whole(value: object, *, least: int = -MOST) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and least <= value < MOST


def _number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and abs(value) < MOST


def _texts(values: Iterable[object]) -> bool:
    """Whether all are texts that can be written; whether any holds half a character only encoding tells."""
    return all(isinstance(value, str) and value.encode() is not None for value in values)
