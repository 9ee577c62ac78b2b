from __future__ import annotations

import itertools
import math
from decimal import Decimal, localcontext
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fim_private.accounting.basic_composition import basic_delta, basic_epsilon
from fim_private.accounting.calibration import calibrate_pick
from fim_private.accounting.gaussian_composition import gaussian_epsilon
from fim_private.accounting.optimal_composition import optimal_delta, optimal_epsilon
from fim_private.accounting.renyi_composition import bounded_range_curve, pure_curve, renyi_epsilon
from fim_private.accounting.rounding import exp_up, round_down, round_up
from fim_private.accounting.search import largest
from fim_private.privacy import ZCDP, ApproxDP, BoundedRange, Loss, PureDP
from tests.accounting.proofs import prove_composed


def test_basic_composition_adds_up_exactly() -> None:
    losses: list[Loss] = [
        PureDP(Fraction(1, 3)),
        BoundedRange(Fraction(1, 7)),
        ApproxDP(Fraction(1, 2), Fraction(1, 9)),
    ]
    assert basic_epsilon(losses) == Fraction(1, 3) + Fraction(1, 7) + Fraction(1, 2)
    assert basic_delta(losses) == Fraction(1, 9)
    with pytest.raises(ValueError, match="zCDP"):
        basic_epsilon([ZCDP(Fraction(1))])


def test_optimal_composition_reproduces_the_worked_figure() -> None:
    assert math.isclose(optimal_epsilon(0.1, 1e-8, 50, 1e-6), 3.26413, abs_tol=1e-5)
    advanced = 0.1 * math.sqrt(2 * 50 * math.log(1 / (1e-6 - 50e-8))) + 50 * 0.1 * math.expm1(0.1)
    assert math.isclose(advanced, 4.33, abs_tol=0.01)
    assert optimal_epsilon(0.1, 1e-8, 50, 1e-6) < advanced < 50 * 0.1


def test_optimal_composition_of_one_is_the_loss_itself() -> None:
    assert math.isclose(optimal_delta(0.5, 0.5, 0.01, 1), 0.01, rel_tol=1e-6)
    assert math.isclose(optimal_epsilon(0.5, 0.01, 1, 0.01 * (1 + 1e-8)), 0.5, rel_tol=1e-6)
    assert optimal_epsilon(0.5, 0.01, 1, 0.001) == math.inf


@pytest.mark.parametrize("times", [1, 2, 3, 4])
@pytest.mark.parametrize("epsilon", [0.0, 0.3, 0.77, 1.5])
def test_optimal_composition_is_brute_force_composition(times: int, epsilon: float) -> None:
    epsilon_0, delta_0 = 0.4, 0.02
    e = math.exp(epsilon_0)
    one = {"sure": delta_0, "a": (1 - delta_0) * e / (1 + e), "b": (1 - delta_0) / (1 + e), "never": 0.0}
    two = {"sure": 0.0, "a": (1 - delta_0) / (1 + e), "b": (1 - delta_0) * e / (1 + e), "never": delta_0}
    brute = math.fsum(
        max(
            0.0,
            math.prod(one[step] for step in steps) - math.exp(epsilon) * math.prod(two[step] for step in steps),
        )
        for steps in itertools.product(one, repeat=times)
    )
    assert math.isclose(optimal_delta(epsilon, epsilon_0, delta_0, times), brute, rel_tol=1e-6, abs_tol=1e-12)


@pytest.mark.parametrize(
    ("times", "bounded", "pure"),
    [(5, 0.2288, 0.2), (10, 0.146, 0.1), (20, 0.0992, 0.056), (50, 0.0614, 0.0335), (100, 0.0431, 0.0232)],
)
def test_largest_pick_reproduces_the_worked_figures(times: int, bounded: float, pure: float) -> None:
    def beyond_bounded(pick: Fraction) -> float:
        return renyi_epsilon([BoundedRange(pick)] * times, 5e-7) - 1

    def beyond_pure(pick: Fraction) -> float:
        return optimal_epsilon(float(pick), 0, times, 5e-7) - 1

    assert float(largest(beyond_bounded, 1.0) or 0) == pytest.approx(bounded, rel=2e-3)
    assert float(largest(beyond_pure, 1.0) or 0) == pytest.approx(pure, rel=6e-3)


