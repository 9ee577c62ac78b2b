"""Searches for where something begins to hold, or ceases to; whatever they find is proved by their callers."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction

from fim_private.accounting.rounding import round_down


def least(fits: Callable[[int], bool], near: int = 0) -> int:
    """The least whole number from 1 that fits.

    Args:
        fits: false up to some number, true from there on.
        near: what it is thought to be about, at least 0; found soon where that is right.
    """
    low, high = 0, near + 1
    while not fits(high):
        low, high = high, 2 * high
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if fits(middle) else (middle, high)
    return high


def largest(fits: Callable[[Fraction], bool], epsilon: Fraction) -> Fraction | None:
    """The largest epsilon (or rho) of a part that fits, nine significant digits; None if none does from e^-60 epsilon.

    Args:
        fits: true up to some value, false above it.
        epsilon: what everything together may spend. One part may spend more than that where delta is large for so small
            an epsilon, for delta pays the rest; but not 20 more.
    """
    low, high = math.log(epsilon) - 60, math.log(epsilon + 20)
    # Forty halves are less than a billionth, and nine digits are kept.
    for _ in range(40):
        middle = (low + high) / 2
        if fits(round_down(math.exp(middle))):
            low = middle
        else:
            high = middle
    found = round_down(math.exp(low))
    return found if fits(found) else None
