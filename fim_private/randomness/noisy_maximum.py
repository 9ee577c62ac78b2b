"""Draw exactly which level of equal counts holds the largest of many counts with continuous noise.

A level of h equal counts needs only its maximum, count + scale F^{-1}(U^{1/h}) for one uniform U. So nothing is
enumerated, and h may be any integer. Floating-point noise would break privacy (Mironov 2012). Here U is a growing
number of bits, and every value is an interval that is certain to hold the real number. If the intervals do not decide,
they are refined: first in floating point with a wide allowance for its errors, then in decimal arithmetic of any
precision. The outcome has exactly the law of real-valued noise (docs/mathematics.md#largest-noisy-count).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Context, Decimal
from enum import StrEnum
from fractions import Fraction
from functools import cache, lru_cache

import numpy as np
from numpy.typing import NDArray

from fim_private.arrays import Floats
from fim_private.randomness.source import Randomness

Interval = tuple[Decimal, Decimal]

_WORD = 64
_ALLOWANCE = 1e-9
"""The relative allowance for rounding errors of the floating-point stage: a million times as large as they can be."""
_DIGITS = 30
"""The decimal digits computed at first, and the further digits for each word drawn. A word holds nineteen."""


class Noise(StrEnum):
    """The distribution of the noise, in units of its scale."""

    EXPONENTIAL = "exponential"
    """F(x) = 1 - e^{-x}, x >= 0."""
    LAPLACE = "laplace"
    """F(x) = 1 - e^{-x}/2 for x >= 0, e^x/2 below."""


class NoisyMaximum:
    """Draws the level that holds the largest of all count + scale x noise, each noise independent.

    Counts are one per level, decreasing. The scale is rational and > 0.
    """

    def __init__(self, counts: Sequence[int], scale: Fraction, noise: Noise) -> None:
        self._counts = list(counts)
        self._scale = scale
        self._noise = noise
        self._relative = np.array([float(count - self._counts[0]) for count in self._counts]) / float(scale)

    def draw(self, multiplicities: Sequence[int], randomness: Randomness) -> int:
        """The index of a level; `multiplicities` says how many itemsets stand at each level now, not all 0."""
        winner, _ = self._race(multiplicities, randomness)
        return winner.level

    def draw_with_gap(self, multiplicities: Sequence[int], randomness: Randomness) -> tuple[int, int | None]:
        """The index of a level, and the lead of its maximum over the second largest value of all, rounded down.

        The second largest may be on the same level. The lead is None if there is no other itemset.
        """
        winner, others = self._race(multiplicities, randomness)
        number = multiplicities[winner.level]
        if number > 1:
            second = _Uniform(randomness.bits(_WORD), _WORD)
            others.append(_Maximum(level=winner.level, parts=(*winner.parts, (second, number - 1))))
        if not others:
            return winner.level, None
        digits = _DIGITS
        while True:
            best = self._interval(winner, digits)
            rivals = [self._interval(other, digits) for other in others]
            floor, ceiling = max(low for low, _ in rivals), max(high for _, high in rivals)
            others = _reaching(floor, others, rivals)
            if all(end.is_finite() for end in (*best, floor, ceiling)):
                # Use fractions: a minus between decimals would round to the thread's own precision.
                least = math.floor((Fraction(best[0]) - Fraction(ceiling)) * self._scale)
                most = math.floor((Fraction(best[1]) - Fraction(floor)) * self._scale)
                if least == most:
                    return winner.level, least
            digits += _DIGITS
            for maximum in (winner, *others):
                maximum.refine(randomness)

    def _race(self, multiplicities: Sequence[int], randomness: Randomness) -> tuple[_Maximum, list[_Maximum]]:
        """The overall maximum, and the maxima of other levels that could come second."""
        number = np.array([float(multiplicity) for multiplicity in multiplicities])
        present = np.flatnonzero(number)
        words = randomness.words(len(present))
        low, high = self._float_bounds(words, number[present], self._relative[present])
        # A second place is at least the second largest lower bound.
        floor = np.sort(low)[-2] if len(low) > 1 else -math.inf
        contenders = [
            _Maximum(
                level=int(present[place]),
                parts=((_Uniform(int(words[place]), _WORD), multiplicities[int(present[place])]),),
            )
            for place in np.flatnonzero(high >= floor).tolist()
        ]
        best = low.max()
        leading = [maximum for maximum in contenders if high[np.searchsorted(present, maximum.level)] >= best]
        digits = _DIGITS
        while len(leading) > 1:
            for maximum in leading:
                maximum.refine(randomness)
            bounds = [self._interval(maximum, digits) for maximum in leading]
            leading = _reaching(max(low for low, _ in bounds), leading, bounds)
            digits += _DIGITS
        winner = leading[0]
        return winner, [maximum for maximum in contenders if maximum is not winner]

    def _float_bounds(self, words: NDArray[np.uint64], number: Floats, relative: Floats) -> tuple[Floats, Floats]:
        """Bounds on (value - top count) / scale of each level's maximum, for U in [word, word + 1] / 2^64."""
        with np.errstate(divide="ignore"):
            low = _quantile(self._noise, _minus_log(words, 0) / number)
            high = _quantile(self._noise, _minus_log(words, 1) / number)
        low -= _ALLOWANCE * (1 + np.where(np.isfinite(low), np.abs(low), 0) + np.abs(relative))
        high += _ALLOWANCE * (1 + np.where(np.isfinite(high), np.abs(high), 0) + np.abs(relative))
        return relative + low, relative + high

    def _interval(self, maximum: _Maximum, digits: int) -> Interval:
        """Bounds on (value - top count) / scale, tight to about `digits` digits if the uniforms are."""
        # 1 - e^{-V} loses digits if V is small; the number of bits and the multiplicity bound how many.
        bits = max(uniform.length for uniform, _ in maximum.parts)
        largest = max(number for _, number in maximum.parts)
        context = Context(prec=digits + bits + len(str(largest)))
        relative = context.divide(
            Decimal((self._counts[maximum.level] - self._counts[0]) * self._scale.denominator),
            Decimal(self._scale.numerator),
        )
        bounds = []
        for upper in (0, 1):
            exponent = Decimal(0)
            for uniform, number in maximum.parts:
                exponent = context.add(exponent, context.divide(uniform.minus_log(upper, context), Decimal(number)))
            bounds.append(context.add(relative, _decimal_quantile(self._noise, exponent, context)))
        low, high = bounds
        allowance = Decimal(10) ** -digits
        return (
            low if low.is_infinite() else context.subtract(low, allowance * (1 + abs(low) + abs(relative))),
            high if high.is_infinite() else context.add(high, allowance * (1 + abs(high) + abs(relative))),
        )


