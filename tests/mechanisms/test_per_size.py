"""A search for each size: what the searches cost together, and that it is no more than was claimed, exactly."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from itertools import product

import pytest

from fim_private.accounting.calibration import composed_epsilon, failure_price
from fim_private.accounting.rounding import exp_up
from fim_private.audit.laws import NUMERICAL_ERROR, hockey_stick, law_over_groups
from fim_private.mechanisms import exponential, items_first, limited_domain, lmm, look_first, stable_max
from fim_private.mechanisms.exponential import Exponential
from fim_private.mechanisms.limited_domain import LimitedDomain
from fim_private.mechanisms.per_size import PerSize, calibrate_per_size
from fim_private.mechanisms.protocol import CalibratedMechanism, Law, Mechanism, Request
from fim_private.privacy import (
    AnyFailure,
    ApproxDP,
    ChosenFailure,
    OneSidedFailure,
    StepwiseFailure,
    failure_probability,
)

F = Fraction
DELTA = F(1, 10**6)


def calibrated(
    calibrate: Callable[[Request], CalibratedMechanism],
    *,
    top: int = 3,
    delta: Fraction = DELTA,
    universes: tuple[int, ...] = (40, 780),
    sensitivity: int = 1,
) -> CalibratedMechanism:
    requests = [
        Request(
            top=top, epsilon=F(1), delta=delta, universe_size=number, most_new=5, sizes=(size,), sensitivity=sensitivity
        )
        for size, number in enumerate(universes, start=1)
    ]
    sizes = [max(request.sizes) for request in requests]
    return calibrate_per_size(calibrate, requests, sizes)


def items_first_openly(request: Request) -> CalibratedMechanism:
    """Without a public list of items, so that a name may be revealed wrongly."""
    return items_first.calibrate(replace(request, universe_size=None))


def test_the_whole_is_its_parts() -> None:
    one = LimitedDomain(top=2, candidates=9, pick_epsilon=F(1, 3), stop_delta=F(1, 1000), sensitivity=3)
    other = LimitedDomain(top=5, candidates=70, pick_epsilon=F(1, 9), stop_delta=F(1, 500), sensitivity=3)
    both = PerSize(sizes=(1, 4), parts=(one, other), sensitivity=3)
    assert both.top == 7
    assert both.losses == one.losses + other.losses
    assert both.failures == (StepwiseFailure(F(1, 1000), 2), StepwiseFailure(F(1, 500), 5))
    assert [line.what for line in both.spending] == ["size 1, picks", "size 4, picks"]
    assert [line.times for line in both.spending] == [2, 5]
    assert both.margins == other.margins
    assert PerSize(sizes=(1, 4), parts=(other, one), sensitivity=3).margins == other.margins


def test_looks_of_a_search_are_not_the_first_steps_of_all() -> None:
    """Chosen failures cost less if they are, so those of several searches are taken apart."""
    looking = look_first.calibrate(Request(top=3, epsilon=F(1), delta=DELTA, sizes=(2,))).mechanism
    (chosen,) = looking.failures
    assert isinstance(chosen, ChosenFailure)
    certain = Exponential(top=2, pick_epsilon=F(1, 3), universe_size=9)
    both = PerSize(sizes=(1, 2), parts=(certain, looking), sensitivity=1)
    assert both.failures == (OneSidedFailure(chosen.one_sided), AnyFailure(chosen.other))
    assert failure_price(both.failures, F(3)) > failure_price([chosen], F(3))


def test_without_a_delta_epsilon_is_shared_out_evenly() -> None:
    found = calibrated(exponential.calibrate, delta=F(0))
    assert found.guarantee.epsilon == 1
    assert found.guarantee.delta == 0
    for part, number in zip(found.mechanism.parts, (40, 780), strict=True):
        alone = exponential.calibrate(Request(top=3, epsilon=F(1, 2), delta=F(0), universe_size=number))
        assert part == alone.mechanism


@pytest.mark.parametrize("calibrate", [exponential.calibrate, limited_domain.calibrate, lmm.calibrate])
@pytest.mark.parametrize("number", [2, 3])
def test_long_lists_are_composed(calibrate: Callable[[Request], CalibratedMechanism], number: int) -> None:
    """The more so, the less of epsilon is wasted: a search gets about 1/sqrt(number) of it."""
    found = calibrated(calibrate, top=40, universes=(10**3, 10**6, 10**9)[:number])
    mechanism = found.mechanism
    assert len(mechanism.parts) == number
    assert found.guarantee.composition == (
        "renyi" if calibrate is lmm.calibrate else "optimal" if number == 2 else "gaussian"
    )
    assert (found.guarantee.epsilon <= 1, found.guarantee.delta) == (True, DELTA)
    left = DELTA - (1 + exp_up(F(1))) * failure_probability(mechanism.failures)
    assert composed_epsilon(mechanism.losses, float(left))[0] <= float(found.guarantee.epsilon)
    # No more than a few hundredths are left unused.
    assert found.guarantee.epsilon > F(9, 10)


@pytest.mark.parametrize(
    ("calibrate", "epsilon"),
    [
        (limited_domain.calibrate, "0.964521127433"),
        (lmm.calibrate, "0.963647230649"),
        (items_first_openly, "0.989775424037"),
    ],
)
def test_each_search_gets_its_share(calibrate: Callable[[Request], CalibratedMechanism], epsilon: str) -> None:
    """As much as fits, to within a twentieth; the figures are published with what was found."""
    found = calibrated(calibrate, top=40)
    assert f"{float(found.guarantee.epsilon):.12g}" == epsilon


def test_one_size_is_a_search() -> None:
    found = calibrated(limited_domain.calibrate, universes=(10**6,))
    alone = Request(top=3, epsilon=F(1), delta=DELTA, universe_size=10**6, most_new=5, sizes=(1,))
    assert found.mechanism.parts == (limited_domain.calibrate(alone).mechanism,)


def test_short_lists_share_evenly_where_that_needs_the_smaller_lead() -> None:
    found = calibrated(stable_max.calibrate, top=1)
    assert found.guarantee.composition == "basic"
    for part in found.mechanism.parts:
        assert part.losses == (ApproxDP(F(1, 2), DELTA / 2),)
    assert (found.guarantee.epsilon, found.guarantee.delta) == (1, DELTA)


def test_one_sided_failures_are_paid_once_each() -> None:
    found = calibrated(items_first_openly, top=60)
    assert found.guarantee.composition == "gaussian"
    failure = failure_probability(found.mechanism.failures)
    assert 0 < failure < DELTA
    assert composed_epsilon(found.mechanism.losses, float(DELTA - failure))[0] <= 1
    assert found.guarantee.epsilon > F(9, 10)
    assert [part.size for part in found.mechanism.parts] == [1, 2]


def test_the_unit_s_transactions_are_known_to_all() -> None:
    mechanism = calibrated(limited_domain.calibrate, sensitivity=4).mechanism
    assert mechanism.sensitivity == 4
    assert [part.sensitivity for part in mechanism.parts] == [4, 4]


# Exactly: two searches over items and pairs, on data that differs in one basket.


def joint(mechanism: PerSize, sides: tuple[list[tuple[int, int]], list[tuple[int, int]]], *, declared: bool) -> Law:
    """P(both lists): each search draws its own noise."""
    laws = [
        law_over_groups(search, groups, declared=declared)
        for search, groups in zip(mechanism.parts, sides, strict=True)
    ]
    return {
        (*one, -1, *other): chance * their
        for (one, chance), (other, their) in product(laws[0].items(), laws[1].items())
    }


HERE = ([(8, 1), (8, 1), (0, 30)], [(6, 1), (0, 200)])
THERE = ([(9, 1), (9, 1), (0, 30)], [(7, 1), (0, 200)])


def worst(mechanism: PerSize, epsilon: float, *, declared: bool) -> float:
    """A basket of both items comes to a few others; and the first basket at all."""
    empty = ([(0, 1), (0, 1), (0, 30)], [(0, 1), (0, 200)])
    first = ([(1, 1), (1, 1), (0, 30)], [(1, 1), (0, 200)])
    found = 0.0
    for here, there in ((HERE, THERE), (empty, first)):
        one, other = joint(mechanism, here, declared=declared), joint(mechanism, there, declared=declared)
        for forth, back in ((one, other), (other, one)):
            found = max(found, float(hockey_stick(forth, back, [epsilon])[0]))
    return found


@pytest.mark.parametrize("delta", [F(0), F(1, 50)])
def test_the_searches_keep_the_claim_together(delta: Fraction) -> None:
    found = calibrated(exponential.calibrate, top=1, delta=delta, universes=(32, 201))
    assert isinstance(found.mechanism, PerSize)
    claim = found.guarantee
    assert worst(found.mechanism, float(claim.epsilon), declared=True) <= float(claim.delta) + NUMERICAL_ERROR


def test_searches_that_may_each_spend_it_all_break_the_claim() -> None:
    found = calibrated(exponential.calibrate, top=1, delta=F(0), universes=(32, 201))
    twin = replace(
        found.mechanism,
        parts=tuple(replace(part, pick_epsilon=F(1)) for part in found.mechanism.parts),
    )
    assert worst(twin, float(found.guarantee.epsilon), declared=True) > 1e-3


def test_failures_of_all_searches_are_within_delta() -> None:
    found = calibrated(limited_domain.calibrate, top=1, delta=F(1, 10))
    small = replace(
        found.mechanism,
        parts=tuple(replace(part, candidates=3) for part in found.mechanism.parts),
    )
    assert worst(small, float(found.guarantee.epsilon), declared=False) <= float(found.guarantee.delta)


def test_mechanisms_are_what_they_are_alone() -> None:
    parts = calibrated(lmm.calibrate, top=2).mechanism
    one, other = parts.parts
    assert one == other
    assert isinstance(one, lmm.LargeMargin)
    search: Mechanism = one
    assert search.top == 2
