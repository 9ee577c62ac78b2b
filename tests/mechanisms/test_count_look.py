"""A look at one count: when there is one, what it costs, what it gives away, and what it decides."""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import replace
from fractions import Fraction
from itertools import combinations, combinations_with_replacement

import numpy as np
import pytest

from fim_private.mechanisms.count_look import CountLook
from fim_private.mechanisms.items_first import USUAL_LENGTHS, ItemsFirst, calibrate
from fim_private.mechanisms.lengths import BINS, Lengths
from fim_private.mechanisms.lifted_exponential import LiftedExponential
from fim_private.mechanisms.protocol import BY_LEVERAGE, COUNTS, ITEMS, PEEL, Request
from fim_private.randomness import SeededRandomness
from fim_private.randomness.discrete_laplace import log_survival

REQUEST = Request(top=20, epsilon=Fraction(1), delta=Fraction(0), sizes=(1, 2, 3), universe_size=166_750, names=100)
PAIRS = replace(REQUEST, sizes=(2,), universe_size=4_950)
BOTH = replace(REQUEST, sizes=(1, 2), universe_size=5_050)


def planned(request: Request = REQUEST) -> ItemsFirst:
    mechanism = calibrate(request).mechanism
    assert isinstance(mechanism, ItemsFirst)
    return mechanism


def look_of(request: Request = REQUEST) -> CountLook:
    look = planned(request).count_look
    assert look is not None
    return look


@pytest.mark.parametrize("sensitivity", [1, 3])
@pytest.mark.parametrize("request_", [REQUEST, PAIRS, replace(PAIRS, top=17), replace(PAIRS, top=100), BOTH])
def test_no_way_costs_more_than_the_budget(request_: Request, sensitivity: int) -> None:
    mechanism = planned(replace(request_, sensitivity=sensitivity))
    assert mechanism.count_look is not None
    looks = mechanism.look.cost + mechanism.count_look.noise.epsilon
    assert mechanism.count_look.noise.epsilon == Fraction(3, 100)
    assert mechanism.count_look.noise.sensitivity == sensitivity
    assert (mechanism.count_look.bins is not None) == (request_ is REQUEST)
    for way in filter(None, (mechanism.count_look.picks, mechanism.count_look.bins)):
        assert looks + sum(loss.epsilon for loss in way.losses) == REQUEST.epsilon
        assert way.sensitivity == sensitivity
    steps = mechanism.spending
    assert sum(step.epsilon or 0 for step in steps) == REQUEST.epsilon
    assert steps[1].epsilon == mechanism.count_look.noise.epsilon


@pytest.mark.parametrize(
    "changes",
    [
        {"select": PEEL},
        {"select": COUNTS},
        {"min_count": 30},
        {"top": 501},
        {"sizes": (1, 5)},
        {"sizes": (0, 1, 2)},
        {"delta": Fraction(1, 10**6)},
    ],
)
def test_for_several_sizes_it_is_taken_without_a_delta_if_nothing_else_is_asked_for(changes: dict[str, object]) -> None:
    assert look_of().place == 20
    assert planned(replace(REQUEST, **changes)).count_look is None


def test_only_in_transactions_of_more_than_two_items_may_it_lead_to_bins() -> None:
    assert look_of().bins is not None
    assert look_of(replace(REQUEST, binned=False)).bins is None
    larger = replace(REQUEST, sizes=(2, 4))
    assert look_of(larger).bins is not None
    assert planned(replace(larger, binned=False)).count_look is None
    assert look_of(BOTH).bins is None
    assert look_of().depth > 1_000_000


