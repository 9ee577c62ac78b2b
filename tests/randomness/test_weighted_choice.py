from __future__ import annotations

import math
import time
from collections.abc import Sequence
from decimal import localcontext
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from fim_private.randomness import SeededRandomness
from fim_private.randomness.weighted_choice import WeightedChoice, _cumulated, _exp_interval, _locate
from tests.sampling import FALSE_ALARM, OTHER_WIDTHS, SEED, assert_drawn_from, p_value


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
def test_choices_have_the_law_of_their_weights(counts: list[int], multiplicities: list[int]) -> None:
    rate = Fraction(1, 5)
    choice = WeightedChoice(counts, rate)
    randomness = SeededRandomness(SEED)
    draws = [choice.draw(multiplicities, randomness) for _ in range(20_000)]
    others = OTHER_WIDTHS if sum(number > 0 for number in multiplicities) > 1 else ()
    assert_drawn_from(lambda width: law(counts, multiplicities, float(rate * width)), draws, others)


def test_a_universe_of_any_size_is_exact() -> None:
    # 10^18 itemsets of count 0 against one of count 414: e^{0.1 * 414} is about 10^18, so both are drawn.
    multiplicities = [1, 10**18]
    choice = WeightedChoice([414, 0], Fraction(1, 10))
    randomness = SeededRandomness(SEED)
    draws = [choice.draw(multiplicities, randomness) for _ in range(5_000)]
    assert p_value(draws, law([414, 0], multiplicities, 0.1)) > FALSE_ALARM


class Digits:
    """Not random: the binary digits of a number, and how many were asked for at a time."""

    seed = None

    def __init__(self, number: int, length: int) -> None:
        self.number, self.left, self.asked = number, length, list[int]()

    def bits(self, number: int) -> int:
        self.left -= number
        self.asked.append(number)
        return self.number >> self.left & (1 << number) - 1

    def words(self, number: int) -> NDArray[np.uint64]:
        raise NotImplementedError


@pytest.mark.parametrize("below", [True, False])
def test_bits_are_drawn_until_they_decide_and_none_twice(below: bool) -> None:
    """A number that agrees with the border between two levels in its first 250 digits, and not in the next."""
    with localcontext(prec=150) as context:
        border = int(1 / (1 + context.exp(-1)) * 2**250)
    digits = Digits(border << 400 if below else border + 1 << 400, 650)
    assert WeightedChoice([1, 0], Fraction(1)).draw([1, 1], digits) == (0 if below else 1)
    # 128, two for the sum of two itemsets, 64 beyond; then twice the precision.
    assert digits.asked == [194, 130]


def test_levels_far_apart_take_no_time() -> None:
    choice = WeightedChoice([10**6, 10**3, 5], Fraction(9, 10))
    randomness = SeededRandomness(SEED)
    began = time.perf_counter()
    assert [choice.draw(left, randomness) for left in ([1, 1, 1], [0, 1, 1], [0, 0, 1])] == [0, 1, 2]
    assert time.perf_counter() - began < 1


def test_draws_from_one_top_share_their_weights() -> None:
    choice = WeightedChoice([9, 8, 7], Fraction(1, 3))
    assert choice._weights(0, 128) is choice._weights(0, 128)
    assert choice._weights(1, 128) is not choice._weights(0, 128)


@pytest.mark.parametrize("halves", [1, 20, 43])
@pytest.mark.parametrize("precision", [64, 128])
def test_bounds_hold_to_the_last_digit(halves: int, precision: int) -> None:
    """At e^-x a hair above and below a power of two, where the least error of a digit would show."""
    with localcontext(prec=150) as context:
        ln_2 = Fraction(context.ln(2))
    power = 1 << precision - halves
    for hair in (Fraction(1, 10**100), -Fraction(1, 10**100)):
        low, high = _exp_interval(halves * ln_2 + hair, precision)
        assert power - 3 <= low < power + (hair < 0)
        assert power + 3 >= high > power - (hair > 0)


def test_what_is_below_one_unit_is_known_to_be() -> None:
    for exponent in (Fraction(63), Fraction(65), Fraction(10**9)):
        assert _exp_interval(exponent, 64) == (0, 1)


@given(st.fractions(0, 200), st.sampled_from([64, 128, 301]))
def test_exp_interval_holds_the_exponential(exponent: Fraction, precision: int) -> None:
    low, high = _exp_interval(exponent, precision)
    finer_low, finer_high = _exp_interval(exponent, 3 * precision)
    assert low <= (finer_high >> 2 * precision) + 1
    assert high << 2 * precision >= finer_low
    assert high - low <= 3
    assert math.isclose((low + high) / 2 / 2.0**precision, math.exp(-exponent), rel_tol=1e-12, abs_tol=2.0**-precision)


def test_sums_are_those_of_what_is_left() -> None:
    """Draws from the same share them; an itemset that was taken counts no more."""
    choice = WeightedChoice([9, 8, 7], Fraction(1, 3))
    left, weights = [3, 1, 2], choice._weights(0, 128)
    assert choice._sums(weights, left) is choice._sums(weights, left)
    left[0] -= 1
    assert choice._sums(weights, left) == _cumulated(weights, [2, 1, 2])
    assert choice._sums(choice._weights(0, 256), left) == _cumulated(choice._weights(0, 256), left)


def test_an_undecided_number_is_refused_not_guessed() -> None:
    # Weights in [7, 9] and [7, 9] of some unit: a half might fall on either side.
    weights, half = ([7, 7], [9, 9], 5), 1 << 9
    assert _locate(_cumulated(weights, [1, 1]), half, 10) is None
    assert _locate(_cumulated(weights, [1, 1]), half // 2, 10) == 0
    assert _locate(_cumulated(weights, [1, 1]), half // 2 * 3, 10) == 1
    # An itemset of a level that is not listed may weigh 5 units, so the upper end is open.
    nearly_one = (1 << 10) - 70
    assert _locate(_cumulated(([70, 70], [70, 70], 5), [1, 1]), nearly_one, 10) == 1
    assert _locate(_cumulated(([70, 70], [70, 70], 5), [1, 1, 3]), nearly_one, 10) is None


def test_a_number_at_the_border_belongs_to_one_level() -> None:
    """Two equal weights known exactly and one bit: 0 is all of the first half, 1 all of the second."""
    halves = ([1, 1], [1, 1], 0)
    assert [_locate(_cumulated(halves, [1, 1]), drawn, 1) for drawn in (0, 1)] == [0, 1]
