from __future__ import annotations

import numpy as np

from fim_private.randomness import SecureRandomness, SeededRandomness
from fim_private.randomness.uniform import uniform_below
from tests.sampling import FALSE_ALARM, SEED, p_value


def test_seeded_repeats_itself_and_says_so() -> None:
    one, other = SeededRandomness(7), SeededRandomness(7)
    assert [one.bits(70) for _ in range(5)] == [other.bits(70) for _ in range(5)]
    np.testing.assert_array_equal(one.words(9), other.words(9))
    assert one.seed == 7


def test_secure_does_not_repeat_itself() -> None:
    assert SecureRandomness.seed is None
    assert SecureRandomness().bits(256) != SecureRandomness().bits(256)
    assert len(np.unique(SecureRandomness().words(1000))) == 1000


def test_bits_fill_their_range() -> None:
    for source in (SecureRandomness(), SeededRandomness(SEED)):
        assert source.bits(0) == 0
        assert {source.bits(2) for _ in range(500)} == {0, 1, 2, 3}


def test_uniform_below_is_uniform() -> None:
    randomness = SeededRandomness(SEED)
    draws = [uniform_below(5, randomness) for _ in range(20_000)]
    assert p_value(draws, dict.fromkeys(range(5), 0.2)) > FALSE_ALARM
    assert p_value(draws, dict(zip(range(5), [0.23, 0.19, 0.19, 0.19, 0.2], strict=True))) < FALSE_ALARM
    assert uniform_below(1, randomness) == 0
    assert 0 <= uniform_below(10**40, randomness) < 10**40


def test_uniform_below_asks_for_no_more_bits_than_the_bound_needs() -> None:
    asked = []

    class Counting:
        seed = None

        def bits(self, number: int) -> int:
            asked.append(number)
            return 0

        def words(self, number: int) -> np.ndarray:
            raise AssertionError(number)

    for bound in (1, 2, 3, 4, 5, 2**70, 2**70 + 1):
        assert uniform_below(bound, Counting()) == 0
    assert asked == [0, 1, 2, 2, 3, 70, 71]