@pytest.mark.parametrize(
    ("changes", "looks"),
    [
        ({"top": 7}, False),
        ({"top": 8}, True),
        ({"top": 60}, True),
        ({"top": 61}, True),
        ({"top": 500}, True),
        ({"top": 501}, False),
        ({"sizes": (1,), "universe_size": 100, "top": 15}, False),
        ({"sizes": (1,), "universe_size": 100, "top": 16}, True),
        ({"sizes": (1,), "universe_size": 100, "top": 31}, False),
        ({"sizes": (3,), "universe_size": 161_700, "top": 1}, True),
        ({"sizes": (3,), "universe_size": 161_700, "top": 200}, True),
        ({"sizes": (4,), "universe_size": 3_921_225}, False),
        ({"binned": False}, True),
        ({"select": PEEL}, False),
        ({"min_count": 30}, False),
        ({"by": BY_LEVERAGE}, False),
        ({"delta": Fraction(1, 10**6)}, False),
    ],
)
def test_for_one_size_it_is_where_a_list_is_short_but_not_very(changes: dict[str, object], looks: bool) -> None:
    look = planned(replace(PAIRS, **changes)).count_look
    assert (look is not None) == looks
    assert look is None or look.bins is None


@pytest.mark.parametrize("binned", [False, True])
def test_for_items_and_pairs_it_leads_to_picks_if_units_hold_many_items(*, binned: bool) -> None:
    request = replace(BOTH, binned=binned)
    look = look_of(request)
    assert look.bins is None
    assert (look.picks.universe_size, look.place) == (5050, 20)
    # 6 items have 21 itemsets of one item or two.
    assert look.least_length == pytest.approx(math.sqrt(0.2) * 6)
    for changes in ({"top": 7}, {"top": 501}, {"select": PEEL}, {"min_count": 30}):
        assert planned(replace(request, **changes)).count_look is None


@pytest.mark.parametrize("sensitivity", [1, 2])
def test_picks_follow_where_the_count_stands_out_of_the_whole_list(sensitivity: int) -> None:
    look = look_of(replace(PAIRS, sensitivity=sensitivity))
    assert look.place == 20
    # A pick has 0.94/20 of epsilon, so that ln(4,950) scales are 181. Four fifths are needed, and half a scale of the
    # look's noise, which is 17.
    edge = math.ceil((0.8 * math.log(4950) * 20 / 0.94 + 0.5 / 0.03) * sensitivity)
    assert look.way(edge, USUAL_LENGTHS, 50.0) is look.picks
    assert look.way(edge - 1, USUAL_LENGTHS, 50.0) is None


@pytest.mark.parametrize("sensitivity", [1, 2])
@pytest.mark.parametrize(("size", "noise"), [(2, 1), (3, 2)])
def test_less_is_enough_for_picks_where_first_counts_of_items_are_rough(
    size: int, noise: int, sensitivity: int
) -> None:
    universe = math.comb(100, size)
    look = look_of(replace(PAIRS, sizes=(size,), universe_size=universe, sensitivity=sensitivity))
    bulk, caution = math.log(universe) * 20 / 0.94, 0.5 / 0.03
    for rough, times, cautious in ((0.3, 0.8, 1), (0.35, 0.65, 0), (0.4, 0.5, -1), (3.0, 0.5, -1)):
        edge = math.ceil((times * bulk + cautious * caution) * sensitivity)
        assert look.way(edge + 1, USUAL_LENGTHS, noise * rough * bulk) is look.picks
        assert look.way(edge - 2, USUAL_LENGTHS, noise * rough * bulk) is None


