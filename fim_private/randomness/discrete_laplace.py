"""The discrete Laplace distribution on the integers: an exact sampler, and tails in closed form.

P(X = x) = (1 - q)/(1 + q) q^|x| with q = e^{-1/scale}. Sampler: Canonne, Kamath, Steinke (2020), Algorithm 2.
The proofs of the law and the tails: docs/mathematics.md#discrete-laplace.
"""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from fim_private.arrays import Floats
from fim_private.randomness.bernoulli import bernoulli_exp
from fim_private.randomness.source import Randomness
from fim_private.randomness.uniform import uniform_below


def sample_discrete_laplace(scale: Fraction, randomness: Randomness) -> int:
    """One exact draw. The scale is rational and > 0; the standard deviation is close to 1.41 times it."""
    numerator, denominator = scale.numerator, scale.denominator
    while True:
        low = uniform_below(numerator, randomness)
        if not bernoulli_exp(Fraction(low, numerator), randomness):
            continue
        high = 0
        while bernoulli_exp(Fraction(1), randomness):
            high += 1
        magnitude = (low + numerator * high) // denominator
        sign = 1 - 2 * randomness.bits(1)
        # Zero must not come up twice, as +0 and as -0.
        if magnitude or sign > 0:
            return sign * magnitude


def discrete_laplace_mass(values: NDArray[np.int64], scale: float) -> Floats:
    """P(X = x) for each x, float64, of the same shape; relative error about 1e-15 |x|/scale."""
    mass: Floats = np.tanh(0.5 / scale) * np.exp(-np.abs(values) / scale)
    return mass


def discrete_laplace_survival(values: NDArray[np.int64] | int, scale: float) -> Floats:
    """P(X >= x) for each integer x, or one: q^x/(1+q) for x >= 1, and 1 - q^{1-x}/(1+q) for x <= 0."""
    q = math.exp(-1 / scale)
    tail = np.exp(-np.maximum(values, 1 - values) / scale) / (1 + q)
    return np.where(values >= 1, tail, 1 - tail)


def log_survival(threshold: int, scale: float) -> float:
    """ln P(X >= threshold).

    >>> round(math.exp(log_survival(3, 2.0)) + math.exp(log_survival(-2, 2.0)), 12)
    1.0
    """
    if threshold <= 0:
        return math.log1p(-math.exp(log_survival(1 - threshold, scale)))
    return -threshold / scale - math.log1p(math.exp(-1 / scale))


def log_difference_survival(threshold: int, scale: float) -> float:
    """ln P(Z - G >= threshold) for independent Z and G of this scale.

    For s >= 1 it is ln of A q^s ((s + B)/(1-q) + q/(1-q)^2), A = ((1-q)/(1+q))^2, B = (1+q^2)/(1-q^2).

    >>> round(math.exp(log_difference_survival(7, 2.5)), 14)
    0.08382237198994
    """
    if threshold <= 0:
        return math.log1p(-math.exp(log_difference_survival(1 - threshold, scale)))
    q = math.exp(-1 / scale)
    one_minus_q = -math.expm1(-1 / scale)
    one_minus_q2 = -math.expm1(-2 / scale)
    b = (1 + q * q) / one_minus_q2
    return (
        2 * math.log(one_minus_q / (1 + q))
        - threshold / scale
        + math.log((threshold + b) / one_minus_q + q / one_minus_q**2)
    )
