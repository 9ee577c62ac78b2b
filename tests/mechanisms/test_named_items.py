"""Single items that their first counts name: the claim on all small data, the law of the steps, when it is done."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from functools import cache
from itertools import product
from statistics import NormalDist

import numpy as np
import pytest

from fim_private.accounting.claim import claimed_delta
from fim_private.accounting.gaussian_composition import gaussian_rho
from fim_private.audit.laws import NUMERICAL_ERROR, hockey_stick, law_over_itemsets
from fim_private.counting import LocalDatabase
from fim_private.mechanisms.items_first import USUAL_LENGTHS, ItemsFirst, calibrate
from fim_private.mechanisms.itemset_picks import favour_of
from fim_private.mechanisms.lengths import Lengths
from fim_private.mechanisms.measurement import Measurement
from fim_private.mechanisms.protocol import COUNTS, Law, Request
from fim_private.mechanisms.weighted_gaussian import WeightedGaussian
from fim_private.mining import stepwise
from fim_private.mining.items_first_steps import _picked_of_found
from fim_private.randomness import SeededRandomness
from fim_private.randomness.discrete_gaussian import discrete_gaussian_mass
from tests.counting.local.test_basis_bins import transactions_of
from tests.mechanisms.test_weighted_gaussian import EPSILONS, Data, made, neighbours, sums_and_counts
from tests.sampling import FALSE_ALARM, SEED, p_value

F = Fraction
REQUEST = Request(top=10, epsilon=F(1), delta=F(1, 10**6), sizes=(1,))
Favour = Callable[[tuple[tuple[int, int], ...]], list[int]]
"""What is added to the counts of the items that were found, from their noisy sums."""


def law_of(mechanism: WeightedGaussian, data: Data, favour: Favour, *, true_sums: bool = False) -> Law:
    """The exact law of the noisy sums of the items that are found, and of the picks, which go by both.

    Args:
        mechanism: the histogram and the picks.
        data: what is counted.
        favour: what the noisy sums add to the counts.
        true_sums: a mistake: it adds what the true sums say.
    """
    sums, counts = sums_and_counts(mechanism, data)
    occurring = [at for at, total in enumerate(sums) if total]
    reach = 5 * math.isqrt(mechanism.measurement.variance) + 1
    noise = range(-reach, reach + 1)
    mass = discrete_gaussian_mass(np.array(noise), float(mechanism.measurement.variance)).tolist()
    each: list[list[tuple[tuple[int, int] | None, float]]] = []
    for at in occurring:
        kept: list[tuple[tuple[int, int] | None, float]] = []
        missed = 0.0
        for shift, chance in zip(noise, mass, strict=True):
            if sums[at] + shift >= mechanism.threshold:
                kept.append(((at, sums[at] + shift), chance))
            else:
                missed += chance
        each.append([(None, missed), *kept])
    law: Law = {}
    for outcome in product(*each):
        found = tuple(seen for seen, _ in outcome if seen is not None)
        chance = math.prod(probability for _, probability in outcome)
        added = favour(tuple((at, sums[at]) for at, _ in found) if true_sums else found)
        scores = [counts[at] + more for (at, _), more in zip(found, added, strict=True)]
        picked = law_over_itemsets(mechanism.picks(len(found)), scores, declared=True) if found else {(): 1.0}
        for picks, probability in picked.items():
            shown = (*(number for pair in found for number in pair), -1, *(found[pick][0] for pick in picks))
            law[shown] = law.get(shown, 0.0) + chance * probability
    return law


def twice_the_sum(found: tuple[tuple[int, int], ...]) -> list[int]:
    return [2 * noisy for _, noisy in found]


def worst_share(mechanism: WeightedGaussian, *, true_sums: bool) -> float:
    claimed = [claimed_delta(mechanism.losses, mechanism.failures, epsilon) for epsilon in EPSILONS]
    law = cache(lambda data: law_of(mechanism, data, twice_the_sum, true_sums=true_sums))
    worst = 0.0
    for fewer, more in neighbours(1, 2):
        for one, other in ((law(fewer), law(more)), (law(more), law(fewer))):
            found = hockey_stick(one, other, EPSILONS).tolist()
            # The noise beyond five deviations is left out.
            worst = max(
                worst, *(each / (bound + NUMERICAL_ERROR + 1e-5) for each, bound in zip(found, claimed, strict=True))
            )
    return worst


@pytest.mark.parametrize(("full", "failure"), [(1, F(1, 20)), pytest.param(2, F(1, 4), marks=pytest.mark.slow)])
def test_picks_may_go_by_the_noisy_sums_but_not_by_the_true_ones(full: int, failure: Fraction) -> None:
    mechanism = made(1, 4, full=full, failure=failure, sizes=(1,), pick_epsilon=F(3, 10))
    assert 0.05 < worst_share(mechanism, true_sums=False) <= 1
    quiet = made(1, 100, full=full, failure=failure, sizes=(1,), pick_epsilon=F(3), threshold=2)
    honest = claimed_delta(quiet.losses, (), 3.0)
    crowd: Data = ((frozenset({0}),),) * 3 + ((frozenset({1}),),) * 3
    laws = [
        law_of(quiet, data, lambda found: [9 * total for _, total in found], true_sums=True)
        for data in (crowd, (*crowd, (frozenset({0}),)))
    ]
    assert max(hockey_stick(laws[0], laws[1], [3.0])[0], hockey_stick(laws[1], laws[0], [3.0])[0]) > 2 * honest


@pytest.mark.slow
def test_the_steps_have_the_exact_law() -> None:
    mechanism = calibrate(replace(REQUEST, top=2)).mechanism
    assert isinstance(mechanism, ItemsFirst)
    small = made(2, 12, full=2, top=2, sizes=(1,), failure=F(1, 5))
    baskets = [frozenset({0, 1})] * 6 + [frozenset({0, 1, 2})] * 5 + [frozenset({2})] * 3
    lengths = Lengths(np.array([2.0]), np.array([14.0]))
    weight = lengths.weight(small.measurement.full)

    def favour(found: tuple[tuple[int, int], ...]) -> list[int]:
        noisy = np.array([total for _, total in found], np.float64)
        order = np.argsort(-noisy, kind="stable")
        added = np.empty(len(found), np.int64)
        added[order] = favour_of(
            mechanism.asked,
            small.pick_epsilon,
            np.log(noisy[order] / small.measurement.resolution / weight),
            np.full(len(found), small.measurement.deviation / weight),
        )
        return added.tolist()

    data = tuple((basket,) for basket in baskets)
    expected: Law = {}
    for shown, chance in law_of(small, data, favour).items():
        named = shown[shown.index(-1) + 1 :]
        expected[named] = expected.get(named, 0.0) + chance
    database, randomness = LocalDatabase(transactions_of(baskets)), SeededRandomness(SEED)
    drawn = []
    for _ in range(4000):
        outcome = _picked_of_found(database, small, lengths, mechanism, randomness)
        drawn.append(tuple(outcome.itemsets[:, 0].tolist()))
        assert outcome.counts is None
        if len(outcome.itemsets):
            assert sorted(outcome.found.codes.tolist()) == sorted(drawn[-1])
            assert np.all(np.diff(outcome.found.counts) <= 0)
            assert outcome.found.counts.min() >= small.threshold / small.measurement.resolution
    assert p_value(drawn, expected) > FALSE_ALARM
    other: Law = {}
    for shown, chance in law_of(replace(small, pick_epsilon=F(3, 2)), data, favour).items():
        named = shown[shown.index(-1) + 1 :]
        other[named] = other.get(named, 0.0) + chance
    assert p_value(drawn, other) < FALSE_ALARM


def long_baskets(length: float) -> Lengths:
    return Lengths(np.array([float(length)]), np.array([1000.0]))


def test_short_baskets_need_no_test_of_names() -> None:
    mechanism = calibrate(REQUEST).mechanism
    many = replace(mechanism, top=100)
    for length, named in ((3, True), (10, True), (30, False), (60, False)):
        assert (mechanism.histogram(long_baskets(length)) is not None) == named
        assert (many.histogram(long_baskets(length)) is not None) == named


@pytest.mark.parametrize(
    "changes",
    [
        {"sizes": (2,)},
        {"sizes": (1, 2)},
        {"select": COUNTS},
        {"min_count": 100},
        {"sensitivity": 2},
        {"universe_size": 1000},
    ],
)
def test_other_questions_take_the_usual_steps(changes: dict[str, object]) -> None:
    mechanism = calibrate(replace(REQUEST, **changes)).mechanism
    assert mechanism.histogram(USUAL_LENGTHS) is None


@pytest.mark.parametrize("top", [1, 10, 300])
@pytest.mark.parametrize("epsilon", [F(1, 1000), F(1, 10), F(1), F(20)])
def test_no_more_than_rho_is_spent_and_no_more_than_the_failure_risked(top: int, epsilon: Fraction) -> None:
    mechanism = calibrate(replace(REQUEST, top=top, epsilon=epsilon)).mechanism
    for length in (1, 5, 10):
        histogram = mechanism.histogram(long_baskets(length))
        assert histogram.failure == mechanism.test_delta
        assert histogram.top == top
        spent = gaussian_rho([mechanism.look.loss, *histogram.losses])
        assert F(9, 10) * mechanism.budget < spent <= mechanism.budget * F(1 + 1e-8)
    assert sum(line.rho or 0 for line in mechanism.spending) == mechanism.budget


def test_units_count_the_more_the_further_the_items_stand_out_of_the_noise() -> None:
    """At any support for the same price. Small supports take the least noise, however much long units lose by it."""
    mechanism = calibrate(REQUEST).mechanism
    lengths = Lengths(np.array([1.0, 4.0, 40.0]), np.array([600.0, 300.0, 100.0]))

    def measured(support: float | None) -> tuple[int, float]:
        histogram = replace(mechanism, support=support).histogram(lengths)
        spent = gaussian_rho([mechanism.look.loss, *histogram.losses])
        assert F(9, 10) * mechanism.budget < spent <= mechanism.budget * F(1 + 1e-8)
        return histogram.measurement.full, histogram.measurement.deviation / lengths.weight(histogram.measurement.full)

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
    histogram = mechanism.histogram(long_baskets(10))
    total = mechanism.support_needed * histogram.measurement.added(10)
    missing = (histogram.threshold - total) / math.sqrt(histogram.measurement.variance)
    assert NormalDist().cdf(-missing) == pytest.approx(0.95, abs=0.02)
    assert histogram.measurement.added(40) > 0


def test_of_no_data_nothing_is_named_and_both_ways_are_rehearsed() -> None:
    mechanism = calibrate(REQUEST).mechanism
    nobody = LocalDatabase(transactions_of([]))
    assert len(stepwise.run(nobody, mechanism, SeededRandomness(SEED)).itemsets) == 0
    ways = [way.histogram(long_baskets(3)) is not None for way in mechanism.loud(9)]
    assert True in ways
    assert False in ways
