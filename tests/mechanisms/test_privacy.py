"""Exact (epsilon, delta) verification on small universes, and broken twins that the same check must catch."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction

import pytest

from fim_private.accounting.basic import basic_delta, basic_epsilon
from fim_private.audit.search import Worst, hard_cases, largest_delta
from fim_private.mechanisms.choosing import Choosing
from fim_private.mechanisms.exponential import Exponential
from fim_private.mechanisms.limited_domain import LimitedDomain
from fim_private.mechanisms.lmm import LargeMargin
from fim_private.mechanisms.lmm_paper import PublishedLargeMargin
from fim_private.mechanisms.lmm_repeat import RepeatedLargeMargin
from fim_private.mechanisms.noisy_maxima import NoisyMaxima
from fim_private.mechanisms.protocol import Law, Mechanism
from fim_private.mechanisms.registry import REGISTRY
from fim_private.mechanisms.stable_max import StableMax
from fim_private.plan import make_plan
from fim_private.privacy import Budget, NeighbouringRelation, PrivacyUnit
from fim_private.profile import CountProfile
from fim_private.randomness.noisy_maximum import Noise
from tests.mechanisms.cases import (
    CASES,
    Case,
    choosing,
    exponential,
    large_margin,
    limited_domain,
    needs,
    noisy_maxima,
    published,
    repeated,
    stable,
)

NUMERICAL_ERROR = 1e-12
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
    if isinstance(mechanism, StableMax | Choosing):
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
        hard_cases(marks(mechanism), itemsets=case.itemsets),
        epsilon=float(epsilon),
        declared=case.declared,
        sensitivity=case.sensitivity,
        relation=relation,
    )


def claimed_delta(mechanism: Mechanism) -> float:
    return float(basic_delta(mechanism.losses) + mechanism.failure)


@pytest.mark.parametrize("case", CASES, ids=str)
def test_claim_holds_for_all_neighbours(case: Case) -> None:
    assert basic_epsilon(case.mechanism.losses) == case.epsilon
    found = worst(case.mechanism, case, case.epsilon)
    assert found.delta <= claimed_delta(case.mechanism) + NUMERICAL_ERROR, found


def test_every_registered_mechanism_is_verified() -> None:

    def kind(mechanism: Mechanism) -> tuple[object, ...]:
        return type(mechanism), getattr(mechanism, "noise", None), getattr(mechanism, "general", None)

    verified = {kind(case.mechanism) for case in CASES}
    for row in REGISTRY.values():
        if row.finds_items:  # test_items_first.py
            continue
        plan = make_plan(
            size=2,
            top=2,
            budget=Budget("1", "1e-3"),
            unit=PrivacyUnit(),
            mechanism=row.name,
            **needs(row.name, 4),  # type: ignore[arg-type]
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
        case LimitedDomain():
            return replace(mechanism, candidates=3)
        case PublishedLargeMargin():
            return replace(mechanism, max_candidates=2)
        case _:
            return mechanism


@pytest.mark.parametrize("relation", list(NeighbouringRelation))
@pytest.mark.parametrize("name", [name for name, row in REGISTRY.items() if not row.finds_items])
def test_a_plan_keeps_its_budget(name: str, relation: NeighbouringRelation) -> None:
    """What the planner hands out, with whichever composition it chose, under both relations, holds exactly."""
    for top, epsilon, delta in ((1, "2", "0.01"), (2, "3", "0.1")):
        budget = Budget(epsilon, delta)
        plan = make_plan(
            size=1,
            top=top,
            budget=budget,
            unit=PrivacyUnit(),
            relation=relation,
            mechanism=name,
            **needs(name, 3),  # type: ignore[arg-type]
        )
        assert plan.guarantee.epsilon <= budget.epsilon
        assert plan.guarantee.delta <= budget.delta
        case = Case(
            name=name,
            mechanism=plan.mechanism,
            epsilon=budget.epsilon,
            declared=REGISTRY[name].needs_universe,
            itemsets=3,
        )
        found = worst(shrunk(plan.mechanism), case, budget.epsilon, relation)
        assert found.delta <= float(budget.delta) + NUMERICAL_ERROR, found


# Broken twins: each a mistake somebody could make, each caught by the same check at the honest one's claim.


class DoubledExponent(LargeMargin):
    @property
    def rate(self) -> Fraction:
        return 2 * super().rate


class LoweredThreshold(LargeMargin):
    @property
    def tests(self) -> tuple[tuple[int, int], ...]:  # type: ignore[override]
        return tuple((size, threshold - 8) for size, threshold in super().tests)


class EndsWithTheItemsets(LargeMargin):
    """The search ends at L, as if the number of occurring itemsets were public."""

    def law(self, profile: CountProfile) -> Law:
        if 0 < profile.occurring <= self.grid_limit:
            capped = CountProfile.of([profile.count(place) for place in range(1, profile.occurring + 1)], zeros=0)
            return limited_to_all(self, capped)
        return super().law(profile)


def limited_to_all(mechanism: LargeMargin, profile: CountProfile) -> Law:
    """Where nothing is certified, pick from all that occur."""
    from fim_private.mechanisms.peeling import mix, peel_law

    law = large_margin(mechanism.top).law(profile)
    everything = peel_law(profile.top(profile.occurring), picks=mechanism.top, rate=mechanism.rate, open_universe=False)
    return mix((1.0, {ranks: chance for ranks, chance in law.items() if ranks}), (law.get((), 0.0), everything))


class StopsTooLate(LimitedDomain):
    @property
    def stop_lead(self) -> Fraction:
        return super().stop_lead / 2


class DoubledPeeling(LimitedDomain):
    @property
    def rate(self) -> Fraction:
        return 2 * super().rate


class DoubledSoftmax(Exponential):
    @property
    def rate(self) -> Fraction:
        return 2 * super().rate


class HalvedNoise(NoisyMaxima):
    @property
    def scale(self) -> Fraction:
        return super().scale / 2


class LoweredStability(StableMax):
    @property
    def threshold(self) -> int:
        return super().threshold - 2


class NoiselessComparison(StableMax):
    @property
    def scale(self) -> Fraction:
        return super().scale / 4


class OneNewItemset(Choosing):
    """As if a unit could add one itemset only."""

    @property
    def threshold(self) -> int:  # type: ignore[override]
        return replace(choosing(), most_new=1).threshold - 1


class DoubledChoice(Choosing):
    @property
    def rate(self) -> Fraction:
        return 3 * super().rate


class ForgottenSensitivity(Exponential):
    @property
    def rate(self) -> Fraction:
        return self.pick_epsilon


class SlackWithoutThreshold(RepeatedLargeMargin):
    @property
    def round(self) -> LargeMargin:  # type: ignore[override]
        honest = repeated(self.top).round
        return replace(honest, certificate_delta=F(1, 2))


class PublishedWithoutThreshold(PublishedLargeMargin):
    def threshold(self, size: int) -> int:
        return 0


class PublishedDoubledExponent(PublishedLargeMargin):
    """The monotone exponent, six times the published one."""

    @property
    def rate(self) -> Fraction:
        return 12 * super().rate


def same(twin: type, honest: Mechanism) -> Mechanism:
    fields = {name: getattr(honest, name) for name in honest.__dataclass_fields__}  # type: ignore[attr-defined]
    return twin(**fields)  # type: ignore[no-any-return]


def case_of(name: str) -> Case:
    return next(case for case in CASES if case.name == name)


PICK_HEAVY = {"search_epsilon": F(1, 10), "pick_epsilon": F(19, 20), "certificate_delta": F(1, 10**4)}
TWINS: list[tuple[type, Callable[[], Mechanism], Case]] = [
    (DoubledExponent, lambda: large_margin(2, **PICK_HEAVY), CASES[2]),
    (LoweredThreshold, large_margin, CASES[0]),
    (EndsWithTheItemsets, large_margin, CASES[0]),
    (StopsTooLate, limited_domain, CASES[14]),
    (DoubledPeeling, limited_domain, CASES[14]),
    (DoubledSoftmax, exponential, CASES[18]),
    (ForgottenSensitivity, lambda: exponential(2, 2, itemsets=3), CASES[20]),
    (HalvedNoise, lambda: noisy_maxima(Noise.EXPONENTIAL), case_of("noisy max, exponential")),
    (HalvedNoise, lambda: noisy_maxima(Noise.LAPLACE), case_of("noisy max, laplace")),
    (LoweredStability, stable, case_of("stable-max")),
    (NoiselessComparison, stable, case_of("stable-max")),
    (OneNewItemset, choosing, case_of("choosing")),
    (DoubledChoice, choosing, case_of("choosing")),
    (SlackWithoutThreshold, repeated, CASES[7]),
    (PublishedWithoutThreshold, published, CASES[10]),
    (PublishedDoubledExponent, published, CASES[10]),
]


@pytest.mark.parametrize(("twin", "honest", "case"), TWINS, ids=[f"{twin.__name__}, {case}" for twin, _, case in TWINS])
def test_broken_twin_is_caught(twin: type, honest: Callable[[], Mechanism], case: Case) -> None:
    assert worst(honest(), case, case.epsilon).delta <= claimed_delta(honest()) + NUMERICAL_ERROR
    broken = same(twin, honest())
    found = worst(broken, case, case.epsilon)
    assert found.delta > claimed_delta(honest()) + NUMERICAL_ERROR


@pytest.mark.parametrize(
    "mechanism",
    [
        replace(exponential(), general=True),
        noisy_maxima(Noise.EXPONENTIAL, itemsets=3, general=True),
        noisy_maxima(Noise.LAPLACE, itemsets=3, general=True),
    ],
    ids=["exponential", "report-noisy-max", "max-of-laplaces"],
)
def test_the_textbook_forms_hold_for_replace_as_they_stand(mechanism: Mechanism) -> None:
    case = Case(name="textbook", mechanism=mechanism, epsilon=F(1, 2), declared=True, itemsets=3)
    replaced = NeighbouringRelation.REPLACE
    assert worst(mechanism, case, case.epsilon, replaced).delta <= NUMERICAL_ERROR
    monotone = replace(mechanism, general=False)  # type: ignore[type-var]
    assert worst(monotone, case, case.epsilon, replaced).delta > 0.01


def test_replace_needs_its_own_calibration() -> None:
    """A mechanism calibrated for add-remove fails the claim under replace: the relation is not a formality."""
    case = next(case for case in CASES if case.name == "exponential, top 3")
    assert worst(case.mechanism, case, case.epsilon, NeighbouringRelation.REPLACE).delta > 0.01
