"""The top of each size from one budget."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from itertools import combinations
from typing import Any

import pytest

from fim_private import Budget, PrivacyUnit, Release, Universe, make_plan, mine, transactions_from_lists
from fim_private.accounting.privacy_filter import PrivacyFilter
from fim_private.ledger.charge import charge_of
from fim_private.mechanisms.per_size import PerSize
from fim_private.mechanisms.registry import REGISTRY
from fim_private.plan import Plan, plan_again
from fim_private.plan.record import plan_record
from fim_private.release import ReleasedItemset
from fim_private.report.plan_text import plan_text
from fim_private.report.remarks import found_note, shortfall
from tests.asking import asked, mined, planned
from tests.mechanisms.cases import needs
from tests.sampling import SEED

BASKETS = [["bread", "milk", "tea"]] * 9000 + [["bread", "milk"]] * 4000 + [["bread"]] * 2000 + [["jam", "salt"]] * 20


def options(name: str = "limited-domain", **changes: Any) -> dict[str, Any]:
    usual = {"size": (1, 2), "top": 2, "epsilon": "2", "mechanism": name, "per_size": True}
    return asked(**{**usual, **(needs(name, 100, listed=False) if name in REGISTRY else {}), **changes})


def plan_of(name: str = "limited-domain", **changes: Any) -> Plan:
    return make_plan(**options(name, **changes))


def of_size(release: Release, size: int) -> list[tuple[str, ...]]:
    return [itemset.items for itemset in release.itemsets if len(itemset.items) == size]


@pytest.mark.parametrize("name", [*sorted(set(REGISTRY) - {"stable-max"}), "auto"])
def test_every_mechanism_finds_the_top_of_each_size(name: str) -> None:
    """One pair leads, two are level; so the top three of the pairs, and of the items."""
    release = mine(transactions_from_lists(BASKETS), **options(name, top=3), seed=3)
    assert set(of_size(release, 1)) == {("bread",), ("milk",), ("tea",)}
    assert set(of_size(release, 2)) == set(combinations(("bread", "milk", "tea"), 2))
    assert len(release.itemsets) == 6
    assert [itemset.rank for itemset in release.itemsets] == [1, 2, 3, 1, 2, 3]
    assert release.plan["per_size"] is True
    assert len(release.plan["parameters"]["parts"]) == 2
    assert release.plan["parameters"]["sizes"] == [1, 2]


def test_each_search_ranks_its_own_size() -> None:
    plan = plan_of("exponential", universe=Universe(items=50, listed=True), size=(3, 1))
    assert isinstance(plan.mechanism, PerSize)
    assert [sizes for sizes, _ in plan.selections] == [(1,), (3,)]
    assert [search.universe_size for _, search in plan.selections] == [50, 19_600]
    unit = PrivacyUnit(column="customer", max_transactions=3)
    capped = plan_of("choosing", size=(1, 3), max_items=7, unit=unit)
    assert [search.most_new for _, search in capped.selections] == [21, 105]
    assert [search.sensitivity for _, search in capped.selections] == [3, 3]
    found = plan_of("items-first", size=(2, 3))
    assert [search.size for _, search in found.selections] == [2, 3]


def test_one_size_by_itself_is_searched_as_ever() -> None:
    assert plan_of(size=2) == plan_of(size=2, per_size=False)
    assert not plan_of(size=2).question.per_size
    assert plan_of().question.per_size


@pytest.mark.slow
def test_the_same_question_again_makes_the_same_plan() -> None:
    plan = plan_of("auto", count_share="0.3")
    again = plan_again(plan, budget=plan.budget, top=plan.top)
    assert again == plan


@pytest.mark.parametrize("select", ["counts", "peel"])
def test_the_plan_says_whether_every_itemset_comes_with_a_count(select: str) -> None:
    question = {"size": (2, 3), "per_size": True, "mechanism": "items-first", "select": select}
    release = mined([["a", "b", "c", "d"]] * 5000, **question)
    counted = {itemset.count is not None for itemset in release.itemsets}
    assert counted == {select == "counts"}
    assert planned(**question).gives_counts == (counted == {True})


def test_itemsets_that_do_not_occur_are_of_the_search_s_size() -> None:
    release = mine(
        transactions_from_lists([["a"]]),
        **options(
            "exponential",
            universe=Universe(names=tuple(map(str, range(1000)))),
            top=10,
            budget=Budget("1e-3", "0"),
            seed=SEED,
        ),
    )
    assert [len(itemset.items) for itemset in release.itemsets] == [1] * 10 + [2] * 10


def test_counts_are_planned_for_all_searches_together() -> None:
    plan = plan_of(top=5, count_share="0.3")
    assert plan.counts.top == 10
    release = mine(transactions_from_lists(BASKETS), **options(count_share="0.3", top=3, seed=SEED))
    counts = {itemset.items: itemset.count for itemset in release.itemsets}
    assert counts["bread",] == pytest.approx(15_000, abs=200)
    assert counts["bread", "milk"] == pytest.approx(13_000, abs=200)
    assert counts["milk",] >= counts["bread", "milk"]


def test_items_found_twice_stand_once() -> None:
    release = mine(transactions_from_lists(BASKETS), **options("items-first", seed=SEED))
    names = [item.item for item in release.found]
    assert {"bread", "milk", "tea"} <= set(names)
    assert len(names) == len(set(names))
    counts = [item.count for item in release.found]
    assert counts == sorted(counts, reverse=True)
    note = found_note(plan_of("items-first"), release) or ""
    assert "Items of these itemsets" in note
    assert "nearly all itemsets of so few items" not in " ".join(note.split())
    assert "did not test the itemsets. If no itemset stands out in the data" in " ".join(note.split())
    for low in (0, 700):  # the intervals of counts say by themselves which itemsets stand out
        counted = tuple(replace(each, count=900, count_low=low, count_high=1100) for each in release.itemsets)
        note = found_note(plan_of("items-first"), replace(release, itemsets=counted)) or ""
        assert "stands out" not in note
    counted = tuple(replace(each, count=5) for each in release.itemsets)  # the search may count, though picks are usual
    note = " ".join((found_note(plan_of("items-first"), replace(release, itemsets=counted)) or "").split())
    assert "Counts are rough." in note
    assert f"{len(counted)} of the counts are smaller than that: perhaps nobody has these itemsets" in note
    both = [(name,) for name in names] + list(combinations(names, 2))
    every = tuple(ReleasedItemset(rank=rank, items=itemset) for rank, itemset in enumerate(both, 1))
    note = found_note(plan_of("items-first"), replace(release, itemsets=every)) or ""
    assert "nearly all itemsets of so few items" in " ".join(note.split())
    assert "A test showed" in " ".join(note.split())
    listed = plan_of("items-first", universe=Universe(names=tuple(names)))
    assert "A test showed" not in " ".join((found_note(listed, replace(release, itemsets=every)) or "").split())
    for low, told in ((700, False), (0, True)):  # above 0, the counts show that the itemsets occur
        counted = tuple(replace(itemset, count=900, count_low=low, count_high=1100) for itemset in every)
        note = found_note(plan_of("items-first"), replace(release, itemsets=counted)) or ""
        assert ("nearly all itemsets of so few items" in " ".join(note.split())) is told


def test_a_ledger_charges_all_searches() -> None:
    rule = PrivacyFilter(
        budget=Budget("4", "1e-5"),
        basic_share=Fraction(1, 2),
        order=Fraction(7),
        failing_epsilon=Fraction(4),
    )
    plan = plan_of(top=20)
    charge = charge_of(plan.cost, rule)
    assert (charge.epsilon, charge.delta) == (plan.guarantee.epsilon, plan.guarantee.delta)
    (_, one), (_, other) = plan.selections
    assert charge.plain == one.stop_delta + other.stop_delta
    assert charge.failure == 0
    alone = planned(size=1, top=20, budget=plan.budget, unit=plan.unit, mechanism="limited-domain")
    single = charge_of(alone.cost, rule)
    # One search at about 1/sqrt(2) of the epsilon costs about half the divergence.
    assert float(charge.renyi) == pytest.approx(float(single.renyi), rel=0.2)
    roomy = PrivacyFilter(
        budget=Budget("4", "0.01"),
        basic_share=Fraction(1, 2),
        order=Fraction(7),
        failing_epsilon=Fraction(4),
    )
    certified = plan_of("lmm", top=20)
    assert charge_of(certified.cost, roomy).failure == certified.failure
    assert charge_of(certified.cost, roomy).plain == 0


def test_the_record_and_the_words_name_each_size() -> None:
    plan = plan_of(top=5)
    assert "size 2, picks: epsilon" in plan_text(plan)
    record = plan_record(plan)
    assert [line["what"] for line in record["spending"]] == ["size 1, picks", "size 2, picks"]
    release = mine(transactions_from_lists([["a", "b"]]), **options(top=5))
    assert "no itemset was clear enough to name" in (shortfall(plan, release) or "")
    full = mine(transactions_from_lists(BASKETS), **options(top=3))
    assert shortfall(plan_of(top=3), full) is None
    assert "Only 6 of 10 itemsets" in (shortfall(plan, full) or "")
