"""Releases as plain-text tables. They are safe to print even if item names hold control characters."""

from __future__ import annotations

from collections.abc import Sequence

from fim_private.release import Release
from fim_private.release.release import SEEDED_NOTE
from fim_private.report.document.text import printable, table

JOINT = " + "


def release_table(release: Release) -> str:
    """The released itemsets in the order picked, with counts and leads if these were released."""
    marked = [f"*** {SEEDED_NOTE} ***"] if release.seeded else []
    if not release.itemsets:
        return "\n".join([*marked, "No itemset could be named."])
    columns: list[tuple[str, Sequence[float | None]]] = [
        ("count", [itemset.count for itemset in release.itemsets]),
        ("at least", [itemset.count_low for itemset in release.itemsets]),
        ("at most", [itemset.count_high for itemset in release.itemsets]),
        ("support", [itemset.support for itemset in release.itemsets]),
        ("expected", [itemset.expected for itemset in release.itemsets]),
        ("leverage", [itemset.leverage for itemset in release.itemsets]),
        ("lift", [itemset.lift for itemset in release.itemsets]),
        ("noisy lead", [itemset.lead for itemset in release.itemsets]),
    ]
    given = [(name, values) for name, values in columns if any(value is not None for value in values)]
    rows = [
        [
            str(itemset.rank),
            JOINT.join(map(printable, itemset.items)),
            *(_cell(values[place]) for _, values in given),
        ]
        for place, itemset in enumerate(release.itemsets)
    ]
    head = ["rank", "itemset", *(name for name, _ in given)]
    return "\n".join([*marked, table(head, rows, right=[True, False, *(True for _ in given)])])


def _cell(value: float | None) -> str:
    """Counts as whole numbers, supports and lifts with four digits after the point."""
    if value is None:
        return ""
    return f"{value:,}" if isinstance(value, int) else f"{value:.4f}"


def release_bars(release: Release, *, width: int = 60, block: str = "█") -> str:
    """The counts as bars, one line per itemset; empty if no counts were released.

    Args:
        release: any release.
        width: the length of the longest bar, in letters.
        block: the letter that bars are made of.
    """
    counted = [(itemset, itemset.count) for itemset in release.itemsets if itemset.count is not None]
    largest = max((count for _, count in counted), default=0)
    if largest <= 0:
        return ""
    rows = [
        [JOINT.join(map(printable, itemset.items)), f"{count:,}", block * max(0, round(width * count / largest))]
        for itemset, count in counted
    ]
    return table(["itemset", "count", ""], rows, right=[False, True, False])
