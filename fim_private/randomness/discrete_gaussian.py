"""The discrete Gaussian distribution on the integers: an exact sampler, its mass and its tails.

P(X = x) is proportional to e^{-x^2/(2 variance)}. The sampler (Canonne, Kamath, Steinke 2020, Algorithm 3) draws a
discrete Laplace Y of scale t = floor(sigma) + 1 and accepts it with probability
e^{-(|Y| - variance/t)^2/(2 variance)}. The proof, and what the noise costs: docs/mathematics.md#discrete-gaussian.
"""

from __future__ import annotations

import math
from fractions import Fraction
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from fim_private.arrays import Floats
from fim_private.randomness.bernoulli import bernoulli_exp
from fim_private.randomness.discrete_laplace import sample_discrete_laplace
from fim_private.randomness.source import Randomness

_REACH = 40
"""A window of this many standard deviations leaves out less than 1e-340 of the distribution. If each term of a sum is
at most e^{-r} times the one before, the first 40/r terms leave out less than 1e-17."""

SUMMED = 1e10
"""Tails of a variance up to this are summed up."""


def sample_discrete_gaussian(variance: Fraction, randomness: Randomness) -> int:
    """One exact draw. Its variance is at most the given one, rational and > 0, and close to it from 1 on."""
    # floor(sqrt(a/b)) = isqrt(floor(a/b)), in whole numbers: no root is rounded.
    scale = math.isqrt(variance.numerator // variance.denominator) + 1
    while True:
        drawn = sample_discrete_laplace(Fraction(scale), randomness)
        if bernoulli_exp((abs(drawn) - variance / scale) ** 2 / (2 * variance), randomness):
            return drawn


def discrete_gaussian_mass(values: NDArray[np.int64], variance: float) -> Floats:
    """P(X = x) for each x, float64, of the same shape; relative error about 1e-14."""
    mass: Floats = np.exp(-(values.astype(np.float64) ** 2) / (2 * variance)) / _total(variance)
    return mass


@lru_cache(maxsize=1024)
def log_discrete_gaussian_survival(threshold: int, variance: float) -> float:
    """ln P(X >= threshold); relative error of the probability about 1e-12.

    >>> round(math.exp(log_discrete_gaussian_survival(1, 4.0)) + math.exp(log_discrete_gaussian_survival(0, 4.0)), 12)
    1.0
    """
    if threshold <= 0:
        return math.log1p(-math.exp(log_discrete_gaussian_survival(1 - threshold, variance)))
    # Terms are relative to the first one, so that a tail far out does not vanish. They fall at least geometrically.
    steps = np.arange(_REACH * min(math.sqrt(variance), variance / threshold))
    terms = np.exp(-steps * (2 * threshold + steps) / (2 * variance))
    return -(threshold**2) / (2 * variance) - math.log(_total(variance)) + math.log(float(np.sum(terms)))


def log_discrete_gaussian_survivals(first: int, number: int, variance: float) -> Floats:
    """ln P(X >= t) for t = first, first + 1, ..., float64, shape (number,), or a bound if the variance is large.

    Args:
        first: at least 1.
        number: at least 1.
        variance: sigma^2. Beyond 1e10, where summing up takes long, `log_discrete_gaussian_survival_bound` is returned.
    """
    values = np.arange(first, first + number, dtype=np.float64)
    if variance > SUMMED:
        return _log_gaussian_survival_bound(values, variance)
    last = first + number - 1
    # Each logarithm is that of the one after, plus one term. So tails far out do not vanish.
    beyond = log_discrete_gaussian_survival(last + 1, variance)
    terms = -(values[::-1] ** 2) / (2 * variance) - math.log(_total(variance))
    tails: Floats = np.logaddexp.accumulate(np.append(beyond, terms))[:0:-1]
    return tails


def log_discrete_gaussian_survival_bound(threshold: int, variance: float) -> float:
    """ln P(X >= threshold), or a bound where the variance is so large that summing it up takes long.

    P(X >= t) <= P(N >= t - 1) for the continuous Gaussian N (Canonne, Kamath, Steinke 2020, Proposition 25), and
    that is at most its density at t - 1 times variance / (t - 1).
    """
    if variance <= SUMMED:
        return log_discrete_gaussian_survival(threshold, variance)
    return float(_log_gaussian_survival_bound(np.array([float(threshold)]), variance)[0])


def _log_gaussian_survival_bound(thresholds: Floats, variance: float) -> Floats:
    """The bound of Proposition 25 for each threshold."""
    z = np.maximum((thresholds - 1) / math.sqrt(variance), 1)
    return np.where(z > 1, -z * z / 2 - np.log(z * math.sqrt(2 * math.pi)), 0.0)


@lru_cache(maxsize=64)
def _total(variance: float) -> float:
    """The sum of e^{-x^2/(2 variance)} over the integers."""
    positive = np.exp(-(np.arange(1, _REACH * math.sqrt(variance)) ** 2) / (2 * variance))
    return 1 + 2 * float(np.sum(positive))
