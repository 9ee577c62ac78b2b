"""Comparators that count step by step, from the question to the release."""

from __future__ import annotations

import math
from dataclasses import replace
from fractions import Fraction
from itertools import combinations
from pathlib import Path

import pytest

from fim_private.audit.verdict import audit
from fim_private.comparison.exact_counts import count_all
from fim_private.comparison.settings import Cell
from fim_private.comparison.trials import run_cell
from fim_private.constraints import Constraints
from fim_private.counting import LocalDatabase
from fim_private.errors import InputError, UsageError
from fim_private.ledger import Ledger
from fim_private.mechanisms.protocol import Stepwise
from fim_private.mechanisms.registry import COMPARATORS, REGISTRY, find
from fim_private.mining import privbasis_steps, stepwise
from fim_private.mining.bases import bases_of
from fim_private.mining.mine import mine
from fim_private.mining.rehearsal import rehearse
from fim_private.plan import Plan, Universe
from fim_private.privacy import Budget, NeighbouringRelation, PrivacyUnit
from fim_private.randomness import SeededRandomness
from fim_private.report.drawing import look
from fim_private.report.plan_text import plan_text
from fim_private.transactions.item_codes import transactions_from_lists
from tests.asking import mined, planned
from tests.comparison.test_run import SETTINGS
from tests.mining.test_privbasis_steps import BASKETS

NAMES = Universe(names=[*(f"{item + 10}" for item in range(20)), "nobody's"])
CUSTOMER = PrivacyUnit(column="customer", max_transactions=2)
LOUD = Budget("100", "1e-6")


def plan_of(name: str, **changes: object) -> Plan:
    return planned(**{"size": [1, 2, 3], "top": 10, "universe": NAMES, "mechanism": name, **changes})


def counts_of(items: tuple[str, ...]) -> int:
    return sum(set(items) <= set(basket) for basket in BASKETS)


@pytest.mark.parametrize("name", COMPARATORS)
def test_a_loud_release_is_right(name: str) -> None:
    release = mined(BASKETS, size=[1, 2, 3], top=10, budget=LOUD, universe=NAMES, mechanism=name, seed=1)
    best = sorted(
        (counts_of(some) for size in (1, 2, 3) for some in combinations([f"{item + 10}" for item in range(20)], size)),
        reverse=True,
    )[:10]
    assert [itemset.rank for itemset in release.itemsets] == [*range(1, 11)]
    assert sum(counts_of(itemset.items) >= best[-1] for itemset in release.itemsets) >= 9
    for itemset in release.itemsets:
        assert itemset.count == pytest.approx(counts_of(itemset.items), abs=25)
    assert release.found is None


@pytest.mark.parametrize("name", COMPARATORS)
def test_constraints_are_kept(name: str) -> None:
    release = mined(
        BASKETS,
        size=[2, 3],
        top=4,
        budget=LOUD,
        universe=NAMES,
        mechanism=name,
        seed=1,
        constraints=Constraints(must_contain=["11"], exclude=["10"]),
    )
    assert len(release.itemsets) == 4
    for itemset in release.itemsets:
        assert "11" in itemset.items
        assert "10" not in itemset.items
        assert itemset.count == pytest.approx(counts_of(itemset.items), abs=25)


@pytest.mark.parametrize("name", COMPARATORS)
def test_each_size_may_be_searched_by_itself(name: str) -> None:
    release = mined(BASKETS, size=[1, 2], budget=LOUD, universe=NAMES, mechanism=name, seed=1, per_size=True)
    assert [len(itemset.items) for itemset in release.itemsets] == [1, 1, 1, 2, 2, 2]


@pytest.mark.parametrize("name", COMPARATORS)
def test_a_ledger_pays_for_it(name: str, tmp_path: Path) -> None:
    ledger = Ledger.create(tmp_path / "shop.ledger", epsilon="2", delta="1e-5")
    release = mined(BASKETS, size=[1, 2], top=5, universe=NAMES, mechanism=name, ledger=ledger)
    assert release.id is not None
    assert len(release.itemsets) == 5


