"""The law of supports that noisy counts of tokens tell."""

from __future__ import annotations

from itertools import pairwise
from statistics import NormalDist

import numpy as np
import pytest

from fim_private.mechanisms.item_prior import FLAT, ItemPrior
from tests.sampling import SEED

NAMES, DEVIATION = 65_536, 8.0
ENOUGH = np.array([40.0])


def large_counts(supports: np.ndarray) -> np.ndarray:
    """The noisy counts above four deviations of tokens with these supports."""
    noisy = supports + np.random.default_rng(SEED).normal(0, DEVIATION, len(supports))
    return np.sort(noisy[noisy > 4 * DEVIATION])[::-1]


def test_what_one_token_seems_is_not_believed_if_noise_alone_explains_it() -> None:
    supports = np.zeros(NAMES)
    supports[:3] = 5_000
    noisy = large_counts(supports)
    assert len(noisy) > 3
    prior = ItemPrior.of(noisy, DEVIATION, NAMES)
    chances = prior.reaching(noisy, DEVIATION, ENOUGH)[:, 0]
    assert chances[:3] == pytest.approx(1.0)
    assert np.all(chances[3:] < 0.5)
    # Taken for what they seem, the luckiest would be.
    seemed = 1 - NormalDist(noisy[3], DEVIATION).cdf(40)
    assert FLAT.reaching(noisy, DEVIATION, ENOUGH)[3, 0] == pytest.approx(seemed)


def test_what_many_tokens_seem_is_believed_about_as_often_as_it_is_true() -> None:
    """5,000 items with supports around 20, of which few reach 40; and 500 that are spread evenly up to 200."""
    drawn = np.random.default_rng(SEED + 1)
    supports = np.zeros(NAMES)
    supports[:5_000] = drawn.gamma(20, 1, 5_000)
    supports[5_000:5_500] = drawn.uniform(0, 200, 500)
    noisy = supports + drawn.normal(0, DEVIATION, NAMES)
    on = np.flatnonzero(noisy > 4 * DEVIATION)
    chances = ItemPrior.of(noisy[on], DEVIATION, NAMES).reaching(noisy[on], DEVIATION, ENOUGH)[:, 0]
    seemed = FLAT.reaching(noisy[on], DEVIATION, ENOUGH)[:, 0]
    true = supports[on] >= ENOUGH
    doubtful = noisy[on] < 60
    assert chances[doubtful].mean() == pytest.approx(true[doubtful].mean(), abs=0.1)
    assert seemed[doubtful].mean() > true[doubtful].mean() + 0.2


def test_the_more_a_token_seems_to_have_the_more_it_is_likely_to() -> None:
    prior = ItemPrior.of(np.array([90.0, 50.0, 45.0, 41.0]), DEVIATION, 1_000)
    assert prior.chances.sum() == pytest.approx(1.0)
    assert np.all(prior.chances >= 0)
    noisy = np.linspace(30, 120, 91)
    chances = prior.reaching(noisy, DEVIATION, np.array([20.0, 40.0, 60.0]))
    assert chances.shape == (91, 3)
    assert np.all((chances >= 0) & (chances <= 1 + 1e-12))
    assert np.all(np.diff(chances, axis=1) <= 0)
    inside = chances[noisy <= prior.supports[-1]]
    assert all(np.all(less <= more + 1e-12) for less, more in pairwise(inside))


@pytest.mark.parametrize("deviation", [8.0, 0.5, 0.01])
@pytest.mark.parametrize("noisy", [[], [33.0], [5e6], [33.0, 33.0, 5e6]])
@pytest.mark.parametrize("names", [3, 65_536])
def test_few_tokens_and_exact_second_counts_give_chances(noisy: list[float], deviation: float, names: int) -> None:
    counts = np.array(noisy)
    prior = ItemPrior.of(counts, DEVIATION, names)
    chances = prior.reaching(counts, deviation, np.array([20.0, 1e4]))
    assert chances.shape == (len(noisy), 2)
    assert np.all((chances >= 0) & (chances <= 1 + 1e-12))