@pytest.mark.parametrize(
    ("sizes", "names", "top"), [((2,), 1_000, 30), ((2,), 70_000, 20), ((3,), 70_000, 20), ((1, 2, 3), 1_000, 20)]
)
def test_the_stated_lead_is_enough_for_either_way(sizes: tuple[int, ...], names: int, top: int) -> None:
    """A count as large as the lead may go to picks, and these need as much themselves."""
    universe = sum(math.comb(names, size) for size in sizes)
    request = replace(REQUEST, sizes=sizes, top=top, names=names, universe_size=universe)
    mechanism = planned(request)
    look = mechanism.count_look
    assert look is not None
    (lead,) = mechanism.margins
    # Rates rise from 0.8 of those in the middle. The others are picked once in twenty at most, by one or by all picks.
    middle = float(request.epsilon - mechanism.look.cost - look.noise.epsilon) / top
    assert lead.of_one >= (math.log(universe) + math.log(19)) / (0.8 * middle)
    rates = [middle * (0.8 + 0.1 * (5 * (2 * place + 1) // (2 * top))) for place in range(top)]
    missed = [math.exp(-rate * lead.counts) / (top - place) for place, rate in enumerate(rates)]
    assert universe * math.fsum(missed) <= 0.052
    assert lead.counts >= replace(mechanism, count_look=None).margins[0].counts
    assert look.way(lead.counts, USUAL_LENGTHS, mechanism.item_deviation(USUAL_LENGTHS)) is look.picks


@pytest.mark.parametrize(("size", "long"), [(2, 7), (3, 6)])
def test_for_a_long_list_of_one_size_it_is_taken_only_if_units_hold_many_items(size: int, long: int) -> None:
    """100 pairs have 15 items at least, and 100 triples 10. If a fifth of all hold the last one, units hold so many."""
    mechanism = planned(replace(PAIRS, sizes=(size,), universe_size=math.comb(100, size), top=100))
    assert mechanism.count_look is not None
    for length, taken in ((long, True), (long - 1, False)):
        given = mechanism.given_lengths(Lengths(np.array([length - 1.0, length + 1.0]), np.array([50.0, 50.0])))
        assert given == (mechanism if taken else replace(mechanism, count_look=None))
        # What the look would have cost goes to the other steps.
        assert sum(step.epsilon or 0 for step in given.spending) == mechanism.budget
    short = planned(PAIRS)
    assert short.given_lengths(Lengths(np.array([1.0]), np.array([100.0]))) is short


def test_the_count_is_compared_with_the_number_of_units() -> None:
    lengths = Lengths(np.array([3.0, 8.0]), np.array([600.0, 400.0]))
    for sensitivity in (1, 2):
        look = look_of(replace(REQUEST, sensitivity=sensitivity))
        assert look.way(350 * sensitivity, lengths, 1.0) is look.bins
        assert look.way(350 * sensitivity - 1, lengths, 1.0) is look.picks
        assert look.way(1_500 * sensitivity, lengths, 1.0) is look.bins
        assert look.way(1_500 * sensitivity + 1, lengths, 1.0) is look.picks
        assert look.way(100 * sensitivity, lengths, 1.0) is None


@pytest.mark.parametrize("sensitivity", [1, 2])
def test_in_dense_data_items_tell_where_picks_are_rough_beside_those_who_lack_the_last_itemset(
    sensitivity: int,
) -> None:
    mechanism = planned(replace(REQUEST, sensitivity=sensitivity))
    look = mechanism.count_look
    assert look is not None
    # A pick has 1/k of epsilon. The deviation of its noise, 1.28 k/epsilon, is 0.08 of so many.
    lacking = math.sqrt(1.64) * mechanism.top / float(REQUEST.epsilon) / 0.08 * sensitivity
    for share in (0.6, 0.9):
        for factor, tell in ((0.99, True), (1.01, False)):
            transactions = factor * lacking / (1 - share) / sensitivity
            lengths = Lengths(np.array([5.0]), np.array([transactions]))
            count = round(share * transactions * sensitivity)
            way = mechanism.going_on(count, lengths)
            if not tell:
                assert way is look.bins
                continue
            assert isinstance(way, ItemsFirst)
            assert (way.select, way.support) == (ITEMS, count)
            assert way.items.measurement.cost <= Fraction(15, 100) * mechanism.budget
    # No itemset is in more transactions than there are.
    assert getattr(mechanism.going_on(1_200 * sensitivity, Lengths(np.array([5.0]), np.array([1e3]))), "select", 0)
    short = Lengths(np.array([5.0]), np.array([1e3]))
    sparse = [mechanism.going_on(count * sensitivity, short) for count in (190, 290)]
    assert sparse[0] == replace(mechanism, support=190.0 * sensitivity)
    assert sparse[1] is look.picks


def test_the_look_for_picks_of_one_size_sees_dense_data_too() -> None:
    lengths = Lengths(np.array([5.0]), np.array([900.0]))
    ways = [planned(PAIRS).going_on(count, lengths) for count in (400, 800)]
    assert isinstance(ways[0], LiftedExponential)
    assert isinstance(ways[1], ItemsFirst)
    assert ways[1].select == ITEMS
    # Noise is not taken for dense data.
    rough = planned(replace(PAIRS, epsilon=Fraction(1, 100)))
    assert [getattr(rough.going_on(count, lengths), "select", None) for count in (400, 800)] == [None, None]
    # One item is no itemset of others.
    items = planned(replace(REQUEST, sizes=(1,), universe_size=100))
    assert isinstance(items.going_on(800, lengths), LiftedExponential)


@pytest.mark.parametrize("sensitivity", [1, 2])
def test_few_larger_itemsets_are_picked_among_the_likely_only_if_the_look_told_them_from_nothing(
    sensitivity: int,
) -> None:
    lengths, held = Lengths(np.array([5.0]), np.array([10_000.0])), Lengths(np.array([2.0]), np.array([10_000.0]))
    mechanism = planned(replace(REQUEST, sizes=(3,), universe_size=161_700, top=15, sensitivity=sensitivity))

    def picks(way: object) -> bool:
        assert isinstance(way, ItemsFirst)
        return way.later(np.full(50, 500.0), lengths, held).pick_epsilon is not None

    # The picks cost what is left of epsilon 1 after the looks and the counts of items. They tell 8 scales from nothing.
    left = 1 - 2 * mechanism.look.cost - Fraction(3, 100) - mechanism.items.measurement.cost
    told = 8 * 15 / float(left) * sensitivity
    assert not picks(mechanism)
    assert not picks(mechanism.going_on(math.floor(told) - 1, lengths))
    assert picks(mechanism.going_on(math.ceil(told) + 1, lengths))
    # Pairs are picked anyway, and of long lists neither.
    pairs = planned(replace(PAIRS, top=15, sensitivity=sensitivity))
    assert picks(pairs.going_on(0, lengths))
    assert not picks(planned(replace(PAIRS, sizes=(3,), universe_size=161_700, top=16)).going_on(95, lengths))


def test_where_no_length_is_clear_nothing_is_dense() -> None:
    """The look at the lengths then takes one unit for all, and any count would be large beside it."""
    looked = planned().look.add_noise(np.zeros(len(BINS), np.int64), SeededRandomness(1))
    assert looked.units.sum() == 1
    look = look_of()
    assert not any(look.way(count, looked, 1.0) is look.bins for count in range(2, 5000))


BASKETS = [frozenset(some) for size in range(4) for some in combinations(range(3), size)]


def count_at(data: tuple[frozenset[int], ...], place: int) -> int:
    """The count of the itemset at this place among those of one to three items; 0 beyond the last."""
    held = Counter(some for basket in data for size in (1, 2, 3) for some in combinations(sorted(basket), size))
    ranked = sorted(held.values(), reverse=True)
    return ranked[place - 1] if place <= len(ranked) else 0


def worst_ratio(units: int, place: int, noise: float) -> float:
    """How much a unit of so many baskets can change the chances of either way, for all data of two baskets, as a log.

    The look is at the count of this place, and decides by any threshold.
    """
    worst = 0.0
    for data in combinations_with_replacement(BASKETS, 2):
        for unit in combinations_with_replacement(BASKETS, units):
            counts = count_at(data, place), count_at((*data, *unit), place)
            for least in range(-3, 6):
                above = [log_survival(least - count, noise) for count in counts]
                below = [math.log(-math.expm1(chance)) for chance in above]
                worst = max(worst, abs(above[0] - above[1]), abs(below[0] - below[1]))
    return worst


@pytest.mark.parametrize("sensitivity", [1, 2])
@pytest.mark.parametrize("place", [1, 2, 4, 7])
def test_the_decision_is_as_private_as_the_look_says_and_no_more(sensitivity: int, place: int) -> None:
    look = look_of(replace(REQUEST, epsilon=Fraction(20), sensitivity=sensitivity))
    epsilon = float(look.noise.epsilon)
    worst = worst_ratio(sensitivity, place, float(look.noise.scale))
    assert worst <= epsilon + 1e-12
    assert worst > 0.9 * epsilon
    # A twin that pays half, as one does that takes a unit of two transactions for one.
    assert worst_ratio(sensitivity, place, float(look.noise.scale) / 2) > 1.5 * epsilon
