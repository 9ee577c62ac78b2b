"""Noisy counts and looks with Laplace noise: what one transaction can add, and what that costs."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fim_private.accounting.rising import staged
from fim_private.mechanisms.exponential import Exponential
from fim_private.mechanisms.laplace_measurement import RESOLUTION, LaplaceLook, LaplaceMeasurement, scale_of
from fim_private.mechanisms.noise_family import LAPLACE
from fim_private.privacy import PureDP
from fim_private.randomness import SeededRandomness
from tests.randomness.laws import laplace_law
from tests.sampling import SEED, assert_drawn_from

F = Fraction


@pytest.mark.parametrize("full", [1, 4, 12, 4096])
def test_together_a_transaction_adds_no_more_than_is_paid_for_and_hardly_less(full: int) -> None:
    measurement = LaplaceMeasurement(full=full, resolution=RESOLUTION, variance=2)
    held = np.arange(len(measurement.weights) + 5)
    added = held * np.array([measurement.added(number) for number in held.tolist()])
    assert added.max() == full * RESOLUTION
    assert (measurement.weights[: full + 1] == RESOLUTION).all()
    assert measurement.weights[-1] == 0
    assert measurement.added(full * RESOLUTION) == 1


@pytest.mark.parametrize("epsilon", [F(1, 1000), F(1, 3), F(7), F(10**9)])
@pytest.mark.parametrize("sensitivity", [1, 5])
def test_it_costs_what_was_allowed_and_no_more(epsilon: Fraction, sensitivity: int) -> None:
    measurement = LaplaceMeasurement.costing(epsilon, full=12, sensitivity=sensitivity)
    scale = scale_of(measurement.variance)
    assert 2 * scale**2 == measurement.variance
    assert measurement.loss == PureDP(F(sensitivity * RESOLUTION * 12, scale))
    assert measurement.loss.epsilon == measurement.cost <= epsilon
    assert scale == 1 or F(sensitivity * RESOLUTION * 12, scale - 1) > epsilon
    look = LaplaceLook.costing(epsilon, sensitivity=sensitivity)
    assert look.loss == PureDP(F(sensitivity, scale_of(look.variance)))
    assert look.cost <= epsilon


def test_with_the_full_that_a_deviation_allows_the_noise_has_it() -> None:
    full = LaplaceMeasurement.full_with(30.0, 2.0, sensitivity=3)
    assert LaplaceMeasurement.costing(2, full=round(full), sensitivity=3).deviation == pytest.approx(30, rel=0.02)


def test_counts_and_bins_get_noise_of_their_scale_and_of_no_other() -> None:
    measurement = LaplaceMeasurement(full=1, resolution=1, variance=2 * 7**2)
    noisy = measurement.add_noise(np.full(50_000, 3), SeededRandomness(SEED)) - 3
    assert_drawn_from(lambda width: laplace_law(float(7 * width)), noisy.tolist())
    look = LaplaceLook(variance=2 * 7**2)
    assert_drawn_from(lambda width: laplace_law(float(7 * width)), look.noise(50_000, SeededRandomness(SEED)).tolist())
    assert look.add_noise(np.array([0, 10**6, 0]), SeededRandomness(SEED)).linear


def test_the_law_and_its_tail_agree() -> None:
    measurement = LaplaceMeasurement(full=1, resolution=1, variance=2 * 300**2)
    values = np.arange(-20_000, 20_001)
    masses = measurement.masses(values)
    for deviations in (-2.0, 0.0, 1.0, 3.0):
        at = deviations * np.sqrt(measurement.variance)
        tail = float(measurement.beyond(np.array([deviations]))[0])
        assert float(masses[values >= at].sum()) == pytest.approx(tail, rel=0.01)


@given(st.integers(10**9, 10**10), st.sampled_from([1, 2, 3, 7, 40]), st.sampled_from([F(0), F(1, 2)]))
def test_picks_cost_no_more_than_was_allowed_though_floats_round_up(nine: int, picks: int, rise: Fraction) -> None:
    """What is left may lie just below a number that its float reaches."""
    whole = F(nine, 10**9) * sum(factor * times for factor, times in staged(picks, rise))
    left = whole - F(1, 10**18)
    each = LAPLACE.pick_epsilon(float(left), picks, 0.0, rise)
    assert sum(each * factor * times for factor, times in staged(picks, rise)) <= left


@pytest.mark.parametrize("picks", [1, 3, 40])
@pytest.mark.parametrize("rise", [F(0), F(1, 2)])
def test_picks_cost_together_what_was_allowed(picks: int, rise: Fraction) -> None:
    each = LAPLACE.pick_epsilon(0.7, picks, 0.0, rise)
    losses = Exponential(top=picks, pick_epsilon=each, universe_size=9, rise=rise).losses
    assert F(699, 1000) < sum(loss.epsilon for loss in losses) <= F(7, 10)
