"""Released counts as bars, with their intervals."""

from __future__ import annotations

from itertools import accumulate

from fim_private.release import Release
from fim_private.report.document import Figure
from fim_private.report.document.svg import FILL, INK, LINE, SOFT, drawing, folded, line, words
from fim_private.report.tables import JOINT, groups

MOST_ITEMSETS = 40
LETTERS, HIGH, GAP, BARS, NUMBERS = 15, 14, 10, 370, 64
"""Pixels: the heights of a line of a name, of a bar and of the air below it, the widths of the longest bar and numbers.
Names stand above their bars, so that a phone can show both."""


def count_bars(release: Release) -> Figure | None:
    """The drawing; None where no counts were released."""
    counted = [
        (itemset, itemset.count) for group in groups(release) for itemset in group.itemsets if itemset.count is not None
    ]
    if not counted:
        return None
    shown = counted[:MOST_ITEMSETS]
    largest = max(1, *(max(count, itemset.count_high or 0) for itemset, count in shown))
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
            f'<rect x="{left:.1f}" y="{middle - HIGH / 2:.1f}" width="{length:.1f}" height="{HIGH}" fill="{FILL}"/>'
        )
        end = length
        if itemset.count_low is not None and itemset.count_high is not None:
            low, high = (left + max(0, value) * across for value in (itemset.count_low, itemset.count_high))
            parts += [
                line(low, middle, high, middle, color="#ffffff", width=4),
                line(low, middle, high, middle, width=1.6),
            ]
            parts += [line(x, middle - 4, x, middle + 4, color=INK, width=1.6) for x in (low, high)]
            end = max(end, high - left)
        parts.append(words(f"{count:,}", left + end + 8, middle + 4, color=SOFT))
    intervals = any(itemset.count_low is not None for itemset, _ in shown)
    caption = "Noisy counts" + (", with the interval that held the true count with 95 % chance." if intervals else ".")
    if len(counted) > len(shown):
        caption += f" Only the first {len(shown)} of {len(counted):,} itemsets are drawn."
    return Figure(
        name="counts",
        svg=drawing(left + BARS + NUMBERS, ends[-1] + 4, parts),
        alt=f"Bars of {len(shown)} counts; the table of itemsets says the same in numbers.",
        caption=caption,
    )
