"""The coin that ends a repetition: its range, and what it leaves over after so many tosses."""

from __future__ import annotations

import math
from fractions import Fraction

from fim_private.accounting.rounding import RELATIVE_ERROR, round_up
from fim_private.errors import UsageError

SMALLEST_STOP = Fraction(1, 10**100)


def check_stopping(stop: Fraction, steps: int | None) -> None:
    """Refuse a coin or a number of steps out of range.

    Raises:
        UsageError: either is.
    """
    if not SMALLEST_STOP <= stop <= 1:
        raise UsageError(
            "The probability of stopping after a call is out of range.",
            "Choose it above 0 and at most 1; at most so many calls as one over it are expected.",
        )
    if steps is not None and steps < 1:
        raise UsageError("The largest number of calls is out of range.", "Choose 1 or more, or none.")


def not_stopped(stop: Fraction, steps: int | None) -> float:
    """(1 - gamma)^T, rounded up: no coin of T has come up; 0 without a last step."""
    if steps is None or stop == 1:
        return 0.0
    return math.exp(steps * math.log1p(-float(stop))) * (1 + RELATIVE_ERROR)


def rounded_up(value: float) -> Fraction:
    """A computed figure as a fraction that is not below the true one."""
    return round_up(value * (1 + RELATIVE_ERROR)) if value else Fraction(0)


def chance_of_a_bad_call(stop: Fraction, steps: int | None, delta: Fraction) -> Fraction:
    """At most sum_{j<T} theta^j delta_1, theta = (1 - gamma)(1 - delta_1): that some call falls into delta_1's part.

    The run goes on after a call with probability at most 1 - gamma, whatever the candidates do.
    """
    forever = delta / (stop + delta - stop * delta)
    return forever if steps is None else min(forever, steps * delta)
