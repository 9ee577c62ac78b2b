"""Released counts as bars, with their intervals."""

from __future__ import annotations

from itertools import accumulate

from fim_private.release import Release, ReleasedItemset
from fim_private.report.document import Figure
from fim_private.report.document.svg import INK, LINE, PALE, SOFT, drawing, folded, line, words
from fim_private.report.tables import JOINT, groups

MOST_ITEMSETS = 20
LETTERS, HIGH, GAP, BARS, NUMBERS = 15, 14, 10, 370, 64
"""Pixels: the heights of a line of a name, of a bar and of the air below it, the widths of the longest bar and numbers.
Names stand above their bars, so that a phone can show both."""


def count_bars(release: Release) -> list[Figure]:
    """A drawing for each size of itemsets; none where no counts were released."""
    found = groups(release)
    counted = [[(itemset, itemset.count) for itemset in group.itemsets if itemset.count is not None] for group in found]
    largest = max((max(count, itemset.count_high or 0) for group in counted for itemset, count in group), default=1)
    return [
        _bars(
            drawn,
            max(1, largest),
            name="counts" if group.heading is None else f"counts-{group.size}",
            what=group.heading,
        )
        for group, drawn in zip(found, counted, strict=True)
        if drawn
    ]


def _bars(counted: list[tuple[ReleasedItemset, int]], largest: int, *, name: str, what: str | None) -> Figure:
    """The drawing of itemsets and their counts. All sizes have the same scale, so that they can be compared."""
    shown = counted[:MOST_ITEMSETS]
    across = BARS / largest
    names = [folded(JOINT.join(itemset.items), BARS + NUMBERS, lines=4) for itemset, _ in shown]
    ends = list(accumulate((LETTERS * len(rows) + HIGH + GAP for rows in names), initial=4))
    left = 4
    parts = [line(left, 4, left, ends[-1], color=LINE)]
    for (itemset, count), rows, top, bottom in zip(shown, names, ends, ends[1:], strict=False):
        middle = bottom - GAP - HIGH / 2
        length = max(0, count) * across
        parts += [words(row, left + 4, top + LETTERS * (at + 1) - 4) for at, row in enumerate(rows)]
        parts.append(
            f'<rect x="{left:.1f}" y="{middle - HIGH / 2:.1f}" width="{length:.1f}" height="{HIGH}" fill="{PALE}"/>'
        )
        end = length
        if itemset.count_low is not None and itemset.count_high is not None:
            low, high = (left + max(0, value) * across for value in (itemset.count_low, itemset.count_high))
            parts.append(line(low, middle, high, middle, width=1.6))
            parts += [line(x, middle - 4, x, middle + 4, color=INK, width=1.6) for x in (low, high)]
            end = max(end, high - left)
        parts.append(words(f"{count:,}", left + end + 8, middle + 4, color=SOFT))
    intervals = any(itemset.count_low is not None for itemset, _ in shown)
    caption = ("Noisy counts" if what is None else f"**{what}.** Noisy counts") + (
        ", with the interval that held the true count with 95 % chance." if intervals else "."
    )
    if len(counted) > len(shown):
        caption += f" Only the first {len(shown)} of {len(counted):,} itemsets are drawn."
    return Figure(
        name=name,
        svg=drawing(left + BARS + NUMBERS, ends[-1] + 4, parts),
        alt=f"Bars of {len(shown)} counts; the table of itemsets says the same in numbers.",
        caption=caption,
    )
