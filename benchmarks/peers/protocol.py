"""What a peer is: how it reads, how it counts, what it delivers, and what it cannot do."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

Itemsets = dict[tuple[str, ...], int]
"""Itemsets by the sorted names of their items, with their counts."""


@dataclass(frozen=True, kw_only=True)
class Work:
    """What is asked of a peer.

    Args:
        size: items an itemset.
        floor: least count.
        transactions: in the data.
        itemsets: how many there are, as this project counted; None if that is not known yet.
    """

    size: int
    floor: int
    transactions: int = 0
    itemsets: int | None = None


@dataclass(frozen=True, kw_only=True)
class Peer:
    """A way of counting itemsets.

    Args:
        delivers: what `count` gives, in a line.
        load: reads a file into the peer's own form; not part of counting.
        count: all itemsets of a size with at least a count, from what `load` gave.
        number: how many `count` found; None where it does not look for all of them.
        itemsets: from what `load` and `count` gave, for comparing them one by one; None if none are delivered.
        refuses: why the peer is not asked to do some work, or None.
        close: ends what `load` began.
    """

    delivers: str
    load: Callable[[Path], Any]
    count: Callable[[Any, int, int], Any]
    number: Callable[[Any], int | None]
    itemsets: Callable[[Any, Any], Itemsets] | None = None
    refuses: Callable[[Work], str | None] = lambda _work: None
    close: Callable[[Any], None] = lambda _data: None


def by_name(names: list[str], rows: Any, counts: Any) -> Itemsets:
    """Rows of item codes and their counts, as `Itemsets`."""
    pairs = zip(rows.tolist(), counts.tolist(), strict=True)
    return {tuple(sorted(names[code] for code in row)): int(count) for row, count in pairs}


def too_many(most: int, why: str) -> Callable[[Work], str | None]:
    """Refuses work that finds more than `most` itemsets."""

    def refuses(work: Work) -> str | None:
        return f"{work.itemsets:,} itemsets, {why}" if work.itemsets is not None and work.itemsets > most else None

    return refuses
