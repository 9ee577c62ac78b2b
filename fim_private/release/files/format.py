"""What every format of releases is: a name, an ending, a writer, a reader, and what it cannot do."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from fim_private.release.record import Release, ReleasedItemset, itemset_of


@dataclass(frozen=True, kw_only=True)
class Itemsets:
    """The list of a release without its promise, as most formats carry it.

    Args:
        itemsets: in their order.
        seeded: whether it is marked as the result of a seeded run, which is not private.
    """

    itemsets: tuple[ReleasedItemset, ...]
    seeded: bool = False


@dataclass(frozen=True, kw_only=True)
class Format:
    """One format.

    Args:
        name: for people.
        ending: of its files, in lower case.
        write: a release to a file that nobody else knows yet.
        read: the bytes of a file; raises a ValueError, TypeError, KeyError or AttributeError where they are none of
            this format.
        needs_counts: it has no way to write an itemset without a count.
        marks_seeded: it has a place to say that a run was seeded.
    """

    name: str
    ending: str
    write: Callable[[Release, Path], None]
    read: Callable[[bytes], Itemsets]
    needs_counts: bool = False
    marks_seeded: bool = True


def itemsets_of(rows: Sequence[Mapping[str, Any]]) -> Itemsets:
    """The rows of a table with the columns of `Release.to_polars`, some of which may be missing.

    Raises:
        TypeError, KeyError, AttributeError: a row is none of these.
    """
    itemsets = (itemset_of({name: value for name, value in row.items() if name != "seeded"}) for row in rows)
    return Itemsets(itemsets=tuple(itemsets), seeded=any(row.get("seeded") for row in rows))
