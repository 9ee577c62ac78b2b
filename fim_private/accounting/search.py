"""Searches for the value at which a condition begins or ceases to hold. The callers prove what they do with it."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from functools import cache

from fim_private.accounting.rounding import round_down

_FAR, _AWAY = 100.0, 1e-3
"""Larger values are cut at the first. A search looks no nearer to an end than this share of its interval."""


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


def smallest(excess: Callable[[int], float], most: int) -> int:
    """The least whole number that fits, from 1 on, if it is below 2^31; else it is right to nine digits.

    Args:
        excess: at most 0 where a number fits, above 0 below some number. The search is fast if it is nearly linear in
            the logarithm of the number.
        most: the answer if nothing below it fits.
    """
    known = cache(excess)

    def number(log: float) -> int:
        return min(most, math.ceil(math.exp(-log)))

    low, _ = crossed(lambda log: known(number(log)), -math.log(most), math.log(2), close=2.0**-31)
    return number(low)


def largest(excess: Callable[[Fraction], float], epsilon: Fraction) -> Fraction | None:
    """The largest epsilon (or rho) of a part that fits, to nine digits; None if not even e^-60 epsilon fits.

    Args:
        excess: at most 0 where a value fits, above 0 from some value on. The search is fast if it is nearly linear in
            the logarithm of the value.
        epsilon: what everything together may spend. A part may spend more than that, but not 20 more, if delta is large
            for so small an epsilon: delta then pays the rest.
    """
    ends = math.log(epsilon) - 60, math.log(epsilon + 20)
    # Numbers of nine digits differ by a billionth or more, so at most one lies between the ends that are found.
    low, _ = crossed(lambda log: excess(round_down(math.exp(log))), *ends, close=2.0**-31)
    found = round_down(math.exp(low))
    return found if excess(found) <= 0 else None


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
    """The interval that is left after this many halvings: `holds` is true at its lower end, false at its upper end.

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


def crossed(excess: Callable[[float], float], low: float, high: float, *, close: float) -> tuple[float, float]:
    """An interval in which a function exceeds 0 for the first time: not at its lower end, but at its upper end.

    By the rule of Chandrupatla (1997). Three points say where to look next by inverse quadratic interpolation, if they
    lie so evenly that this is safe. If not, the interval is halved, so that any function is served.

    Args:
        excess: at most 0 up to some value, above 0 from there on; infinite where nothing is known but that.
        low: where `excess` is assumed to be at most 0.
        high: where `excess` is assumed to be above 0.
        close: how long the interval may be.
    """
    newest, at_newest = low, min(0.0, _finite(excess(low)))
    other, at_other = high, max(0.0, _finite(excess(high)))
    share = 0.5
    while abs(other - newest) > close:
        tried = newest + share * (other - newest)
        if tried in (newest, other):  # no float lies between them
            break
        found = _finite(excess(tried))
        # Of the two ends, one stays across the crossing from what was tried. The end that was replaced is remembered.
        if (found > 0) == (at_newest > 0):
            replaced, at_replaced = newest, at_newest
        else:
            replaced, at_replaced, other, at_other = other, at_other, newest, at_newest
        newest, at_newest = tried, found
        share = _share(newest - other, replaced - other, at_newest, at_other, at_replaced)
        share = min(max(share, _AWAY), 1 - _AWAY)
    return (newest, other) if at_newest <= 0 else (other, newest)


def _share(newest: float, replaced: float, at_newest: float, at_other: float, at_replaced: float) -> float:
    """How far to look next from the newest point towards the other end, as a share of the way.

    Args:
        newest: the newest point less the other end; above or below 0.
        replaced: the end that the newest point replaced, less the other end.
        at_newest: the function's value there; the others likewise.
        at_other: at the other end, on the other side of 0.
        at_replaced: at the end that was replaced.
    """
    if at_replaced == at_other:
        return 0.5
    place, value = newest / replaced, (at_newest - at_other) / (at_replaced - at_other)
    if value**2 >= place or (1 - value) ** 2 >= 1 - place:
        return 0.5
    by_other = at_newest / (at_other - at_newest) * at_replaced / (at_other - at_replaced)
    by_replaced = at_newest / (at_replaced - at_newest) * at_other / (at_replaced - at_other)
    return by_other + (newest - replaced) / newest * by_replaced


def _finite(value: float) -> float:
    return min(max(value, -_FAR), _FAR)
