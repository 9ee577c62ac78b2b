from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy.optimize import isotonic_regression

from fim_private.mining.shrinkage import Estimates, falling, shrink


@given(arrays(np.float64, st.integers(1, 30), elements=st.floats(-100, 100)))
def test_falling_is_isotonic_regression(values: np.ndarray) -> None:
    weights = np.arange(1, len(values) + 1, dtype=float)
    expected = isotonic_regression(values, weights=weights, increasing=False).x
    assert falling(values, weights) == pytest.approx(expected, abs=1e-9)


def test_without_noise_nothing_changes() -> None:
    counts = np.sort(np.random.default_rng(1).uniform(0, 1000, 500))[::-1]
    assert shrink(counts, 1e-9).counts == pytest.approx(counts, abs=1e-6)


def test_where_noise_is_all_there_is_only_the_expectation_is_left() -> None:
    noise = np.random.default_rng(2).normal(0, 50, 20_000)
    assert np.abs(shrink(noise, 50).counts).max() < 40
    assert np.abs(noise).max() > 190


def test_estimates_are_nearer_to_the_truth_than_the_noisy_counts() -> None:
    random = np.random.default_rng(3)
    expected = 3000 / np.arange(1, 3001) ** 0.8
    truth = expected * random.lognormal(0, 0.5, 3000)
    noisy = truth + random.normal(0, 60, 3000)
    assert np.mean((shrink(noisy, 60).counts - truth) ** 2) < 0.2 * np.mean((noisy - truth) ** 2)
    best = set(np.argsort(-truth)[:100].tolist())
    found, before = (
        len(best & set(np.argsort(-values)[:100].tolist())) for values in (shrink(noisy, 60).counts, noisy)
    )
    assert found > before


@pytest.mark.parametrize("number", [0, 1, 2, 29, 31, 61, 1000])
def test_any_number_of_counts_will_do(number: int) -> None:
    estimates = shrink(np.linspace(100, 0, number), 5.0)
    assert estimates.counts.shape == estimates.variances.shape == (number,)
    assert np.all((estimates.variances > 0) & (estimates.variances <= 25))


def test_counts_that_may_or_may_not_belong_to_the_answer_are_in_doubt() -> None:
    counts, variances = np.array([90.0, 50.0, 40.0, 39.0, 10.0]), np.array([1.0, 16.0, 16.0, 1.0, 900.0])
    estimates = Estimates(counts, variances, noisy=counts, noise=variances)
    # The third is the last of three, and 1.5 deviations are 6, 6, 1.5 and 45 transactions.
    assert estimates.in_doubt(3, -np.inf, 1.5).tolist() == [2, 3, 4]
    # Only those above 48 are asked for.
    assert estimates.in_doubt(3, 48, 1.5).tolist() == [1, 4]
    # With as many as are asked for, all belong to the answer, unless there is a least count.
    assert estimates.in_doubt(5, -np.inf, 1.5).tolist() == []
    assert estimates.in_doubt(9, 48, 1.5).tolist() == [1, 4]
    assert shrink(np.zeros(0), 1.0).in_doubt(3, -np.inf, 1.5).tolist() == []


def test_further_counts_are_averaged_by_precision() -> None:
    estimates = Estimates(
        np.array([90.0, 50.0, 40.0]),
        np.array([1.0, 16.0, 4.0]),
        np.array([80.0, 60.0, 20.0]),
        np.array([4.0, 16.0, 4.0]),
    )
    averaged = estimates.averaged(np.array([1, 2]), np.array([60.0, 50.0]), 2.0)
    assert averaged.counts.tolist() == [90, 58, 45]
    assert averaged.variances.tolist() == [1, 3.2, 2]
    assert averaged.noisy.tolist() == [80, 60, 35]
    assert averaged.noise.tolist() == [4, 3.2, 2]
    assert estimates.weighted(0.5).counts.tolist() == [180, 100, 80]
    assert estimates.weighted(0.5).variances.tolist() == [4, 64, 16]
    assert estimates.weighted(0.5).noisy.tolist() == [160, 120, 40]
    assert estimates.weighted(0.5).noise.tolist() == [16, 64, 16]


def test_what_stands_out_of_noise_does_so_by_its_own_counts() -> None:
    estimates = shrink(np.array([80.0, 60.0, 20.0]), 4.0)
    above = estimates.above_nothing(np.array([500.0, 60.0, 40.0]), np.array([math.inf, 4.0, 3.0]))
    assert above == pytest.approx([20.0, 60 / 4 * math.sqrt(2), (20 / 16 + 40 / 9) / math.sqrt(1 / 16 + 1 / 9)])
    assert estimates.together_above_nothing(2) == pytest.approx(70 / 4 * math.sqrt(2))
    further = estimates.averaged(np.array([1]), np.array([10.0]), 2.0)
    assert further.together_above_nothing(2) == pytest.approx((80 / 16 + 20 / 3.2) / math.sqrt(1 / 16 + 1 / 3.2))
