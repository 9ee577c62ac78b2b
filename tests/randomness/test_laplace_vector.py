from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest

from fim_private.randomness import SecureRandomness, SeededRandomness, laplace_vector
from fim_private.randomness.discrete_laplace import sample_discrete_laplace
from fim_private.randomness.laplace_vector import LARGEST_SCALE, _fill, sample_discrete_laplaces
from tests.randomness.laws import laplace_law
from tests.sampling import FALSE_ALARM, SEED, assert_drawn_from, p_value


@pytest.mark.parametrize("many", [2**20, 0], ids=["by the word", "by the byte"])
@pytest.mark.parametrize("scale", [1, 2, 10, 333])
def test_draws_have_their_law_and_no_other(scale: int, many: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(laplace_vector, "_MANY", many)
    draws = sample_discrete_laplaces(scale, 200_000, SeededRandomness(SEED)).tolist()
    assert_drawn_from(lambda width: laplace_law(float(scale * width)), draws)


@pytest.mark.parametrize("scale", [10**6, LARGEST_SCALE, LARGEST_SCALE + 1])
def test_wide_noise_is_as_wide_as_it_should_be(scale: int) -> None:
    """By coarse bins, on both sides of the size up to which draws are compiled."""
    draws = sample_discrete_laplaces(scale, 50_000 if scale <= LARGEST_SCALE else 4_000, SeededRandomness(SEED))
    for share in (1.0, 0.7, 1.3):
        width = int(share * scale / 2)
        reach = np.floor_divide(draws, width).clip(-6, 5)
        cumulative = [math.exp(at / 2) / 2 if at <= 0 else 1 - math.exp(-at / 2) / 2 for at in range(-5, 6)]
        expected = dict(zip(range(-6, 6), np.diff(cumulative, prepend=0, append=1).tolist(), strict=True))
        assert (p_value(reach.tolist(), expected) > FALSE_ALARM) == (share == 1.0)


def test_draws_that_64_bits_do_not_hold_keep_their_rest() -> None:
    """With a count they then make the exact sum modulo 2^64. They used to end a run that was charged."""
    scale, counts = 2**64, np.arange(20)
    exact = [sample_discrete_laplace(Fraction(scale), source) for source in [SeededRandomness(SEED)] for _ in counts]
    assert max(map(abs, exact)) > 2**63
    noisy = counts + sample_discrete_laplaces(scale, 20, SeededRandomness(SEED))
    sums = zip(exact, counts.tolist(), noisy.tolist(), strict=True)
    assert all((draw + count - found) % 2**64 == 0 for draw, count, found in sums)


@pytest.mark.parametrize("kind", ["uint64", "uint8"])
def test_the_same_words_give_the_same_draws_however_they_arrive(kind: str) -> None:
    """Words that do not suffice for a draw are kept for it: nothing is drawn twice or thrown away."""
    whole = np.zeros(50, np.int64)
    words = SeededRandomness(3).words(5_000).view(kind)[:5_000]
    assert _fill(whole, 0, 900, words)[0] == 50
    pieces, done, kept = np.zeros(50, np.int64), 0, np.zeros(0, kind)
    for start in range(0, 5_000, 17):
        kept = np.concatenate([kept, words[start : start + 17]])
        done, used = _fill(pieces, done, 900, kept)
        kept = kept[used:]
    assert done == 50
    assert pieces.tolist() == whole.tolist()


def test_secure_source_serves_it() -> None:
    assert len(set(sample_discrete_laplaces(10**3, 30, SecureRandomness()).tolist())) > 20
    assert sample_discrete_laplaces(5, 0, SecureRandomness()).shape == (0,)
