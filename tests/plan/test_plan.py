"""What a plan holds and refuses, and that it never costs more than its budget."""

from __future__ import annotations

import inspect
import json
import math
from collections.abc import Callable
from dataclasses import fields
from fractions import Fraction
from itertools import product
from typing import Any

import numpy as np
import pytest

from fim_private.accounting.basic_composition import basic_delta, basic_epsilon
from fim_private.accounting.gaussian_composition import gaussian_epsilon
from fim_private.accounting.rounding import exp_up
from fim_private.errors import BudgetError, UsageError
from fim_private.mechanisms.items_first import ItemsFirst
from fim_private.mechanisms.lmm import LargeMargin
from fim_private.mechanisms.look_first import LookFirst
from fim_private.mechanisms.protocol import COUNTS, PEEL
from fim_private.mechanisms.registry import REGISTRY
from fim_private.mining.mine import mine
from fim_private.plan import Plan, Question, QuestionArguments, Universe, make_plan, plan_again
from fim_private.plan.planner import LIKELY
from fim_private.plan.record import plan_record
from fim_private.privacy import (
    Budget,
    NeighbouringRelation,
    PrivacyUnit,
    failure_probability,
)
from tests.mechanisms.cases import needs
from tests.plan.costs import ask_for_counts, ask_for_several_sizes, check_many, check_per_size, check_with_counts
from tests.sampling import SEED

UNIT = PrivacyUnit()


def plan_of(name: str = "lmm", **changes: object) -> Plan:
    options = {"size": 2, "top": 10, "budget": Budget("1", "1e-6"), "unit": UNIT, "mechanism": name}
    return make_plan(**{**options, **needs(name, 16_470), **changes})


def test_the_default_plan_is_the_calibrated_large_margin_mechanism() -> None:
    mechanism = plan_of().mechanism
    assert isinstance(mechanism, LargeMargin)
    assert mechanism.search_epsilon == Fraction(1, 5)
    assert mechanism.tests[-1][0] == 10_240
    assert mechanism.fallback.candidates == 10_000
    assert mechanism.certificate_delta == mechanism.fallback.stop_delta
    share = Fraction(1, 2 * 10**6) / (1 + exp_up(Fraction(1)))
    assert float(failure_probability(mechanism.failures)) == pytest.approx(float(share), rel=1e-6)


def test_margins_move_the_right_way() -> None:
    base = plan_of().mechanism.margins[0].counts
    assert plan_of(budget=Budget("2", "1e-6")).mechanism.margins[0].counts < base
    assert plan_of(budget=Budget("1", "1e-9")).mechanism.margins[0].counts > base
    assert plan_of(relation=NeighbouringRelation.REPLACE).mechanism.margins[0].counts > base
    capped = PrivacyUnit(column="customer", max_transactions=3)
    assert plan_of(unit=capped).mechanism.margins[0].counts == pytest.approx(3 * base, rel=0.02)


def test_universe_is_exact_at_any_size() -> None:
    assert Universe().itemsets(3) is None
    assert Universe(items=16_470).itemsets(3) == math.comb(16_470, 3) == 744_475_545_540
    assert plan_of("exponential", universe=Universe(items=10**15)).mechanism.margins[0].counts > 0
    with pytest.raises(UsageError, match="out of range"):
        Universe(items=0)
    assert Universe(names=("a", "b", "c")).itemsets(2) == 3
    with pytest.raises(UsageError, match="differs from the number of names"):
        Universe(items=2, names=("a", "b", "c"))


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"size": 0}, "size is out of range"),
        ({"size": "2"}, "size is out of range"),
        ({"top": 2.5}, "number of itemsets is out of range"),
        ({"size": 21}, "size is out of range"),
        ({"top": 0}, "number of itemsets is out of range"),
        ({"top": 10**6}, "number of itemsets is out of range"),
        ({"max_items": 1}, "items to keep"),
        ({"mechanism": "magic"}, "no mechanism of that name"),
        ({"mechanism": "exponential"}, "declared universe"),
        ({"universe": Universe(items=4), "mechanism": "exponential"}, "fewer itemsets.*: 6"),
        ({"universe": Universe(items=7), "size": 9}, "too few items for an itemset of this size: 7.*smaller size="),
        ({"universe": Universe(items=10**18), "size": 20}, "more than 1e300"),
        ({"count_share": 0}, "share of the counts is out of range"),
        ({"count_share": "1"}, "share of the counts is out of range"),
        ({"count_share": "some"}, "not a number"),
        ({"raw_counts": True}, "this release has none"),
        ({"public_transactions": 5}, "this release has none"),
        ({"count_share": "0.3", "public_transactions": 0}, "public number of transactions"),
        ({"count_share": "0.3", "public_transactions": 10**12 + 1}, "public number of transactions"),
    ],
)
def test_a_question_that_cannot_be_planned_is_refused(changes: dict[str, object], message: str) -> None:
    with pytest.raises(UsageError, match=message):
        plan_of(**changes)