def test_data_that_is_too_much_to_count_costs_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def too_much(_self: LocalDatabase, size: int, m: int) -> None:
        assert m >= 1
        if size > 1:
            raise InputError("There is too much to count.", "Bound the work with --max-items.")

    ledger = Ledger.create(tmp_path / "shop.ledger", epsilon="2", delta="1e-5")
    monkeypatch.setattr(LocalDatabase, "top_itemsets", too_much)
    with pytest.raises(InputError, match="too much"):
        mined(BASKETS, top=5, universe=NAMES, mechanism="privbasis", ledger=ledger)
    assert len(ledger.history()) == len(Ledger.create(tmp_path / "other.ledger", epsilon="2", delta="1e-5").history())


@pytest.mark.parametrize("name", COMPARATORS)
@pytest.mark.parametrize("size", [1, 2, [1, 3]])
def test_one_basis_and_several_are_rehearsed(name: str, size: object, monkeypatch: pytest.MonkeyPatch) -> None:
    seen = set()

    def spy(*given: object, **more: object) -> object:
        bases = bases_of(*given, **more)
        seen.add(len(bases) > 1)
        return bases

    monkeypatch.setattr(privbasis_steps, "bases_of", spy)
    rehearse(plan_of(name, size=size, top=1))
    assert seen == {False, True}


@pytest.mark.parametrize("name", COMPARATORS)
def test_customers_count_with_so_many_baskets_or_with_merged_ones(name: str) -> None:
    several = plan_of(name, unit=CUSTOMER)
    assert several.mechanism.sensitivity == 2
    owned = transactions_from_lists(BASKETS, [place // 3 for place in range(len(BASKETS))])
    for changes in ({"unit": CUSTOMER}, {"unit": PrivacyUnit(column="customer"), "together": "unit"}):
        release = mine(
            owned, size=1, top=2, budget=LOUD, universe=NAMES, mechanism=name, seed=1, **changes
        )  # fmt: skip
        assert [itemset.items for itemset in release.itemsets] == [("10",), ("11",)]
    with pytest.raises(UsageError, match="in one of several baskets"):
        plan_of(name, unit=PrivacyUnit(column="customer"))


@pytest.mark.parametrize("name", COMPARATORS)
def test_replace_costs_two_steps(name: str) -> None:
    plan = plan_of(name, relation=NeighbouringRelation.REPLACE)
    share = plan.budget.delta / (1 + Fraction(math.exp(0.5))) * (1 - Fraction(1, 10**9))
    half = plan_of(name, budget=Budget(Fraction(1, 2), share))
    assert plan.guarantee.epsilon <= 1
    assert float(plan.guarantee.epsilon) == pytest.approx(2 * float(half.guarantee.epsilon), rel=1e-8)
    assert float(plan.guarantee.delta) == pytest.approx(float(half.guarantee.delta) * (1 + math.exp(0.5)), rel=1e-6)


@pytest.mark.parametrize("name", COMPARATORS)
def test_names_are_needed_and_their_number_is_not_enough(name: str) -> None:
    for universe in (Universe(items=20), None):
        with pytest.raises(UsageError, match="names of all items"):
            plan_of(name, universe=universe)


@pytest.mark.parametrize("name", COMPARATORS)
def test_it_is_for_comparison_and_not_audited_over_lists(name: str) -> None:
    row = find(name)
    assert name not in REGISTRY
    assert not row.automatic
    assert not row.sees_counts_only
    plan = plan_of(name, size=2)
    assert isinstance(plan.mechanism, Stepwise)
    assert plan.gives_counts
    with pytest.raises(UsageError, match="step by step"):
        audit(plan, randomness=SeededRandomness(0))
    assert "picks of items and pairs" in plan_text(plan)
    assert look(name) != look("none of these")


@pytest.mark.parametrize("name", COMPARATORS)
def test_the_comparison_can_run_it(name: str) -> None:
    settings = replace(SETTINGS, mechanisms=(name,), sizes=(2,), tops=(3,), epsilons=("50",), trials=2)
    counts = count_all("made up", transactions_from_lists(BASKETS * 20), settings, lambda _what: None)
    cell = Cell(mechanism=name, size=2, top=3, epsilon="50", universe_items=20)
    rows = run_cell(cell, settings, counts)
    assert [row["precision"] for row in rows] == [1.0, 1.0]


def test_a_vocabulary_that_is_not_the_list_is_a_fault() -> None:
    mechanism = plan_of("privbasis").mechanism
    assert isinstance(mechanism, Stepwise)
    with pytest.raises(AssertionError, match="not the public list"):
        stepwise.run(LocalDatabase(transactions_from_lists(BASKETS)), mechanism, SeededRandomness(0))