@dataclass
class _Uniform:
    """A uniform number in [drawn, drawn + 1] / 2^length. More bits can be drawn."""

    drawn: int
    length: int

    def refine(self, randomness: Randomness) -> None:
        self.drawn = (self.drawn << _WORD) | randomness.bits(_WORD)
        self.length += _WORD

    def minus_log(self, upper: int, context: Context) -> Decimal:
        """-ln of the upper (1) or lower (0) end."""
        end = context.divide(Decimal(self.drawn + upper), Decimal(1 << self.length))
        return context.minus(context.ln(end)) if end else Decimal("Infinity")


@dataclass
class _Maximum:
    """The largest of a level's noises, or the next below: F = prod U_i^{1/n_i} over its parts."""

    level: int
    parts: tuple[tuple[_Uniform, int], ...]

    def refine(self, randomness: Randomness) -> None:
        # A maximum shares its uniform with the second of its level. The last part is this value's own.
        self.parts[-1][0].refine(randomness)


def _reaching(floor: Decimal, maxima: Sequence[_Maximum], bounds: Sequence[Interval]) -> list[_Maximum]:
    """The maxima that may be as large as the floor."""
    return [maximum for maximum, (_, high) in zip(maxima, bounds, strict=True) if high >= floor]


def _minus_log(words: NDArray[np.uint64], upper: int) -> Floats:
    """-ln((word + upper) / 2^64), accurate to a few units in the last place even if it is small."""
    large = words >= np.uint64(1 << 63)
    rest = (~words).astype(np.float64) + (1 - upper)
    near_one = -np.log1p(-np.where(large, rest, 0.0) * 2.0**-_WORD)
    below = _WORD * math.log(2) - np.log(np.where(large, 1.0, words.astype(np.float64) + upper))
    return np.where(large, near_one, below)


