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
    # Forty halves are less than a billionth, and nine digits are kept.
    low, _ = halved(lambda log: fits(round_down(math.exp(log))), math.log(epsilon) - 60, math.log(epsilon + 20), 40)
    found = round_down(math.exp(low))
    return found if fits(found) else None


def largest_between(
    fits: Callable[[Fraction], bool], low: Fraction, high: Fraction, *, ratio: Fraction, digits: int = 9
) -> Fraction:
    """A value of so many digits that fits, less than `ratio` below one that does not; `low` if no other fits.

    Args:
        fits: true up to some value, false above it.
        low: taken to fit, and not tried.
        high: taken not to fit, and not tried.
        ratio: above 1.
        digits: significant ones; where two values are next to each other, the search ends too.
    """
    while high > low * ratio:
        middle = round_down(float(low * high) ** 0.5, digits)
        if middle <= low:
            break
        low, high = (middle, high) if fits(middle) else (low, middle)
    return low


def halved(holds: Callable[[float], bool], low: float, high: float, times: int) -> tuple[float, float]:
    """The ends of what is left of an interval after so many halvings: it holds at the lower end, not at the upper one.

    Args:
        holds: true up to some value, false above it.
        low: where it is taken to hold.
        high: where it is taken not to.
        times: how often the interval is halved.
    """
    for _ in range(times):
        middle = (low + high) / 2
        low, high = (middle, high) if holds(middle) else (low, middle)
    return low, high
