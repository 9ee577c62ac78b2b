from __future__ import annotations

from fractions import Fraction

import pytest

from fim_private.randomness import SeededRandomness
from tests.sampling import SEED
from verification.floating_point import can_be, demonstrate, float_laplace


@pytest.mark.parametrize("epsilon", [Fraction(1), Fraction(1, 10)])
def test_float_noise_gives_the_count_away_and_exact_noise_never(epsilon: Fraction) -> None:
    """Seeded draws decide about 62 % of the releases. Of 1,000, a third or less is 19 standard deviations away."""
    floating, exact = demonstrate(1000, SeededRandomness(SEED), epsilon=epsilon)
    assert floating.share > 1 / 3
    assert floating.wrong == 0
    assert (exact.decided, exact.wrong) == (0, 0)


def test_the_true_count_is_always_possible() -> None:
    randomness = SeededRandomness(SEED)
    for count in (0, 1, 7, 100):
        assert all(can_be(count + float_laplace(2.0, randomness), count, 2.0) for _ in range(100))


def test_what_no_noise_makes_is_impossible() -> None:
    assert not can_be(40.5 * 2, 0, 1.0)  # beyond -ln of the smallest uniform number
