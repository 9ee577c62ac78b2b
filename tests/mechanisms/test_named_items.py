"""Items that their first counts name: the claim on all small data, the law of the steps, when it is done."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from functools import cache
from itertools import combinations, product
from statistics import NormalDist

import numpy as np
import pytest

from fim_private.accounting.claim import claimed_delta
from fim_private.accounting.gaussian_composition import gaussian_rho
from fim_private.audit.laws import NUMERICAL_ERROR, hockey_stick, law_over_itemsets
from fim_private.counting import LocalDatabase
from fim_private.mechanisms.exponential import Exponential
from fim_private.mechanisms.items_first import ItemsFirst, calibrate
from fim_private.mechanisms.itemset_picks import favour_of
from fim_private.mechanisms.lengths import Lengths
from fim_private.mechanisms.measurement import Measurement
from fim_private.mechanisms.named_items import NamedItems
from fim_private.mechanisms.protocol import BY_LEVERAGE, COUNTS, PEEL, Law, Request
from fim_private.mechanisms.weighted_gaussian import threshold_of
from fim_private.mining import items_first_steps, stepwise
from fim_private.privacy import OneSidedFailure
from fim_private.randomness import SeededRandomness
from fim_private.randomness.discrete_gaussian import discrete_gaussian_mass
from tests.counting.local.test_basis_bins import transactions_of
from tests.mechanisms.test_weighted_gaussian import EPSILONS, ITEMS, Data, neighbours
from tests.sampling import FALSE_ALARM, SEED, p_value

F = Fraction
REQUEST = Request(top=10, epsilon=F(1), delta=F(1, 10**6), sizes=(1,))
Found = tuple[tuple[int, int], ...]
"""The items that were named, and their noisy sums."""
Favour = Callable[[Found], list[int]]
"""What is added to the counts of their itemsets, from these sums."""


def made(
    resolution: int, variance: int, *, failure: Fraction, full: int = 1, threshold: int | None = None
) -> NamedItems:
    measurement = Measurement(full=full, resolution=resolution, variance=variance)
    least = threshold_of(measurement, failure) if threshold is None else threshold
    return NamedItems(measurement=measurement, names=ITEMS, listed=True, threshold=least, failure=failure)


def picked(sensitivity: int, pick_epsilon: Fraction) -> Exponential:
    return Exponential(top=1, pick_epsilon=pick_epsilon, universe_size=ITEMS, sensitivity=sensitivity)


def sums_of(items: NamedItems, data: Data) -> list[int]:
    """The weighted sum of each item, by unit."""
    sums = [0] * ITEMS
    for unit in data:
        held = frozenset[int]().union(*unit)
        for item in held:
            sums[item] += items.measurement.added(len(held))
    return sums


def law_of(items: NamedItems, picks: Exponential, size: int, data: Data, favour: Favour, *, true: bool = False) -> Law:
    """The exact law of the noisy sums of the items that are named, and of the picks, which go by both.

    Args:
        items: how they are named.
        picks: how itemsets of them are picked.
        size: items per itemset.
        data: what is counted.
        favour: what the noisy sums add to the counts.
        true: a mistake: it adds what the true sums say.
    """
    sums = sums_of(items, data)
    occurring = [item for item, total in enumerate(sums) if total]
    reach = 5 * math.isqrt(items.measurement.variance) + 1
    noise = range(-reach, reach + 1)
    mass = discrete_gaussian_mass(np.array(noise), float(items.measurement.variance)).tolist()
    each: list[list[tuple[tuple[int, int] | None, float]]] = []
    for item in occurring:
        kept: list[tuple[tuple[int, int] | None, float]] = []
        missed = 0.0
        for shift, chance in zip(noise, mass, strict=True):
            if sums[item] + shift >= items.threshold:
                kept.append(((item, sums[item] + shift), chance))
            else:
                missed += chance
        each.append([(None, missed), *kept])
    baskets = [basket for unit in data for basket in unit]
    law: Law = {}
    for outcome in product(*each):
        found = tuple(seen for seen, _ in outcome if seen is not None)
        chance = math.prod(probability for _, probability in outcome)
        itemsets = list(combinations([item for item, _ in found], size))
        added = favour(tuple((item, sums[item]) for item, _ in found) if true else found)
        scores = [
            sum(set(itemset) <= basket for basket in baskets) + more
            for itemset, more in zip(itemsets, added, strict=True)
        ]
        chosen = {(): 1.0}
        if itemsets:
            chosen = law_over_itemsets(replace(picks, universe_size=len(itemsets)), scores, declared=True)
        for ranks, probability in chosen.items():
            names = (item for rank in ranks for item in itemsets[rank])
            shown = (*(number for pair in found for number in pair), -1, *names)
            law[shown] = law.get(shown, 0.0) + chance * probability
    return law


def twice_the_sums(size: int) -> Favour:
    return lambda found: [2 * sum(noisy for _, noisy in some) for some in combinations(found, size)]


def worst_share(items: NamedItems, picks: Exponential, size: int, most: int) -> float:
    """The largest part of the claim that some neighbours of up to `most` units and one more make use of."""
    losses, failures = (items.measurement.loss, *picks.losses), (OneSidedFailure(items.failure),)
    claimed = [claimed_delta(losses, failures, epsilon) for epsilon in EPSILONS]
    law = cache(lambda data: law_of(items, picks, size, data, twice_the_sums(size)))
    worst = 0.0
    for fewer, more in neighbours(picks.sensitivity, most):
        for one, other in ((law(fewer), law(more)), (law(more), law(fewer))):
            found = hockey_stick(one, other, EPSILONS).tolist()
            # The noise beyond five deviations is left out.
            worst = max(
                worst, *(each / (bound + NUMERICAL_ERROR + 1e-5) for each, bound in zip(found, claimed, strict=True))
            )
    return worst


@pytest.mark.parametrize(
    ("size", "sensitivity", "most", "full", "failure"),
    [
        (1, 1, 2, 1, F(1, 20)),
        (2, 1, 2, 1, F(1, 20)),
        (2, 2, 1, 1, F(1, 20)),
        pytest.param(1, 1, 2, 2, F(1, 4), marks=pytest.mark.slow),
        pytest.param(2, 2, 1, 2, F(1, 4), marks=pytest.mark.slow),
    ],
)
def test_named_items_are_a_list_for_picks_by_the_noisy_sums(
    size: int, sensitivity: int, most: int, full: int, failure: Fraction
) -> None:
    """Items are named by what units hold, once each, and itemsets of them picked by what transactions hold."""
    items, picks = made(1, 4, full=full, failure=failure), picked(sensitivity, F(3, 10))
    assert 0.05 < worst_share(items, picks, size, most) <= 1
    low = replace(items, threshold=items.threshold - 2)
    assert worst_share(low, picks, size, most) > 1


def test_true_sums_are_told_from_noisy_ones() -> None:
    quiet, picks = made(1, 100, failure=F(1, 20), threshold=2), picked(1, F(3))
    honest = claimed_delta((quiet.measurement.loss, *picks.losses), (), 3.0)
    crowd: Data = ((frozenset({0}),),) * 3 + ((frozenset({1}),),) * 3
    laws = [
        law_of(quiet, picks, 1, data, lambda found: [9 * total for _, total in found], true=True)
        for data in (crowd, (*crowd, (frozenset({0}),)))
    ]
    assert max(hockey_stick(laws[0], laws[1], [3.0])[0], hockey_stick(laws[1], laws[0], [3.0])[0]) > 2 * honest


@pytest.mark.slow
def test_the_steps_have_the_exact_law() -> None:
    small = made(2, 12, full=2, failure=F(1, 5))
    mechanism = replace(calibrate(replace(REQUEST, top=2)).mechanism, test_delta=None, items=small, budget=F(1))
    assert isinstance(mechanism, ItemsFirst)
    baskets = [frozenset({0, 1})] * 6 + [frozenset({0, 1, 2})] * 5 + [frozenset({2})] * 3
    lengths = Lengths(np.array([2.0]), np.array([14.0]))
    pick_epsilon = mechanism.later(np.ones(2), lengths, lengths).pick_epsilon
    assert pick_epsilon is not None

    def favour(found: Found) -> list[int]:
        noisy = np.array([total for _, total in found], np.float64)
        order = np.argsort(-noisy, kind="stable")
        added = np.empty(len(found), np.int64)
        weight, measurement = lengths.weight(small.measurement.full), small.measurement
        added[order] = favour_of(
            mechanism.asked,
            pick_epsilon,
            np.log(noisy[order] / measurement.resolution / weight),
            np.full(len(found), measurement.deviation / weight),
        )
        return added.tolist()

    data = tuple((basket,) for basket in baskets)
    expected: Law = {}
    for shown, chance in law_of(small, mechanism.picks(pick_epsilon, ITEMS), 1, data, favour).items():
        named = shown[shown.index(-1) + 1 :]
        expected[named] = expected.get(named, 0.0) + chance
    database, randomness = LocalDatabase(transactions_of(baskets)), SeededRandomness(SEED)
    drawn = []
    for _ in range(4000):
        outcome = items_first_steps.run(database, mechanism, randomness, looked=(database, lengths))
        drawn.append(tuple(outcome.itemsets[:, 0].tolist()))
        assert outcome.counts is None
        if len(outcome.itemsets):
            assert sorted(outcome.found.codes.tolist()) == sorted(drawn[-1])
            assert np.all(np.diff(outcome.found.counts) <= 0)
            assert outcome.found.counts.min() >= small.threshold / small.measurement.resolution
    assert p_value(drawn, expected) > FALSE_ALARM
    other: Law = {}
    for shown, chance in law_of(small, mechanism.picks(9 * pick_epsilon, ITEMS), 1, data, favour).items():
        named = shown[shown.index(-1) + 1 :]
        other[named] = other.get(named, 0.0) + chance
    assert p_value(drawn, other) < FALSE_ALARM


def long_baskets(length: float) -> Lengths:
    return Lengths(np.array([float(length)]), np.array([1000.0]))


@pytest.mark.parametrize(
    "changes",
    [
        {},
        {"sizes": (2,)},
        {"sizes": (2,), "by": BY_LEVERAGE},
        {"sizes": (1, 2, 3)},
        {"sizes": (3,), "select": PEEL},
        {"select": COUNTS},
        {"min_count": 100},
        {"sensitivity": 2},
    ],
)
def test_short_baskets_need_no_test_of_names(changes: dict[str, object]) -> None:
    mechanism = calibrate(replace(REQUEST, **changes)).mechanism
    for length, named in ((3, True), (10, True), (30, False), (60, False)):
        way = mechanism.naming(long_baskets(length))
        assert (way is not None) == named
        if way is not None:
            steps = way.later(np.full(90, 500.0), long_baskets(length), long_baskets(2))
            assert steps.certificate is None
            assert way.failures == mechanism.failures
            assert way.public_names is None
        later = mechanism.later(np.full(90, 500.0), long_baskets(length), long_baskets(2))
        assert later.certificate is not None


@pytest.mark.parametrize("changes", [{"universe_size": 1000}, {"universe_size": 1000, "delta": F(0)}])
def test_a_public_list_needs_no_names(changes: dict[str, object]) -> None:
    mechanism = calibrate(replace(REQUEST, **changes)).mechanism
    assert mechanism.naming(long_baskets(3)) is None


def spent(way: ItemsFirst, lengths: Lengths) -> float:
    """The rho of all steps where picks follow, and nothing is counted before them."""
    later = way.later(np.full(90, 500.0), lengths, lengths)
    assert later.pick_epsilon is not None
    assert later.pairs is None
    picks = way.picks(later.pick_epsilon, 90)
    return gaussian_rho([way.look.loss, way.look.loss, way.items.measurement.loss, *picks.losses])


@pytest.mark.parametrize("top", [1, 10, 300])
@pytest.mark.parametrize("epsilon", [F(1, 1000), F(1, 10), F(1), F(20)])
def test_no_more_than_rho_is_spent_and_no_more_than_the_failure_risked(top: int, epsilon: Fraction) -> None:
    mechanism = calibrate(replace(REQUEST, top=top, epsilon=epsilon)).mechanism
    for length in (1, 5, 10):
        way = mechanism.naming(long_baskets(length))
        assert way.items.failure == mechanism.test_delta
        assert way.top == top
        assert F(9, 10) * mechanism.budget < spent(way, long_baskets(length)) <= mechanism.budget * F(1 + 1e-8)
    assert sum(line.rho or 0 for line in mechanism.spending) == mechanism.budget


@pytest.mark.parametrize("select", [None, COUNTS])
@pytest.mark.parametrize("sizes", [(1,), (1, 2), (2,)])
def test_the_longest_list_leaves_enough_for_the_later_steps(sizes: tuple[int, ...], select: str | None) -> None:
    """Counts of single items need as much for k = 10,000 as for any other."""
    shares = []
    for top in (10, 10_000):
        mechanism = calibrate(replace(REQUEST, top=top, sizes=sizes, select=select)).mechanism
        way = mechanism.naming(long_baskets(5))
        later = way.later(np.full(2_000, 500.0), long_baskets(5), long_baskets(5))
        paid = later.itemsets.cost / mechanism.budget if later.itemsets is not None else later.pick_epsilon
        shares.append(float(paid))
    assert all(share > 0 for share in shares)
    if select == COUNTS:
        assert shares[1] == pytest.approx(shares[0], rel=0.5)
        assert min(shares) > 0.1


def test_the_more_the_support_stands_out_the_less_it_takes_to_name_items() -> None:
    """At any support for the same price or less. The larger the itemsets, the more frequent are their items."""
    shares = {}
    for sizes in ((1,), (1, 2), (2,), (3,)):
        mechanism = calibrate(replace(REQUEST, sizes=sizes)).mechanism
        paid = [
            replace(mechanism, support=support).naming(long_baskets(5)).items.measurement.cost / mechanism.budget
            for support in (1e6, 300.0, 100.0, 30.0, 1.0)
        ]
        shares[sizes] = [float(share) for share in paid]
        assert all(0.1 < share < 0.95 for share in shares[sizes])
    for sizes in ((1, 2), (2,)):
        assert shares[sizes] == sorted(shares[sizes])
        assert shares[sizes][0] < 0.2
        assert shares[sizes][-1] > 0.7
    assert shares[1, 2][1] > 1.4 * shares[2,][1]
    for sizes in ((1,), (3,)):
        assert max(shares[sizes]) < 1.01 * min(shares[sizes])


def test_units_count_the_more_the_further_the_items_stand_out_of_the_noise() -> None:
    """At any support for the same price. Small supports take the least noise, however much long units lose by it."""
    mechanism = calibrate(REQUEST).mechanism
    lengths = Lengths(np.array([1.0, 4.0, 40.0]), np.array([600.0, 300.0, 100.0]))

    def measured(support: float | None) -> tuple[int, float]:
        way = replace(mechanism, support=support).naming(lengths)
        assert F(9, 10) * mechanism.budget < spent(way, lengths) <= mechanism.budget * F(1 + 1e-8)
        return way.items.measurement.full, way.item_deviation(lengths)

    fulls = [measured(support)[0] for support in (0.0, 100.0, 200.0, 1e3, 1e4, 1e6)]
    assert fulls == sorted(fulls)
    assert fulls[-1] == 64
    assert len(set(fulls)) > 3
    deviations = {}
    for power in range(8):
        each = Measurement.costing(float(mechanism.budget), full=2**power, sensitivity=1)
        deviations[2**power] = each.deviation / lengths.weight(each.full)
    assert fulls[0] == min(deviations, key=lambda full: deviations[full])
    # Whatever is chosen beyond that, the items asked for stand far out of the noise.
    for support in (100.0, 200.0, 1e3, 1e4):
        full, deviation = measured(support)
        assert full == fulls[0] or support >= 7.5 * deviation
    assert measured(None)[0] == round(2 * (2 * float(REQUEST.epsilon)) ** 1.5)


@pytest.mark.parametrize("epsilon", [F(1, 10**6), F(1, 1000), F(1, 500), F(1, 10), F(1), F(20)])
def test_an_item_in_as_many_baskets_of_ten_as_are_said_is_found_19_times_in_20(epsilon: Fraction) -> None:
    """At small epsilons too: whole units must not be so coarse that such baskets round down to nothing."""
    mechanism = calibrate(replace(REQUEST, epsilon=epsilon)).mechanism
    items = mechanism.naming(long_baskets(10)).items
    total = mechanism.support_needed * items.measurement.added(10)
    missing = (items.threshold - total) / math.sqrt(items.measurement.variance)
    assert NormalDist().cdf(-missing) == pytest.approx(0.95, abs=0.02)
    assert items.measurement.added(40) > 0


def test_only_items_that_occur_and_reach_the_threshold_are_named_in_the_order_of_their_counts() -> None:
    items = made(4, 1, failure=F(1, 100))
    counts = np.array([0, 400, items.threshold - 20, 300, 0, 400 + 40])
    places, noisy = items.find(counts, SeededRandomness(SEED))
    assert places.tolist() == [5, 1, 3]
    assert np.all(np.diff(noisy) < 0)
    assert np.all(np.abs(noisy - counts[places]) < 8)


@pytest.mark.parametrize("sizes", [(1,), (2,), (3,), (1, 2, 3)])
def test_of_no_data_nothing_is_named_and_both_ways_are_rehearsed(sizes: tuple[int, ...]) -> None:
    mechanism = calibrate(replace(REQUEST, sizes=sizes)).mechanism
    nobody = LocalDatabase(transactions_of([]))
    assert len(stepwise.run(nobody, mechanism, SeededRandomness(SEED)).itemsets) == 0
    ways = [way.naming(long_baskets(3)) is not None for way in mechanism.loud(9)]
    assert True in ways
    assert False in ways
