"""Logarithms of fractions on a grid, exactly: what a search by discrete noise is run on instead of real logarithms."""

from __future__ import annotations

import math
from decimal import Context, Decimal
from fractions import Fraction


def floor_of_log(ratio: Fraction, step: Fraction) -> int:
    """floor(ln(ratio)/step), exactly.

    Two ratios within a factor e^(m step) of each other, m whole, are at most m apart: that is what the noise is for,
    and it would not hold of a rounded logarithm.

    Args:
        ratio: > 0.
        step: > 0.

    The precision is raised until the digits decide, which they do: the logarithm of a fraction other than 1 is no
    fraction, so it is on no grid point (Lindemann).

    >>> floor_of_log(Fraction(3), Fraction(1, 100)), floor_of_log(Fraction(1), Fraction(1, 100))
    (109, 0)
    """
    if ratio == 1:
        return 0
    digits = 30
    while True:
        context = Context(prec=digits)
        inverse = context.divide(Decimal(step.denominator), Decimal(step.numerator))
        quotient = context.divide(Decimal(ratio.numerator), Decimal(ratio.denominator))
        steps = context.multiply(context.ln(quotient), inverse)
        # The quotient's relative error is the logarithm's absolute one, however near 1 the quotient is.
        margin = context.multiply(1 + abs(steps) + inverse, Decimal(10) ** (5 - digits))
        low, high = math.floor(context.subtract(steps, margin)), math.floor(context.add(steps, margin))
        if low == high:
            return low
        digits *= 2
