"""Exact (epsilon, delta) verification on small universes, all neighbours. Broken twins: tests/audit/test_verdict.py."""

from __future__ import annotations

import math
from dataclasses import replace
from fractions import Fraction

import pytest

from fim_private.accounting.basic_composition import basic_delta, basic_epsilon
from fim_private.accounting.renyi_composition import renyi_delta
from fim_private.audit.laws import NUMERICAL_ERROR
from fim_private.audit.neighbours import Limits
from fim_private.audit.search import Worst
from fim_private.mechanisms.anonymous_names import Certified
from fim_private.mechanisms.certified_domain import CertifiedDomain
from fim_private.mechanisms.choosing import Choosing
from fim_private.mechanisms.limited_domain import LimitedDomain
from fim_private.mechanisms.lmm import LargeMargin
from fim_private.mechanisms.lmm_paper import PublishedLargeMargin
from fim_private.mechanisms.lmm_repeat import RepeatedLargeMargin
from fim_private.mechanisms.protocol import Mechanism
from fim_private.mechanisms.registry import REGISTRY
from fim_private.mechanisms.stable_max import StableMax
from fim_private.mechanisms.truncated_frequency import TruncatedFrequency
from fim_private.plan import make_plan
from fim_private.privacy import ZCDP, Budget, NeighbouringRelation, PrivacyUnit, are_one_sided, failure_probability
from fim_private.randomness.noisy_maximum import Noise
from tests.audit.short_vectors import hard_vectors, largest_delta
from tests.mechanisms.cases import (
    CASES,
    Case,
    exponential,
    needs,
    noisy_maxima,
    truncated,
)

F = Fraction


def marks(mechanism: Mechanism) -> list[int]:
    """Gaps at which the mechanism's behaviour changes, and small ones."""
    if isinstance(mechanism, LargeMargin):
        return [1, 3, *(threshold for _, threshold in mechanism.tests)]
    if isinstance(mechanism, RepeatedLargeMargin):
        return [1, *(threshold for _, threshold in mechanism.round.tests[:2])]
    if isinstance(mechanism, PublishedLargeMargin):
        return [1, mechanism.threshold(1), mechanism.threshold(2)]
    if isinstance(mechanism, LimitedDomain):
        return [1, 3, int(mechanism.stop_lead)]
    if isinstance(mechanism, TruncatedFrequency):
        return [1, 3, mechanism.gamma]
    if isinstance(mechanism, Certified):
        return [1, 3, mechanism.certificate.threshold]
    if isinstance(mechanism, StableMax | Choosing | CertifiedDomain):
        return [1, 3, mechanism.threshold]
    return [1, 3, 8]


def worst(
    mechanism: Mechanism,
    case: Case,
    epsilon: Fraction,
    relation: NeighbouringRelation = NeighbouringRelation.ADD_REMOVE,
) -> Worst:
    return largest_delta(
        mechanism,
        hard_vectors(marks(mechanism), itemsets=case.itemsets),
        epsilon=float(epsilon),
        declared=case.declared,
        limits=Limits(sensitivity=case.sensitivity, relation=relation),
    )


def composes_by_renyi(mechanism: Mechanism) -> bool:
    return any(isinstance(loss, ZCDP) for loss in mechanism.losses)


def claimed_delta(mechanism: Mechanism, epsilon: Fraction) -> float:
    failure = failure_probability(mechanism.failures)
    if composes_by_renyi(mechanism):
        if are_one_sided(mechanism.failures):
            return renyi_delta(mechanism.losses, float(epsilon)) + float(failure)
        return renyi_delta(mechanism.losses, float(epsilon)) + (1 + math.exp(epsilon)) * float(failure)
    assert basic_epsilon(mechanism.losses) == epsilon
    return float(basic_delta(mechanism.losses) + failure)


SLOW = (
    "lmm, top 2, fallback",
    "lmm, top 2, Delta 2",
    "lmm-repeat, Delta 2",
    "certified-domain, top 2, one spare",  # rising, and with Delta 2, stay
)