@pytest.mark.parametrize("name", sorted(name for name, row in REGISTRY.items() if not row.needs_universe))
def test_an_open_universe_needs_a_delta(name: str) -> None:
    with pytest.raises(BudgetError, match="delta"):
        plan_of(name, budget=Budget("1", "0"))
    assert plan_of("exponential", budget=Budget("1", "0")).guarantee.delta == 0


@pytest.mark.parametrize("epsilon", ["1e-6", "0.01", "100"])
@pytest.mark.parametrize("delta", ["1e-100", "1e-6", "0.5"])
@pytest.mark.parametrize("name", sorted(REGISTRY))
def test_extreme_budgets_can_be_planned(name: str, epsilon: str, delta: str) -> None:
    for relation in NeighbouringRelation:
        budget = Budget(epsilon, delta)
        plan = plan_of(name, top=2, budget=budget, relation=relation)
        assert 0 < plan.guarantee.epsilon <= budget.epsilon
        assert 0 <= plan.guarantee.delta <= budget.delta
        assert plan.mechanism.margins[0].counts > 0


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        ({}, "look-first"),
        ({"universe": Universe(items=100, listed=True)}, "look-first"),
        ({"universe": Universe(items=2000, listed=True), "top": 4}, "look-first"),
        ({"universe": Universe(items=2000, listed=True), "top": 3}, "permute-and-flip"),
        ({"universe": Universe(items=2000, listed=True), "top": 5, "size": 1}, "exponential"),
        ({"universe": Universe(items=100, listed=True), "top": 1}, "permute-and-flip"),
        ({"universe": Universe(items=20, listed=True), "top": 1, "size": 1}, "permute-and-flip"),  # on a tie
        ({"universe": Universe(items=100, listed=True), "top": 100}, "look-first"),
        ({"universe": Universe(items=100, listed=True), "top": 100, "size": 1}, "exponential"),
        ({"universe": Universe(items=200, listed=True), "top": 21, "size": 1}, "exponential"),
        ({"universe": Universe(items=200, listed=True), "top": 20, "size": 1}, "look-first"),
        ({"universe": Universe(items=200, listed=True), "top": 16, "size": 1}, "look-first"),
        ({"universe": Universe(items=200, listed=True), "top": 15, "size": 1}, "exponential"),
        ({"universe": Universe(items=10**7, listed=True), "top": 200, "size": 1}, "look-first"),
        ({"universe": Universe(items=100, listed=True), "top": 100, "size": (2, 3)}, "look-first"),
        ({"universe": Universe(items=100, listed=True), "top": 100, "size": (2, 3), "per_size": True}, "look-first"),
        ({"universe": Universe(items=10**17)}, "certified-domain"),
        ({"top": 1}, "limited-domain"),
        ({"top": 250}, "look-first"),
        ({"top": 50, "size": 1}, "look-first"),
        ({"universe": Universe(items=100, listed=True), "budget": Budget("1", "0")}, "permute-and-flip"),
    ],
)
def test_auto_takes_the_smallest_lead_over_the_bulk(changes: dict[str, object], expected: str) -> None:
    options = {"size": 2, "top": 10, "budget": Budget("1", "1e-6"), "unit": UNIT, **changes}
    plan = make_plan(**options, mechanism="auto")
    assert plan.mechanism_name == expected
    assert plan.why is not None
    assert f"{plan.lead:,} transactions" in plan.why
    finds_with_list = isinstance(plan.mechanism, ItemsFirst | LookFirst) and plan.mechanism.public_names is not None
    share = LIKELY if expected == "items-first" or finds_with_list else 1
    for name, row in REGISTRY.items():
        if row.automatic and plan.question.suits(row):
            try:
                other = make_plan(**options, mechanism=name)
            except BudgetError:
                continue
            decided_by_a_look = name in REGISTRY[expected].instead_of
            assert decided_by_a_look or other.lead is None or other.compared_lead >= share * plan.compared_lead