def two_point_renyi(t: float, epsilon: float, order: float) -> float:
    first = math.expm1(epsilon - t) / (math.exp(epsilon - t) - math.exp(-t))
    moment = first * math.exp(t * (order - 1)) + (1 - first) * math.exp((t - epsilon) * (order - 1))
    return math.log(moment) / (order - 1)


@given(st.floats(0.01, 4), st.floats(1.01, 60))
def test_bounded_range_curve_is_the_worst_two_point_pair(epsilon: float, order: float) -> None:
    grid = np.linspace(0, epsilon, 2003)[1:-1]
    worst = max(two_point_renyi(t, epsilon, order) for t in grid)
    curve = float(bounded_range_curve(epsilon, np.array([order - 1]))[0])
    assert curve >= worst - 1e-12
    assert math.isclose(curve, worst, rel_tol=1e-3, abs_tol=1e-9)


@given(st.floats(0.01, 4), st.floats(1.01, 60))
def test_bounded_range_costs_between_zero_and_a_pure_loss(epsilon: float, order: float) -> None:
    a = np.array([order - 1])
    bounded, pure = bounded_range_curve(epsilon, a)[0], pure_curve(epsilon, a)[0]
    assert 0 <= bounded <= pure * (1 + 1e-9) + 1e-12
    # Cesar and Rogers (2021): bounded range implies epsilon^2/8-zCDP.
    assert bounded <= order * epsilon**2 / 8 * (1 + 1e-9) + 1e-12


@pytest.mark.parametrize("epsilon", ["1e-9", "1e-6", "1e-3", "0.1", "3"])
@pytest.mark.parametrize("a", ["0.01", "0.7", "30", "1e5"])
def test_curves_are_rounded_up_and_hardly(epsilon: str, a: str) -> None:
    """Against the same formulas in sixty digits: for small epsilon their logarithms cancel to nearly nothing."""
    with localcontext() as context:
        context.prec = 60
        e, order = Decimal(epsilon).exp(), Decimal(a)
        decay = (-order * Decimal(epsilon)).exp()
        big_a, big_b = e - decay, 1 - decay
        u = order * big_a / ((order + 1) * big_b)
        bounded = (order * u.ln() + (big_a / (order + 1)).ln() - (e - 1).ln()) / order
        pure = (((e ** (order + 1)) + decay) / (1 + e)).ln() / order
    at = np.array([float(a)])
    for exact, curve in ((bounded, bounded_range_curve), (pure, pure_curve)):
        claimed = float(curve(float(epsilon), at)[0])
        assert claimed >= float(exact) * (1 - 1e-15)
        assert claimed <= float(exact) * 1.1 + 1e-12


def brute_delta(one: list[float], two: list[float], times: int, epsilon: float) -> float:
    return math.fsum(
        max(
            0.0,
            math.prod(one[step] for step in steps) - math.exp(epsilon) * math.prod(two[step] for step in steps),
        )
        for steps in itertools.product(range(len(one)), repeat=times)
    )


@settings(max_examples=60, deadline=None)
@given(st.floats(0.05, 2), st.floats(0.02, 0.98), st.integers(1, 8), st.sampled_from([1e-2, 1e-4]))
def test_renyi_bound_holds_against_brute_force(epsilon: float, share: float, times: int, delta: float) -> None:
    t = share * epsilon
    first = math.expm1(epsilon - t) / (math.exp(epsilon - t) - math.exp(-t))
    one, two = [first, 1 - first], [first * math.exp(-t), (1 - first) * math.exp(epsilon - t)]
    claimed = renyi_epsilon([BoundedRange(Fraction(epsilon))] * times, delta)
    assert brute_delta(one, two, times, claimed) <= delta
    e = math.exp(epsilon)
    claimed = renyi_epsilon([PureDP(Fraction(epsilon))] * times, delta)
    assert brute_delta([e / (1 + e), 1 / (1 + e)], [1 / (1 + e), e / (1 + e)], times, claimed) <= delta


