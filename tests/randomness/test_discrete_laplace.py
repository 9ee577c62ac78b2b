from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fim_private.randomness import SecureRandomness, SeededRandomness
from fim_private.randomness.discrete_laplace import (
    discrete_laplace_mass,
    discrete_laplace_survival,
    log_difference_survival,
    sample_discrete_laplace,
)
from tests.randomness.laws import laplace_law
from tests.sampling import FALSE_ALARM, SEED, assert_drawn_from, p_value

SCALES = [Fraction(1, 3), Fraction(5, 2), Fraction(10), Fraction(10**9, 43124163)]


@pytest.mark.parametrize("scale", SCALES)
def test_sampler_has_its_law_and_no_other(scale: Fraction) -> None:
    randomness = SeededRandomness(SEED)
    draws = [sample_discrete_laplace(scale, randomness) for _ in range(12_000)]
    assert_drawn_from(lambda width: laplace_law(float(scale * width)), draws)


def test_secure_source_has_the_same_law() -> None:
    randomness = SecureRandomness()
    draws = [sample_discrete_laplace(Fraction(5, 2), randomness) for _ in range(12_000)]
    assert p_value(draws, laplace_law(2.5)) > FALSE_ALARM


@pytest.mark.parametrize("scale", [0.4, 2.5, 300.0])
def test_mass_and_survival_agree(scale: float) -> None:
    values = np.arange(-int(60 * scale) - 5, int(60 * scale) + 6)
    mass = discrete_laplace_mass(values, scale)
    assert math.isclose(mass.sum(), 1, rel_tol=1e-12)
    tail = np.cumsum(mass[::-1])[::-1]
    np.testing.assert_allclose(discrete_laplace_survival(values, scale), tail, rtol=1e-9, atol=1e-18)


def test_difference_tail_reproduces_the_worked_figure() -> None:
    assert math.isclose(math.exp(log_difference_survival(7, 2.5)), 0.08382237198993615, rel_tol=1e-13)


@given(st.integers(-400, 400), st.sampled_from([0.5, 2.5, 10.0]))
def test_difference_tail_is_the_convolution(threshold: int, scale: float) -> None:
    values = np.arange(-int(80 * scale), int(80 * scale) + 1)
    direct = np.sum(discrete_laplace_mass(values, scale) * discrete_laplace_survival(threshold + values, scale))
    assert math.isclose(math.exp(log_difference_survival(threshold, scale)), direct, rel_tol=1e-9, abs_tol=1e-30)


def test_difference_tail_stays_accurate_for_wide_noise() -> None:
    # Two continuous Laplace variables: P(Z - G >= s) = (2 + s/b) e^{-s/b} / 4 in the limit of a wide scale.
    assert math.isclose(math.exp(log_difference_survival(3 * 10**7, 10.0**7)), (2 + 3) * math.exp(-3) / 4, rel_tol=1e-6)
