"""Items first, verified exactly on small data; and the mistakes one could make, which the same check must catch."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import fields, replace
from fractions import Fraction
from itertools import combinations, combinations_with_replacement, product
from typing import Any

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from fim_private.accounting.claim import claimed_delta
from fim_private.accounting.gaussian_composition import gaussian_rho
from fim_private.errors import BudgetError, UsageError
from fim_private.mechanisms.certificate import Certificate
from fim_private.mechanisms.exponential import Exponential
from fim_private.mechanisms.items_first import ItemsFirst, calibrate
from fim_private.mechanisms.items_first_tuning import Tuning
from fim_private.mechanisms.itemset_measurements import weighted
from fim_private.mechanisms.lacking_items import lacking
from fim_private.mechanisms.laplace_measurement import LaplaceMeasurement
from fim_private.mechanisms.later_steps import LaterSteps
from fim_private.mechanisms.lengths import Lengths
from fim_private.mechanisms.measurement import Measurement
from fim_private.mechanisms.noise_family import LAPLACE
from fim_private.mechanisms.peeling import peel_law
from fim_private.mechanisms.protocol import BY_COUNT, BY_LEVERAGE, COUNTS, PEEL, Law, Request
from fim_private.privacy import Gaussian, Loss, PureDP
from fim_private.profile import CountProfile
from fim_private.randomness.discrete_gaussian import discrete_gaussian_mass
from verification.items_first_divergence import (
    AGAIN,
    DOUBT,
    ITEMS,
    LOOKS,
    CountsAgain,
    CountsInDoubt,
    SmallItemsFirst,
    Unit,
    delta_of,
    small,
)

F = Fraction
NUMERICAL_ERROR = 1e-8
EPSILONS = (0.0, 1.0, 2.5)


def units_of(items: int, transactions: int) -> list[Unit]:
    """Every unit there can be: so many transactions, each any set of items."""
    baskets = [frozenset(basket) for size in range(1, items + 1) for basket in combinations(range(items), size)]
    return list(combinations_with_replacement(baskets, transactions))


def neighbours(mechanism: SmallItemsFirst) -> Iterator[tuple[list[Unit], list[Unit]]]:
    """Nothing; a common item at the threshold, so that the unit's own items decide; all items far above; one more."""
    names = mechanism.items.names
    certificate = mechanism.ways()[0].certificate
    around = 4 if certificate is None else certificate.threshold
    full: Unit = (frozenset(range(names)),) * mechanism.sensitivity
    first: Unit = (frozenset({0}),)
    many = units_of(names, mechanism.sensitivity)
    for common in ([], [first] * around, [full] * (around - 1), [first, full] * around):
        for unit in {full, many[0], many[-1], many[len(many) // 2]} if names > 2 else many:
            yield common, [*common, unit]


def worst(mechanism: SmallItemsFirst, epsilon: float) -> float:
    return max(
        delta
        for one, other in neighbours(mechanism)
        for delta in (delta_of(mechanism, one, other, epsilon), delta_of(mechanism, other, one, epsilon))
    )


def claim(mechanism: ItemsFirst, epsilon: float) -> float:
    return claimed_delta(mechanism.losses, mechanism.failures, epsilon)


@pytest.mark.parametrize("listed", [False, True])
@pytest.mark.parametrize("select", [PEEL, COUNTS])
@pytest.mark.parametrize("epsilon", EPSILONS)
def test_the_claim_holds_exactly(select: str, epsilon: float, *, listed: bool) -> None:
    mechanism = small(select, test_delta=None if listed else F(1, 100))
    assert worst(mechanism, epsilon) <= claim(mechanism, epsilon) + NUMERICAL_ERROR


def pure(select: str, *, kind: type[SmallItemsFirst] = SmallItemsFirst, **given: Any) -> SmallItemsFirst:
    """With Laplace noise: no delta is left at the epsilon of all steps together."""
    return small(select, **{"budget": F(3), "test_delta": None, "noise": LAPLACE, "kind": kind, **given})


@pytest.mark.parametrize("select", [PEEL, COUNTS])
@pytest.mark.parametrize("epsilon", [0.0, 1.0, 3.0])
def test_without_a_delta_the_claim_holds_exactly(select: str, epsilon: float) -> None:
    mechanism = pure(select)
    assert claim(mechanism, 3.0) == 0
    assert worst(mechanism, epsilon) <= claim(mechanism, epsilon) + NUMERICAL_ERROR


@pytest.mark.parametrize("select", [PEEL, COUNTS])
def test_without_a_delta_units_of_two_transactions_are_covered(select: str) -> None:
    assert worst(pure(select, sensitivity=2, budget=F(4)), 4.0) <= NUMERICAL_ERROR


@pytest.mark.parametrize("kind", [CountsAgain, CountsInDoubt])
def test_without_a_delta_whatever_is_counted_again_is_covered(kind: type[SmallItemsFirst]) -> None:
    assert worst(pure(COUNTS, kind=kind, budget=F(9)), 9.0) <= NUMERICAL_ERROR


@pytest.mark.slow
@pytest.mark.parametrize("select", [PEEL, COUNTS])
@pytest.mark.parametrize("size", [1, 2])
def test_without_a_delta_weights_that_matter_are_covered(select: str, size: int) -> None:
    mechanism = pure(select, names=3, size=size, full=2, budget=F(10), shares=(F(1, 5), F(1, 5)), resolution=3)
    one, other = [(frozenset({0, 1}),)] * 4, [(frozenset({0, 1}),)] * 4 + [(frozenset({0, 1, 2}),)]
    for less, more in ((one, other), (other, one)):
        assert delta_of(mechanism, less, more, 10.0) <= NUMERICAL_ERROR


class BesideDecoy(Exponential):
    """Picks beside a decoy, which nobody has and whose score is public. A list of two ends where it is picked."""

    def law(self, profile: CountProfile) -> Law:
        return peel_law(self._levels(profile), rates=self.rates, open_universe=False, stop=self.score_of_decoy(profile))

    def score_of_decoy(self, profile: CountProfile) -> Fraction:
        return F(3)


class WithDecoy(SmallItemsFirst):
    """In one of the two ways, which released numbers decide between, there is a decoy."""

    decoy = BesideDecoy

    def picks(self, pick_epsilon: Fraction, universe_size: int) -> Exponential:
        picks = super().picks(pick_epsilon, universe_size)
        return picks if pick_epsilon == self.ways()[1].pick_epsilon else self.decoy(**vars(picks))


@pytest.mark.parametrize("listed", [False, True])
@pytest.mark.parametrize("sensitivity", [1, 2])
def test_a_decoy_is_covered(sensitivity: int, *, listed: bool) -> None:
    mechanism = small(PEEL, kind=WithDecoy, sensitivity=sensitivity, test_delta=None if listed else F(1, 100))
    assert worst(mechanism, 1.0) <= claim(mechanism, 1.0) + NUMERICAL_ERROR


@pytest.mark.parametrize("select", [PEEL, COUNTS])
def test_units_of_two_transactions_are_covered(select: str) -> None:
    mechanism = small(select, sensitivity=2)
    assert worst(mechanism, 1.0) <= claim(mechanism, 1.0) + NUMERICAL_ERROR


@pytest.mark.parametrize("listed", [False, True])
@pytest.mark.parametrize("sensitivity", [1, 2])
def test_items_that_are_counted_again_are_covered(sensitivity: int, *, listed: bool) -> None:
    mechanism = small(PEEL, kind=CountsAgain, sensitivity=sensitivity, test_delta=None if listed else F(1, 100))
    assert worst(mechanism, 1.0) <= claim(mechanism, 1.0) + NUMERICAL_ERROR


@pytest.mark.slow
def test_items_that_are_counted_again_before_noisy_counts_are_covered() -> None:
    mechanism = small(COUNTS, kind=CountsAgain)
    assert worst(mechanism, 1.0) <= claim(mechanism, 1.0) + NUMERICAL_ERROR


@pytest.mark.parametrize("sensitivity", [1, pytest.param(2, marks=pytest.mark.slow)])
def test_an_itemset_in_doubt_that_is_counted_again_is_covered(sensitivity: int) -> None:
    mechanism = small(COUNTS, kind=CountsInDoubt, sensitivity=sensitivity, test_delta=None, budget=F(sensitivity**2))
    assert worst(mechanism, 1.0) <= claim(mechanism, 1.0) + NUMERICAL_ERROR


@pytest.mark.slow
@pytest.mark.parametrize("select", [PEEL, COUNTS])
@pytest.mark.parametrize("size", [1, 2])
def test_three_names_and_weights_that_matter_are_covered(select: str, size: int) -> None:
    mechanism = small(select, names=3, size=size, full=2, budget=F(5, 2), shares=(F(1, 5), F(1, 5)))
    one, other = [(frozenset({0, 1}),)] * 4, [(frozenset({0, 1}),)] * 4 + [(frozenset({0, 1, 2}),)]
    for less, more in ((one, other), (other, one)):
        assert delta_of(mechanism, less, more, 2.0) <= claim(mechanism, 2.0) + NUMERICAL_ERROR


def test_units_that_are_exchanged_are_covered_by_group_privacy() -> None:
    """The planner serves `replace` by group privacy: (2 eps, (1 + e^eps) delta)."""
    mechanism = small(PEEL)
    for unit, further in product(units_of(2, 1), repeat=2):
        common: list[Unit] = [(frozenset({0}),)] * 4
        between = [delta_of(mechanism, common, [*common, each], 1.0) for each in (unit, further)]
        back = [delta_of(mechanism, [*common, each], common, 1.0) for each in (unit, further)]
        assert max(back[0] + math.e * between[1], back[1] + math.e * between[0]) <= (1 + math.e) * claim(mechanism, 1.0)


def test_neither_bound_nor_failure_is_given_away() -> None:
    """A unit's own item is really named: almost as often as the failure says, if its token is in the list."""
    mechanism = small(COUNTS, test_delta=F(1, 50))
    assert 0.05 * 0.02 < delta_of(mechanism, [(frozenset({0, 1}),)], [], 50.0) <= 0.02


class ForgetsLooks(SmallItemsFirst):
    def remembered(self, step: str) -> bool:
        return step != LOOKS


class ForgetsItems(SmallItemsFirst):
    def remembered(self, step: str) -> bool:
        return step != ITEMS


class ForgetsEverything(SmallItemsFirst):
    def remembered(self, step: str) -> bool:
        return not step


class ForgetsAgain(CountsAgain):
    counted_again = F(4)

    def remembered(self, step: str) -> bool:
        return step != AGAIN


class ForgetsDoubt(CountsInDoubt):
    def remembered(self, step: str) -> bool:
        return step != DOUBT


class WithRoots(LaplaceMeasurement):
    """A unit adds what Gaussian noise would cover."""

    @property
    def weights(self) -> NDArray[np.int64]:
        return Measurement(full=self.full, resolution=self.resolution, variance=1).weights


def with_roots(mechanism: SmallItemsFirst) -> SmallItemsFirst:
    measured = WithRoots(**vars(mechanism.items.measurement))
    return replace(mechanism, items=replace(mechanism.items, measurement=measured))


class NoNoiseForStrangers(SmallItemsFirst):
    def item_masses(self, units: int, values: NDArray[np.int64]) -> NDArray[np.float64]:
        return super().item_masses(units, values) if units else (values == 0).astype(np.float64)


class NoNoiseForItems(SmallItemsFirst):
    def item_masses(self, units: int, values: NDArray[np.int64]) -> NDArray[np.float64]:
        return discrete_gaussian_mass(values - units, 1)


class FallsWithCounts(BesideDecoy):
    def score_of_decoy(self, profile: CountProfile) -> Fraction:
        return F(40 - 2 * sum(profile.count(place + 1) for place in range(self.universe_size)))


class DecoyByTrueCounts(WithDecoy):
    decoy = FallsWithCounts


class OfTheFirst(Certificate):
    def law(self, supports: Sequence[int]) -> dict[int, float]:
        return super().law([supports[0]] * len(supports))


class NamesAll(Certificate):
    def law(self, supports: Sequence[int]) -> dict[int, float]:
        failed = super().law(supports)[0]
        return {0: failed, len(supports): 1 - failed}


class Lower(Certificate):
    def passes(self, support: int) -> float:
        return super().passes(support + 2)


def certified_by(kind: type[Certificate]) -> type[SmallItemsFirst]:
    class Broken(SmallItemsFirst):
        def way(self, test_share: Fraction) -> Any:
            steps = super().way(test_share)
            assert steps.certificate is not None
            parts = {field.name: getattr(steps.certificate, field.name) for field in fields(Certificate)}
            return replace(steps, certificate=kind(**parts))

    return Broken


BROKEN: dict[str, tuple[Callable[[], SmallItemsFirst], float]] = {
    "looks are free": (
        lambda: small(COUNTS, kind=ForgetsLooks, shares=(F(2, 5), F(1, 10)), test_delta=None, budget=F(1, 4)), 2.0
    ),
    "items are free": (
        lambda: small(COUNTS, kind=ForgetsItems, shares=(F(1, 24), F(4, 5)), test_delta=None, budget=F(1, 4)), 2.0
    ),
    "counting again is free": (
        lambda: small(COUNTS, kind=ForgetsAgain, shares=(F(1, 12), F(1, 12)), test_delta=None, budget=F(1, 2)), 2.5
    ),
    "counting an itemset in doubt costs a hundredth": (
        lambda: small(COUNTS, kind=ForgetsDoubt, shares=(F(1, 24), F(1, 24)), test_delta=None, budget=F(1, 20)), 0.5
    ),
    "rho is not reduced by what was spent": (
        lambda: small(COUNTS, kind=ForgetsEverything, shares=(F(1, 5), F(2, 5)), test_delta=None, budget=F(1, 4)), 2.0
    ),
    "tokens that nobody has get no noise": (lambda: small(PEEL, kind=NoNoiseForStrangers), 2.5),
    "the noise of the items is that of another plan": (lambda: small(PEEL, kind=NoNoiseForItems), 2.5),
    "true counts decide how a decoy is scored": (lambda: small(PEEL, kind=DecoyByTrueCounts), 2.5),
    "the minimum is that of the first itemset": (lambda: small(COUNTS, kind=certified_by(OfTheFirst)), 3.5),
    "names beyond the certified prefix": (lambda: small(COUNTS, kind=certified_by(NamesAll)), 3.5),
    "looks are free, without a delta": (lambda: pure(COUNTS, kind=ForgetsLooks, shares=(F(2, 5), F(1, 10))), 3.0),
    "items are free, without a delta": (lambda: pure(COUNTS, kind=ForgetsItems, shares=(F(1, 24), F(4, 5))), 3.0),
    "counting an itemset in doubt costs a hundredth, without a delta": (
        lambda: pure(COUNTS, kind=ForgetsDoubt, budget=F(3, 2), shares=(F(1, 12), F(1, 12))), 1.5
    ),
    "the roots of the weights, without a delta": (
        lambda: with_roots(pure(COUNTS, full=1, shares=(F(1, 24), F(4, 5)), resolution=8)), 3.0
    ),
    "a threshold without what one unit adds": (
        lambda: small(COUNTS, kind=certified_by(Lower), test_delta=F(1, 10), budget=F(1, 4)), 3.5
    ),
}  # fmt: skip


SLOW = "counting an itemset in doubt costs a hundredth, without a delta"


@pytest.mark.parametrize("name", [*sorted(BROKEN.keys() - {SLOW}), pytest.param(SLOW, marks=pytest.mark.slow)])
def test_broken_twins_fail_the_same_check(name: str) -> None:
    """Each twin is checked against the claim of the sound mechanism."""
    make, epsilon = BROKEN[name]
    twin = make()
    enough = claim(twin, epsilon) + NUMERICAL_ERROR
    assert any(
        max(delta_of(twin, one, other, epsilon), delta_of(twin, other, one, epsilon)) > enough
        for one, other in neighbours(twin)
    )


# What follows from released numbers.

REQUEST = Request(top=10, epsilon=F(1), delta=F(1, 10**6), sizes=(2,))
LENGTHS = st.lists(st.tuples(st.floats(1, 300), st.floats(0.1, 1e6)), min_size=1, max_size=16)


def lengths_of(pairs: list[tuple[float, float]]) -> Lengths:
    return Lengths(np.array([length for length, _ in pairs]), np.array([units for _, units in pairs]))


def spent(mechanism: ItemsFirst, steps: Any) -> Fraction:
    """What everything costs: the looks, the items, and the later steps. Both families are asked what they tell."""

    def cost(step: Any) -> Fraction:
        return step.loss.epsilon if mechanism.noise is LAPLACE else step.loss.gaussian.rho

    total = 2 * cost(mechanism.look) + cost(mechanism.items.measurement)
    total += mechanism.count_look.noise.loss.epsilon if mechanism.count_look is not None else 0
    for step in (steps.again, steps.recount, steps.pairs, steps.itemsets, steps.spread):
        total += cost(step) if step is not None else 0
    for rho in steps.in_doubt:
        # Whatever share of the candidates is in doubt, and a share that is nearly nothing.
        again = [mechanism.recount(rho, share) for share in (1.0, 0.3, 0.0)]
        assert {measured.sensitivity for measured in again} == {mechanism.sensitivity}
        assert max(map(cost, again)) <= rho
        total += F(rho)
    if steps.itemsets is not None:
        # Whatever the look at what transactions hold says.
        for support, held in product((0.0, 300.0, 1e9), ([2.0, 300.0], [7.0, 7.0])):
            counted = weighted(mechanism.asked, steps.itemsets, Lengths(np.array(held), np.array([9.0, 1.0])), support)
            assert counted.sensitivity == mechanism.sensitivity
            assert cost(counted) <= cost(steps.itemsets)
            for rho in steps.in_doubt:
                holding = Lengths(np.array(held) * 0.3, np.array([9.0, 1.0]))
                counted = weighted(mechanism.asked, mechanism.recount(rho, 0.3), holding, support)
                assert counted.sensitivity == mechanism.sensitivity
                assert cost(counted) <= rho
    last: list[Loss] = []
    if steps.items is not None:
        assert steps.items.sensitivity == mechanism.sensitivity
        last += steps.items.losses
        # Whatever is thought of the picked items. Each unit counts once.
        counted = [
            lacking(mechanism.asked, steps.lacking, np.full(steps.items.top, share * steps.transactions),
                    steps.transactions)
            for share in (0.0, 0.4, 0.9, 3.0)
        ]  # fmt: skip
        assert {each.sensitivity for each in counted} == {1}
        assert [each.full for each in counted] == sorted((each.full for each in counted), reverse=True)
        assert max(map(cost, counted)) <= steps.lacking
        total += min(map(cost, counted))
    if steps.pick_epsilon is not None:
        last += mechanism.picks(steps.pick_epsilon, 9).losses
    if steps.certificate is not None:
        last += steps.certificate.losses
    if mechanism.noise is LAPLACE:
        return total + sum(loss.epsilon for loss in last)
    return F(total) + F(gaussian_rho(last)) / F(1 + 1e-9)


def test_the_larger_counts_are_the_more_itemsets_of_a_transaction_count_in_full() -> None:
    request = replace(REQUEST, sizes=(1, 2, 3), top=100, select=COUNTS)
    mechanism = calibrate(request).mechanism
    usual = mechanism.usual.itemsets
    mixed = Lengths(np.array([2.0, 200.0]), np.array([950.0, 50.0]))
    fulls = [weighted(mechanism.asked, usual, mixed, support).full for support in (0, 100, 1_000, 10_000)]
    assert fulls[0] == usual.full < fulls[-1]
    assert fulls == sorted(fulls)
    # Itemsets of one size differ less in what they lose.
    one = replace(mechanism, sizes=(2,)).asked
    assert [weighted(one, usual, mixed, 2 * support).full for support in (0, 100, 1_000, 10_000)] == fulls
    # Where all transactions hold as many, each itemset loses as much.
    alike = Lengths(np.array([6.0]), np.array([1_000.0]))
    assert weighted(mechanism.asked, usual, alike, 10_000) == usual


@pytest.mark.parametrize("sizes", [(1, 2, 3, 4), (2,), (3,)])
@pytest.mark.parametrize("listed", [False, True])
@pytest.mark.parametrize("sensitivity", [1, 3])
def test_items_tell_in_dense_data_if_picks_of_itemsets_are_rough(
    sizes: tuple[int, ...], sensitivity: int, *, listed: bool
) -> None:
    def steps(
        share: float, transactions: float, *, known: bool = False, support: float | None = None, **options: Any
    ) -> LaterSteps:
        request = replace(
            REQUEST, top=50, sizes=sizes, epsilon=F(1, 10), sensitivity=sensitivity, select=None,
            universe_size=10**9 if listed else None,
        )  # fmt: skip
        mechanism = calibrate(replace(request, **options)).mechanism
        if known:
            mechanism = mechanism.in_dense_data((support or share**4) * transactions)
        lengths = Lengths(np.array([40.0]), np.array([transactions]))
        later = mechanism.later(np.full(60, share * transactions), lengths, lengths)
        assert F(9, 10) * mechanism.budget < spent(mechanism, later) <= mechanism.budget
        return later

    dense = steps(0.8, 3_000 * sensitivity)
    assert dense.items is not None
    assert dense.pick_epsilon is None
    assert dense.pairs is dense.itemsets is None
    assert dense.items.universe_size == dense.tokens == 60
    # Ten items have 45 pairs, and these are not enough to choose 50 of.
    assert 8 <= dense.items.top <= 20
    # Where itemsets of these are rarer than what was released of the k-th, single items are it, and all may be.
    rarer = steps(0.8, 3_000 * sensitivity, known=True, support=0.82 * sensitivity)
    assert rarer.items is not None
    assert rarer.items.top == (60 if sizes[0] == 1 else dense.items.top)
    # Picks tell the itemsets by themselves if there are more transactions. Items that are rarer may never be together.
    assert steps(0.8, 300_000 * sensitivity).items is None
    tell, do_not = {(1, 2, 3, 4): (0.45, 0.15), (2,): (0.67, 0.55), (3,): (0.67, 0.4)}[sizes]
    assert steps(tell, 3_000 * sensitivity).items is not None
    assert steps(do_not, 3_000 * sensitivity).items is None
    # What was released before may say so. So it is without a delta, where the noise of one step is another one's.
    if listed:
        pure = steps(0.8, 3_000 * sensitivity, known=True, delta=F(0))
        assert pure.items is not None
    assert steps(do_not, 3_000 * sensitivity, known=True).items is not None
    assert steps(0.8, 3_000 * sensitivity, select=COUNTS).items is None
    assert steps(0.8, 3_000 * sensitivity, min_count=1_000).items is None
    # Tokens of too little support go no further, so there is none to pick.
    assert steps(0.9, 1).items is None
    assert listed or steps(0.9, 1, known=True).items is None


@settings(max_examples=150, deadline=None)
@example(
    [2_400.0] * 20, [(40.0, 3_000.0)], [(40.0, 3_000.0)], (None, (3, 4), BY_COUNT), 30, F(1, 2), F(1, 10**6), 5,
    True, None, None,
)  # fmt: skip
@given(
    st.lists(st.floats(1e-3, 1e9), max_size=60),
    LENGTHS,
    LENGTHS,
    st.sampled_from(
        [(select, sizes, BY_COUNT) for select in (None, PEEL, COUNTS) for sizes in ((1,), (2,), (3,), (1, 4), (3, 4))]
        + [(PEEL, (2,), BY_LEVERAGE)]
    ),
    st.sampled_from([1, 30, 900]),
    st.sampled_from([F(1, 1000), F(1, 2), F(1), F(20)]),
    st.sampled_from([F(0), F(1, 10**200), F(1, 10**6), F(1, 4)]),
    st.sampled_from([1, 5]),
    st.booleans(),
    st.sampled_from([None, 1, 10**5]),
    st.sampled_from([None, 0.0, 200.0, 1e6]),
)
def test_whatever_was_released_no_more_than_the_budget_is_spent(
    estimates: list[float],
    lengths: list[tuple[float, float]],
    held: list[tuple[float, float]],
    ranked: tuple[str | None, tuple[int, ...], str],
    top: int,
    epsilon: Fraction,
    delta: Fraction,
    sensitivity: int,
    listed: bool,
    least: int | None,
    support: float | None,
) -> None:
    select, sizes, by = ranked
    listed = listed or delta == 0
    request = Request(
        top=top, epsilon=epsilon, delta=delta, sizes=sizes, select=select, sensitivity=sensitivity, min_count=least,
        universe_size=10**9 if listed else None, by=by,
    )  # fmt: skip
    mechanism = calibrate(request).mechanism
    if support is not None and delta:
        mechanism = mechanism.given_support(support, 30.0, lengths_of(lengths))
    assert (mechanism.test_delta is None) == listed == (mechanism.failures == ())
    supports = np.array(sorted(estimates, reverse=True))
    named = mechanism.naming(lengths_of(lengths))
    if named is not None:
        assert not listed
        assert (named.failures, named.losses) == (mechanism.failures, mechanism.losses)
        after = named.later(supports, lengths_of(lengths), lengths_of(held))
        assert F(7, 10) * mechanism.budget < spent(named, after) <= mechanism.budget
        assert (named.items.measurement.sensitivity, after.certificate) == (1, None)
    again = mechanism.again(supports, lengths_of(lengths), lengths_of(held))
    steps = mechanism.later(supports, lengths_of(lengths), lengths_of(held), again)
    assert steps.again == again
    # A unit's transactions are one set of items where items are counted.
    assert again is None or again.sensitivity == 1
    assert F(7, 10) * mechanism.budget < spent(mechanism, steps) <= mechanism.budget
    assert mechanism.losses == (Gaussian(mechanism.budget) if delta else PureDP(epsilon),)
    # Itemsets are picked, or counted, or follow from their items.
    assert (steps.pick_epsilon, steps.itemsets, steps.items).count(None) == 2
    assert (steps.items is None) == (steps.lacking is None)
    assert (steps.certificate is None) == listed
    assert (steps.itemsets is None) == (steps.spread is None)
    assert (steps.recount is not None) == (request.by == BY_LEVERAGE)
    for step in (steps.recount, steps.pairs, steps.itemsets, steps.spread):
        assert step is None or step.sensitivity == sensitivity
    if steps.certificate is not None:
        # A unit's transactions are one set of items where names are certified.
        assert steps.certificate.sensitivity == mechanism.items.measurement.sensitivity == 1
        assert steps.certificate.passes(1) <= mechanism.test_delta


@pytest.mark.parametrize("select", [PEEL, COUNTS, None])
@pytest.mark.parametrize("size", [1, 2, 5])
@pytest.mark.parametrize("epsilon", [F(1, 10), F(1), F(10)])
@pytest.mark.parametrize("sensitivity", [1, 4])
def test_everything_is_planned_to_be_spent_and_no_more(
    select: str | None, size: int, epsilon: Fraction, sensitivity: int
) -> None:
    request = replace(REQUEST, sizes=(size,), epsilon=epsilon, select=select, sensitivity=sensitivity)
    calibrated = calibrate(request)
    assert F(999, 1000) * epsilon < calibrated.guarantee.epsilon <= epsilon
    assert calibrated.guarantee.delta <= request.delta
    assert sum(line.rho or 0 for line in calibrated.mechanism.spending) == calibrated.mechanism.budget


def test_a_public_list_needs_no_test_and_costs_nothing_for_it() -> None:
    open_universe, listed = (
        calibrate(replace(REQUEST, universe_size=size)).mechanism for size in (None, math.comb(100, 2))
    )
    anonymous = calibrate(replace(REQUEST, universe_size=math.comb(100, 2), anonymous=True, names=100)).mechanism
    assert listed.failures == ()
    assert listed.usual.certificate is None
    assert open_universe.failures == anonymous.failures != ()
    assert (open_universe.items.names, anonymous.items.names) == (65_536, 100)
    assert listed.budget > open_universe.budget


def test_shares_are_those_of_the_tuning() -> None:
    tuning = Tuning(look_share=0.05, items_share=0.3, clear_pairs_share=0.25, clear_itemsets_share=0.25)
    mechanism = calibrate(replace(REQUEST, select=COUNTS, epsilon=F(1, 2)), tuning).mechanism
    assert float(mechanism.look.loss.rho / mechanism.budget) == pytest.approx(0.05, abs=0.001)
    assert float(mechanism.items.measurement.loss.rho / mechanism.budget) == pytest.approx(0.3, abs=0.001)
    steps = mechanism.usual
    assert float(steps.pairs.loss.rho / steps.itemsets.loss.rho) == pytest.approx(1, abs=0.001)
    # What is left is for two counts of the itemsets in doubt.
    assert [float(steps.pairs.loss.rho) / rho for rho in steps.in_doubt] == pytest.approx([1, 1], abs=0.001)
    # With as much noise as support nothing is clear, and larger itemsets are only as good as their pairs.
    unclear = replace(mechanism, tuning=replace(tuning, clear=0.0, pairs_share=0.5)).usual
    larger = replace(mechanism, sizes=(3,), tuning=replace(tuning, pairs_share=0.5)).usual
    for other in (unclear, larger):
        assert other.in_doubt == ()
        assert float(other.pairs.loss.rho / other.itemsets.loss.rho) == pytest.approx(1, abs=0.001)


def test_delta_is_needed_and_ways_to_select_are_two() -> None:
    with pytest.raises(BudgetError):
        calibrate(replace(REQUEST, delta=F(0)))
    with pytest.raises(UsageError):
        calibrate(replace(REQUEST, select="guess"))


# Noisy counts (measurement.py).


@given(st.integers(1, 30), st.integers(1, 64))
def test_what_a_transaction_adds_is_bounded_however_long_it_is(full: int, resolution: int) -> None:
    weights = Measurement(full=full, resolution=resolution, variance=1).weights
    held = np.arange(len(weights))
    assert np.all(weights**2 * held <= resolution**2 * full)
    assert weights[-1] == 0  # and so for anything longer
    assert np.all(weights[1 : full + 1] == resolution)
    assert np.all((weights[full + 1 :] + 1) ** 2 * held[full + 1 :] > resolution**2 * full)  # not less than need be


@pytest.mark.parametrize("rho", [1e-12, 1e-6, 0.003, 2.0])
@pytest.mark.parametrize("sensitivity", [1, 7])
def test_a_measurement_costs_what_it_may(rho: float, sensitivity: int) -> None:
    measurement = Measurement.costing(rho, full=12, sensitivity=sensitivity)
    assert F(99, 100) * F(rho) < measurement.loss.rho <= F(rho)
    assert measurement.loss.rho == F(sensitivity**2 * measurement.resolution**2 * 12, 2 * measurement.variance)
