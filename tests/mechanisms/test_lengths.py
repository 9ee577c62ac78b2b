from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fim_private.counting import LocalDatabase
from fim_private.mechanisms.lengths import BINS, LengthLook, Lengths
from fim_private.mechanisms.measurement import Measurement
from fim_private.privacy import ZCDP
from fim_private.randomness import SeededRandomness
from fim_private.transactions import transactions_from_lists
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
    assert LengthLook(variance=8).loss == ZCDP(1 / 16)  # type: ignore[arg-type]


def test_every_bin_gets_noise() -> None:
    randomness = SeededRandomness(SEED)
    looks = [LengthLook(variance=10**6).add_noise(np.full(len(BINS), 10**5), randomness) for _ in range(3)]
    for one, other in pairwise(looks):
        assert len(one.units) == len(other.units) == len(BINS)
        assert np.all(one.units != other.units)


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
