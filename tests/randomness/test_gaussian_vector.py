from __future__ import annotations

import math

import numpy as np
import pytest

from fim_private.randomness import SecureRandomness, SeededRandomness, laplace_vector
from fim_private.randomness.gaussian_vector import (
    LARGEST_VARIANCE,
    _accepted,
    _fill,
    _one,
    sample_discrete_gaussians,
)
from fim_private.randomness.laplace_vector import below, decays
from tests.randomness.laws import gaussian_law
from tests.sampling import FALSE_ALARM, SEED, assert_drawn_from, p_value


@pytest.mark.parametrize("many", [2**20, 0], ids=["by the word", "by the byte"])
@pytest.mark.parametrize("variance", [1, 2, 7, 100, 12_345])
def test_draws_have_their_law_and_no_other(variance: int, many: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(laplace_vector, "_MANY", many)
    draws = sample_discrete_gaussians(variance, 200_000, SeededRandomness(SEED)).tolist()
    assert_drawn_from(lambda width: gaussian_law(float(variance * width**2)), draws)


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


@pytest.mark.parametrize("kind", ["uint64", "uint8"])
def test_the_same_words_give_the_same_draws_however_they_arrive(kind: str) -> None:
    """Words that do not suffice for a draw are kept for it: nothing is drawn twice or thrown away."""
    whole = np.zeros(50, np.int64)
    words = SeededRandomness(3).words(5_000).view(kind)[:5_000]
    assert _fill(whole, 0, 900, 31, words)[0] == 50
    pieces, done, kept = np.zeros(50, np.int64), 0, np.zeros(0, kind)
    for start in range(0, 5_000, 17):
        kept = np.concatenate([kept, words[start : start + 17]])
        done, used = _fill(pieces, done, 900, 31, kept)
        kept = kept[used:]
    assert done == 50
    assert pieces.tolist() == whole.tolist()


def test_a_certain_event_is_certain() -> None:
    words = SeededRandomness(1).words(100)
    assert decays(0, 7, words, 0)[0]


def test_secure_source_serves_it() -> None:
    assert len(set(sample_discrete_gaussians(10**6, 30, SecureRandomness()).tolist())) > 20
    assert sample_discrete_gaussians(5, 0, SecureRandomness()).shape == (0,)


@pytest.mark.parametrize("variance", [1, 2, 900, 12_345, LARGEST_VARIANCE])
def test_a_draw_is_accepted_as_often_as_it_should_be_however_far_out(variance: int) -> None:
    """With e^{-(|Y| - variance/t)^2/(2 variance)}: a trial of e^-1 for each whole unit, then one for the rest.

    Words 0, 0, 1 let a trial of e^-1 succeed; 0, 1 let it fail.
    """
    scale = math.isqrt(variance) + 1
    success, failure = [0, 0, 1], [0, 1]

    def accepted(high: int, low: int, words: list[int]) -> tuple[bool, bool]:
        """Whether it is, and whether the words did just suffice."""
        decided, at = _accepted(low + scale * high, high, variance, scale, np.array(words, np.uint64), 0)
        return decided, at == len(words)

    for high, low in ((high, low) for high in (0, 1, 2, 7, 43, 44) for low in (0, scale - 1)):
        unit = 2 * variance * scale**2
        whole, rest = divmod(((low + scale * high) * scale - variance) ** 2, unit)
        for word in (rest, unit - 1):
            assert accepted(high, low, [*success * whole, word]) == (True, True)
        for word in (rest - 1, unit) if rest else ():  # below the rest it goes on; outside the unit it is skipped
            assert not accepted(high, low, [*success * whole, word])[1]
        if whole:
            assert accepted(high, low, [*success * (whole - 1), *failure]) == (False, True)


def test_beyond_what_fits_into_64_bits_a_draw_is_refused_aloud_once_in_1e390_times() -> None:
    success, failure = [0, 0, 1], [0, 1]
    for high in (45, 10**6):
        with pytest.raises(OverflowError):
            _accepted(31 * high, high, 900, 31, np.array([*success * 900, 1], np.uint64), 0)
        late = np.array(success * 899 + failure, np.uint64)
        assert _accepted(31 * high, high, 900, 31, late, 0) == (False, len(late))
        # Words that end before the last trial: nothing is decided yet.
        assert _accepted(31 * high, high, 900, 31, late[:-2], 0)[1] > len(late) - 2


def test_a_word_is_used_for_as_many_bits_as_the_bound_has() -> None:
    """By rejection among the bits that bound - 1 needs, one word a try; 0 and a place beyond where words run out."""
    words = np.array([2**63 + 7, 6, 5, 4, 3], np.uint64)
    for bound, expected in ((1, (0, 1)), (2, (1, 1)), (4, (3, 1)), (5, (4, 4)), (7, (6, 2)), (8, (7, 1)), (9, (7, 1))):
        # The lowest bit is read even where none is needed: for a bound of 1 until it is 0.
        assert below(bound, words, 0) == (expected if bound > 1 else (0, 2))
    assert below(5, words, 5) == (0, 6)
    assert below(5, words[:3], 0) == (0, 4)


def test_a_bound_takes_as_many_bytes_as_it_needs() -> None:
    """The first byte is the highest. A try that finds too few of them draws nothing."""
    words = np.array([3, 0, 255, 255, 1, 2, 3, 4, 5, 6, 7, 8, 9], np.uint8)
    assert below(2**8, words, 0) == (3, 1)
    assert below(2**8 + 1, words, 0) == (2**8, 2)  # nine bits of 0x300
    assert below(2**16, words, 2) == (2**16 - 1, 4)
    assert below(2**16 + 1, words, 4) == (0x0506, 10)  # 0x10203 is out of bounds
    assert below(2**62, words, 4) == (0x0102030405060708, 12)
    assert below(2**62, words, 6) == (0, 14)
    assert below(2**8 + 1, words[2:4], 0) == (0, 3)  # 511 is out of bounds, and no more bytes are there


def test_every_word_is_used_and_the_last_one_suffices() -> None:
    """Words left over belong to a draw that was not finished, so that none may be passed over."""
    words = SeededRandomness(SEED).words(200)
    place, expected = 0, []
    while len(expected) < 6:
        value, place = _one(50, 8, words, place)
        expected.append(value)
    drawn = np.zeros(6, np.int64)
    assert _fill(drawn, 0, 50, 8, words[:place]) == (6, place)
    assert drawn.tolist() == expected
    assert _fill(drawn, 0, 50, 8, words[: place - 1])[0] == 5
