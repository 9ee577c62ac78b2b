"""Optimal composition of k equal (epsilon_0, delta_0) losses (Kairouz, Oh, Viswanath 2015, Theorem 3.3).

delta(eps) = 1 - (1-delta_0)^k (1 - sum_i C(k,i) e^{(k-i) eps_0}/(1+e^{eps_0})^k (1 - e^{eps-(k-2i) eps_0})_+), for
adaptive choices and every eps >= 0. Proof: docs/mathematics.md#optimal-composition.
"""

from __future__ import annotations

import math

import numpy as np

from fim_private.accounting.rounding import RELATIVE_ERROR
from fim_private.accounting.search import halved


def optimal_delta(epsilon: float, epsilon_0: float, delta_0: float, times: int) -> float:
    """The least delta, rounded up, for which `times` adaptive (epsilon_0, delta_0) losses are (epsilon, delta)."""
    i = np.arange(times + 1)
    log_factorial = np.concatenate([[0.0], np.cumsum(np.log(np.arange(1, times + 1)))])
    log_binomial = log_factorial[times] - log_factorial - log_factorial[::-1]
    log_mass = log_binomial - i * epsilon_0 - times * math.log1p(math.exp(-epsilon_0))
    # Rounded up: if both are nearly equal, their difference has no correct digits left.
    excess = (times - 2 * i) * epsilon_0 - epsilon + 2.0**-50 * (times * epsilon_0 + epsilon)
    shortfall = -np.expm1(-np.maximum(excess, 0))
    overlap = float(np.sum(np.exp(log_mass) * shortfall))
    if overlap >= 1:
        return 1.0
    return min(1.0, -math.expm1(times * math.log1p(-delta_0) + math.log1p(-overlap)) * (1 + RELATIVE_ERROR))


def optimal_epsilon(epsilon_0: float, delta_0: float, times: int, delta: float) -> float:
    """The least epsilon that optimal composition proves at this delta, rounded up; infinity if delta is too small.

    >>> round(optimal_epsilon(0.1, 1e-8, 50, 1e-6), 5)
    3.26413
    """

    def falls_short(epsilon: float) -> bool:
        return optimal_delta(epsilon, epsilon_0, delta_0, times) > delta

    most = times * epsilon_0 * (1 + RELATIVE_ERROR)
    return math.inf if falls_short(most) else halved(falls_short, 0.0, most, 60)[1]
