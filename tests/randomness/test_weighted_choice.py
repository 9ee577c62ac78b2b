from __future__ import annotations

import math
import time
from collections.abc import Sequence
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fim_private.randomness import SeededRandomness
from fim_private.randomness.weighted_choice import WeightedChoice, _exp_interval, _locate
from tests.sampling import FALSE_ALARM, SEED, p_value


def law(counts: Sequence[int], multiplicities: Sequence[int], rate: float) -> dict[int, float]:
    weights = [
        number * math.exp(rate * (count - counts[0])) for count, number in zip(counts, multiplicities, strict=True)
    ]
    return {level: weight / sum(weights) for level, weight in enumerate(weights)}


@pytest.mark.parametrize(
    ("counts", "multiplicities"),
    [
        ([40, 38, 20, 3, 0], [1, 2, 3, 1, 500]),
        ([9], [4]),
        ([30, 29, 0], [0, 1, 10**3]),
        ([9, 4, 1], [1, 0, 7]),
    ],
)
def test_law(counts: list[int], multiplicities: list[int]) -> None:
    rate = Fraction(1, 5)
    choice = WeightedChoice(counts, rate)
    randomness = SeededRandomness(SEED)
    draws = [choice.draw(multiplicities, randomness) for _ in range(20_000)]
    assert p_value(draws, law(counts, multiplicities, float(rate))) > FALSE_ALARM
    if sum(number > 0 for number in multiplicities) > 1:
        assert p_value(draws, law(counts, multiplicities, 0.7 * float(rate))) < FALSE_ALARM
        assert p_value(draws, law(counts, multiplicities, 1.3 * float(rate))) < FALSE_ALARM


def test_a_universe_of_any_size_is_exact() -> None:
    # 10^18 itemsets of count 0 against one of count 414: e^{0.1 * 414} is about 10^18, so both are drawn.
    multiplicities = [1, 10**18]
    choice = WeightedChoice([414, 0], Fraction(1, 10))
    randomness = SeededRandomness(SEED)
    draws = [choice.draw(multiplicities, randomness) for _ in range(5_000)]
    assert p_value(draws, law([414, 0], multiplicities, 0.1)) > FALSE_ALARM


def test_levels_far_apart_take_no_time() -> None:
    choice = WeightedChoice([10**6, 10**3, 5], Fraction(9, 10))
    randomness = SeededRandomness(SEED)
    began = time.perf_counter()
    assert [choice.draw(left, randomness) for left in ([1, 1, 1], [0, 1, 1], [0, 0, 1])] == [0, 1, 2]
    assert time.perf_counter() - began < 1


@given(st.fractions(0, 60), st.sampled_from([64, 128, 301]))
def test_exp_interval_holds_the_exponential(exponent: Fraction, precision: int) -> None:
    low, high = _exp_interval(exponent, precision)
    finer_low, finer_high = _exp_interval(exponent, 3 * precision)
    assert low <= (finer_high >> 2 * precision) + 1
    assert high << 2 * precision >= finer_low
    assert high - low <= 3
    assert math.isclose((low + high) / 2 / 2.0**precision, math.exp(-exponent), rel_tol=1e-12, abs_tol=2.0**-precision)


def test_an_undecided_number_is_refused_not_guessed() -> None:
    # Weights in [7, 9] and [7, 9] of some unit: a half might fall on either side.
    weights, half = ([7, 7], [9, 9], 5), 1 << 9
    assert _locate(weights, [1, 1], half, 10) is None
    assert _locate(weights, [1, 1], half // 2, 10) == 0
    assert _locate(weights, [1, 1], half // 2 * 3, 10) == 1
    # An itemset of a level that is not listed may weigh 5 units, so the upper end is open.
    nearly_one = (1 << 10) - 70
    assert _locate(([70, 70], [70, 70], 5), [1, 1], nearly_one, 10) == 1
    assert _locate(([70, 70], [70, 70], 5), [1, 1, 3], nearly_one, 10) is None


def test_a_number_at_the_border_belongs_to_one_level() -> None:
    """Two equal weights known exactly and one bit: 0 is all of the first half, 1 all of the second."""
    halves = ([1, 1], [1, 1], 0)
    assert [_locate(halves, [1, 1], drawn, 1) for drawn in (0, 1)] == [0, 1]
