"""Exact biased coins: a rational bias, and Bernoulli(e^{-x}) (Canonne, Kamath, Steinke 2020, Algorithm 1)."""

from __future__ import annotations

from fractions import Fraction

from fim_private.randomness.source import Randomness
from fim_private.randomness.uniform import uniform_below


def bernoulli(probability: Fraction, randomness: Randomness) -> bool:
    """True with this probability, a fraction from 0 to 1."""
    return uniform_below(probability.denominator, randomness) < probability.numerator


def bernoulli_exp(exponent: Fraction, randomness: Randomness) -> bool:
    """True with probability e^{-exponent}, for a rational exponent >= 0.

    For x <= 1 it draws A_1, A_2, ... with A_i ~ Bernoulli(x/i) until the first False: the number of draws is odd with
    probability e^{-x}. For larger x, e^{-x} is a product of factors e^{-1} and one more.
    """
    whole, rest = divmod(exponent.numerator, exponent.denominator)
    return all(_bernoulli_exp_unit(1, 1, randomness) for _ in range(whole)) and _bernoulli_exp_unit(
        rest, exponent.denominator, randomness
    )


def _bernoulli_exp_unit(numerator: int, denominator: int, randomness: Randomness) -> bool:
    length = 1
    while uniform_below(denominator * length, randomness) < numerator:
        length += 1
    return length % 2 == 1
