"""Properties of the accountants that hold for all numbers: they move the right way, and never claim too little.

What is exact is computed in decimal arithmetic of sixty digits, from the formulas as printed, term by term.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from decimal import Decimal, localcontext
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import assume, example, given, settings
from hypothesis import strategies as st

from fim_private.accounting.basic_composition import basic_delta, basic_epsilon
from fim_private.accounting.calibration import (
    calibrate_equal,
    calibrate_gaussian,
    calibrate_pick,
    composed_epsilon,
    prove_basic,
)
from fim_private.accounting.optimal_composition import optimal_delta, optimal_epsilon
from fim_private.accounting.renyi_composition import renyi_curve, renyi_epsilon
from fim_private.accounting.rounding import RELATIVE_ERROR, exp_up, round_down, round_up
from fim_private.privacy import ZCDP, ApproxDP, BoundedRange, Gaussian, Loss, OneSidedFailure, PureDP
from tests.accounting.proofs import prove_composed, prove_discovery

F = Fraction
SEARCH_ERROR = 1e-6
"""Relative; the search over orders may end a little beside the best one, which is valid but not to the last digit."""

epsilons = st.floats(-9, 1.5).map(lambda power: 10**power)
deltas = st.floats(-30, -0.5).map(lambda power: 10**power)
some_losses = st.lists(
    st.one_of(
        st.fractions(F(1, 1000), 2).map(PureDP),
        st.fractions(F(1, 1000), 2).map(BoundedRange),
        st.fractions(F(1, 10**5), 1).map(ZCDP),
    ),
    min_size=1,
    max_size=5,
)


def decimal(value: float | Fraction) -> Decimal:
    exact = Fraction(value)
    return Decimal(exact.numerator) / Decimal(exact.denominator)


# Rounding.


@given(st.floats(1e-300, 1e300), st.integers(1, 15))
def test_rounding_is_outward_by_less_than_a_unit(value: float, digits: int) -> None:
    down, up = round_down(value, digits), round_up(value, digits)
    assert 0 < down <= F(value) <= up
    # A power of ten is the one place where floor(log10) may be a digit off, and the unit ten times as large.
    assert up - down <= F(value) * F(11, 10) * F(10) ** (2 - digits)


@given(st.floats(1e-300, 1e300), st.floats(1e-300, 1e300))
def test_rounding_keeps_the_order(one: float, other: float) -> None:
    smaller, larger = sorted([one, other])
    assert round_down(smaller) <= round_down(larger)
    assert round_up(smaller) <= round_up(larger)


@given(st.integers(1, 10**9 - 1), st.integers(-20, 20))
def test_a_number_of_few_digits_is_hardly_moved(digits: int, power: int) -> None:
    """The float beside it may lie on either side, so it moves by one unit at most."""
    value = F(digits) * F(10) ** power
    for rounded in (round_down(float(value)), round_up(float(value))):
        assert abs(rounded - value) <= value * F(1, 10**7)


def test_nothing_rounds_up_to_nothing() -> None:
    assert round_up(0.0) == 0
    assert round_up(5e-324) > 0


@given(st.fractions(0, 100))
def test_the_exponential_is_above_by_a_billionth_at_most(exponent: Fraction) -> None:
    with localcontext() as context:
        context.prec = 60
        true = Fraction(decimal(exponent).exp())
    assert true <= exp_up(exponent) <= true * (1 + F(RELATIVE_ERROR))


@given(st.fractions(0, 100), st.fractions(0, 100))
def test_the_exponential_keeps_the_order(one: Fraction, other: Fraction) -> None:
    assert exp_up(min(one, other)) <= exp_up(max(one, other))


# Basic composition.


@settings(max_examples=40)
@given(st.lists(st.tuples(st.fractions(0, 5), st.fractions(0, 1), st.sampled_from("pba")), max_size=8))
def test_basic_composition_is_the_sum_in_any_order(parts: list[tuple[Fraction, Fraction, str]]) -> None:
    made: dict[str, Callable[[Fraction, Fraction], Loss]] = {
        "p": lambda epsilon, _: PureDP(epsilon),
        "b": lambda epsilon, _: BoundedRange(epsilon),
        "a": ApproxDP,
    }
    losses = [made[kind](epsilon, delta) for epsilon, delta, kind in parts]
    epsilon = sum((part[0] for part in parts), F(0))
    delta = sum((part[1] for part in parts if part[2] == "a"), F(0))
    for order in (losses, losses[::-1]):
        assert (basic_epsilon(order), basic_delta(order)) == (epsilon, delta)
        claimed = prove_basic(order, F(1, 1000))
        assert (claimed.epsilon, claimed.delta, claimed.composition) == (epsilon, delta + F(1, 1000), "basic")


# Optimal composition.


def exact_optimal_delta(epsilon: float, epsilon_0: float, delta_0: float, times: int) -> Decimal:
    """Theorem 3.3 of Kairouz, Oh, Viswanath (2015), in sixty digits, for the very numbers the floats are."""
    with localcontext() as context:
        context.prec = 60
        e, e_0, d_0 = decimal(epsilon), decimal(epsilon_0), decimal(delta_0)
        whole = (1 + e_0.exp()) ** times
        overlap = Decimal(0)
        for i in range(times + 1):
            excess = (times - 2 * i) * e_0 - e
            if excess <= 0:
                break
            overlap += math.comb(times, i) * ((times - i) * e_0).exp() / whole * (1 - (-excess).exp())
        return 1 - (1 - d_0) ** times * (1 - overlap)


@settings(max_examples=80)
@given(epsilons.filter(lambda epsilon: epsilon <= 3), st.floats(0, 1.2), st.integers(1, 60), st.floats(0, 0.05))
def test_optimal_delta_is_never_below_the_exact_one(epsilon_0: float, share: float, times: int, delta_0: float) -> None:
    epsilon = share * times * epsilon_0
    claimed = optimal_delta(epsilon, epsilon_0, delta_0, times)
    exact = exact_optimal_delta(epsilon, epsilon_0, delta_0, times)
    # The log ratios times epsilon_0 - epsilon are differences of floats, so they are off by a few units in the last
    # place of epsilon, and so is a delta that comes from them alone.
    last_place = Decimal(4 * math.ulp(times * epsilon_0))
    assert decimal(claimed) >= exact - last_place
    assert decimal(claimed) <= exact * (1 + Decimal("1e-8")) + last_place


@pytest.mark.parametrize(("times", "epsilon_0", "share"), [(300, 0.05, 0.3), (1000, 0.02, 0.1), (2000, 0.004, 0.02)])
def test_optimal_delta_of_many_is_never_below_the_exact_one(times: int, epsilon_0: float, share: float) -> None:
    epsilon = share * times * epsilon_0
    exact = exact_optimal_delta(epsilon, epsilon_0, 1e-9, times)
    assert exact <= decimal(optimal_delta(epsilon, epsilon_0, 1e-9, times)) <= exact * (1 + Decimal("1e-8"))


@given(epsilons, st.floats(0, 1), st.integers(1, 200), st.floats(0, 0.01), st.floats(1, 3))
def test_optimal_delta_moves_the_right_way(
    epsilon_0: float, share: float, times: int, delta_0: float, more: float
) -> None:
    epsilon = share * times * epsilon_0
    here = optimal_delta(epsilon, epsilon_0, delta_0, times)
    room = 3 * RELATIVE_ERROR * here + 1e-14 * (1 + times * epsilon_0)
    assert optimal_delta(epsilon * more, epsilon_0, delta_0, times) <= here + room
    assert optimal_delta(epsilon, epsilon_0 * more, delta_0, times) >= here - room
    assert optimal_delta(epsilon, epsilon_0, delta_0 * more, times) >= here - room
    assert optimal_delta(epsilon, epsilon_0, delta_0, times + 1) >= here - room
    # All together cost no less than one of them, nor than the deltas alone, nor more than their sum.
    assert here >= optimal_delta(epsilon, epsilon_0, delta_0, 1) - room
    assert here >= delta_0
    assert optimal_delta(times * epsilon_0, epsilon_0, delta_0, times) <= times * delta_0 + room


@settings(max_examples=60)
@given(epsilons, st.integers(1, 100), st.floats(0, 1e-3), deltas, st.floats(1.1, 5))
def test_optimal_epsilon_is_the_inverse_and_moves_the_right_way(
    epsilon_0: float, times: int, delta_0: float, delta: float, more: float
) -> None:
    found = optimal_epsilon(epsilon_0, delta_0, times, delta)
    if -math.expm1(times * math.log1p(-delta_0)) > delta:
        assert found == math.inf
        return
    assume(found < math.inf)  # within rounding of what the deltas alone cost
    assert optimal_delta(found, epsilon_0, delta_0, times) <= delta
    assert found <= times * epsilon_0 * (1 + 1e-9)  # rounded up
    if found > 1e-12:
        assert optimal_delta(found * (1 - 1e-9) - 1e-14, epsilon_0, delta_0, times) > delta
    room = 1e-9 * found + 1e-14
    assert optimal_epsilon(epsilon_0, delta_0, times, min(0.9, delta * more)) <= found + room
    assert optimal_epsilon(epsilon_0 * more, delta_0, times, delta) >= found - room
    assert optimal_epsilon(epsilon_0, delta_0, times + 1, delta) >= found - room


# Renyi composition.


def exact_curve(loss: Loss, a: Decimal) -> Decimal:
    match loss:
        case PureDP(epsilon):
            e = decimal(epsilon)
            # ln of (e^{(a+1)e} + e^{-a e}) / (1 + e^e), with e^{a e} taken out, which no decimal could hold.
            return e + ((1 + (-(2 * a + 1) * e).exp()).ln() - (1 + (-e).exp()).ln()) / a
        case BoundedRange(epsilon):
            e = decimal(epsilon)
            big_a, big_b = e.exp() - (-a * e).exp(), 1 - (-a * e).exp()
            u = a * big_a / ((a + 1) * big_b)
            return (a * u.ln() + (big_a / (a + 1)).ln() - (e.exp() - 1).ln()) / a
        case ZCDP(rho):
            return decimal(rho) * (1 + a)
        case _:
            raise AssertionError(loss)


def assert_never_below(epsilon: float, a: float) -> None:
    for loss in (PureDP(F(epsilon)), BoundedRange(F(epsilon)), ZCDP(F(epsilon))):
        with localcontext() as context:
            context.prec = 100
            exact = exact_curve(loss, decimal(a))
        claimed = decimal(float(renyi_curve([loss], np.array([a]))[0]))
        assert claimed >= exact
        assert claimed <= exact * Decimal("1.1") + Decimal("1e-12")


powers_of_ten = st.floats(-12, 2.3).map(lambda power: 10**power)


@settings(max_examples=100)
@given(powers_of_ten, st.floats(-2, 11).map(lambda power: 10**power))
@example(4.6e-10, 9.4e9)
@example(4.4e-11, 1e11)
@example(3.5e-10, 0.0618)
@example(1e-6, 0.01)
@example(1e-3, 1e5)
@example(3.0, 30.0)
def test_curves_are_never_below_the_exact_ones(epsilon: float, a: float) -> None:
    assert_never_below(epsilon, a)


@settings(max_examples=100)
@given(powers_of_ten, st.floats(-1, 1.5).map(lambda power: 10**power))
def test_curves_are_never_below_the_exact_ones_where_order_and_epsilon_meet(epsilon: float, product: float) -> None:
    """At orders of about 1/epsilon the curve leaves its quadratic beginning, and logarithms near 0 cancel."""
    assert_never_below(epsilon, min(1e11, max(1e-2, product / epsilon)))


@settings(max_examples=10)
@given(some_losses, deltas)
def test_renyi_epsilon_is_never_below_the_exact_one(losses: list[Loss], delta: float) -> None:
    """The conversion at the best of all orders, found in decimal arithmetic, is the least that may be claimed."""
    claimed = renyi_epsilon(losses, delta)
    with localcontext() as context:
        context.prec = 40

        def exact(log_a: float) -> Decimal:
            a = decimal(math.exp(log_a))
            curve = sum((exact_curve(loss, a) for loss in losses), Decimal(0))
            return curve - (1 + 1 / a).ln() - (decimal(delta).ln() + (1 + a).ln()) / a

        # The bound is one valley between two slopes as a function of the order: halve in on it by thirds.
        low, high = math.log(1e-2), math.log(1e9)
        while high - low > 1e-5:
            left, right = low + (high - low) / 3, high - (high - low) / 3
            if exact(left) <= exact(right):
                high = right
            else:
                low = left
        best = max(Decimal(0), min(map(exact, (low, (low + high) / 2, high))))
    # The valley's floor is as flat as a parabola: 1e-5 beside the best order it is 1e-10 higher.
    assert decimal(claimed) >= best - Decimal("1e-10")
    assert decimal(claimed) <= best * Decimal(1 + SEARCH_ERROR) + Decimal("2e-12")


@settings(max_examples=40)
@given(some_losses, deltas, st.floats(1.01, 4), st.data())
def test_renyi_epsilon_moves_the_right_way(losses: list[Loss], delta: float, more: float, data: st.DataObject) -> None:
    here = renyi_epsilon(losses, delta)
    room = SEARCH_ERROR * here + 1e-11
    assert renyi_epsilon(losses, min(0.9, delta * more)) <= here + room
    place = data.draw(st.integers(0, len(losses) - 1))
    loss = losses[place]
    larger: Loss = ZCDP(loss.rho * F(more)) if isinstance(loss, ZCDP) else type(loss)(loss.epsilon * F(more))
    assert renyi_epsilon([*losses[:place], larger, *losses[place + 1 :]], delta) >= here - room
    assert renyi_epsilon([*losses, loss], delta) >= here - room
    assert renyi_epsilon(losses[:1], delta) <= here + room
    assert renyi_epsilon(losses[::-1], delta) == pytest.approx(here, rel=SEARCH_ERROR)


@settings(max_examples=40)
@given(some_losses, st.integers(1, 50))
def test_a_loss_costs_the_same_as_one_object_or_as_many(losses: list[Loss], times: int) -> None:
    a = np.array([0.3, 2.0, 70.0])
    copies = [type(loss)(*vars(loss).values()) for loss in losses for _ in range(times)]
    assert renyi_curve(losses * times, a) == pytest.approx(renyi_curve(copies, a), rel=1e-12)
    assert renyi_curve(losses * times, a) == pytest.approx(times * renyi_curve(losses, a), rel=1e-12)


def test_a_loss_of_nothing_costs_nothing() -> None:
    nothing: list[Loss] = [PureDP(F(0)), BoundedRange(F(0)), ZCDP(F(0))]
    assert renyi_epsilon(nothing, 1e-6) <= 1e-8
    some: list[Loss] = [PureDP(F(1, 3))]
    assert renyi_epsilon(some + nothing, 1e-6) == renyi_epsilon(some, 1e-6)


# Calibration.

budgets = st.tuples(st.fractions(F(1, 1000), 20), st.integers(2, 12).map(lambda digits: F(1, 10**digits)))
A_LITTLE_MORE, MORE = F(1001, 1000), F(103, 100)
"""The second one where optimal composition is searched for, which takes long."""


@settings(max_examples=30)
@given(budgets, st.integers(1, 200), st.sampled_from([F(0), F(1, 5), F(3, 5)]), st.booleans())
def test_picks_are_calibrated_to_what_fits_and_no_less(
    budget: tuple[Fraction, Fraction], picks: int, share: Fraction, failing: bool
) -> None:
    epsilon, delta = budget
    search = PureDP(share * epsilon)

    def losses_of(pick: Fraction) -> list[Loss]:
        return [search, *[BoundedRange(pick)] * picks]

    found = calibrate_pick(losses_of, epsilon=epsilon, delta=delta, failing=failing)
    optimal = found.guarantee.composition == "optimal"
    fits, more = (losses_of(found.pick_epsilon * factor) for factor in (1, MORE if optimal else A_LITTLE_MORE))
    # Basic composition is there for the asking, so nothing may be worse.
    assert found.pick_epsilon >= (epsilon - search.epsilon) / picks
    assert found.failure == 0 or failing
    if found.guarantee.composition == "basic":
        assert prove_basic(fits, found.failure) == found.guarantee
        assert found.guarantee.epsilon == epsilon
        assert found.guarantee.delta == (delta if failing else 0)
        assert prove_basic(more, found.failure).epsilon > epsilon
    else:
        proved = prove_composed(fits, found.failure, epsilon=epsilon, delta=delta)
        assert proved == found.guarantee or (optimal and proved is not None and found.guarantee.epsilon == epsilon)
        assert found.guarantee.epsilon <= epsilon
        assert found.guarantee.delta == delta
        assert prove_composed(more, found.failure, epsilon=epsilon, delta=delta) is None
        # Half of delta is for the failure, and it is used.
        assert not failing or delta / 2 * F(999, 1000) < found.failure * (1 + exp_up(epsilon)) <= delta / 2


@settings(max_examples=30)
@given(budgets, st.integers(1, 400), st.booleans())
def test_selections_are_calibrated_to_what_fits_and_no_less(
    budget: tuple[Fraction, Fraction], times: int, failing: bool
) -> None:
    epsilon, delta = budget
    found = calibrate_equal(times, epsilon=epsilon, delta=delta, failing=failing)
    assert found.epsilon >= epsilon / times
    assert found.guarantee.epsilon <= epsilon
    assert found.guarantee.delta <= delta
    if found.guarantee.composition == "basic":
        assert (found.epsilon, found.delta) == (epsilon / times, delta / times if failing else 0)
        assert found.guarantee.epsilon == times * found.epsilon
        assert found.guarantee.delta == times * found.delta
    else:
        assert found.delta == (delta / times / 2 if failing else 0)
        selection = float(found.delta)
        assert optimal_delta(float(found.guarantee.epsilon), float(found.epsilon), selection, times) <= float(
            found.guarantee.delta
        )
        more = float(found.epsilon * A_LITTLE_MORE)
        assert optimal_delta(float(epsilon), more, selection, times) > float(delta)


@settings(max_examples=25)
@given(budgets, st.floats(0, 0.9))
def test_rho_is_calibrated_to_what_fits_and_no_less(budget: tuple[Fraction, Fraction], share: float) -> None:
    epsilon, delta = budget
    failure = min(F(share) * delta, epsilon / 4)
    calibrated = calibrate_gaussian((OneSidedFailure(failure),), epsilon=epsilon, delta=delta)
    rho, found = calibrated
    assert found.epsilon <= epsilon
    assert found.delta == delta
    # In parts it is the same: costs add up.
    less = rho * (1 - F(1, 10**8))
    assert prove_discovery([Gaussian(less / 3), Gaussian(less * F(2, 3))], failure, epsilon=epsilon, delta=delta)
    assert prove_discovery([Gaussian(rho * A_LITTLE_MORE)], failure, epsilon=epsilon, delta=delta) is None


@settings(max_examples=40)
@given(budgets, st.floats(0, 0.9), some_losses)
def test_proofs_pay_for_the_failure(budget: tuple[Fraction, Fraction], share: float, losses: list[Loss]) -> None:
    """The more likely the failure, the larger the epsilon at the same delta; and never below the losses' own."""
    epsilon, delta = F(60), budget[1]
    for prove, cost in ((prove_composed, 1 + exp_up(epsilon)), (prove_discovery, F(1))):
        failure = F(share) * delta / cost
        without = prove(losses, F(0), epsilon=epsilon, delta=delta)
        some = prove(losses, failure, epsilon=epsilon, delta=delta)
        own = F(composed_epsilon(losses, float(delta))[0])
        assert own <= without.epsilon <= own * (1 + F(1, 10**10))
        assert some.epsilon >= without.epsilon * (1 - F(SEARCH_ERROR))
        assert without.epsilon == 0 or prove(losses, failure, epsilon=without.epsilon * F(99, 100), delta=delta) is None
