from __future__ import annotations

from fractions import Fraction
from itertools import pairwise

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from fim_private.counting import LocalDatabase, count_chosen
from fim_private.mechanisms.lengths import BINS, MORE_BINS, LengthLook, Lengths
from fim_private.mechanisms.measurement import Measurement
from fim_private.privacy import DiscreteGaussian
from fim_private.randomness import Randomness, SeededRandomness
from fim_private.release.door import look_at
from fim_private.transactions.dataset import Transactions
from fim_private.transactions.item_codes import PADDING, transactions_from_lists
from tests.sampling import SEED


def histogram(lengths: list[int]) -> list[int]:
    baskets = [[f"item {item}" for item in range(length)] for length in lengths]
    counted: list[int] = LocalDatabase(transactions_from_lists(baskets)).count_lengths(BINS).tolist()
    return counted


@given(st.lists(st.integers(1, 400), min_size=1, max_size=30), st.integers(1, 400))
def test_one_unit_more_is_in_one_bin(lengths: list[int], further: int) -> None:
    """Sensitivity 1; and the histogram is that of the definition."""
    one, other = histogram(lengths), histogram([*lengths, further])
    assert sorted(np.subtract(other, one).tolist()) == [0] * (len(BINS) - 1) + [1]
    ends = [*BINS.tolist()[1:], 10**9]
    for number, first, end in zip(one, BINS.tolist(), ends, strict=True):
        assert number == sum(first <= length < end for length in lengths)


def test_the_cost_is_that_of_one_number() -> None:
    assert LengthLook(variance=8).loss == DiscreteGaussian(Fraction(1, 16), 8)


@pytest.mark.parametrize("rho", [Fraction(1, 7), Fraction(1, 10**6)])
@pytest.mark.parametrize("sensitivity", [1, 5])
def test_a_look_costs_what_it_may_and_little_less(rho: Fraction, sensitivity: int) -> None:
    look = LengthLook.costing(rho, sensitivity=sensitivity)
    assert look.loss.rho == Fraction(sensitivity**2, 2 * look.variance)
    assert look.loss.gaussian.rho <= rho < Fraction(sensitivity**2, 2 * (look.variance - 4))


@pytest.mark.parametrize("bins", [BINS, MORE_BINS])
def test_every_bin_gets_noise(bins: NDArray[np.int64]) -> None:
    randomness = SeededRandomness(SEED)
    looks = [LengthLook(variance=10**6).add_noise(np.full(len(bins), 10**5), randomness) for _ in range(3)]
    for one, other in pairwise(looks):
        assert len(one.units) == len(other.units) == len(bins)
        assert np.all(one.units != other.units)


class Silent(LengthLook):
    """A look without noise, to see what is looked at."""

    def add_noise(self, counts: NDArray[np.int64], randomness: Randomness) -> Lengths:
        return Lengths(MORE_BINS.astype(float), counts.astype(float))


@given(
    st.lists(st.lists(st.sets(st.integers(0, 5), min_size=1), min_size=1, max_size=3), max_size=6),
    st.lists(st.sets(st.integers(0, 5), min_size=1), min_size=1, max_size=3),
)
def test_a_unit_is_in_as_many_bins_as_it_has_transactions(units: list[list[set[int]]], further: list[set[int]]) -> None:
    """The look at how many of the counted itemsets transactions hold: at most Delta, and by the definition."""
    itemsets = [(item, PADDING) for item in range(6)] + [(0, 1), (2, 5), (3, 4)]

    def seen(baskets: list[set[int]]) -> NDArray[np.float64]:
        offsets = np.cumsum([0, *map(len, baskets)])
        items = np.array([item for basket in baskets for item in sorted(basket)], np.int32)
        data = Transactions(offsets=offsets, items=items, vocabulary=pl.Series([f"{item}" for item in range(6)]))
        chosen = count_chosen(data, np.array(itemsets, np.int32), np.ones(30, np.int64))
        return look_at(chosen, Silent(variance=1), SeededRandomness(SEED)).units

    before = [basket for unit in units for basket in unit]
    one, other = seen(before), seen([*before, *further])
    assert np.linalg.norm(other - one) <= len(further)
    held = [sum({item for item in itemset if item >= 0} <= basket for itemset in itemsets) for basket in before]
    ends = [*MORE_BINS.tolist()[1:], 10**9]
    assert one.tolist() == [
        sum(first <= number < end for number in held) for first, end in zip(MORE_BINS.tolist(), ends, strict=True)
    ]


def test_bins_of_noise_alone_are_left_out() -> None:
    counts = np.zeros(len(BINS), np.int64)
    counts[4:7] = 50_000
    seen = LengthLook(variance=10_000).add_noise(counts, SeededRandomness(SEED))
    assert len(seen.lengths) == 3
    assert BINS[4] <= seen.lengths.min() <= seen.lengths.max() < BINS[7]
    nothing = LengthLook(variance=10_000).add_noise(np.zeros(len(BINS), np.int64), SeededRandomness(SEED))
    assert nothing.lengths.tolist() == [10]


@given(st.integers(1, 300), st.integers(1, 50))
def test_the_weight_is_that_of_a_measurement(length: int, full: int) -> None:
    """One length alone: what a unit of that length adds to each of its items, before rounding."""
    expected = Lengths(np.array([float(length)]), np.ones(1)).weight(full)
    table = Measurement(full=full, resolution=64, variance=1).weights
    assert expected == pytest.approx(table[min(length, len(table) - 1)] / 64, abs=1 / 64)


def test_longer_units_are_served_by_picks() -> None:
    """A noisy count gets worse where units hold many of the tokens; a pick does not."""
    worth = [Lengths(np.array([length]), np.ones(1)).picks_worth((2,)) for length in (3.0, 10.0, 60.0)]
    assert worth == sorted(worth)
    assert worth[0] < 10 < worth[2]
    assert Lengths(np.array([1.0]), np.ones(1)).weight(1, (2,)) == 1  # no unit holds a pair