@pytest.mark.parametrize(
    "case", [pytest.param(case, marks=pytest.mark.slow if case.name in SLOW else ()) for case in CASES], ids=str
)
def test_the_claim_holds_for_all_neighbours(case: Case) -> None:
    found = worst(case.mechanism, case, case.epsilon)
    assert found.delta <= claimed_delta(case.mechanism, case.epsilon) + NUMERICAL_ERROR, found


def test_every_registered_mechanism_is_verified() -> None:

    def kind(mechanism: Mechanism) -> tuple[object, ...]:
        return type(mechanism), getattr(mechanism, "noise", None), getattr(mechanism, "general", None)

    verified = {kind(case.mechanism) for case in CASES}
    for row in REGISTRY.values():
        if row.finds_items or row.weighs:  # test_items_first.py, test_weighted_gaussian.py
            continue
        plan = make_plan(
            size=2,
            top=2,
            budget=Budget("1", "1e-3"),
            unit=PrivacyUnit(),
            mechanism=row.name,
            **needs(row.name, 4),
        )
        assert kind(plan.mechanism) in verified


def shrunk(mechanism: Mechanism) -> Mechanism:
    """The planned mechanism on a universe small enough to compute: public caps come down, privacy parameters stay."""
    match mechanism:
        case LargeMargin():
            fallback = replace(mechanism.fallback, candidates=3) if mechanism.fallback else None
            return replace(mechanism, grid_limit=2 * mechanism.top, fallback=fallback)
        case RepeatedLargeMargin():
            return replace(mechanism, grid_limit=2)
        case LimitedDomain() | CertifiedDomain():
            return replace(mechanism, candidates=3)
        case PublishedLargeMargin():
            return replace(mechanism, max_candidates=2)
        case _:
            return mechanism


@pytest.mark.parametrize(
    "relation",
    [NeighbouringRelation.ADD_REMOVE, pytest.param(NeighbouringRelation.REPLACE, marks=pytest.mark.slow)],
)
@pytest.mark.parametrize("name", [name for name, row in REGISTRY.items() if not (row.finds_items or row.weighs)])
def test_the_law_of_a_planned_mechanism_stays_within_the_budget(name: str, relation: NeighbouringRelation) -> None:
    """The claim of a planned mechanism holds exactly, with whichever composition the planner chose."""
    for top, epsilon, delta in ((1, "2", "0.01"), (2, "3", "0.1")):
        budget = Budget(epsilon, delta)
        plan = make_plan(
            size=1,
            top=top,
            budget=budget,
            unit=PrivacyUnit(),
            relation=relation,
            mechanism=name,
            **needs(name, 3),
        )
        case = Case(
            name=name,
            mechanism=plan.mechanism,
            epsilon=budget.epsilon,
            declared=REGISTRY[name].needs_universe,
            itemsets=3,
        )
        found = worst(shrunk(plan.mechanism), case, budget.epsilon, relation)
        assert found.delta <= float(budget.delta) + NUMERICAL_ERROR, found


@pytest.mark.parametrize(
    "mechanism",
    [
        replace(exponential(), general=True),
        noisy_maxima(Noise.EXPONENTIAL, itemsets=3, general=True),
        noisy_maxima(Noise.LAPLACE, itemsets=3, general=True),
        truncated(general=True),
    ],
    ids=["exponential", "report-noisy-max", "max-of-laplaces", "truncated-frequency"],
)
def test_the_textbook_forms_hold_for_replace_as_they_stand(mechanism: Mechanism) -> None:
    case = Case(name="textbook", mechanism=mechanism, epsilon=F(1, 2), declared=True, itemsets=3)
    replaced = NeighbouringRelation.REPLACE
    assert worst(mechanism, case, case.epsilon, replaced).delta <= NUMERICAL_ERROR
    monotone = replace(mechanism, general=False)
    assert worst(monotone, case, case.epsilon, replaced).delta > 0.01


@pytest.mark.slow
def test_replace_needs_its_own_calibration() -> None:
    """A mechanism calibrated for add-remove fails the claim under replace: the relation is not a formality."""
    case = next(case for case in CASES if case.name == "exponential, top 3")
    assert worst(case.mechanism, case, case.epsilon, NeighbouringRelation.REPLACE).delta > 0.01
