"""Round floats to fractions, always towards more privacy: a claim is rounded up, an allowance down."""

from __future__ import annotations

import math
from fractions import Fraction

RELATIVE_ERROR = 1e-9
"""Floats of the accounting move by this relative amount: far more than their rounding errors, too little to notice."""
ROUNDED_DOWN = 1 - RELATIVE_ERROR
"""Times this, a limit that was calculated in floats is below its exact value."""


def round_down(value: float | Fraction, digits: int = 9) -> Fraction:
    """The largest fraction of `digits` significant decimal digits that is at most `value` (> 0).

    >>> round_down(0.12345678999)
    Fraction(123456789, 1000000000)
    """
    unit = _last_digit(value, digits)
    return unit * math.floor(Fraction(value) / unit)


def round_up(value: float | Fraction, digits: int = 12) -> Fraction:
    """The smallest fraction of `digits` significant decimal digits that is at least `value` (>= 0)."""
    if value == 0:
        return Fraction(0)
    unit = _last_digit(value, digits)
    return unit * math.ceil(Fraction(value) / unit)


def _last_digit(value: float | Fraction, digits: int) -> Fraction:
    return Fraction(10) ** (math.floor(math.log10(value)) - digits + 1)


def exp_up(exponent: Fraction) -> Fraction:
    """A fraction that is at least e^exponent, and at most a relative 1e-9 above it."""
    return round_up(math.exp(exponent) * (1 + RELATIVE_ERROR / 2))


def log_up(value: Fraction) -> Fraction:
    """A fraction that is at least ln(value), and at most a relative 1e-12 above it, for values of 2 and more.

    Parameters of a mechanism's law are rounded by so little that the law is practically the formula's.
    """
    return round_up(math.log(value) * (1 + 1e-14), digits=14)