def test_renyi_of_zcdp_is_the_known_conversion() -> None:
    rho, delta = 0.05, 1e-6
    simple = rho + 2 * math.sqrt(rho * math.log(1 / delta))
    bound = renyi_epsilon([ZCDP(Fraction(1, 40)), ZCDP(Fraction(1, 40))], delta)
    assert 0.8 * simple < bound < simple


def test_renyi_refuses_a_loss_without_a_curve() -> None:
    with pytest.raises(ValueError, match="no Renyi curve"):
        renyi_epsilon([ApproxDP(Fraction(1), Fraction(1, 10))], 1e-6)


def test_optimal_composition_agrees_with_dp_accounting() -> None:
    from dp_accounting.pld import privacy_loss_distribution

    # A PLD object composed by hand, for dp-accounting's PLDAccountant ignores `count` for randomised response.
    e = math.exp(0.1)
    response = privacy_loss_distribution.from_randomized_response(
        noise_parameter=2 / (1 + e), num_buckets=2, value_discretization_interval=1e-4
    )
    theirs = response.self_compose(50).get_epsilon_for_delta(1e-6)
    assert optimal_epsilon(0.1, 0.0, 50, 1e-6) == pytest.approx(theirs, rel=2e-3)
    assert renyi_epsilon([PureDP(Fraction(1, 10))] * 50, 1e-6) >= theirs - 2e-3


def test_renyi_composition_agrees_with_dp_accounting() -> None:
    from dp_accounting.rdp import compute_epsilon

    orders = np.exp(np.linspace(math.log(1.01), math.log(1e4), 4000))
    curve = 20 * bounded_range_curve(0.1, orders - 1)
    theirs, _ = compute_epsilon(orders, curve, 1e-6)
    assert renyi_epsilon([BoundedRange(Fraction(1, 10))] * 20, 1e-6) == pytest.approx(theirs, rel=1e-4)


@given(st.integers(1, 60), st.fractions(Fraction(1, 100), 3), st.integers(3, 9), st.booleans())
@settings(max_examples=60, deadline=None)
def test_calibration_never_spends_more_than_the_budget(
    picks: int, epsilon: Fraction, digits: int, failing: bool
) -> None:
    delta = Fraction(1, 10**digits)
    search = epsilon / 5

    def losses_of(pick: Fraction) -> tuple[Loss, ...]:
        return (PureDP(search), *(BoundedRange(pick),) * picks)

    found = calibrate_pick(losses_of, epsilon=epsilon, delta=delta, failing=failing)
    losses = losses_of(found.pick_epsilon)
    assert found.guarantee.epsilon <= epsilon
    assert found.guarantee.delta <= delta
    assert found.pick_epsilon >= Fraction(4, 5) * epsilon / picks
    if found.guarantee.composition == "basic":
        assert basic_epsilon(losses) <= epsilon
        assert found.failure == (delta if failing else 0)
    else:
        accounted = delta - (1 + exp_up(epsilon)) * found.failure
        assert accounted > 0
        proofs = renyi_epsilon(losses, float(accounted)), gaussian_epsilon(losses, float(accounted))
        assert min(proofs) <= epsilon
        slightly_more = losses_of(found.pick_epsilon * Fraction(1001, 1000))
        assert prove_composed(slightly_more, found.failure, epsilon=epsilon, delta=delta) is None


@given(st.floats(1e-300, 1e300))
def test_a_rounded_number_is_never_on_the_wrong_side(value: float) -> None:
    assert round_down(value) <= Fraction(value) <= round_up(value)
    assert round_up(value) - round_down(value) <= Fraction(value) * Fraction(1, 10**7)


@given(st.fractions(0, 100))
def test_exp_up_is_above(exponent: Fraction) -> None:
    from decimal import Context, Decimal

    context = Context(prec=40)
    true = context.exp(context.divide(Decimal(exponent.numerator), Decimal(exponent.denominator)))
    assert Fraction(true) <= exp_up(exponent) <= Fraction(true) * (1 + Fraction(1, 10**8))
