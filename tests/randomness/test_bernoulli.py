from __future__ import annotations

import math
from fractions import Fraction

import pytest

from fim_private.randomness import SeededRandomness
from fim_private.randomness.bernoulli import bernoulli, bernoulli_exp
from tests.sampling import FALSE_ALARM, SEED, p_value


@pytest.mark.parametrize("exponent", [Fraction(1, 7), Fraction(1), Fraction(9, 4)])
def test_a_coin_of_an_exponential_has_its_law_and_no_other(exponent: Fraction) -> None:
    randomness = SeededRandomness(SEED)
    draws = [bernoulli_exp(exponent, randomness) for _ in range(40_000)]

    def law(rate: float) -> dict[bool, float]:
        return {True: math.exp(-rate), False: -math.expm1(-rate)}

    assert p_value(draws, law(float(exponent))) > FALSE_ALARM
    assert p_value(draws, law(0.7 * float(exponent))) < FALSE_ALARM
    assert p_value(draws, law(1.3 * float(exponent))) < FALSE_ALARM


def test_exponent_zero_is_certain() -> None:
    randomness = SeededRandomness(SEED)
    assert all(bernoulli_exp(Fraction(0), randomness) for _ in range(1000))


@pytest.mark.parametrize("probability", [Fraction(1, 10), Fraction(5, 7)])
def test_a_rational_coin_has_its_law_and_no_other(probability: Fraction) -> None:
    randomness = SeededRandomness(SEED)
    draws = [bernoulli(probability, randomness) for _ in range(40_000)]

    def law(bias: float) -> dict[bool, float]:
        return {True: bias, False: 1 - bias}

    assert p_value(draws, law(float(probability))) > FALSE_ALARM
    assert p_value(draws, law(0.7 * float(probability))) < FALSE_ALARM
    assert p_value(draws, law(1.3 * float(probability))) < FALSE_ALARM


def test_certain_coins_always_fall_alike() -> None:
    randomness = SeededRandomness(SEED)
    assert all(bernoulli(Fraction(1), randomness) and not bernoulli(Fraction(0), randomness) for _ in range(1000))
