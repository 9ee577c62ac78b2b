from __future__ import annotations

from itertools import combinations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fim_private.comparison.measures import Truth
from fim_private.profile import CountProfile


def truth(counts: list[int], top: int) -> Truth:
    return Truth.of(CountProfile.of(counts), top)


def test_a_perfect_list_loses_nothing() -> None:
    found = truth([9, 7, 4, 1], 3).measure([9, 7, 4])
    assert (found.precision, found.precision_named, found.false_negative_rate) == (1, 1, 0)
    assert found.rank_loss == pytest.approx(0)
    assert found.count_loss == pytest.approx(0)
    assert (found.empty, found.shortfall) == (False, 0)


def test_a_list_with_one_wrong_itemset_has_the_figures_worked_by_hand() -> None:
    """Top 3 of (9, 7, 4, 1), named 7, 1, 4: place 1 is missed, which weighs 1 of 1 + 1/log2 3 + 1/2."""
    found = truth([9, 7, 4, 1], 3).measure([7, 1, 4])
    assert found.precision == pytest.approx(2 / 3)
    assert found.false_negative_rate == pytest.approx(1 / 2)
    assert found.rank_loss == pytest.approx(1 / (1 + 0.6309297535714575 + 0.5))
    assert found.count_loss == pytest.approx(9 / 20)
    assert found.shortfall == 2


def test_an_empty_list_misses_everything() -> None:
    found = truth([9, 7, 4, 1], 3).measure([])
    assert (found.precision, found.precision_named, found.false_negative_rate, found.empty) == (0, None, 1, True)
    assert found.rank_loss == pytest.approx(1)
    assert found.count_loss == pytest.approx(1)
    assert found.shortfall is None


def test_ties_at_the_last_place_stand_for_one_another() -> None:
    assert truth([9, 4, 4, 4], 2).measure([4, 9]).precision == 1
    assert truth([9, 4, 4, 4], 2).measure([4, 4]).precision == 0.5
    assert truth([4, 4, 4], 2).measure([4, 4]).false_negative_rate == 0


def test_what_does_not_occur_is_never_right() -> None:
    assert truth([5], 3).measure([5, 0, 0]).precision == pytest.approx(1 / 3)
    assert truth([5, 3], 1).measure([None]).precision == 0
    assert truth([5, 3], 1).measure([None]).shortfall is None


@given(st.lists(st.integers(1, 6), min_size=1, max_size=6), st.data())
def test_precision_is_the_best_overlap_with_a_true_top(counts: list[int], data: st.DataObject) -> None:
    top = data.draw(st.integers(1, len(counts)))
    named = data.draw(st.lists(st.sampled_from(range(len(counts))), unique=True, max_size=top))
    bar = sorted(counts, reverse=True)[top - 1]
    tops = [
        set(chosen)
        for chosen in combinations(range(len(counts)), top)
        if sorted(counts[place] for place in chosen) == sorted(counts, reverse=True)[:top][::-1]
    ]
    overlap = max(len(chosen & set(named)) for chosen in tops)
    found = truth(counts, top).measure([counts[place] for place in named])
    assert found.precision == pytest.approx(overlap / top)
    above = {place for place, count in enumerate(counts) if count > bar}
    missed = len(above - set(named)) / len(above) if above else 0
    assert found.false_negative_rate == pytest.approx(missed)
    assert 0 <= found.rank_loss <= 1
    assert 0 <= found.count_loss <= 1


def test_released_counts_are_off_by_their_median_relative_error() -> None:
    truth = Truth.of(CountProfile.of([100, 50, 20]), 3)
    assert truth.measure([100, 50, None, 20], [110.0, 45.0, 7.0, 20.0]).count_error == pytest.approx(0.1)
    assert truth.measure([100, 50]).count_error is None
    assert truth.measure([], []).count_error is None