def test_three_items_and_pairs_of_a_list_are_looked_at_first_whatever_picks_need() -> None:
    asked = {"size": (1, 2), "budget": Budget("1", "1e-6"), "unit": UNIT, "universe": Universe(items=2000, listed=True)}
    two, three = (make_plan(**asked, top=top) for top in (2, 3))
    assert (two.mechanism_name, three.mechanism_name) == ("permute-and-flip", "look-first")
    assert make_plan(**asked, top=3, mechanism="exponential").lead < three.lead


@pytest.mark.parametrize(
    ("size", "picked", "found"),
    [
        (1, 15, 16),
        (2, 7, 8),
        (3, 3, 4),
        ((1, 2), 7, 8),
        ((2, 3), 5, 6),
        ((1, 2, 3), 5, 6),
    ],
)
def test_without_a_delta_short_lists_are_picked_from_the_whole_list(
    size: int | tuple[int, ...], picked: int, found: int
) -> None:
    universe, budget = Universe(items=1_000, listed=True), Budget("0.1", "0")
    names = [
        make_plan(size=size, top=top, budget=budget, unit=UNIT, universe=universe).mechanism_name
        for top in (1, picked, found, 20, 50, 200)
    ]
    assert names == ["permute-and-flip", "permute-and-flip", *["items-first"] * 4]


@pytest.mark.parametrize("size", [4, 7, (1, 4), (1, 2, 3, 4)])
@pytest.mark.parametrize("items", [20, 4_000])
def test_without_a_delta_not_all_itemsets_of_four_items_are_counted(size: int | tuple[int, ...], items: int) -> None:
    universe, budget = Universe(items=items, listed=True), Budget("1", "0")
    for top in (1, 3, 15):
        assert (
            make_plan(size=size, top=top, budget=budget, unit=UNIT, universe=universe).mechanism_name == "items-first"
        )


@pytest.mark.parametrize("size", [2, 3, (1, 2), (1, 2, 3)])
def test_without_a_delta_longer_lists_are_found_by_items_whatever_their_number(size: int | tuple[int, ...]) -> None:
    for items, top in product((20, 1_000), (15, 20, 100) if size != 3 else (4, 10, 15)):
        universe = Universe(items=items, listed=True)
        plan = make_plan(size=size, top=top, budget=Budget("0.1", "0"), unit=UNIT, universe=universe)
        assert plan.mechanism_name == "items-first"


def test_auto_says_that_another_needs_less_for_the_whole_list() -> None:
    universe = Universe(items=169, listed=True)
    plan = make_plan(size=1, top=3, budget=Budget("1", "1e-6"), unit=UNIT, universe=universe)
    assert plan.why is not None
    assert plan.why.startswith("chosen because one itemset needs the smallest lead over the bulk")
    assert "; the whole list needs 27 transactions (exponential 26, " in plan.why


@pytest.mark.parametrize(
    ("size", "top", "items", "which"),
    [(1, 16, 500, "likely itemsets"), (2, 3, 100_000, "lists that begin with clear itemsets")],
)
def test_auto_says_which_lists_need_less_than_it_states(size: int, top: int, items: int, which: str) -> None:
    universe = Universe(items=items, listed=True)
    plan = make_plan(size=size, top=top, budget=Budget("1", "1e-6"), unit=UNIT, universe=universe)
    assert plan.why is not None
    assert plan.why.startswith(f"chosen because {which} need less than the stated lead over the bulk")


def test_auto_says_what_is_missing() -> None:
    with pytest.raises(BudgetError, match="delta"):
        make_plan(size=2, top=10, budget=Budget("1", "0"), unit=UNIT, mechanism="auto")


@pytest.mark.parametrize(
    ("option", "least", "most", "fixed"),
    [
        ("size", 1, 20, {}),
        ("top", 1, 10_000, {}),
        ("max_items", 2, 10**6, {}),
        ("min_count", 1, 10**12, {"mechanism": "items-first"}),
    ],
)
def test_both_ends_of_a_range_can_be_asked_for_and_nothing_beyond(
    option: str, least: int, most: int, fixed: dict[str, object]
) -> None:
    for value in (least, most):
        plan = plan_of(**{**fixed, option: value})
        assert (plan.size if option == "size" else getattr(plan.question, option)) == value
    for value in (least - 1, most + 1):
        with pytest.raises(UsageError, match="out of range"):
            plan_of(**{**fixed, option: value})


