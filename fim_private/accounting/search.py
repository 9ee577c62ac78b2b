"""Searches for the value at which a condition begins or ceases to hold. The callers prove what they do with it."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction

from fim_private.accounting.rounding import round_down


def least(fits: Callable[[int], bool], near: int = 0) -> int:
    """The least whole number, from 1 on, that fits.

    Args:
        fits: false up to some number, true from there on.
        near: a guess, at least 0. The search is fast if the guess is good.
    """
    low, high = 0, near + 1
    while not fits(high):
        low, high = high, 2 * high
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if fits(middle) else (middle, high)
    return high


def largest(fits: Callable[[Fraction], bool], epsilon: Fraction) -> Fraction | None:
    """The largest epsilon (or rho) of a part that fits, to nine digits; None if not even e^-60 epsilon fits.

    Args:
        fits: true up to some value, false above it.
        epsilon: what everything together may spend. A part may spend more than that, but not 20 more, if delta is large
            for so small an epsilon: delta then pays the rest.
    """
    # Forty halvings leave less than a billionth, and nine digits are kept.
    low, _ = halved(lambda log: fits(round_down(math.exp(log))), math.log(epsilon) - 60, math.log(epsilon + 20), 40)
    found = round_down(math.exp(low))
    return found if fits(found) else None


def largest_between(
    fits: Callable[[Fraction], bool], low: Fraction, high: Fraction, *, ratio: Fraction, digits: int = 9
) -> Fraction:
    """A value that fits and is less than a factor `ratio` below one that does not; `low` if no other value fits.

    Args:
        fits: true up to some value, false above it.
        low: assumed to fit, not tried.
        high: assumed not to fit, not tried.
        ratio: above 1.
        digits: significant digits of the value. The search also ends when no value lies between the two ends.
    """
    while high > low * ratio:
        middle = round_down(float(low * high) ** 0.5, digits)
        if middle <= low:
            break
        low, high = (middle, high) if fits(middle) else (low, middle)
    return low


def halved(holds: Callable[[float], bool], low: float, high: float, times: int) -> tuple[float, float]:
    """The interval that is left after so many halvings: `holds` is true at its lower end, false at its upper end.

    Args:
        holds: true up to some value, false above it.
        low: where `holds` is assumed to be true.
        high: where `holds` is assumed to be false.
        times: how often the interval is halved.
    """
    for _ in range(times):
        middle = (low + high) / 2
        low, high = (middle, high) if holds(middle) else (low, middle)
    return low, high