def _quantile(noise: Noise, exponent: Floats) -> Floats:
    """F^{-1}(e^{-exponent})."""
    if noise is Noise.EXPONENTIAL:
        return -np.log(-np.expm1(-exponent))
    upper = exponent <= math.log(2)
    rising = -np.log(-2 * np.expm1(-np.where(upper, exponent, 1.0)))
    return np.where(upper, rising, math.log(2) - exponent)


@cache
def _log_two(digits: int) -> Decimal:
    return Context(prec=digits).ln(Decimal(2))


def _decimal_quantile(noise: Noise, exponent: Decimal, context: Context) -> Decimal:
    """F^{-1}(e^{-exponent}); infinite at the ends."""
    if exponent.is_infinite():
        return Decimal(0) if noise is Noise.EXPONENTIAL else Decimal("-Infinity")
    if noise is Noise.LAPLACE and exponent > (log_two := _log_two(context.prec)):
        return context.subtract(log_two, exponent)
    rest = context.subtract(Decimal(1), context.exp(context.minus(exponent)))
    if noise is Noise.LAPLACE:
        rest = context.multiply(Decimal(2), rest)
    return context.minus(context.ln(rest))


@cache
def _nodes_of_law() -> tuple[Floats, Floats]:
    """Nodes and weights on a panel."""
    nodes, weights = np.polynomial.legendre.leggauss(20)
    return nodes, weights


def winning_probabilities(
    counts: Sequence[int], multiplicities: Sequence[int], scale: Fraction, noise: Noise
) -> list[float]:
    """P(the largest value is on this level), for each level; absolute error about 1e-14.

    The integrand is the density of each level's maximum times the other levels' distribution functions. It is
    integrated by Gauss-Legendre quadrature on panels half a scale wide that end at every kink.
    """
    distances = tuple(float((counts[0] - count) / scale) for count in counts)
    return list(_winning_probabilities(distances, tuple(multiplicities), noise))


@lru_cache(maxsize=1000)
def _winning_probabilities(
    distances: tuple[float, ...], multiplicities: tuple[int, ...], noise: Noise
) -> tuple[float, ...]:
    """As `winning_probabilities`, for distances below the first level, in scales. Laws of neighbours repeat a few."""
    distance = np.array(distances)[:, np.newaxis]
    number = np.array([float(multiplicity) for multiplicity in multiplicities])[:, np.newaxis]
    end = 46.0 + float(np.log(np.sum(number * np.exp(-distance))) if distances else 0)
    start = 0.0 if noise is Noise.EXPONENTIAL else -46.0
    kinks = -distance[distance < -start] if noise is Noise.LAPLACE else np.zeros(0)
    edges = np.unique(np.concatenate([np.arange(start, end, 0.5), [end], kinks]))
    nodes, weights = _nodes_of_law()
    half = np.diff(edges)[:, np.newaxis] / 2
    x = (edges[:-1, np.newaxis] + half * (1 + nodes)).ravel()
    step = (half * weights).ravel()
    at = x + distance
    if noise is Noise.EXPONENTIAL:
        with np.errstate(divide="ignore"):
            log_below = np.where(at < 1, np.log(-np.expm1(-at)), np.log1p(-np.exp(-np.maximum(at, 1))))
        log_density = -at
    else:
        log_below = np.where(at < 0, at - math.log(2), np.log1p(-np.exp(-np.maximum(at, 0)) / 2))
        log_density = -np.abs(at) - math.log(2)
    everything = np.sum(number * log_below, axis=0)
    return tuple(np.sum(number * np.exp(everything - log_below + log_density) * step, axis=1).tolist())