def test_both_ends_of_a_universe_can_be_declared_and_nothing_beyond() -> None:
    for items in (1, 10**18):
        assert Universe(items=items).items == items
        with pytest.raises(UsageError, match="out of range"):
            Universe(items=items - 1 if items == 1 else items + 1)
    assert plan_of("exponential", universe=Universe(items=5), size=2, top=10).universe.itemsets(2) == 10
    assert plan_of("exponential", universe=Universe(items=10**18), size=17).universe.itemsets(17) < 10**300
    with pytest.raises(UsageError, match="more than 1e300"):
        plan_of("exponential", universe=Universe(items=10**18), size=18)
    assert Universe(items=3, names=("a", "b", "c", "c")).items == 3


def test_a_least_count_alone_asks_for_a_thousand_by_counts() -> None:
    plan = make_plan(size=2, min_count=50, budget=Budget("1", "1e-6"), unit=UNIT, mechanism="auto")
    assert (plan.top, plan.question.min_count, plan.mechanism_name) == (1_000, 50, "items-first")
    few = plan.mechanism.usual.itemsets
    # Long transactions may count in full where counts as large as these are all that is asked for.
    larger = plan_of("items-first", top=1_000, min_count=50_000).mechanism
    many = larger.usual.itemsets
    assert many.full > few.full


def test_what_selects_decides_the_mechanism_only_where_it_is_said() -> None:
    assert plan_of(mechanism="auto", select=PEEL, top=1).mechanism_name == "items-first"
    assert plan_of(mechanism="auto", top=1).mechanism_name != "items-first"
    for options in ({"select": PEEL}, {"select": COUNTS}, {"min_count": 9}):
        with pytest.raises(UsageError, match="no way to select"):
            plan_of("lmm", **options)
    with pytest.raises(UsageError, match="needs noisy counts"):
        plan_of("items-first", select=PEEL, min_count=9)
    with pytest.raises(UsageError, match="how many itemsets"):
        plan_of("items-first", select=COUNTS, top=None)
    picks, counts = (plan_of("items-first", select=select).mechanism for select in (PEEL, COUNTS))
    assert (picks.usual.itemsets, counts.usual.pick_epsilon) == (None, None)
    assert picks.usual.pick_epsilon is not None
    assert counts.usual.itemsets is not None
    assert (picks.gives_counts, counts.gives_counts) == (False, True)


def test_each_size_needs_as_many_itemsets_as_are_asked_for() -> None:
    sizes = {"size": (1, 2), "per_size": True, "top": 5}
    with pytest.raises(UsageError, match="fewer itemsets"):
        plan_of("exponential", **sizes, universe=Universe(items=4))
    assert plan_of("exponential", **sizes, universe=Universe(items=5)).top == 5


@pytest.mark.parametrize("name", sorted(REGISTRY))
def test_replace_costs_two_steps_unless_the_proof_covers_it(name: str) -> None:
    """Group privacy, worked out anew: calibrated at (eps/2, delta/(1 + e^(eps/2))), claimed at (2 eps', ...)."""
    budget = Budget("1", "1e-6")
    plan = plan_of(name, relation=NeighbouringRelation.REPLACE, budget=budget)
    if REGISTRY[name].both_relations:
        assert plan.mechanism == plan_of(name).mechanism
        assert plan.guarantee == plan_of(name).guarantee
        return
    share = budget.delta / (1 + Fraction(math.exp(0.5)))
    at_half = plan_of(name, budget=Budget(Fraction(1, 2), share * (1 - Fraction(1, 10**9))))
    assert float(plan.guarantee.epsilon) == pytest.approx(2 * float(at_half.guarantee.epsilon), rel=1e-8)
    each = float(at_half.guarantee.delta)
    assert float(plan.guarantee.delta) == pytest.approx(
        (1 + math.exp(float(at_half.guarantee.epsilon))) * each, rel=1e-7
    )
    assert plan.guarantee.composition == at_half.guarantee.composition
    assert float(plan.failure) == pytest.approx(float(at_half.failure), rel=1e-7)
    assert plan.relation is NeighbouringRelation.REPLACE


