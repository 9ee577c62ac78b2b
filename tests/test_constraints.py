"""Constraints as values, and what they make of a universe and a plan."""

from __future__ import annotations

import math
from typing import Any

import pytest

from fim_private import Constraints, NeighbouringRelation, Plan, Universe, UsageError
from fim_private.mechanisms.registry import REGISTRY
from fim_private.plan import plan_again
from fim_private.plan.record import plan_record
from fim_private.report.plan_text import plan_text
from fim_private.report.promise_text import promise
from tests.asking import planned
from tests.mechanisms.cases import needs

MILK = Constraints(must_contain=["milk"])


def plan_of(mechanism: str = "limited-domain", **options: Any) -> Plan:
    return planned(**{"size": 3, "top": 5, "mechanism": mechanism, **needs(mechanism, 1000), **options})


def test_names_are_stripped_and_each_there_once() -> None:
    constraints = Constraints(must_contain=[" milk", "milk", "tea "], exclude=("bag",))
    assert constraints == Constraints(must_contain=("milk", "tea"), exclude=["bag", "bag"])
    assert constraints.named == {"milk", "tea", "bag"}
    assert hash(constraints)
    assert Constraints().describe() == ""
    assert Constraints(exclude=["bag", "box"]).describe() == "that do not contain bag or box"
    assert Constraints(exclude=list("abcdef")).describe() == "that do not contain any of 6 given items"
    assert Constraints(must_contain=list("abcdef")).describe() == "that contain all of 6 given items"


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"must_contain": "milk"}, "one text"),
        ({"exclude": "milk"}, "one text"),
        ({"exclude": None}, "are no list"),
        ({"exclude": ["milk", " "]}, "has no name"),
        ({"must_contain": ["milk"], "exclude": ["tea", " milk"]}, "required and excluded"),
    ],
)
def test_a_faulty_constraint_is_refused(given: dict[str, Any], said: str) -> None:
    with pytest.raises(UsageError, match=said):
        Constraints(**given)


def test_a_universe_shrinks() -> None:
    constraints = Constraints(must_contain=["milk"], exclude=["bag", "not listed"])
    named = Universe(names=("milk", "tea", " bag ", "jam"))
    assert named.without(constraints).names == ("jam", "tea")
    assert Universe(items=10, listed=True).without(constraints) == Universe(items=7, listed=True)
    assert Universe(items=4, listed=True).without(constraints).items == 1
    # Each of the named items may be one that does not occur.
    for items in (1, 10):
        assert Universe(items=items).without(constraints) == Universe(items=items)
    assert Universe().without(constraints).items is None
    assert named.without(Constraints()) is named
    with pytest.raises(UsageError, match="not on the public list"):
        named.without(Constraints(must_contain=["salt"]))
    for universe in (Universe(items=2, listed=True), Universe(names=("milk", "bag"))):
        with pytest.raises(UsageError, match="leave nothing"):
            universe.without(Constraints(must_contain=["milk"], exclude=["bag"]))


@pytest.mark.parametrize("relation", list(NeighbouringRelation))
@pytest.mark.parametrize("name", sorted(REGISTRY))
def test_a_plan_is_that_of_the_smaller_search(name: str, relation: NeighbouringRelation) -> None:
    """The same mechanism with the same parameters as for one item less, over one item less: nothing else is spent."""
    universe, smaller = (
        Universe(items=items, listed=True) if REGISTRY[name].needs_universe else None for items in (1000, 998)
    )
    constraints = Constraints(must_contain=["milk"], exclude=["bag"])
    plan = plan_of(name, constraints=constraints, universe=universe, relation=relation)
    alike = plan_of(name, size=2, universe=smaller, relation=relation)
    assert (plan.size, plan.question.remaining_sizes) == (3, (2,))
    assert plan.mechanism == alike.mechanism
    assert plan.guarantee == alike.guarantee
    assert plan_of(name, universe=universe, relation=relation).mechanism.top == plan.mechanism.top


def test_a_smaller_search_needs_a_smaller_lead() -> None:
    for name, options in (("exponential", {}), ("choosing", {"max_items": 20}), ("permute-and-flip", {})):
        lead, constrained = plan_of(name, **options).lead, plan_of(name, constraints=MILK, **options).lead
        assert constrained < lead


def test_a_constrained_question_that_cannot_be_planned_is_refused() -> None:
    with pytest.raises(UsageError, match="nothing beside"):
        plan_of(size=1, constraints=MILK)
    with pytest.raises(UsageError, match="fewer itemsets"):
        plan_of("exponential", universe=Universe(items=4), size=2, constraints=MILK)
    plan = plan_of("exponential", universe=Universe(items=6), size=2, constraints=MILK)
    assert plan.question.remaining_universe.items == 6
    assert plan_of("choosing", max_items=1, size=2, constraints=MILK).max_items == 1  # of the remaining items
    with pytest.raises(UsageError, match="items to keep"):
        plan_of("choosing", max_items=1, size=3, constraints=MILK)


def test_constraints_are_kept_and_said() -> None:
    constraints = Constraints(must_contain=["milk"], exclude=["ba\x1bg"])
    plan = plan_of("choosing", constraints=constraints, universe=Universe(items=100), max_items=10)
    assert plan_again(plan, budget=plan.budget, top=plan.top) == plan
    record = plan_record(plan)
    assert (record["size"], record["must_contain"], record["exclude"]) == (3, ["milk"], ["ba\x1bg"])
    said = " ".join(plan_text(plan).split())
    assert "looks for 2 of 3 items, the others being given" in said
    assert f"searches {math.comb(100, 2):,} itemsets instead of {math.comb(100, 3):,}" in said
    assert "a transaction holds 45 at most, instead of 120" in said
    bag, hundred = Constraints(exclude=["bag"]), Universe(items=100, listed=True)
    excluding = plan_text(plan_of("exponential", constraints=bag, universe=hundred))
    assert f"\n  searches {math.comb(99, 3):,} itemsets instead of {math.comb(100, 3):,}\n" in excluding
    assert plan_text(plan_of(constraints=bag)) == plan_text(plan_of())  # of an open universe
    number = plan_of("exponential", constraints=bag, universe=Universe(items=100))
    assert "searches" not in plan_text(number), "the number is of the other items"
    assert "100 different items occur beside those that the question names" in " ".join(promise(number).split())
    promised = " ".join(promise(plan).split())
    assert "The question asks for itemsets that contain milk, and not ba\\x1bg." in promised
    assert "The items that it names are public. Unless --allow-absent-items was given" in promised
    assert "The question asks" not in promise(plan_of())
