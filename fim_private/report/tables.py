"""Releases as plain-text tables. They are safe to print even if item names hold control characters."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

from fim_private.printable import printable
from fim_private.release import Release, ReleasedItemset
from fim_private.release.release import SEEDED_NOTE
from fim_private.report.document.text import table

JOINT = " + "
PICKED = "order picked"
"""The heading of the column of ranks, if the itemsets are not shown in the order picked."""

COLUMNS = (
    ("count", "count"),
    ("count_low", "at least"),
    ("count_high", "at most"),
    ("support", "support"),
    ("expected", "expected"),
    ("leverage", "leverage"),
    ("lift", "lift"),
    ("lead", "noisy lead"),
)
"""What an itemset may have besides its rank, and its heading in a table."""


@dataclass(frozen=True, kw_only=True)
class Group:
    """The itemsets of one size, or all of them if they have one size.

    Args:
        size: items per itemset.
        heading: what they are called; None if there is only one group.
        itemsets: in the order to show.
        place: the heading of the column of ranks: "rank", or `PICKED` if the itemsets are not shown in that order.
    """

    size: int
    heading: str | None
    itemsets: tuple[ReleasedItemset, ...]
    place: str

    @cached_property
    def columns(self) -> list[tuple[str, str]]:
        """The fields that some itemset has, with their headings."""
        return [
            (field, name)
            for field, name in COLUMNS
            if any(getattr(itemset, field) is not None for itemset in self.itemsets)
        ]


def groups(release: Release) -> list[Group]:
    """The itemsets by size, each size by count (or leverage) if counts were released, else in the order picked."""
    picked: dict[int, list[ReleasedItemset]] = {}
    for itemset in release.itemsets:
        picked.setdefault(len(itemset.items), []).append(itemset)
    shown = {size: sorted(picked[size], key=_worth) for size in sorted(picked)}
    return [
        Group(
            size=size,
            heading=kind((size,)).capitalize() if len(shown) > 1 else None,
            itemsets=tuple(itemsets),
            place="rank" if shown == picked else PICKED,
        )
        for size, itemsets in shown.items()
    ]


def _worth(itemset: ReleasedItemset) -> int:
    """The key that sorts by leverage, or else by count. Without these the order stays as it is."""
    worth = itemset.count if itemset.leverage is None else itemset.leverage
    return 0 if worth is None else -worth


def kind(sizes: tuple[int, ...]) -> str:
    """What itemsets of these sizes are called.

    >>> kind((2,)), kind((1, 2)), kind((5,))
    ('pairs', 'itemsets of 1 to 2 items', 'itemsets of 5 items')
    """
    if len(sizes) > 1:
        return f"itemsets of {sizes[0]} to {sizes[-1]} items"
    return {1: "items", 2: "pairs", 3: "triples"}.get(sizes[0], f"itemsets of {sizes[0]} items")


def release_table(release: Release) -> str:
    """The released itemsets as tables, one for each size, with counts and leads if these were released."""
    marked = [f"*** {SEEDED_NOTE} ***"] if release.seeded else []
    if not release.itemsets:
        return "\n".join([*marked, "No itemset could be named."])
    parts = []
    for group in groups(release):
        rows = [
            [
                str(itemset.rank),
                JOINT.join(map(printable, itemset.items)),
                *(_cell(getattr(itemset, field), digits=2 if field == "lift" else 4) for field, _ in group.columns),
            ]
            for itemset in group.itemsets
        ]
        head = [group.place, "itemset", *(name for _, name in group.columns)]
        shown = table(head, rows, right=[True, False, *(True for _ in group.columns)])
        parts.append(shown if group.heading is None else f"{group.heading}\n\n{shown}")
    if release.subsets:
        parts.append(f"Their subsets\n\n{_subsets_table(release)}")
    return "\n".join([*marked, "\n\n".join(parts)])


def subsets_by_count(release: Release) -> list[ReleasedItemset]:
    """The counted subsets, smaller ones first, each size by count."""
    return sorted(release.subsets, key=lambda itemset: (len(itemset.items), _worth(itemset)))


def _subsets_table(release: Release) -> str:
    rows = [
        [JOINT.join(map(printable, each.items)), *map(_cell, (each.count, each.count_low, each.count_high))]
        for each in subsets_by_count(release)
    ]
    return table(["subset", "count", "at least", "at most"], rows, right=[False, True, True, True])


def _cell(value: float | None, *, digits: int = 4) -> str:
    """Counts as whole numbers, others with this many digits after the point."""
    if value is None:
        return ""
    return f"{value:,}" if isinstance(value, int) else f"{value:.{digits}f}"


def release_bars(release: Release, *, block: str) -> str:
    """The counts as bars of up to 60 of this letter, one line per itemset; empty if no counts were released."""
    shown = [itemset for group in groups(release) for itemset in group.itemsets]
    counted = [(itemset, itemset.count) for itemset in shown if itemset.count is not None]
    largest = max((count for _, count in counted), default=0)
    if largest <= 0:
        return ""
    rows = [
        [JOINT.join(map(printable, itemset.items)), f"{count:,}", block * max(0, round(60 * count / largest))]
        for itemset, count in counted
    ]
    return table(["itemset", "count", ""], rows, right=[False, True, False])
