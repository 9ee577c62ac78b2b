"""The coin that ends a repetition: its range, and the probability that it has not ended after T tosses."""

from __future__ import annotations

import math
from fractions import Fraction

from fim_private.accounting.rounding import RELATIVE_ERROR, round_up
from fim_private.errors import UsageError

SMALLEST_STOP = Fraction(1, 10**100)


def check_stopping(stop: Fraction, steps: int | None) -> None:
    """Refuse a coin or a number of steps that is out of range.

    Raises:
        UsageError: one of them is out of range.
    """
    if not SMALLEST_STOP <= stop <= 1:
        raise UsageError(
            "The probability of stopping after a call is out of range.",
            "Choose it above 0 and at most 1. The expected number of calls is at most one over it.",
        )
    if steps is not None and steps < 1:
        raise UsageError("The largest number of calls is out of range.", "Choose 1 or more, or set no limit.")


def not_stopped(stop: Fraction, steps: int | None) -> float:
    """(1 - gamma)^T, rounded up: the probability that none of T coins stops; 0 without a limit."""
    if steps is None or stop == 1:
        return 0.0
    return math.exp(steps * math.log1p(-float(stop))) * (1 + RELATIVE_ERROR)


def rounded_up(value: float) -> Fraction:
    """A computed figure as a fraction that is not below the true value."""
    return round_up(value * (1 + RELATIVE_ERROR)) if value else Fraction(0)


def chance_of_a_bad_call(stop: Fraction, steps: int | None, delta: Fraction) -> Fraction:
    """A bound on the probability of any bad call: sum_{j<T} theta^j delta_1, theta = (1 - gamma)(1 - delta_1).

    After each call the run goes on with probability at most 1 - gamma, whatever the candidates do.
    """
    forever = delta / (stop + delta - stop * delta)
    return forever if steps is None else min(forever, steps * delta)
