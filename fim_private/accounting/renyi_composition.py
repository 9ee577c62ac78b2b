"""Renyi composition: add the curves of Renyi divergences, convert once. Valid for adaptive choices.

Curves: PureDP by randomised response, which dominates it; BoundedRange by the worst two-point pair; ZCDP(rho) is alpha
rho. Conversion: Canonne, Kamath, Steinke (2020), Proposition 12. Any order gives a valid bound, so a coarse search over
orders costs tightness, never validity. Proofs: docs/mathematics.md#renyi-composition.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence

import numpy as np

from fim_private.accounting.rounding import RELATIVE_ERROR
from fim_private.arrays import Floats
from fim_private.privacy import ZCDP, BoundedRange, Chosen, Loss, PureDP, tally

_ROUNDING = 2.0**-50
"""Four units in the last place: a bound on the floating-point error of each logarithm of a curve."""
_UP = 1 + _ROUNDING
"""A factor that puts the last products of a curve above their exact values."""
_LOG_ORDERS = np.linspace(math.log(1e-2), math.log(1e9), 512)
"""Where the search for the best order 1 + a begins: logarithms of a."""


def pure_curve(epsilon: float, a: Floats) -> Floats:
    """Renyi divergence of order 1 + a between the two laws of randomised response with odds e^epsilon, rounded up.

    It is at most (1 + a) epsilon^2/2 (Bun and Steinke 2016). That bound takes over where the logarithms cancel.
    """
    log_other = -float(np.logaddexp(0, epsilon))
    log_moment = np.logaddexp(epsilon + log_other + a * epsilon, log_other - a * epsilon)
    error = _ROUNDING * (1 + (1 + a) * epsilon)
    return np.minimum((log_moment + error) / a, (1 + a) * epsilon**2 / 2) * _UP


def bounded_range_curve(epsilon: float, a: Floats) -> Floats:
    """The largest Renyi divergence of order 1 + a of pairs whose log ratio varies by at most epsilon, rounded up.

    The worst pair has two points, with log ratios t and t - epsilon and P(first) = (E - u)/(E - 1), u = e^t,
    E = e^epsilon (Dong, Durfee, Rogers 2020). Its moment E_P (P/Q)^a is u^a (A - u B)/(E - 1) with A = E - E^{-a} and
    B = 1 - E^{-a}; this is largest at u = a A / ((a+1) B), where A - u B = A/(a+1) (docs/mathematics.md#bounded-range).

    It is at most (1 + a) epsilon^2/8 (Cesar and Rogers 2021). That bound takes over where the logarithms cancel.
    """
    log_big_a = epsilon + np.log(-np.expm1(-(a + 1) * epsilon))
    log_big_b = np.log(-np.expm1(-a * epsilon))
    log_u = -np.log1p(1 / a) + log_big_a - log_big_b
    log_e_minus_1 = epsilon + math.log(-math.expm1(-epsilon))
    log_moment = a * log_u + log_big_a - np.log1p(a) - log_e_minus_1
    # The 1 covers the rounding of 1 - x inside a logarithm near 0. That error is absolute, and a multiplies it too.
    error = _ROUNDING * (
        a * (np.abs(log_big_a) + np.abs(log_big_b) + np.abs(log_u) + 1)
        + np.abs(log_big_a)
        + np.log1p(a)
        + abs(log_e_minus_1)
    )
    curve: Floats = np.minimum((log_moment + error) / a, (1 + a) * epsilon**2 / 8) * _UP
    return curve


def renyi_curve(losses: Sequence[Loss], a: Floats) -> Floats:
    """The sum of the curves of all losses at orders 1 + a.

    Raises:
        ValueError: there is an ApproxDP loss, which has no Renyi curve.
    """
    return _curve(tally(losses), a)


def _curve(losses: Mapping[Loss, int], a: Floats) -> Floats:
    """The same, given how often each loss occurs. The searches below count them once."""
    total = np.zeros_like(a)
    for loss, times in losses.items():
        match loss:
            case PureDP(epsilon) if epsilon > 0:
                curve = pure_curve(float(epsilon), a)
            case BoundedRange(epsilon) if epsilon > 0:
                curve = bounded_range_curve(float(epsilon), a)
            case ZCDP(rho):
                curve = float(rho) * (1 + a) * _UP
            case PureDP() | BoundedRange():
                continue
            case Chosen(ways):
                curve = np.maximum.reduce([renyi_curve(way, a) for way in ways])
            case _:
                raise ValueError("an (epsilon, delta) loss has no Renyi curve; use basic or optimal composition")
        total += times * curve
    return total


def renyi_epsilon(losses: Sequence[Loss], delta: float) -> float:
    """The least epsilon that Renyi composition proves at `delta` > 0, rounded up.

    min over alpha of R(alpha) + ln((alpha-1)/alpha) - (ln delta + ln alpha)/(alpha-1).
    """
    times = tally(losses)

    def proved(a: Floats) -> Floats:
        return _curve(times, a) - np.log1p(1 / a) - (math.log(delta) + np.log1p(a)) / a

    return max(0.0, _least(proved)) * (1 + RELATIVE_ERROR) + 1e-12


def renyi_delta(losses: Sequence[Loss], epsilon: float) -> float:
    """The least delta that Renyi composition proves at `epsilon` >= 0, rounded up: the same bound, solved for delta.

    min over alpha of e^{(alpha-1) (R(alpha) + ln((alpha-1)/alpha) - epsilon)}/alpha.
    """
    times = tally(losses)

    def proved(a: Floats) -> Floats:
        return a * (_curve(times, a) - np.log1p(1 / a) - epsilon) - np.log1p(a)

    log_delta = _least(proved)
    return math.exp(min(0.0, log_delta + RELATIVE_ERROR * (1 + abs(log_delta))))


def _least(bound: Callable[[Floats], Floats]) -> float:
    """The least of bound(a) over orders 1 + a, as far as the search finds it."""
    log_orders = _LOG_ORDERS
    for _ in range(3):
        values = bound(np.exp(log_orders))
        best = int(np.argmin(values))
        around = log_orders[max(best - 1, 0)], log_orders[min(best + 1, len(log_orders) - 1)]
        log_orders = np.linspace(*around, 32)
    return float(values[best])
