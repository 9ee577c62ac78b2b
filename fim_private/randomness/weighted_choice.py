"""Exact choice among levels with weights h e^{rate c}: one draw of the exponential mechanism.

Each weight is an integer interval (fixed point, a power of two as unit) that is certain to hold it. A uniform number
gets as many bits as needed, and is compared with the cumulative weights. If the intervals do not decide, both are
refined. The result has exactly the stated law (docs/mathematics.md#weighted-choice). The cost is the number of distinct
counts whose weight can matter, not the number of itemsets.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence
from decimal import ROUND_CEILING, ROUND_FLOOR, Context, Decimal
from fractions import Fraction
from itertools import accumulate
from operator import mul

from fim_private.randomness.source import Randomness

Interval = tuple[int, int]
Weights = tuple[list[int], list[int], int]
"""The least and the largest weight of an itemset at each level, and the largest at the levels that are not listed."""


class WeightedChoice:
    """Draws a level g with probability proportional to multiplicity_g e^{rate count_g}.

    Args:
        counts: one score per level, decreasing. Counts are integers; a stop symbol may have a score between them.
        rate: lambda >= 0, rational.
    """

    def __init__(self, counts: Sequence[int | Fraction], rate: Fraction) -> None:
        self._counts = list(counts)
        self._rate = rate
        self._powers: dict[tuple[int | Fraction, int], Interval] = {}
        self._precision = 0
        self._latest: tuple[tuple[int, int], Weights] | None = None
        self._summed: tuple[Weights, list[int], Weights] | None = None

    def draw(self, multiplicities: Sequence[int], randomness: Randomness) -> int:
        """The index of a level, exactly distributed, by how many itemsets stand at each level now: not all 0."""
        total = sum(multiplicities)
        top = next(level for level, multiplicity in enumerate(multiplicities) if multiplicity)
        precision = self._precision = max(self._precision, 128 + total.bit_length())
        drawn, length = 0, 0
        while True:
            more = precision + 64 - length
            drawn, length = (drawn << more) | randomness.bits(more), length + more
            place = _locate(self._sums(self._weights(top, precision), multiplicities[top:]), drawn, length)
            if place is not None:
                return top + place
            precision *= 2

    def _weights(self, top: int, precision: int) -> Weights:
        """Integers low <= 2^precision e^{-rate (c_top - c)} <= high from the top level down, while low is positive.

        Each weight is the one before times a power of e^{-rate}, rounded outward; the intervals widen by one unit per
        level. The last result bounds the weight of every level that is not listed. Draws with one top share the result.
        """
        if self._latest is not None and self._latest[0] == (top, precision):
            return self._latest[1]
        low = high = 1 << precision
        lows, highs, beyond = [low], [high], 0
        for count, following in zip(self._counts[top:], self._counts[top + 1 :], strict=False):
            power_low, power_high = self._power(count - following, precision)
            low = low * power_low >> precision
            high = -(-high * power_high >> precision)
            if low == 0:
                beyond = high
                break
            lows.append(low)
            highs.append(high)
        self._latest = (top, precision), (lows, highs, beyond)
        return self._latest[1]

    def _sums(self, weights: Weights, multiplicities: Sequence[int]) -> Weights:
        """The cumulative weights of what is left. Draws from the same share the result."""
        left = list(multiplicities)
        if self._summed is None or self._summed[0] is not weights or self._summed[1] != left:
            self._summed = weights, left, _cumulated(weights, left)
        return self._summed[2]

    def _power(self, distance: int | Fraction, precision: int) -> Interval:
        if (distance, precision) not in self._powers:
            self._powers[distance, precision] = _exp_interval(self._rate * distance, precision)
        return self._powers[distance, precision]


def _cumulated(weights: Weights, multiplicities: Sequence[int]) -> Weights:
    """The same three for all itemsets of a level and of those before it, and of all levels that are not listed."""
    lows, highs, beyond = weights
    sums = [*accumulate(map(mul, lows, multiplicities))], [*accumulate(map(mul, highs, multiplicities))]
    return (*sums, beyond * sum(multiplicities[len(highs) :]))


def _locate(sums: Weights, drawn: int, length: int) -> int | None:
    """The level into which the uniform number in [drawn, drawn + 1) / 2^length falls for certain, or None.

    Let S_g be the cumulative weights and S their sum. Level g is certain if S_{g-1} <= U S < S_g for every value that
    the intervals allow. A number that may fall on a level that is not listed needs more precision.
    """
    lows, highs, beyond = sums
    smallest, largest = drawn * lows[-1], (drawn + 1) * (highs[-1] + beyond)
    level = bisect_left(lows, -(-largest >> length))
    before = highs[level - 1] if level else 0
    return level if level < len(lows) and smallest >= before << length else None


def _exp_interval(exponent: Fraction, precision: int) -> Interval:
    """Integers low <= 2^precision e^{-exponent} <= high, at most three apart.

    The decimal module rounds exp correctly, so the neighbours of its result bound the true value. Ten digits more than
    the precision needs make the rounding of the exponent harmless.
    """
    if exponent == 0:
        return 1 << precision, 1 << precision
    if exponent > precision:  # below one unit, since ln 2 < 1
        return 0, 1
    digits = precision // 3 + 10
    down, up = Context(prec=digits, rounding=ROUND_FLOOR), Context(prec=digits, rounding=ROUND_CEILING)
    numerator, denominator = Decimal(exponent.numerator), Decimal(exponent.denominator)
    # copy_negate, for a minus sign would round to the thread's own precision.
    smallest = down.exp(up.divide(numerator, denominator).copy_negate()).next_minus(down)
    largest = up.exp(down.divide(numerator, denominator).copy_negate()).next_plus(up)
    unit = Decimal(1 << precision)
    return (
        int(down.multiply(smallest, unit).to_integral_value(ROUND_FLOOR)),
        int(up.multiply(largest, unit).to_integral_value(ROUND_CEILING)),
    )