@pytest.mark.parametrize("name", sorted(REGISTRY))
def test_a_relation_may_be_its_name_and_nothing_else(name: str) -> None:
    """A name that was taken for the relation, but planned as the other, would promise twice what it keeps."""
    for relation in NeighbouringRelation:
        named = plan_of(name, relation=str(relation))
        assert named == plan_of(name, relation=relation)
        assert isinstance(named.relation, NeighbouringRelation)
    for wrong in ("Replace", "bogus", None, 5):
        with pytest.raises(UsageError, match="no such neighbouring relation"):
            plan_of(name, relation=wrong)


def test_whole_numbers_of_numpy_become_python_s_and_what_is_none_is_refused() -> None:
    unit = PrivacyUnit(column="c", max_transactions=np.int64(3))
    odd = {"size": np.int64(2), "top": np.uint8(3), "max_items": np.int32(9), "unit": unit}
    planned = plan_of("lmm", **odd, universe=Universe(items=np.int64(200)))
    own = {"size": 2, "top": 3, "max_items": 9, "unit": PrivacyUnit(column="c", max_transactions=3)}
    assert planned == plan_of("lmm", **own, universe=Universe(items=200))
    json.dumps(plan_record(planned))
    for wrong in ({"size": True}, {"top": 2.5}, {"top": "3"}, {"size": [2, None]}, {"max_items": True}):
        with pytest.raises(UsageError, match="out of range"):
            plan_of("lmm", **wrong)
    for wrong in (2.5, True, "5", 0):
        with pytest.raises(UsageError, match="out of range"):
            PrivacyUnit(column="c", max_transactions=wrong)
        with pytest.raises(UsageError, match="out of range"):
            Universe(items=wrong)
    for wrong in ("", " ", 5):
        with pytest.raises(UsageError, match="is not a name"):
            PrivacyUnit(column=wrong)


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"budget": (1, 1e-6)}, "budget is not a Budget"),
        ({"budget": None}, "budget is not a Budget"),
        ({"unit": "transaction"}, "unit is not a PrivacyUnit"),
        ({"universe": ["a", "b"]}, "universe is not a Universe"),
        ({"universe": []}, "universe is not a Universe"),
        ({"constraints": ["a"]}, "constraints is not a Constraints"),
        ({"constraints": ()}, "constraints is not a Constraints"),
        ({"name": "items-first", "select": []}, "no such way to select"),
        ({"mechanism": None}, "mechanism is not a str"),
    ],
)
def test_what_is_of_another_kind_is_refused_by_name(wrong: dict[str, object], message: str) -> None:
    with pytest.raises(UsageError, match=message):
        plan_of(**{"name": "lmm", **wrong})


def test_names_of_a_universe_are_stripped_and_told_apart() -> None:
    assert Universe(names=iter(["b", " a", "a ", "b"])).names == ("b", "a")
    assert Universe(names=["b", " a", "a "]).items == 2
    for wrong in (["a", ""], ["a", " "], [1, 2], [None], ["a\ud800"]):
        with pytest.raises(UsageError, match="blank or not a text"):
            Universe(names=wrong)
    with pytest.raises(UsageError, match="one text"):
        Universe(names="abc")
    with pytest.raises(UsageError, match="are no list"):
        Universe(names=1)
    with pytest.raises(UsageError, match="out of range"):
        Universe(names=[])


@pytest.mark.parametrize("name", sorted(name for name, row in REGISTRY.items() if row.needs_universe))
def test_replace_without_delta_stays_without(name: str) -> None:
    plan = plan_of(name, relation=NeighbouringRelation.REPLACE, budget=Budget("1", "0"))
    assert (plan.guarantee.epsilon, plan.guarantee.delta) == (1, 0)
    assert (basic_delta(plan.mechanism.losses), plan.failure) == (0, 0)
    assert basic_epsilon(plan.mechanism.losses) == (1 if REGISTRY[name].both_relations else Fraction(1, 2))


@pytest.mark.parametrize("name", sorted(REGISTRY))
def test_a_mechanism_is_told_what_one_unit_can_change(name: str) -> None:
    plan = plan_of(name, unit=PrivacyUnit(column="customer", max_transactions=7))
    assert plan.mechanism.sensitivity == 7
    assert plan_of(name).mechanism.sensitivity == 1
    assert plan.mechanism.top == 10


