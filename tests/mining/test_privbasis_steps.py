from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from functools import cache
from itertools import combinations

import numpy as np
import pytest
from numpy.typing import NDArray

from fim_private import Budget, PrivacyUnit, Universe
from fim_private.counting import BasisBins, LocalDatabase, count_bins
from fim_private.errors import UsageError
from fim_private.mechanisms.count_noise import GaussianCounts, LaplaceCounts
from fim_private.mechanisms.privbasis import PrivBasis
from fim_private.mining import privbasis_steps, stepwise
from fim_private.mining.mine import mine_as_planned
from fim_private.plan import Plan, make_plan
from fim_private.randomness import Randomness, SeededRandomness
from fim_private.release.door import measure_bins
from fim_private.transactions.item_codes import transactions_from_lists

LOUD = Fraction(10**7)


def random_baskets(items: int = 20, number: int = 800) -> list[list[str]]:
    """Baskets in which the first items are frequent, and each item is on its own with another frequency."""
    generator = np.random.default_rng(11)
    chance = 0.75 * 0.88 ** np.arange(items)
    drawn = generator.random((number, items)) < chance
    return [[f"{item + 10}" for item in np.flatnonzero(row)] for row in drawn if row.any()]


BASKETS = random_baskets()
DATABASE = LocalDatabase(transactions_from_lists(BASKETS))


def made(**changes: object) -> PrivBasis:
    usual = PrivBasis(top=30, sizes=(1, 2, 3, 4), items=20, budget=LOUD, gaussian=False)
    return replace(usual, **changes)


@cache
def true_counts(sizes: tuple[int, ...]) -> dict[tuple[int, ...], int]:
    held = [{int(item) - 10 for item in basket} for basket in BASKETS]
    return {
        some: sum(basket.issuperset(some) for basket in held)
        for size in sizes
        for some in combinations(range(20), size)
    }


@pytest.mark.parametrize("gaussian", [False, True])
@pytest.mark.parametrize("sizes", [(1, 2, 3, 4), (2,), (3,), (1, 3)])
@pytest.mark.parametrize(("top", "most"), [(10, 12), (30, 12), (30, 6)])
def test_without_noise_the_list_is_the_true_one_with_its_counts(
    top: int,
    most: int,
    sizes: tuple[int, ...],
    gaussian: bool,
) -> None:
    mechanism = made(top=top, sizes=sizes, gaussian=gaussian, most=most)
    outcome = stepwise.run(DATABASE, mechanism, SeededRandomness(3))
    counts, found = true_counts(sizes), outcome.codes
    assert outcome.found is None
    assert len(found) == len(set(found)) <= top
    shown = outcome.counts.tolist()
    # Gaussian noise has a variance of 1 at least, in each of up to 2^11 bins.
    assert shown == pytest.approx([counts[itemset] for itemset in found], abs=150 if gaussian else 0)
    assert shown == sorted(shown, reverse=True)
    best = sorted(counts.values(), reverse=True)[:top]
    if top == 10 and sizes[0] == 1 and not gaussian:
        # All items fit into one basis.
        assert shown == best
    # Itemsets that lie in no basis are missed.
    assert sum(counts[itemset] >= best[-1] for itemset in found) >= 0.6 * top


