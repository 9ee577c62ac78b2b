from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy.optimize import isotonic_regression

from fim_private.mining.shrinkage import falling, shrink


@given(arrays(np.float64, st.integers(1, 30), elements=st.floats(-100, 100)))
def test_falling_is_isotonic_regression(values: np.ndarray) -> None:
    weights = np.arange(1, len(values) + 1, dtype=float)
    expected = isotonic_regression(values, weights=weights, increasing=False).x
    assert falling(values, weights) == pytest.approx(expected, abs=1e-9)


def test_without_noise_nothing_changes() -> None:
    counts = np.sort(np.random.default_rng(1).uniform(0, 1000, 500))[::-1]
    assert shrink(counts, 1e-9) == pytest.approx(counts, abs=1e-6)


def test_where_noise_is_all_there_is_only_the_expectation_is_left() -> None:
    noise = np.random.default_rng(2).normal(0, 50, 20_000)
    assert np.abs(shrink(noise, 50)).max() < 40
    assert np.abs(noise).max() > 190


def test_estimates_are_nearer_to_the_truth_than_the_noisy_counts() -> None:
    random = np.random.default_rng(3)
    expected = 3000 / np.arange(1, 3001) ** 0.8
    truth = expected * random.lognormal(0, 0.5, 3000)
    noisy = truth + random.normal(0, 60, 3000)
    assert np.mean((shrink(noisy, 60) - truth) ** 2) < 0.2 * np.mean((noisy - truth) ** 2)
    best = set(np.argsort(-truth)[:100].tolist())
    found, before = (len(best & set(np.argsort(-values)[:100].tolist())) for values in (shrink(noisy, 60), noisy))
    assert found > before


@pytest.mark.parametrize("number", [0, 1, 2, 29, 31, 61, 1000])
def test_any_number_of_counts_will_do(number: int) -> None:
    assert shrink(np.linspace(100, 0, number), 5.0).shape == (number,)