def test_a_unit_adds_the_itemsets_of_all_its_transactions() -> None:
    plan = plan_of("choosing", unit=PrivacyUnit(column="customer", max_transactions=7), max_items=10, size=3)
    assert plan.mechanism.most_new == 7 * 120


def test_the_plan_tells_the_lead_over_the_bulk_from_that_over_the_next() -> None:
    """lmm measures a lead over place k + 1, over the end of its grid, and over the fallback's candidates."""
    plan = plan_of(top=10)
    near, far, fallback = (margin.counts for margin in plan.mechanism.margins)
    assert [margin.place for margin in plan.mechanism.margins] == [11, 10_241, 10_001]
    assert plan.lead == min(far, fallback)
    assert plan.near_lead == near
    declared = plan_of("exponential")
    assert (declared.lead, declared.near_lead) == (declared.mechanism.margins[0].counts, None)


@pytest.mark.parametrize("mechanism", ["lmm-repeat", "lmm-paper", "stable-max"])
def test_a_lead_over_the_next_place_is_none_over_the_bulk(mechanism: str) -> None:
    plan = plan_of(mechanism, top=10)
    assert (plan.lead, plan.near_lead) == (None, plan.mechanism.margins[0].counts)


def test_items_first_is_told_the_largest_size() -> None:
    for size in (1, 3):
        mechanism = plan_of("items-first", size=size, top=5).mechanism
        assert mechanism.size == size


def test_auto_names_what_it_left_and_what_that_would_need() -> None:
    universe = Universe(items=100)
    plan = plan_of(mechanism="auto", universe=universe, max_items=10)
    _, _, left = plan.why.removesuffix(")").partition(" (")
    named = dict(each.rsplit(" ", maxsplit=1) for each in left.split(", "))
    automatic = {name for name, row in REGISTRY.items() if row.automatic}
    assert set(named) == automatic - {plan.mechanism_name, *REGISTRY["look-first"].instead_of}
    for name, lead in named.items():
        assert plan_of(name, universe=universe, max_items=10).lead == int(lead.replace(",", ""))


def test_counts_are_planned_beside_the_selection() -> None:
    plan = plan_of("exponential", count_share="0.3", budget=Budget("1", "0"))
    alone = plan_of("exponential", budget=Budget("7/10", "0"))
    assert plan.mechanism == alone.mechanism
    assert plan.losses == (*alone.mechanism.losses, plan.counts.loss)
    assert alone.losses == alone.mechanism.losses
    assert (plan.question.count_share, alone.question.count_share, alone.counts) == (Fraction(3, 10), None, None)
    assert [line.what for line in plan.spending] == [
        "picks, on average (later ones get more)",
        "counts, with discrete Laplace noise",
    ]
    assert alone.spending == alone.mechanism.spending
    assert (plan.question.raw_counts, plan.question.public_transactions) == (False, None)


def test_counts_are_halved_with_everything_else_for_replace() -> None:
    options = {"count_share": "0.3", "relation": NeighbouringRelation.REPLACE, "budget": Budget("1", "0")}
    halved = plan_of("exponential", **options)
    same = plan_of("exponential", count_share="0.3", budget=Budget("1/2", "0"))
    assert (halved.mechanism, halved.counts) == (same.mechanism, same.counts)
    assert halved.guarantee.epsilon == 2 * same.guarantee.epsilon
    # The textbook's proof holds for replace, and so does that of the counts.
    whole = plan_of("exponential-textbook", **options)
    assert whole.counts == plan_of("exponential", count_share="0.3", budget=Budget("1", "0")).counts


def test_a_found_universe_leaves_its_failure_independent() -> None:
    """items-first pays its failure once, with counts as without: its joint proof is not that of the others."""
    plan = plan_of("items-first", count_share="0.3")
    assert plan.failure == plan.mechanism.test_delta is not None
    assert plan.guarantee.composition == "gaussian"
    left = plan.budget.delta - plan.failure
    assert gaussian_epsilon(plan.losses, float(left)) == pytest.approx(1, rel=1e-3)


