"""Releases with counts, made by hand."""

from __future__ import annotations

from collections.abc import Mapping

from fim_private.release import Release, ReleasedItemset


def released(
    counts: Mapping[tuple[str, ...], int], *, total: int | None = None, half: int | None = None, seeded: bool = False
) -> Release:
    """A release of these counts, with intervals of a half width if there is one, not below 0."""
    itemsets = tuple(
        ReleasedItemset(
            rank=rank,
            items=items,
            count=count,
            count_low=None if half is None else max(0, count - half),
            count_high=None if half is None else max(0, count + half),
            support=None if total is None else count / total,
        )
        for rank, (items, count) in enumerate(counts.items(), start=1)
    )
    return Release(
        itemsets=itemsets,
        mechanism="items-first",
        privacy={
            "epsilon": 1.0,
            "delta": 1e-6,
            "neighbours": "add-remove",
            "unit": "one transaction",
            "public_transactions": total,
        },
        plan={},
        seeded=seeded,
        version="0",
    )
