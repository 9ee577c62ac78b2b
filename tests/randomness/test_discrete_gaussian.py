from __future__ import annotations

import math
from fractions import Fraction

import pytest
from scipy.stats import norm

from fim_private.randomness import SecureRandomness, SeededRandomness
from fim_private.randomness.discrete_gaussian import (
    log_discrete_gaussian_survival,
    log_discrete_gaussian_survival_bound,
    log_discrete_gaussian_survivals,
    sample_discrete_gaussian,
)
from tests.randomness.laws import gaussian_law
from tests.sampling import SEED, assert_drawn_from

VARIANCES = [Fraction(1, 9), Fraction(1), Fraction(35, 4), Fraction(10**9, 4312416)]


@pytest.mark.parametrize("variance", VARIANCES, ids=str)
def test_sampler_has_its_law_and_no_other(variance: Fraction) -> None:
    randomness = SeededRandomness(SEED)
    draws = [sample_discrete_gaussian(variance, randomness) for _ in range(8000)]
    assert_drawn_from(lambda width: gaussian_law(float(variance * width**2)), draws)


@pytest.mark.parametrize("variance", [0.2, 1.0, 7.3, 400.0, 1e6])
def test_mass_is_that_of_the_definition(variance: float) -> None:
    found = gaussian_law(variance)
    assert math.fsum(found.values()) == pytest.approx(1, rel=1e-12)
    assert found[1] / found[0] == pytest.approx(math.exp(-1 / (2 * variance)), rel=1e-12)
    spread = math.fsum(value**2 * chance for value, chance in found.items())
    assert spread <= variance * (1 + 1e-12)  # Canonne, Kamath, Steinke (2020), Corollary 9


@pytest.mark.parametrize("variance", [0.2, 1.0, 7.3, 400.0])
def test_survival_is_the_sum_of_the_mass(variance: float) -> None:
    found = gaussian_law(variance)
    for threshold in (-5, -1, 0, 1, 2, 7, 20):
        expected = math.fsum(chance for value, chance in found.items() if value >= threshold)
        if expected > 1e-25:
            assert math.exp(log_discrete_gaussian_survival(threshold, variance)) == pytest.approx(expected, rel=1e-9)


def test_survival_far_out_does_not_vanish() -> None:
    """Against the continuous tail at T - 1/2, which it approaches for large variances."""
    for threshold in (500, 5000, 50_000):
        found = log_discrete_gaussian_survival(threshold, 1e6)
        assert found == pytest.approx(norm.logsf((threshold - 0.5) / 1e3), rel=1e-4)
    assert log_discrete_gaussian_survival(10**6, 100.0) == pytest.approx(-(10.0**12) / 200, rel=1e-6)


def test_secure_source_serves_it() -> None:
    assert len({sample_discrete_gaussian(Fraction(10**8), SecureRandomness()) for _ in range(20)}) > 15


@pytest.mark.parametrize("variance", [1.0, 7.0, 2500.0, 2.0e10])
@pytest.mark.parametrize("first", [1, 3, 40, 5000])
def test_many_tails_are_those_one_by_one(variance: float, first: int) -> None:
    found = log_discrete_gaussian_survivals(first, 30, variance)
    expected = [log_discrete_gaussian_survival_bound(threshold, variance) for threshold in range(first, first + 30)]
    assert found.tolist() == pytest.approx(expected, rel=1e-12, abs=1e-12)


@pytest.mark.parametrize("deviations", [0.1, 1.01, 3.0, 12.0, 40.0])
def test_the_bound_for_wide_noise_is_above_the_continuous_tail(deviations: float) -> None:
    """At T - 1, by Proposition 25: the density there, divided by the number of deviations."""
    threshold, deviation = round(deviations * 1e6) + 1, 1e6
    found = log_discrete_gaussian_survival_bound(threshold, deviation**2)
    assert norm.logsf(deviations) <= found
    assert found == pytest.approx(norm.logpdf(deviations) - math.log(deviations) if deviations > 1 else 0, rel=1e-12)