@pytest.mark.slow
def test_the_same_question_again_has_the_same_counts() -> None:
    plan = plan_of(count_share="0.2", raw_counts=True, public_transactions=99)
    assert plan_again(plan, budget=plan.budget, top=plan.top) == plan
    assert (plan.question.raw_counts, plan.question.public_transactions) == (True, 99)
    for options in (
        {"relation": NeighbouringRelation.REPLACE},
        {"mechanism": "items-first", "select": PEEL},
        {"mechanism": "items-first", "select": COUNTS},
        {"mechanism": "items-first", "min_count": 77},
    ):
        asked = plan_of(**options)
        assert plan_again(asked, budget=asked.budget, top=asked.top) == asked
    auto = plan_of(mechanism="auto", count_share="0.2", raw_counts=True, public_transactions=10**12)
    assert auto.counts is not None
    assert plan_again(auto, budget=auto.budget, top=auto.top) == auto


@pytest.mark.parametrize("function", [make_plan, mine])
def test_help_shows_what_a_question_may_hold(function: Callable[..., object]) -> None:
    """`**asked` in a signature would tell nothing to someone who looks at it in a notebook."""
    shown = inspect.signature(function).parameters
    assert (
        {field.name for field in fields(Question)} - {"sizes"} == set(QuestionArguments.__annotations__) <= set(shown)
    )
    needed = {name for name, parameter in shown.items() if parameter.default is parameter.empty}
    assert needed - {"transactions"} == {"size", "budget", "unit"}
    assert (shown["top"].annotation, shown["mechanism"].default) == ("int | None", "auto")


# Random plans, whose costs are worked out anew.


def test_no_plan_costs_more_than_its_budget() -> None:
    made = check_many(SEED, 120)
    assert made["refused"] < 12
    assert made["refused with a delta"] == 0
    assert min(made[kind] for kind in ("basic", "gaussian", "renyi", "optimal", *NeighbouringRelation)) >= 5


@pytest.mark.slow
def test_no_plan_with_counts_costs_more_than_its_budget() -> None:
    made = check_many(SEED, 40, check_with_counts, ask_for_counts)
    assert made["refused"] < 16
    kinds = ("discrete Laplace", "discrete Gaussian", "basic", "renyi", *NeighbouringRelation)
    assert min(made[kind] for kind in kinds) >= 2, made


@pytest.mark.slow
def test_no_plan_for_several_sizes_costs_more_than_its_budget() -> None:
    made = check_many(SEED, 36, check_per_size, ask_for_several_sizes)
    assert made["refused"] < 6
    assert min(made[kind] for kind in ("basic", "renyi", *NeighbouringRelation)) >= 2, made


@pytest.mark.long
@pytest.mark.parametrize("chunk", range(25))
def test_no_plan_of_thousands_with_counts_costs_more_than_its_budget(chunk: int) -> None:
    assert check_many(SEED + 1 + chunk, 100, check_with_counts, ask_for_counts)["refused"] < 40


@pytest.mark.long
@pytest.mark.parametrize("chunk", range(40))
def test_no_plan_of_ten_thousand_costs_more_than_its_budget(chunk: int) -> None:
    """The plans come in chunks that can run side by side."""
    made = check_many(SEED + 1 + chunk, 250)
    assert made["refused"] < 25
    assert made["refused with a delta"] == 0
    assert set(REGISTRY) - set(made) == set()


@pytest.mark.parametrize(
    ("name", "written"),
    [
        ("must_contain", r"no argument must_contain\. Write constraints=Constraints\(must_contain=\.\.\.\)\."),
        ("epsilon", r"Write budget=Budget\(epsilon=\.\.\.\)\."),
        ("column", r"Write unit=PrivacyUnit\(column=\.\.\.\)\."),
        ("k", r"Write one of size, top, budget, .*, by\."),
    ],
)
def test_an_argument_that_no_question_has_is_refused_with_its_place(name: str, written: str) -> None:
    with pytest.raises(UsageError, match=written):
        make_plan(size=2, top=3, budget=Budget("1", "1e-6"), unit=UNIT, **{name: 3})


@pytest.mark.parametrize(("name", "kind"), [("budget", "Budget"), ("unit", "PrivacyUnit")])
def test_what_every_question_says_is_asked_for(name: str, kind: str) -> None:
    said: dict[str, Any] = {"budget": Budget("1", "1e-6"), "unit": UNIT}
    del said[name]
    with pytest.raises(UsageError, match=rf"{name} is missing\. Write {name}={kind}\("):
        make_plan(size=2, top=3, **said)