def test_several_bases_are_counted_where_the_items_do_not_fit_into_one(monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[tuple[int, int]] = []

    class Spying(PrivBasis):
        def bins(self, bases: int) -> LaplaceCounts | GaussianCounts:
            noise = super().bins(bases)
            assert isinstance(noise, LaplaceCounts | GaussianCounts)
            seen.append((bases, noise.top))
            return noise

    phases: list[str] = []
    stepwise.run(DATABASE, Spying(**vars(made(most=4))), SeededRandomness(3), progress=phases.append)
    assert phases == ["finding items", "finding pairs", "counting"]
    assert seen[0][0] == seen[0][1] > 1
    stepwise.run(DATABASE, Spying(**vars(made(top=5))), SeededRandomness(3), progress=phases.append)
    assert phases[3:] == ["finding items", "counting"]
    assert seen[1] == (1, 1)


def test_names_that_nobody_has_are_in_every_step() -> None:
    # With hardly any budget, the names are as good as uniform: those of nobody come up as well.
    names = [f"{item + 10}" for item in range(200)]
    database = DATABASE.restrict_to(names)
    mechanism = made(items=200, budget=Fraction(1, 1000), sizes=(1, 2))
    outcome = stepwise.run(database, mechanism, SeededRandomness(4))
    assert outcome.itemsets.max() >= 20
    with pytest.raises(AssertionError, match="not the public list"):
        stepwise.run(DATABASE, mechanism, SeededRandomness(4))


def test_bins_have_noise_for_as_many_bases_as_there_are() -> None:
    bins = count_bins(DATABASE.transactions, np.array([[0, 1], [1, 2]], np.int32))
    assert len(measure_bins(bins, made().bins(2), SeededRandomness(0))) == 6
    with pytest.raises(AssertionError, match="more bases than"):
        measure_bins(bins, made().bins(1), SeededRandomness(0))


def test_units_that_are_counted_by_basket_are_refused() -> None:
    units = transactions_from_lists(BASKETS, [place // 2 for place in range(len(BASKETS))])
    with pytest.raises(UsageError, match="no single bin"):
        stepwise.run(LocalDatabase(units).count_units(), made(), SeededRandomness(0))
    merged = stepwise.run(LocalDatabase(units).merge_units(), made(), SeededRandomness(0))
    assert merged.counts[0] <= len(BASKETS) // 2 + 1


def test_nothing_is_named_where_no_itemset_lies_in_a_basis(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(privbasis_steps, "bases_of", lambda items, _pairs, **_more: items[:1][np.newaxis])
    outcome = stepwise.run(DATABASE, made(sizes=(2,)), SeededRandomness(0))
    assert len(outcome.itemsets) == 0
    assert len(outcome.counts) == 0


def cubes(number: int, dense: bool) -> LocalDatabase:
    """Baskets of three sorts of five items each; or nearly all of one sort."""
    generator = np.random.default_rng(5)
    held = generator.random((number, 15)) < np.repeat([0.9, 0.02, 0.02] if dense else [0.2, 0.2, 0.2], 5)
    return LocalDatabase(transactions_from_lists([[f"{item + 10}" for item in np.flatnonzero(row)] for row in held]))


def without_delta(names: tuple[str, ...], *, epsilon: str, top: int = 20, mechanism: str = "items-first") -> Plan:
    return make_plan(
        size=(1, 2, 3),
        top=top,
        budget=Budget(epsilon, "0"),
        unit=PrivacyUnit(),
        mechanism=mechanism,
        universe=Universe(names=names),
    )


@pytest.mark.parametrize(("dense", "epsilon", "finds"), [(True, "4", True), (False, "4", False), (False, "0.2", True)])
def test_dense_data_is_counted_in_bins_and_clear_itemsets_are_picked(
    dense: bool, epsilon: str, finds: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where the 20 most frequent itemsets are in more than a third of all baskets, the steps of PrivBasis follow.

    Where they are not, picks from the list follow if noise is small, and no items are found before.
    """
    database, names = cubes(4000, dense), tuple(f"{item + 10}" for item in range(15))
    plan = without_delta(names, epsilon=epsilon)
    bins: list[LaplaceCounts] = []
    real = privbasis_steps.measure_bins

    def measured(counted: BasisBins, noise: LaplaceCounts, randomness: Randomness) -> NDArray[np.int64]:
        bins.append(noise)
        return real(counted, noise, randomness)

    monkeypatch.setattr(privbasis_steps, "measure_bins", measured)
    phases: list[str] = []
    release = mine_as_planned(database, plan, seed=1, progress=phases.append)
    assert len(release.itemsets) == 20
    assert phases.count("finding items") == finds
    if not dense:
        assert not bins
        return
    (noise,) = bins
    assert float(noise.epsilon) == pytest.approx(4 * 0.5 * (1 - 0.03 - 0.03), rel=0.01)
    assert {itemset.items for itemset in release.itemsets if len(itemset.items) == 1} == {(name,) for name in names[:5]}
    assert all(itemset.count is not None and itemset.count > 2000 for itemset in release.itemsets)


def test_a_look_that_leads_to_bins_gives_counts_that_do_not_contradict_each_other() -> None:
    """No basket holds an item without those before it, so a pair is as frequent as one of its items."""
    names = tuple("abcdefgh")
    database = LocalDatabase(transactions_from_lists([names[: 1 + number // 100] for number in range(3000)]))

    def contradictions(mechanism: str) -> int:
        plan = without_delta(names, epsilon="2", top=30, mechanism=mechanism)
        counts = {frozenset(each.items): each.count for each in mine_as_planned(database, plan, seed=1).itemsets}
        assert len(counts) > 20
        assert list(counts.values()) == sorted(counts.values(), reverse=True)
        return sum(counts[one] < counts[other] for one in counts for other in counts if one < other)

    assert contradictions("items-first") == 0
    assert contradictions("privbasis") > 0


def test_a_look_that_leads_to_bins_picks_enough_items_for_the_list() -> None:
    """Where items are equally frequent, chance alone says how many there are. One item makes up no list of 20."""
    names = tuple("abcdefghijkl")
    database = LocalDatabase(transactions_from_lists([names[:6]] * 4000 + [names[6:]] * 3000))
    plan = without_delta(names, epsilon="1")
    for seed in range(10):
        counts = [each.count for each in mine_as_planned(database, plan, seed=seed).itemsets]
        assert len(counts) == 20
        assert all(count == pytest.approx(4000, rel=0.1) for count in counts)
