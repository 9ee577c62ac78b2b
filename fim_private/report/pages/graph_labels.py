"""Where the labels of a graph stand: beside their dots, where they cross the fewest lines and hide no other label."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from fim_private.arrays import Floats

SIDES = np.array(
    [(0, 1), (0, -1), (1, 0), (-1, 0)]
    + [(across, down) for across in (0.7, -0.7) for down in (1, -1)]
    + [(across, down) for across in (1, -1) for down in (0.6, -0.6, 1, -1)],
)
"""Where a label may stand, seen from its dot, across and down: below, above, right, left, and between these."""

ROUNDS = 4
HIDES, CROSSES, OBLIQUE = 100.0, 10.0, 0.1
"""What a place costs: each label or dot that it hides, each line that it crosses, and standing beside its dot."""
DOT_REACH = 7.0
"""Half of what a dot and the air around it take, in pixels."""


def placed(dots: Floats, sizes: Floats, lines: Floats, first: NDArray[np.int64]) -> tuple[Floats, int]:
    """The middles of all labels, float64, shape (n, 2), and how many crossings of a label and a line are left.

    Args:
        dots: float64, shape (n, 2).
        sizes: widths and heights of the labels, float64, shape (n, 2).
        lines: x and y of both ends of each line, float64, shape (m, 4).
        first: the side where each label stands at first, as a place in `SIDES`, int64, shape (n,).
    """
    reach = sizes[:, None, :] / 2 + DOT_REACH
    choices = dots[:, None, :] + SIDES[None] * reach
    crossed = np.array(
        [[crossings(middle, size, lines) for middle in middles] for middles, size in zip(choices, sizes, strict=True)]
    )
    cost = CROSSES * crossed + OBLIQUE * np.minimum(np.arange(len(SIDES)) // 2, 2)
    chosen = first.copy()
    everyone = np.arange(len(dots))
    dot_size = np.full(2, 2 * DOT_REACH)
    for _ in range(ROUNDS):
        before = chosen.copy()
        for at in everyone:
            others = everyone != at
            here = choices[at][:, None, :]
            hidden = overlaps(here, sizes[at], choices[others, chosen[others]][None], sizes[others])
            hidden = hidden + overlaps(here, sizes[at], dots[others][None], dot_size)
            chosen[at] = int(np.argmin(cost[at] + HIDES * hidden))
        if (chosen == before).all():
            break
    return choices[everyone, chosen], int(crossed[everyone, chosen].sum())


def overlaps(here: Floats, size: Floats, there: Floats, sizes: Floats) -> NDArray[np.int64]:
    """By candidate, how many boxes it overlaps: int64, shape (candidates,)."""
    apart = np.abs(here - there) >= (size + sizes) / 2
    return np.asarray((~apart.any(axis=2)).sum(axis=1))


def crossings(middle: Floats, size: Floats, lines: Floats) -> int:
    """How many of the lines pass through a box (Liang and Barsky 1984)."""
    start, along = lines[:, :2], lines[:, 2:] - lines[:, :2]
    along = np.where(np.abs(along) < 1e-9, 1e-9, along)
    ends = np.stack([(middle - size / 2 - start) / along, (middle + size / 2 - start) / along])
    enter, leave = ends.min(axis=0).max(axis=1), ends.max(axis=0).min(axis=1)
    return int((np.maximum(enter, 0) < np.minimum(leave, 1)).sum())
