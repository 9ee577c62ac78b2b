"""The weighted Gaussian histogram: its law on all small data sets, its threshold, its sampler, and what it refuses."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction
from functools import cache
from itertools import combinations, combinations_with_replacement

import pytest

from fim_private.accounting.claim import claimed_delta
from fim_private.accounting.gaussian_composition import gaussian_epsilon, gaussian_rho
from fim_private.audit.laws import NUMERICAL_ERROR, hockey_stick, law_over_itemsets
from fim_private.audit.weighted_gaussian_cases import found_of_its_own
from fim_private.counting import LocalDatabase
from fim_private.errors import BudgetError
from fim_private.mechanisms.exponential import Exponential
from fim_private.mechanisms.measurement import Measurement
from fim_private.mechanisms.protocol import Law, Request, Stepwise
from fim_private.mechanisms.twins.histograms import WEIGHTED_GAUSSIAN
from fim_private.mechanisms.twins.twin import Twin
from fim_private.mechanisms.weighted_gaussian import WeightedGaussian, calibrate, log_failure, threshold_of
from fim_private.mining import stepwise
from fim_private.privacy import NeighbouringRelation
from fim_private.profile import CountProfile
from fim_private.randomness import SeededRandomness
from fim_private.randomness.discrete_gaussian import log_discrete_gaussian_survival
from fim_private.transactions.item_codes import transactions_from_lists
from tests.counting.local.test_basis_bins import transactions_of
from tests.sampling import FALSE_ALARM, SEED, assert_drawn_from, p_value

F = Fraction
ITEMS = 3
BASKETS = [frozenset(some) for size in (1, 2, 3) for some in combinations(range(ITEMS), size)]
FAILURE = F(1, 20)
EPSILONS = (0.0, 0.25, 0.5, 1.0, 1.5, 2.0, 3.0)
Unit = tuple[frozenset[int], ...]
Data = tuple[Unit, ...]
"""Units, each with its baskets."""


def made(
    resolution: int = 2,
    variance: int = 2,
    *,
    failure: Fraction = FAILURE,
    sensitivity: int = 1,
    full: int = 1,
    **changes: object,
) -> WeightedGaussian:
    measurement = Measurement(full=full, resolution=resolution, variance=variance, sensitivity=sensitivity)
    usual = WeightedGaussian(
        top=1,
        sizes=(2,),
        measurement=measurement,
        threshold=threshold_of(measurement, failure),
        failure=failure,
        pick_epsilon=F(1, 2),
        sensitivity=sensitivity,
    )
    return replace(usual, **changes)


def request(**changes: object) -> Request:
    return replace(Request(top=20, epsilon=F(1), delta=F(1, 10**6), sizes=(2,)), **changes)


def sums_and_counts(mechanism: WeightedGaussian, data: Data) -> tuple[list[int], list[int]]:
    """The weighted sum and the count of each itemset of the three items, from their definitions."""
    itemsets = [set(some) for size in mechanism.sizes for some in combinations(range(ITEMS), size)]
    weights = mechanism.measurement.weights
    sums, counts = [0] * len(itemsets), [0] * len(itemsets)
    for basket in (basket for unit in data for basket in unit):
        held = [at for at, itemset in enumerate(itemsets) if itemset <= basket]
        for at in held:
            sums[at] += int(weights[min(len(held), len(weights) - 1)])
            counts[at] += 1
    return sums, counts


def law_of(mechanism: WeightedGaussian, data: Data, *, shown: bool = True, among: Data | None = None) -> Law:
    """The exact law of the picks, and, if that is shown, of which itemsets are found, among those that occur there."""
    sums, counts = sums_and_counts(mechanism, data)
    there = sums if among is None else sums_and_counts(mechanism, among)[0]
    occurring = [at for at, total in enumerate(sums) if total and there[at]]
    variance = float(mechanism.measurement.variance)
    tails = {at: math.exp(log_discrete_gaussian_survival(mechanism.threshold - sums[at], variance)) for at in occurring}
    law: Law = {}
    for number in range(len(occurring) + 1):
        for found in combinations(occurring, number):
            chance = math.prod(tails[at] if at in found else 1 - tails[at] for at in occurring)
            picked = law_of_picks(mechanism.picks(number), tuple(counts[at] for at in found))
            for picks, probability in picked.items() if found else (((), 1.0),):
                named = tuple(found[pick] for pick in picks)
                outcome = (*found, -1, *named) if shown else named
                law[outcome] = law.get(outcome, 0.0) + chance * probability
    return law


@cache
def law_of_picks(picks: Exponential, counts: tuple[int, ...]) -> Law:
    """Data sets of other units have the same counts again and again."""
    return law_over_itemsets(picks, counts, declared=True)


def neighbours(sensitivity: int, most: int) -> Iterator[tuple[Data, Data]]:
    """Data sets of up to `most` units, and each with one unit more of up to `sensitivity` baskets."""
    units = [unit for number in range(1, sensitivity + 1) for unit in combinations_with_replacement(BASKETS, number)]
    for number in range(most + 1):
        for data in combinations_with_replacement([(basket,) * sensitivity for basket in BASKETS], number):
            for unit in units:
                yield data, (*data, unit)


def crowds(sensitivity: int) -> Iterator[tuple[Data, Data]]:
    """Data sets whose itemsets are about as frequent as the threshold, and each with one unit more."""
    for times in (2, 3, 4, 6, 8, 12, 20):
        for some in combinations(BASKETS[3:], 2):
            data = tuple((basket,) for basket in some) * times
            for unit in BASKETS[3:]:
                yield data, (*data, (unit,) * sensitivity)


def worst_share(honest: WeightedGaussian, done: WeightedGaussian, pairs: Iterator[tuple[Data, Data]]) -> float:
    """The largest delta of what is done, either way and at any epsilon, as a share of what the honest one claims."""
    claimed = [claimed_delta(honest.losses, honest.failures, epsilon) for epsilon in EPSILONS]
    law = cache(lambda data: law_of(done, data))
    worst = 0.0
    for fewer, more in pairs:
        laws = law(fewer), law_of(done, more)
        for one, other in (laws, laws[::-1]):
            found = hockey_stick(one, other, EPSILONS).tolist()
            worst = max(worst, *(each / (bound + NUMERICAL_ERROR) for each, bound in zip(found, claimed, strict=True)))
    return worst


@pytest.mark.parametrize(("resolution", "variance"), [(1, 1), (2, 2), (3, 9), (8, 30)])
@pytest.mark.parametrize(("sensitivity", "sizes", "most"), [(1, (2,), 2), (1, (1, 2), 1), (2, (2,), 1), (2, (1, 2), 0)])
def test_no_small_data_sets_break_the_claim(
    resolution: int, variance: int, sensitivity: int, sizes: tuple[int, ...], most: int
) -> None:
    """Both ways, from empty data on, with all that one can see: which itemsets are found, and the picks."""
    for top, failure in ((1, F(1, 20)), (2, F(1, 4))):
        mechanism = made(resolution, variance, failure=failure, sensitivity=sensitivity, sizes=sizes, top=top)
        assert 0.01 < worst_share(mechanism, mechanism, neighbours(sensitivity, most)) <= 1
        if sizes == (2,):
            assert worst_share(mechanism, mechanism, crowds(sensitivity)) <= 1


@pytest.mark.parametrize(("resolution", "variance", "full"), [(1, 1, 2), (2, 2, 2), (3, 9, 2), (2, 3, 3), (4, 30, 3)])
@pytest.mark.parametrize("sizes", [(1,), (1, 2)])
def test_transactions_that_count_in_full_keep_the_claim(
    resolution: int, variance: int, full: int, sizes: tuple[int, ...]
) -> None:
    for sensitivity, most in ((1, 1), (2, 0)):
        mechanism = made(resolution, variance, full=full, failure=F(1, 10), sensitivity=sensitivity, sizes=sizes)
        assert 0 < worst_share(mechanism, mechanism, neighbours(sensitivity, most)) <= 1


TRIED = [
    (2, 400, F(1, 100), F(1, 10)),
    (3, 40, F(1, 200), F(1, 5)),
    (3, 100, F(1, 1000), F(3)),
]
"""Resolution, variance, failure and the epsilon of a pick. Each mistake shows with one of them."""


@pytest.mark.parametrize("twin", WEIGHTED_GAUSSIAN, ids=lambda twin: twin.name)
def test_mistakes_break_the_claim_on_small_data(twin: Twin) -> None:
    worst = []
    for resolution, variance, failure, pick in TRIED:
        honest = made(resolution, variance, failure=failure, sensitivity=2, pick_epsilon=pick)
        assert twin.fits(honest, NeighbouringRelation.ADD_REMOVE)
        done = twin.broken(honest)
        worst += [worst_share(honest, done, pairs) for pairs in (neighbours(2, 1), crowds(2))]
    assert max(worst) > 1.05


def test_the_failure_is_one_sided() -> None:
    """The larger data's run has at least (1 - f) times each probability of the run without the unit's own itemsets."""
    mechanism = made(3, 40, failure=F(1, 20), sizes=(1, 2))
    kept, missed = 1.0, 0.0
    for fewer, more in neighbours(1, 1):
        run, program = law_of(mechanism, more, among=fewer), law_of(mechanism, more)
        assert law_of(mechanism, fewer, among=more) == law_of(mechanism, fewer)
        kept = min(kept, *(program[outcome] / chance for outcome, chance in run.items()))
        missed = max(missed, *hockey_stick(program, run, [0.0]).tolist())
    bound = math.exp(log_failure(mechanism.measurement, mechanism.threshold))
    assert 1 - bound <= kept < 1 - bound / 2
    assert bound / 2 < missed <= bound


def vectors(square: int, most: int) -> Iterator[list[int]]:
    """All decreasing lists of whole numbers of at least 1 whose squares sum to at most this."""
    yield []
    for first in range(min(most, math.isqrt(square)), 0, -1):
        for rest in vectors(square - first**2, first):
            yield [first, *rest]


@pytest.mark.parametrize(("resolution", "variance"), [(1, 4), (2, 1), (2, 30), (4, 3), (5, 60)])
@pytest.mark.parametrize(("sensitivity", "full"), [(1, 1), (2, 1), (1, 3), (1, 4)])
def test_whatever_a_unit_adds_its_own_itemsets_reach_the_threshold_as_rarely_as_stated(
    resolution: int, variance: int, sensitivity: int, full: int
) -> None:
    measurement = Measurement(full=full, resolution=resolution, variance=variance, sensitivity=sensitivity)
    length = sensitivity * resolution
    for failure in (F(1, 10), F(1, 10**6)):
        threshold = threshold_of(measurement, failure)
        tail = cache(lambda least: math.exp(log_discrete_gaussian_survival(least, float(variance))))
        worst = max(
            -math.expm1(sum(math.log1p(-tail(threshold - added)) for added in own))
            for own in vectors(full * length**2, length)
        )
        bound = math.exp(log_failure(measurement, threshold))
        assert worst <= bound <= failure
        assert worst > 0.9 * bound
        if threshold > length + 1:
            assert math.exp(log_failure(measurement, threshold - 1)) > failure


def test_the_planned_failure_is_reached_by_one_long_transaction() -> None:
    mechanism = calibrate(request()).mechanism
    assert mechanism.measurement.resolution == 64
    own = math.comb(91, 2)
    assert 0.99 * mechanism.failure < found_of_its_own(mechanism, own, own, 1) <= mechanism.failure


def test_what_is_found_has_the_stated_law() -> None:
    mechanism = made(4, 16)
    sums = CountProfile.of([30, 14, 14, 11, 3])
    randomness = SeededRandomness(SEED)
    drawn = [tuple(mechanism.find(sums, randomness).tolist()) for _ in range(5000)]

    def law(width: Fraction) -> Law:
        needed = [mechanism.threshold - sums.count(place) for place in range(1, 6)]
        tails = [math.exp(log_discrete_gaussian_survival(least, float(16 * width**2))) for least in needed]
        return {
            found: math.prod(tails[at] if at in found else 1 - tails[at] for at in range(5))
            for number in range(6)
            for found in combinations(range(5), number)
        }

    assert_drawn_from(law, drawn)


@pytest.mark.slow
@pytest.mark.parametrize("sizes", [(2,), (1, 2)])
def test_the_steps_have_the_exact_law(sizes: tuple[int, ...]) -> None:
    mechanism = made(2, 12, top=2, sizes=sizes, failure=F(1, 5))
    baskets = [frozenset({0, 1})] * 6 + [frozenset({0, 1, 2})] * 5 + [frozenset({2})] * 3
    data = tuple((basket,) for basket in baskets)
    itemsets = [some for size in sizes for some in combinations(range(ITEMS), size)]
    expected = law_of(mechanism, data, shown=False)
    database = LocalDatabase(transactions_of(baskets))
    first, randomness = stepwise.count_first(database, mechanism), SeededRandomness(SEED)
    drawn = []
    for _ in range(4000):
        outcome = stepwise.run(database, mechanism, randomness, counts=first)
        drawn.append(tuple(map(itemsets.index, outcome.codes)))
    assert p_value(drawn, expected) > FALSE_ALARM
    for change in ({"pick_epsilon": F(3, 2)}, {"threshold": mechanism.threshold + 2}):
        other = law_of(replace(mechanism, **change), data, shown=False)
        assert p_value(drawn, other) < FALSE_ALARM


def test_of_no_data_nothing_is_named() -> None:
    for sizes in ((2,), (1, 2)):
        outcome = stepwise.run(LocalDatabase(transactions_from_lists([])), made(sizes=sizes), SeededRandomness(SEED))
        assert len(outcome.itemsets) == 0
        assert outcome.counts is None


def test_the_budget_is_spent_and_proved() -> None:
    for sensitivity in (1, 3):
        calibrated = calibrate(request(sensitivity=sensitivity))
        mechanism = calibrated.mechanism
        assert isinstance(mechanism, Stepwise)
        assert calibrated.guarantee.epsilon <= 1
        assert calibrated.guarantee.delta == F(1, 10**6)
        assert 0.98 < gaussian_epsilon(mechanism.losses, 5e-7) <= 1
        assert claimed_delta(mechanism.losses, mechanism.failures, 1.0) <= 1e-6
        histogram, picks = gaussian_rho(mechanism.losses[:1]), gaussian_rho(mechanism.losses[1:])
        assert histogram == pytest.approx(picks, rel=1e-3)
        assert len(mechanism.spending) == 2


@pytest.mark.parametrize("top", [1, 10, 100])
def test_itemsets_with_the_stated_lead_are_all_found_19_times_in_20(top: int) -> None:
    mechanism = calibrate(request(top=top)).mechanism
    (margin,) = mechanism.margins
    for lead, together in ((margin.counts, top), (margin.of_one or 0, 1)):
        added = lead * int(mechanism.measurement.weights[math.comb(10, 2)])
        tail = log_discrete_gaussian_survival(mechanism.threshold - added, float(mechanism.measurement.variance))
        assert 0.93 < math.exp(together * tail) < 0.96


def test_a_budget_that_is_too_small_is_refused() -> None:
    with pytest.raises(BudgetError, match="delta = 0"):
        calibrate(request(delta=F(0)))
    with pytest.raises(BudgetError, match="too small"):
        calibrate(request(epsilon=F(1, 10**30), delta=F(1, 10**60)))


def test_the_rehearsal_finds_and_picks() -> None:
    (loud,) = made(sizes=(1, 2)).loud(5)
    outcome = stepwise.run(LocalDatabase(transactions_of([frozenset({0, 1})] * 5)), loud, SeededRandomness(SEED))
    assert len(outcome.itemsets) == 1
