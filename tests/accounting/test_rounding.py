"""Against the user, to the last digit: what is claimed is never below the exact value, not by a rounding error."""

from __future__ import annotations

import math
import random
from collections.abc import Callable
from decimal import Context, Decimal, localcontext
from fractions import Fraction

import numpy as np
import pytest
from numpy.typing import NDArray

from fim_private.accounting import renyi_composition
from fim_private.accounting.optimal_composition import optimal_delta
from fim_private.accounting.renyi_composition import bounded_range_curve, pure_curve
from fim_private.accounting.rounding import RELATIVE_ERROR, exp_up, log_up, round_down, round_up
from tests.accounting.test_properties import exact_optimal_delta
from tests.sampling import SEED

F = Fraction


@pytest.mark.parametrize(
    ("value", "digits", "down", "up"),
    [
        (0.123456789987, 9, "0.123456789", "0.12345679"),
        (123456.7899871, 9, "123456.789", "123456.79"),
        (1.50000000499e-9, 9, "1.5e-9", "1.50000001e-9"),
        (0.1234567899875, 12, "0.123456789987", "0.123456789988"),
        (7.25, 1, "7", "8"),
    ],
)
def test_digits_are_significant_ones(value: float, digits: int, down: str, up: str) -> None:
    assert round_down(value, digits) == F(down)
    assert round_up(value, digits) == F(up)


def test_what_may_be_spent_has_nine_digits_and_what_is_claimed_twelve() -> None:
    assert round_down(0.1234567899875) == F("0.123456789")
    assert round_up(0.1234567899875) == F("0.123456789988")


def test_the_exponential_is_rounded_up_at_the_twelfth_digit() -> None:
    for exponent in (F(0), F(1, 3), F(1), F(20)):
        with localcontext() as context:
            context.prec = 60
            true = F((Decimal(exponent.numerator) / exponent.denominator).exp())
        assert true * (1 + F(RELATIVE_ERROR) / 3) < exp_up(exponent) < true * (1 + F(RELATIVE_ERROR))
        assert exp_up(exponent) * 10**11 % 1 == 0


def test_logarithms_are_rounded_upwards_and_little() -> None:
    generator = random.Random(SEED)
    for _ in range(2_000):
        value = F(2 * 10 ** generator.uniform(0, 120))
        true = F((Decimal(value.numerator) / value.denominator).ln(Context(prec=60)))
        assert true < log_up(value) < true * (1 + F(1, 10**12))


def test_optimal_delta_is_not_below_the_exact_one_where_its_terms_begin() -> None:
    """Just below an epsilon at which a term of the sum begins, delta is a difference that has no digits left."""
    generator = random.Random(SEED)
    for _ in range(600):
        times = generator.choice([1, 2, 3, 5, 9])
        epsilon_0 = 10 ** generator.uniform(-6, 0.5)
        begins = (times - 2 * generator.randint(0, (times - 1) // 2)) * epsilon_0
        epsilon = begins * (1 - generator.random() * 2.0**-49)
        assert Decimal(optimal_delta(epsilon, epsilon_0, 0.0, times)) >= exact_optimal_delta(
            epsilon, epsilon_0, 0.0, times
        )


def test_delta_is_never_more_than_certainty() -> None:
    assert optimal_delta(0.0, 1.0, 0.9, 1000) == 1
    assert optimal_delta(0.0, 80.0, 0.0, 3) == 1
    assert optimal_delta(0.0, 0.5, 1 - 1e-13, 3) == 1


@pytest.mark.parametrize("a", [0.01, 1.0, 40.0])
def test_where_logarithms_cancel_the_curves_are_those_of_zcdp(a: float) -> None:
    """At 1e-9 the formulas are all rounding error; the exact curves differ from alpha eps^2/2 and /8 by 1e-9 of it."""
    at = np.array([a])
    assert pure_curve(1e-9, at)[0] == pytest.approx((1 + a) * 1e-18 / 2, rel=1e-6, abs=0)
    assert bounded_range_curve(1e-9, at)[0] == pytest.approx((1 + a) * 1e-18 / 8, rel=1e-6, abs=0)


@pytest.mark.parametrize("epsilon", [0.7, 3.0, 40.0])
@pytest.mark.parametrize("a", [0.02, 1.0, 9.0])
def test_a_curve_allows_an_error_of_each_logarithm_it_adds_up(
    epsilon: float, a: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Relative to their sizes, and as often as they are added; seen here with a unit so large that nothing hides it."""
    assert (
        2.0**-50 <= renyi_composition._ROUNDING <= 2.0**-48
    )  # the error of the machine's logarithm, and something to spare
    order = np.array([a])
    unit = 1e-7

    def allowed(curve: Callable[[float, NDArray[np.float64]], NDArray[np.float64]]) -> float:
        values = []
        for rounding in (0.0, unit):
            monkeypatch.setattr(renyi_composition, "_ROUNDING", rounding)
            values.append(float(curve(epsilon, order)[0]))
        return (values[1] - values[0]) * a / unit

    assert allowed(renyi_composition.pure_curve) == pytest.approx(1 + (1 + a) * epsilon, rel=1e-5)
    big_a, big_b = math.exp(epsilon) - math.exp(-a * epsilon), 1 - math.exp(-a * epsilon)
    u = a * big_a / ((a + 1) * big_b)
    once = [big_a, 1 + a, math.exp(epsilon) - 1]
    every = [big_a, big_b, u, math.e]
    everything = a * sum(abs(math.log(part)) for part in every) + sum(abs(math.log(part)) for part in once)
    assert allowed(renyi_composition.bounded_range_curve) == pytest.approx(everything, rel=1e-5)
