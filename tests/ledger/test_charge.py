"""What a plan is charged: by hand, from the proof in `ledger/charge.py`."""

from __future__ import annotations

import math
from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from fim_private import Budget, PrivacyUnit, Universe, make_plan
from fim_private.accounting.privacy_filter import PrivacyFilter
from fim_private.accounting.renyi_composition import bounded_range_curve, pure_curve, renyi_curve
from fim_private.ledger.charge import charge_of, losses_record
from fim_private.mechanisms.limited_domain import LimitedDomain
from fim_private.mechanisms.registry import REGISTRY
from fim_private.plan import Plan
from fim_private.privacy import ZCDP, BoundedRange, Chosen, ChosenFailure, NeighbouringRelation, PureDP

ORDER = Fraction(7)
RULE = PrivacyFilter(budget=Budget("3", "1e-5"), basic_share=Fraction(1, 2), order=ORDER)


def plan_for(mechanism: str, *, top: int = 10, epsilon: str = "1", delta: str = "1e-6", **options: Any) -> Plan:
    needs = {"universe": Universe(items=1000, listed=True)} if REGISTRY[mechanism].needs_universe else {}
    needs |= {"max_items": 5} if REGISTRY[mechanism].needs_cap else {}
    options = {"size": 2, "unit": PrivacyUnit(), **needs, **options}
    return make_plan(mechanism=mechanism, top=top, budget=Budget(epsilon, delta), **options)


def curve(function: Any, epsilon: Fraction) -> float:
    return float(function(float(epsilon), np.array([float(ORDER)]))[0])


DECLARED = [name for name, row in REGISTRY.items() if row.needs_universe]


@pytest.mark.parametrize(
    ("mechanism", "options"),
    [*((name, {}) for name in REGISTRY), *((name, {"universe": Universe(items=1000)}) for name in DECLARED)],
)
@pytest.mark.parametrize("relation", list(NeighbouringRelation))
def test_every_mechanism_is_charged_its_guarantee_and_no_more_renyi_than_that(
    mechanism: str, options: dict[str, Any], relation: NeighbouringRelation
) -> None:
    plan = plan_for(mechanism, top=2, relation=relation, **options)
    charge = charge_of(plan.cost, RULE)
    assert (charge.epsilon, charge.delta) == (plan.guarantee.epsilon, plan.guarantee.delta)
    by_guarantee = curve(pure_curve, plan.guarantee.epsilon) - math.log1p(-float(plan.guarantee.delta))
    worst = max(by_guarantee / float(RULE.bound), float(plan.guarantee.delta / RULE.failures_delta))
    assert RULE.renyi_share(charge) <= worst * (1 + 1e-8)
    assert charge.renyi > 0
    if relation is NeighbouringRelation.REPLACE and not REGISTRY[mechanism].both_relations:
        assert plan.cost.losses is None
        assert (charge.plain, charge.failure) == (plan.guarantee.delta, 0)
        assert float(charge.renyi) == pytest.approx(by_guarantee, rel=1e-8)


def test_without_a_renyi_test_the_guarantee_is_all() -> None:
    plan = plan_for("limited-domain")
    charge = charge_of(plan.cost, PrivacyFilter(budget=Budget("3", "1e-5")))
    assert (charge.epsilon, charge.delta) == (plan.guarantee.epsilon, plan.guarantee.delta)
    assert charge.renyi == charge.plain == charge.failure == 0


def test_picks_of_bounded_range_are_charged_by_their_curve() -> None:
    plan = plan_for("exponential")
    charge = charge_of(plan.cost, RULE)
    assert plan.guarantee.composition == "optimal"
    picked = sum(curve(bounded_range_curve, loss.epsilon) for loss in plan.mechanism.losses)
    assert float(charge.renyi) == pytest.approx(picked)
    assert charge.renyi >= picked
    assert charge.plain == charge.failure == 0


def test_the_limited_domain_s_failure_is_paid_once() -> None:
    plan = plan_for("limited-domain")
    mechanism = plan.mechanism
    charge = charge_of(plan.cost, RULE)
    assert (charge.plain, charge.failure) == (mechanism.stop_delta, 0)
    divergence = 10 * curve(bounded_range_curve, mechanism.pick_epsilon)
    failed = -10 * math.log1p(-float(mechanism.stop_delta))
    assert divergence + failed <= float(charge.renyi) <= (divergence + failed) * (1 + 1e-8)


