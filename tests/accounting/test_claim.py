"""The claimed privacy profile: never below what can happen, and no worse than the theorem it comes from."""

from __future__ import annotations

import math
from fractions import Fraction

import pytest

from fim_private.accounting.claim import claimed_delta
from fim_private.accounting.optimal_composition import optimal_delta
from fim_private.accounting.renyi_composition import renyi_delta, renyi_epsilon
from fim_private.privacy import ZCDP, AnyFailure, ApproxDP, BoundedRange, Loss, OneSidedFailure, PureDP

F = Fraction


@pytest.mark.parametrize("losses", [[PureDP(F(1, 10))] * 20, [BoundedRange(F(1, 5))] * 30, [ZCDP(F(1, 50))]])
@pytest.mark.parametrize("delta", [1e-3, 1e-9])
def test_renyi_delta_is_the_inverse(losses: list[Loss], delta: float) -> None:
    epsilon = renyi_epsilon(losses, delta)
    assert renyi_delta(losses, epsilon) == pytest.approx(delta, rel=1e-4)
    assert renyi_delta(losses, epsilon + 0.1) < delta < renyi_delta(losses, max(0.0, epsilon - 0.1))


def test_one_pure_loss_is_randomised_response() -> None:
    for epsilon in (0.0, 0.3, 0.999):
        exact = (math.e - math.exp(epsilon)) / (1 + math.e)
        assert exact * (1 - 1e-12) <= claimed_delta([PureDP(F(1))], (), epsilon) <= exact * (1 + 1e-6)
    assert claimed_delta([PureDP(F(1))], (), 1.0) == 0
    assert claimed_delta([PureDP(F(1))], (), 1 - 5e-10) >= (math.e - math.exp(1 - 5e-10)) / (1 + math.e)


def test_bounded_range_of_one_pick_is_never_below_the_two_point_pair() -> None:
    for epsilon in (0.1, 0.4, 0.8):
        worst = 0.0
        for share in range(1, 100):
            t = share / 100
            first = math.expm1(1 - t) / (math.exp(1 - t) - math.exp(-t))
            worst = max(worst, first - math.exp(epsilon) * first * math.exp(-t))
        assert claimed_delta([BoundedRange(F(1))], (), epsilon) >= worst


def test_the_least_theorem_is_taken() -> None:
    losses = [PureDP(F(1, 10))] * 20
    assert claimed_delta(losses, (), 1.0) == pytest.approx(optimal_delta(1.0, 0.1, 0.0, 20))
    approximate = [ApproxDP(F(1, 10), F(1, 10**8))] * 5
    assert claimed_delta(approximate, (), 0.5) == pytest.approx(5e-8, rel=1e-6)
    assert claimed_delta([PureDP(F(1, 5)), BoundedRange(F(1, 5))], [AnyFailure(F(1, 10**6))], 0.4) == pytest.approx(
        1e-6
    )


def test_a_failure_costs_what_the_theorem_says() -> None:
    losses, failure = [ZCDP(F(1, 50))], F(1, 10**6)
    alone = renyi_delta(losses, 1.0)
    assert claimed_delta(losses, [AnyFailure(failure)], 1.0) == pytest.approx(alone + (1 + math.e) * 1e-6)
    assert claimed_delta(losses, [OneSidedFailure(failure)], 1.0) == pytest.approx(alone + 1e-6, rel=1e-4)
    assert claimed_delta(losses, [AnyFailure(F(1, 2))], 5.0) == 1.0


def test_each_part_of_a_claim_stands_where_it_should() -> None:
    """The deltas and failures are large enough to show in every term."""
    losses = [ZCDP(F(1, 50))]
    assert claimed_delta(losses, [OneSidedFailure(F(1, 5))], 0.3) == pytest.approx(renyi_delta(losses, 0.3) + 0.2)
    assert claimed_delta([ZCDP(F(50))], [OneSidedFailure(F(3, 4))], 0.0) == 1
    unequal = [ApproxDP(F(1, 2), F(1, 10)), ApproxDP(F(1, 2), F(1, 5))]
    exact = 0.3 + 0.7 * (math.e - math.exp(0.5)) / (1 + math.e)
    assert claimed_delta(unequal, (), 0.5) == pytest.approx(exact, rel=1e-12)


def test_losses_of_several_kinds_take_the_theorems_that_know_them_all() -> None:
    with_gauss = [PureDP(F(1, 10)), ZCDP(F(1, 50))]
    assert claimed_delta(with_gauss, (), 0.5) == renyi_delta(with_gauss, 0.5)
    with_delta = [PureDP(F(1, 10)), ApproxDP(F(1, 10), F(1, 10**6))]
    assert claimed_delta(with_delta, (), 0.2) == 1e-6


def test_a_probability_is_never_above_one() -> None:
    assert renyi_delta([PureDP(F(50))], 0.0) <= 1
