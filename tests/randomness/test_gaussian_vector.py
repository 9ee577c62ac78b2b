from __future__ import annotations

import numpy as np
import pytest

from fim_private.randomness import SecureRandomness, SeededRandomness
from fim_private.randomness.discrete_gaussian import discrete_gaussian_mass
from fim_private.randomness.gaussian_vector import LARGEST_VARIANCE, _decays, _fill, sample_discrete_gaussians
from tests.sampling import FALSE_ALARM, SEED, p_value


def law(variance: float) -> dict[int, float]:
    reach = int(12 * variance**0.5) + 3
    values = np.arange(-reach, reach + 1)
    return dict(zip(values.tolist(), discrete_gaussian_mass(values, variance).tolist(), strict=True))


@pytest.mark.parametrize("variance", [1, 2, 7, 100, 12_345])
def test_draws_have_their_law_and_no_other(variance: int) -> None:
    draws = sample_discrete_gaussians(variance, 200_000, SeededRandomness(SEED)).tolist()
    assert p_value(draws, law(variance)) > FALSE_ALARM
    for factor in (0.7, 1.3):  # of the standard deviation
        assert p_value(draws, law(variance * factor**2)) < FALSE_ALARM


@pytest.mark.parametrize("variance", [LARGEST_VARIANCE, LARGEST_VARIANCE + 1, 10**12])
def test_wide_noise_is_as_wide_as_it_should_be(variance: int) -> None:
    """By coarse bins, on both sides of the size up to which draws are compiled."""
    number = 50_000 if variance <= LARGEST_VARIANCE else 4_000
    draws = sample_discrete_gaussians(variance, number, SeededRandomness(SEED))
    for share in (1.0, 0.7, 1.3):
        width = int(share * variance**0.5 / 2)
        edges = np.arange(-5, 6)
        reach = np.floor_divide(draws, width).clip(-6, 5)
        from scipy.stats import norm

        chances = np.diff(norm.cdf(edges / 2), prepend=0, append=1)
        expected = dict(zip(range(-6, 6), chances.tolist(), strict=True))
        assert (p_value(reach.tolist(), expected) > FALSE_ALARM) == (share == 1.0)


def test_the_same_words_give_the_same_draws_however_they_arrive() -> None:
    """Words that do not suffice for a draw are kept for it: nothing is drawn twice or thrown away."""
    whole = np.zeros(50, np.int64)
    words = SeededRandomness(3).words(5_000)
    assert _fill(whole, 0, 900, 31, words)[0] == 50
    pieces, done, kept = np.zeros(50, np.int64), 0, np.zeros(0, np.uint64)
    for start in range(0, 5_000, 17):
        kept = np.concatenate([kept, words[start : start + 17]])
        done, used = _fill(pieces, done, 900, 31, kept)
        kept = kept[used:]
    assert done == 50
    assert pieces.tolist() == whole.tolist()


def test_a_certain_event_is_certain() -> None:
    words = SeededRandomness(1).words(100)
    assert _decays(0, 7, words, 0)[0]


def test_secure_source_serves_it() -> None:
    assert len(set(sample_discrete_gaussians(10**6, 30, SecureRandomness()).tolist())) > 20
    assert sample_discrete_gaussians(5, 0, SecureRandomness()).shape == (0,)
