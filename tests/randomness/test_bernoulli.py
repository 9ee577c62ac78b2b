from __future__ import annotations

import math
from fractions import Fraction

import pytest

from fim_private.randomness import SeededRandomness
from fim_private.randomness.bernoulli import bernoulli, bernoulli_exp
from tests.sampling import SEED, assert_drawn_from


@pytest.mark.parametrize("exponent", [Fraction(1, 7), Fraction(1), Fraction(9, 4)])
def test_a_coin_of_an_exponential_has_its_law_and_no_other(exponent: Fraction) -> None:
    randomness = SeededRandomness(SEED)
    draws = [bernoulli_exp(exponent, randomness) for _ in range(40_000)]
    assert_drawn_from(lambda width: {True: math.exp(-exponent * width), False: -math.expm1(-exponent * width)}, draws)


def test_exponent_zero_is_certain() -> None:
    randomness = SeededRandomness(SEED)
    assert all(bernoulli_exp(Fraction(0), randomness) for _ in range(1000))


@pytest.mark.parametrize("probability", [Fraction(1, 10), Fraction(5, 7)])
def test_a_rational_coin_has_its_law_and_no_other(probability: Fraction) -> None:
    randomness = SeededRandomness(SEED)
    draws = [bernoulli(probability, randomness) for _ in range(40_000)]
    assert_drawn_from(lambda width: {True: float(probability * width), False: float(1 - probability * width)}, draws)


def test_certain_coins_always_fall_alike() -> None:
    randomness = SeededRandomness(SEED)
    assert all(bernoulli(Fraction(1), randomness) and not bernoulli(Fraction(0), randomness) for _ in range(1000))