def test_whatever_was_picked_before_the_stop_symbol_keeps_strangers_out() -> None:
    """At most kbar itemsets that only one neighbour ranks, none above c_(kbar+1) + Delta, against the stop symbol."""
    for sensitivity in (1, 3):
        mechanism = LimitedDomain(
            top=3, candidates=20, pick_epsilon=Fraction(1, 3), stop_delta=Fraction(1, 100), sensitivity=sensitivity
        )
        strangers = mechanism.candidates * math.exp(mechanism.rate * (sensitivity - mechanism.stop_lead))
        assert strangers <= mechanism.stop_delta
        assert strangers == pytest.approx(float(mechanism.stop_delta))


def test_items_first_fails_once_and_independently() -> None:
    plan = plan_for("items-first", top=100)
    charge = charge_of(plan.cost, RULE)
    assert (charge.plain, charge.failure) == (plan.failure, 0)
    rho = sum(loss.rho for loss in plan.mechanism.losses)
    assert float(charge.renyi) == pytest.approx(float(rho * (1 + ORDER) + plan.failure), rel=1e-8)


ROOMY = PrivacyFilter(budget=Budget("3", "0.01"), basic_share=Fraction(1, 2), order=ORDER, failing_epsilon=Fraction(3))
"""With much of delta to spare, the losses are the cheaper way."""


def test_a_certificate_s_failure_is_paid_on_both_sides() -> None:
    plan = plan_for("lmm")
    charge = charge_of(plan.cost, ROOMY)
    assert (charge.plain, charge.failure) == (0, plan.failure)
    # Where it is not settled that failures are paid so, or with next to none of delta, the guarantee is.
    assert charge_of(plan.cost, replace(ROOMY, failing_epsilon=None)).failure == 0
    assert charge_of(plan.cost, replace(ROOMY, failing_epsilon=Fraction(2))).failure == 0


def test_a_failure_that_looks_choose_is_paid_once_for_the_one_way_and_on_both_sides_for_the_other() -> None:
    plan = plan_for("look-first")
    (failure,) = plan.mechanism.failures
    assert isinstance(failure, ChosenFailure)
    charge = charge_of(plan.cost, ROOMY)
    assert (charge.plain, charge.failure) == (failure.one_sided, failure.other)
    assert failure.other > 0
    *looks, chosen = plan.mechanism.losses
    assert isinstance(chosen, Chosen)
    dearest = max(float(renyi_curve(way, np.array([float(ORDER)]))[0]) for way in chosen.ways)
    rho = sum(loss.rho for loss in looks)
    assert float(charge.renyi) == pytest.approx(float(rho * (1 + ORDER) + failure.one_sided) + dearest, rel=1e-8)
    # The record names the steps of every way.
    record = losses_record(plan.mechanism.losses)[-1]
    assert (record["loss"], len(record["ways"])) == ("Chosen", len(chosen.ways))
    tight = PrivacyFilter(
        budget=Budget("3", "4.1e-6"),
        basic_share=Fraction(0),
        order=ORDER,
        failing_epsilon=Fraction(3),
    )
    assert charge_of(plan.cost, tight).failure == 0


def test_a_delta_that_no_float_tells_from_1_is_charged() -> None:
    nearly = Fraction(1) - Fraction(1, 10**20)
    charge = charge_of(plan_for("lmm", delta=str(nearly)).cost, RULE)
    assert charge.plain == nearly
    assert charge.renyi > 46  # ln(10^20)


def test_rounds_that_reveal_are_paid_once() -> None:
    plan = plan_for("stable-max", top=3)
    charge = charge_of(plan.cost, RULE)
    loss = plan.mechanism.losses[0]
    assert charge.plain in {3 * loss.delta, plan.guarantee.delta}
    each = curve(pure_curve, loss.epsilon) - math.log1p(-float(loss.delta))
    assert float(charge.renyi) <= 3 * each * (1 + 1e-8)


def test_counts_are_charged_with_the_picks() -> None:
    plan = plan_for("exponential", count_share="0.3")
    assert plan.counts is not None
    charge = charge_of(plan.cost, RULE)
    assert (charge.epsilon, charge.delta) == (plan.guarantee.epsilon, plan.guarantee.delta)
    (rho,) = (loss.rho for loss in plan.losses if isinstance(loss, ZCDP))
    picks = sum(curve(bounded_range_curve, loss.epsilon) for loss in plan.mechanism.losses)
    assert float(charge.renyi) == pytest.approx(picks + float(rho * (1 + ORDER)), rel=1e-8)
    assert float(charge.renyi) > picks
    without = plan_for("exponential", epsilon="0.7")
    assert charge_of(without.cost, RULE).renyi < charge.renyi


def test_losses_are_recorded_each_once_with_their_number() -> None:
    assert losses_record([PureDP(Fraction(1)), *[BoundedRange(Fraction(1, 3))] * 2]) == [
        {"loss": "PureDP", "epsilon": "1", "times": 1},
        {"loss": "BoundedRange", "epsilon": "1/3", "times": 2},
    ]
