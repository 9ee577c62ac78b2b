from __future__ import annotations

import math
from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fim_private.accounting.basic import basic_delta, basic_epsilon
from fim_private.accounting.optimal import optimal_delta
from fim_private.accounting.renyi import renyi_epsilon
from fim_private.accounting.rounding import exp_up
from fim_private.errors import BudgetError, UsageError
from fim_private.mechanisms.lmm import LargeMargin
from fim_private.mechanisms.registry import REGISTRY
from fim_private.plan import Plan, Universe, make_plan
from fim_private.privacy import ApproxDP, Budget, NeighbouringRelation, PrivacyUnit, PureDP
from tests.mechanisms.cases import needs

UNIT = PrivacyUnit()


def plan_of(name: str = "lmm", **changes: object) -> Plan:
    options = {"size": 2, "top": 10, "budget": Budget("1", "1e-6"), "unit": UNIT, "mechanism": name}
    return make_plan(**{**options, **needs(name, 16_470), **changes})  # type: ignore[arg-type]


@settings(max_examples=25, deadline=None)
@given(
    st.sampled_from(sorted(REGISTRY)),
    st.integers(1, 60),
    st.fractions(Fraction(1, 1000), 20),
    st.integers(2, 60),
    st.sampled_from(list(NeighbouringRelation)),
    st.integers(1, 7),
)
def test_no_plan_costs_more_than_its_budget(
    name: str, top: int, epsilon: Fraction, digits: int, relation: NeighbouringRelation, kept: int
) -> None:
    budget = Budget(epsilon, Fraction(1, 10**digits))
    unit = PrivacyUnit(column="customer", max_transactions=kept)
    plan = plan_of(name, top=top, budget=budget, unit=unit, relation=relation)
    assert plan.guarantee.epsilon <= budget.epsilon
    assert plan.guarantee.delta <= budget.delta

    halved = relation is NeighbouringRelation.REPLACE and not REGISTRY[name].both_relations
    epsilon = budget.epsilon / 2 if halved else budget.epsilon
    delta = budget.delta / (1 + exp_up(epsilon)) if halved else budget.delta
    losses, failure = plan.mechanism.losses, plan.mechanism.failure
    match plan.guarantee.composition:
        case "basic":
            assert basic_epsilon(losses) <= epsilon
            assert basic_delta(losses) + failure <= delta
        case "renyi":
            accounted = delta - (1 + exp_up(epsilon)) * failure
            assert accounted > 0
            assert renyi_epsilon(losses, float(accounted)) <= epsilon * (1 + Fraction(1, 10**9))
        case "optimal":
            (loss,) = set(losses)
            assert isinstance(loss, ApproxDP | PureDP)
            each = float(loss.delta) if isinstance(loss, ApproxDP) else 0.0
            spent = optimal_delta(float(epsilon), float(loss.epsilon), each, len(losses))
            assert spent <= float(delta)


def test_the_default_plan_is_the_specification_s() -> None:
    mechanism = plan_of().mechanism
    assert isinstance(mechanism, LargeMargin)
    assert mechanism.search_epsilon == Fraction(1, 5)
    assert mechanism.tests[-1][0] == 10_240
    assert mechanism.fallback is not None
    assert mechanism.fallback.candidates == 10_000
    assert mechanism.certificate_delta == mechanism.fallback.stop_delta
    share = Fraction(1, 2 * 10**6) / (1 + exp_up(Fraction(1)))
    assert float(mechanism.failure) == pytest.approx(float(share), rel=1e-6)


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
    with pytest.raises(UsageError, match="not that of their names"):
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
        ({"universe": Universe(items=4), "mechanism": "exponential"}, "fewer itemsets"),
        ({"universe": Universe(items=10**18), "size": 20}, "more than 1e300"),
    ],
)
def test_what_cannot_be_planned(changes: dict[str, object], message: str) -> None:
    with pytest.raises(UsageError, match=message):
        plan_of(**changes)  # type: ignore[arg-type]


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
        ({}, "limited-domain"),
        ({"universe": Universe(items=100)}, "exponential"),
        ({"universe": Universe(items=100), "top": 1}, "permute-and-flip"),
        ({"universe": Universe(items=10**17)}, "limited-domain"),
        ({"universe": Universe(items=100), "budget": Budget("1", "0")}, "permute-and-flip"),
    ],
)
def test_auto_takes_the_smallest_lead_over_the_bulk(changes: dict[str, object], expected: str) -> None:
    options = {"size": 2, "top": 10, "budget": Budget("1", "1e-6"), "unit": UNIT, **changes}
    plan = make_plan(**options, mechanism="auto")  # type: ignore[arg-type]
    assert plan.mechanism_name == expected
    assert plan.why is not None
    assert f"{plan.lead:,} transactions" in plan.why
    for name, row in REGISTRY.items():
        if row.automatic and not row.needs_cap and (changes.get("universe") or not row.needs_universe):
            try:
                other = make_plan(**options, mechanism=name)  # type: ignore[arg-type]
            except BudgetError:
                continue
            assert other.lead is None or other.lead >= (plan.lead or 0)


def test_auto_says_what_is_missing() -> None:
    with pytest.raises(BudgetError, match="delta"):
        make_plan(size=2, top=10, budget=Budget("1", "0"), unit=UNIT, mechanism="auto")
