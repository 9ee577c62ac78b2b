"""Counts of items alone: what their itemsets reach, and what picks of items favour. More is in test_items_first.py."""

from __future__ import annotations

import math
from dataclasses import replace
from fractions import Fraction
from itertools import combinations

import numpy as np
import pytest

from fim_private.counting.local.chosen_counts import ChosenCounts
from fim_private.mechanisms.exponential import Exponential
from fim_private.mechanisms.items_first import calibrate
from fim_private.mechanisms.lacking_items import favour, with_counts_of_lacking
from fim_private.mechanisms.later_steps import LaterSteps
from fim_private.mechanisms.protocol import Request

REQUEST = Request(top=10, epsilon=Fraction(1), delta=Fraction(1, 10**6), sizes=(1, 2))


@pytest.mark.parametrize("seed", range(40))
def test_more_items_are_picked_where_the_itemsets_of_few_do_not_reach_the_support(seed: int) -> None:
    generator = np.random.default_rng(seed)
    sizes = tuple(sorted({1, *generator.integers(1, 5, 2).tolist()}))
    asked = calibrate(replace(REQUEST, top=int(generator.integers(5, 40)), sizes=sizes)).mechanism.asked
    supports = np.sort(generator.random(60) * 1_100)[::-1]
    steps = LaterSteps(transactions=1_000.0, item_deviation=20.0, tokens=60, candidates=9)
    few = min(60, math.ceil(1.3 * asked.barely_enough))
    shares = np.minimum(1.0, supports[:few] / 1_000)
    products = sorted(math.prod(some) for size in sizes for some in combinations(shares.tolist(), size))
    reached = 1_000 * products[-asked.top] if len(products) >= asked.top else 0.0
    for support in (reached - 1, reached + 1):
        picked = with_counts_of_lacking(replace(asked, support=support), steps, Fraction(1, 100), supports)
        assert picked.items is not None
        may = np.count_nonzero(supports >= support - 20)
        assert picked.items.top == (few if support < reached else max(few, may))


def test_items_are_picked_by_both_counts_weighted_by_their_precision() -> None:
    """The noise of a pick has the variance 1.64 scale^2. Four times that in the first counts weighs a quarter."""
    picks = Exponential(top=3, pick_epsilon=Fraction(1, 100), universe_size=4, sensitivity=2)
    added = favour(picks, np.array([4_000.0, 400.0, 2.0]), 2 * math.sqrt(1.64) * 200)
    assert added.tolist() == [1_000, 100, 0]


@pytest.mark.parametrize("counts", [[1e100, 5.0, 0.0, -1e100], [math.inf, math.nan, 1e19, -math.inf]])
def test_what_is_added_to_counts_never_makes_a_sum_wrap_around(counts: list[float]) -> None:
    """Where sums of 64 bits wrap around, one unit moves a pick from certain to hopeless."""
    picks = Exponential(top=2, pick_epsilon=Fraction(1, 10**9), universe_size=4, sensitivity=10**6)
    added = favour(picks, np.array(counts), 1.0)
    one, more = (ChosenCounts(itemsets=np.zeros((4, 1), np.int32), totals=added * 0 + held) for held in (0, 2**60))
    moved = more.plus(added).vector() - one.plus(added).vector()
    assert moved.tolist() == [2**60] * 4
    assert all((more.plus(added).vector() > added).tolist())
