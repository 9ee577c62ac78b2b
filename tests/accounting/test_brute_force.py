"""Every accountant against composition by brute force: all outcomes of up to four small laws, chosen adaptively.

Neighbours are a pair of laws. The adversary sees what came out so far and takes, for the next step, whichever pair its
loss allows that makes the delta largest; `worst_delta` follows all of his choices, so nothing here is an estimate.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from fractions import Fraction

import numpy as np
import pytest
from numpy.typing import NDArray

from fim_private.accounting.basic_composition import basic_delta, basic_epsilon
from fim_private.accounting.calibration import (
    calibrate_equal,
    calibrate_gaussian,
    calibrate_pick,
    prove_basic,
)
from fim_private.accounting.optimal_composition import optimal_delta, optimal_epsilon
from fim_private.accounting.renyi_composition import renyi_epsilon
from fim_private.privacy import ZCDP, ApproxDP, BoundedRange, DiscreteGaussian, Guarantee, Loss, OneSidedFailure, PureDP
from fim_private.randomness.discrete_gaussian import discrete_gaussian_mass
from tests.accounting.proofs import prove_composed, prove_discovery

F = Fraction
Floats = NDArray[np.float64]
Pair = tuple[Floats, Floats]
"""The probabilities of the same outcomes under the two neighbours."""

ROUNDING = 1e-13
"""The rounding error of the sums here, of up to a million products. Every delta that is asked for is far larger."""
SHARES = (0.03, 0.2, 0.4, 0.5)
"""Where between 0 and epsilon the larger log ratio of a bounded-range pair lies; the other way round it is one less."""


def response(epsilon: float) -> Pair:
    """Randomised response, which dominates every epsilon-differentially private pair."""
    e = math.exp(epsilon)
    return np.array([e, 1]) / (1 + e), np.array([1, e]) / (1 + e)


def two_points(high: float, low: float) -> Pair:
    """The pair on two points with log ratios high > 0 > low."""
    first = math.expm1(-low) / (math.exp(-low) - math.exp(-high))
    one = np.array([first, 1 - first])
    return one, one * np.exp([-high, -low])


def three_points(epsilon: float, share: float) -> Pair:
    """A bounded-range pair with a third outcome half-way between the two log ratios, which some of the mass is on."""
    ratios = np.array([share, share - 0.5, share - 1]) * epsilon
    outer, _ = two_points(ratios[0], ratios[2])
    middle = 0.3
    one = np.array([(1 - middle) * outer[0], middle, (1 - middle) * outer[1]])
    two = one * np.exp(-ratios)
    # Scaling the second law shifts all log ratios alike: their range stays.
    return one, two / two.sum()


def telling(epsilon: float, delta: float) -> Pair:
    """The pair that dominates every (epsilon, delta) one: randomised response, and the truth with chance delta."""
    one, two = response(epsilon)
    return np.array([delta, *((1 - delta) * one), 0]), np.array([0, *((1 - delta) * two), delta])


def gaussian(rho: float) -> Pair:
    """Discrete Gaussian noise on a count that differs by one, on a window that leaves out less than 1e-30."""
    variance = 1 / (2 * rho)
    reach = math.ceil(12 * math.sqrt(variance)) + 1
    values = np.arange(-reach, reach + 2)
    return discrete_gaussian_mass(values, variance), discrete_gaussian_mass(values - 1, variance)


def priced(rho: float) -> Pair:
    """Discrete Gaussian noise that costs rho as Gaussian noise, on a count that differs by eight."""
    variance = DiscreteGaussian.variance_costing(64, F(rho))
    reach = math.ceil(12 * math.sqrt(variance)) + 8
    values = np.arange(-reach, reach + 9)
    return discrete_gaussian_mass(values, float(variance)), discrete_gaussian_mass(values - 8, float(variance))


def pairs_of(loss: Loss) -> list[Pair]:
    """Pairs that have this loss, and each the other way round: which neighbour is which is up to the adversary."""
    match loss:
        case PureDP(epsilon):
            e = float(epsilon)
            pairs = [response(e), two_points(e, -e / 3), two_points(e / 2, -e)]
        case BoundedRange(epsilon):
            e = float(epsilon)
            pairs = [two_points(share * e, (share - 1) * e) for share in SHARES] + [three_points(e, 0.5)]
        case ApproxDP(epsilon, delta):
            e, d = float(epsilon), float(delta)
            # The second wastes none of delta: it breaks epsilon on one outcome only, in one direction.
            one, two = response(e)
            pairs = [telling(e, d), (np.array([d, *((1 - d) * one)]), np.array([0, *two]))]
        case ZCDP(rho):
            pairs = [gaussian(float(rho))]
    return [*pairs, *((two, one) for one, two in pairs)]


def worst_delta(steps: Sequence[Sequence[Pair]], epsilon: float, start: tuple[float, float] = (1.0, 1.0)) -> float:
    """The largest delta at this epsilon, over all adaptive choices of a pair of each step's list."""
    e = math.exp(epsilon)

    def value(one: Floats, two: Floats, left: Sequence[Sequence[Pair]]) -> Floats:
        if not left:
            return np.maximum(0.0, one - e * two)
        options = [
            value(np.outer(one, p).ravel(), np.outer(two, q).ravel(), left[1:]).reshape(len(one), len(p)).sum(axis=1)
            for p, q in left[0]
        ]
        return np.max(options, axis=0)

    return float(value(np.array([start[0]]), np.array([start[1]]), steps)[0])


def product(pairs: Sequence[Pair]) -> Pair:
    """All outcomes of independent steps."""
    one = two = np.ones(1)
    for p, q in pairs:
        one, two = np.outer(one, p).ravel(), np.outer(two, q).ravel()
    return one, two


def hockey_stick(pair: Pair, epsilon: float) -> float:
    return float(np.sum(np.maximum(0.0, pair[0] - math.exp(epsilon) * pair[1])))


def test_the_pairs_are_what_they_are_said_to_be() -> None:
    for loss in (PureDP(F(1, 2)), BoundedRange(F(4, 5)), ApproxDP(F(1, 2), F(1, 100)), ZCDP(F(1, 8))):
        for one, two in pairs_of(loss):
            assert one.sum() == pytest.approx(1, abs=1e-12)
            assert two.sum() == pytest.approx(1, abs=1e-12)
            both = (one > 0) & (two > 0)
            ratios = np.log(one[both] / two[both])
            match loss:
                case PureDP():
                    assert np.abs(ratios).max() == pytest.approx(0.5)
                case BoundedRange():
                    assert np.ptp(ratios) == pytest.approx(0.8)
                case ApproxDP():
                    assert hockey_stick((one, two), 0.5) <= 0.01 + ROUNDING
                case ZCDP():
                    for order in (1.5, 2.0, 8.0):
                        moment = float(np.sum(one[both] * np.exp((order - 1) * ratios)))
                        assert math.log(moment) / (order - 1) <= order / 8 + 1e-9


def test_an_adaptive_adversary_gains_over_one_who_plans_ahead() -> None:
    """The best second pair depends on the first outcome, so the search above is needed."""
    # The second step tells more either at a ratio near 1 or far from it, so its best pair depends on the first.
    first = [two_points(1.0, -0.4)]
    second = pairs_of(BoundedRange(F(1)))
    for epsilon in (0.1, 0.5):
        planned = max(worst_delta([first, [pair]], epsilon) for pair in second)
        assert worst_delta([first, second], epsilon) > planned + 1e-4


# Basic composition.

MIXTURES: list[list[Loss]] = [
    [PureDP(F(2, 5))],
    [PureDP(F(2, 5)), BoundedRange(F(7, 10))],
    [ApproxDP(F(3, 10), F(1, 50)), PureDP(F(1, 5)), BoundedRange(F(1, 2))],
    [ApproxDP(F(3, 10), F(1, 50)), ApproxDP(F(1, 10), F(1, 1000)), ApproxDP(F(6, 5), F(1, 200))],
    [PureDP(F(1, 10)), BoundedRange(F(1, 5)), BoundedRange(F(1, 5)), BoundedRange(F(3, 10))],
]


@pytest.mark.parametrize("losses", MIXTURES, ids=str)
def test_basic_composition_holds_whatever_the_adversary_takes(losses: list[Loss]) -> None:
    steps = [pairs_of(loss) for loss in losses]
    epsilon, delta = float(basic_epsilon(losses)), float(basic_delta(losses))
    assert worst_delta(steps, epsilon) <= delta + ROUNDING
    # A bounded range of epsilon can be spent whole as a ratio only in the limit, hence not a hair less but a fifth.
    assert worst_delta(steps, 0.8 * epsilon) > delta


@pytest.mark.parametrize("failure", [F(1, 1000), F(1, 20)])
@pytest.mark.parametrize("losses", MIXTURES[:2], ids=str)
def test_what_the_losses_do_not_cover_is_inside_basic_composition(losses: list[Loss], failure: Fraction) -> None:
    """With probability `failure` the run reveals everything: on both sides, or on one of them."""
    claimed = prove_basic(losses, failure)
    steps = [pairs_of(loss) for loss in losses]
    f = float(failure)
    for one_fails, other_fails in itertools.product((0.0, f), repeat=2):
        found = one_fails + worst_delta(steps, float(claimed.epsilon), (1 - one_fails, 1 - other_fails))
        assert found <= float(claimed.delta) + ROUNDING
    both = f + worst_delta(steps, float(claimed.epsilon), (1 - f, 1 - f))
    assert both > 0.999 * float(claimed.delta)


# Optimal composition.


@pytest.mark.parametrize("times", [1, 2, 3, 4])
@pytest.mark.parametrize(("epsilon_0", "delta_0"), [(0.4, 0.02), (0.05, 1e-4), (1.5, 0.0), (0.3, 0.2)])
def test_optimal_composition_is_exactly_the_worst(times: int, epsilon_0: float, delta_0: float) -> None:
    loss = ApproxDP(F(epsilon_0), F(delta_0)) if delta_0 else PureDP(F(epsilon_0))
    steps = [pairs_of(loss)] * times
    for share in (0.0, 0.13, 0.5, 0.77, 0.95, 1.1):
        epsilon = share * times * epsilon_0
        claimed, found = optimal_delta(epsilon, epsilon_0, delta_0, times), worst_delta(steps, epsilon)
        assert found <= claimed + ROUNDING
        assert claimed == pytest.approx(found, rel=1e-8, abs=ROUNDING)


@pytest.mark.parametrize("times", [1, 2, 3, 4])
@pytest.mark.parametrize(("epsilon_0", "delta_0", "delta"), [(0.4, 0.001, 0.01), (0.2, 0.0, 0.003), (1.0, 1e-4, 0.05)])
def test_optimal_epsilon_is_the_least(times: int, epsilon_0: float, delta_0: float, delta: float) -> None:
    loss = ApproxDP(F(epsilon_0), F(delta_0)) if delta_0 else PureDP(F(epsilon_0))
    steps = [pairs_of(loss)] * times
    claimed = optimal_epsilon(epsilon_0, delta_0, times, delta)
    assert worst_delta(steps, claimed) <= delta + ROUNDING
    assert worst_delta(steps, claimed * (1 - 1e-6)) > delta


# Renyi composition.

RENYI: list[list[Loss]] = [
    [PureDP(F(1, 2))],
    [BoundedRange(F(6, 5))],
    [PureDP(F(1, 5)), BoundedRange(F(1, 2))],
    [BoundedRange(F(1, 2)), PureDP(F(1, 5)), BoundedRange(F(1))],
    [PureDP(F(3, 10)), BoundedRange(F(2, 5)), BoundedRange(F(2, 5)), BoundedRange(F(3, 5))],
    [PureDP(F(1)), PureDP(F(1, 10)), PureDP(F(1, 2)), PureDP(F(1, 2))],
    [ZCDP(F(1, 20))],
    [ZCDP(F(1, 20)), PureDP(F(2, 5))],
    [ZCDP(F(1, 8)), ZCDP(F(1, 3)), BoundedRange(F(1, 2))],
]
DELTAS = [F(1, 100), F(1, 10**4), F(1, 10**7)]


@pytest.mark.parametrize("losses", RENYI, ids=str)
def test_renyi_composition_is_never_below_the_worst(losses: list[Loss]) -> None:
    steps = [pairs_of(loss) for loss in losses]
    for delta in DELTAS:
        claimed = renyi_epsilon(losses, float(delta))
        assert worst_delta(steps, claimed) <= float(delta) + ROUNDING
        # Not so far above that it would hide a fault: three tenths less do not hold.
        assert worst_delta(steps, 0.7 * claimed) > float(delta)


def failing(pair: Pair, failure: float, epsilon: float) -> Pair:
    """The worst that can come of both runs being something else with this chance, each where it hurts most.

    The second law gives up outcomes that betray the first, the first gives up those that betray the second; what each
    of them says instead, the other never says.
    """
    one, two = pair[0].copy(), pair[1].copy()
    excess = one - math.exp(epsilon) * two
    for law, order in ((two, np.argsort(-excess)), (one, np.argsort(excess))):
        left = failure
        for outcome in order:
            taken = min(left, law[outcome])
            law[outcome] -= taken
            left -= taken
    return np.append(one, [failure, 0.0]), np.append(two, [0.0, failure])


def worst_products(losses: Sequence[Loss]) -> list[Pair]:
    return [product(pairs) for pairs in itertools.product(*(pairs_of(loss) for loss in losses))]


def proved(found: Guarantee | None) -> Guarantee:
    assert found is not None
    return found


@pytest.mark.parametrize("failure", [F(1, 10**5), F(1, 300)])
@pytest.mark.parametrize("losses", [RENYI[0], RENYI[2], RENYI[6]], ids=str)
def test_failures_on_both_sides_are_inside_renyi_composition(losses: list[Loss], failure: Fraction) -> None:
    """Any coupling: with chance `failure` a run is another than the one the losses apply to, on either side."""
    limit = F(3)
    for slack in (F(1, 10**4), F(1)):
        delta = failure * (1 + F(math.exp(limit)) * (1 + slack))
        claimed = proved(prove_composed(losses, failure, epsilon=limit, delta=delta))
        assert claimed.delta == delta
        for pair in worst_products(losses):
            broken = failing(pair, float(failure), float(claimed.epsilon))
            assert broken[0].sum() == pytest.approx(1, abs=1e-9)
            assert hockey_stick(broken, float(claimed.epsilon)) <= float(delta) + ROUNDING
    # Nothing is proved where the failure alone uses delta up.
    assert prove_composed(losses, failure, epsilon=limit, delta=failure * (1 + F(math.exp(limit)))) is None


def test_every_part_of_the_failure_is_needed() -> None:
    """(1 + e^eps) failure is what the worst coupling costs: at the epsilon of the losses themselves all of it shows."""
    epsilon, failure = 0.5, 1e-3
    broken = failing(response(epsilon), failure, epsilon)
    assert hockey_stick(broken, epsilon) == pytest.approx((1 + math.exp(epsilon)) * failure, rel=1e-9)
    claimed = proved(prove_composed([PureDP(F(1, 2))], F(1, 1000), epsilon=F(51, 100), delta=F(2667, 10**6)))
    assert hockey_stick(broken, float(claimed.epsilon)) <= float(claimed.delta)


@pytest.mark.parametrize("failure", [F(1, 10**5), F(1, 300), F(1, 10)])
@pytest.mark.parametrize("losses", [RENYI[0], RENYI[2], RENYI[6], RENYI[7]], ids=str)
def test_a_failure_on_one_side_is_inside_the_proof_of_discovery(losses: list[Loss], failure: Fraction) -> None:
    """The side that can fail tells all with chance `failure`, whatever else happens; looked at from either side."""
    steps = [pairs_of(loss) for loss in losses]
    f = float(failure)
    for delta in (failure * F(10_001, 10_000), failure * 2, failure * 8):
        claimed = proved(prove_discovery(losses, failure, epsilon=F(50), delta=delta))
        epsilon = float(claimed.epsilon)
        assert claimed.delta == delta
        assert f + worst_delta(steps, epsilon, (1 - f, 1.0)) <= float(delta) + ROUNDING
        assert worst_delta(steps, epsilon, (1.0, 1 - f)) <= float(delta) + ROUNDING


@pytest.mark.parametrize("failure", [F(1, 10**5), F(1, 300), F(1, 10)])
@pytest.mark.parametrize("losses", [RENYI[0], RENYI[6]], ids=str)
def test_a_failure_that_nothing_is_granted_to_is_not_inside(losses: list[Loss], failure: Fraction) -> None:
    delta, f = float(failure * F(10_001, 10_000)), float(failure)
    forgotten = renyi_epsilon(losses, delta)
    assert f + worst_delta([pairs_of(loss) for loss in losses], forgotten, (1 - f, 1.0)) > delta


# Calibration.


@pytest.mark.parametrize("picks", [1, 2, 3])
@pytest.mark.parametrize(("epsilon", "delta"), [(F(1), F(1, 1000)), (F(1, 5), F(1, 20)), (F(3), F(1, 10**7))])
@pytest.mark.parametrize("fails", [False, True])
def test_calibrated_picks_stay_within_the_budget(picks: int, epsilon: Fraction, delta: Fraction, fails: bool) -> None:
    def losses_of(pick: Fraction) -> list[Loss]:
        return [PureDP(epsilon / 5), *[BoundedRange(pick)] * picks]

    found = calibrate_pick(losses_of, epsilon=epsilon, delta=delta, failing=fails)
    guarantee = found.guarantee
    assert guarantee.epsilon <= epsilon
    assert guarantee.delta <= delta
    assert (found.failure > 0) == fails
    steps = [pairs_of(loss) for loss in losses_of(found.pick_epsilon)]
    spent, f = float(guarantee.epsilon), float(found.failure)
    if guarantee.composition == "renyi":
        f *= 1 + math.exp(spent)
        assert f + worst_delta(steps, spent) <= float(guarantee.delta) + ROUNDING
    else:
        assert f + worst_delta(steps, spent, (1 - f, 1 - f)) <= float(guarantee.delta) + ROUNDING


@pytest.mark.parametrize("times", [1, 2, 3, 4])
@pytest.mark.parametrize(("epsilon", "delta"), [(F(1), F(1, 1000)), (F(1, 5), F(1, 20)), (F(3), F(1, 10**6))])
@pytest.mark.parametrize("fails", [False, True])
def test_calibrated_selections_stay_within_the_budget(
    times: int, epsilon: Fraction, delta: Fraction, fails: bool
) -> None:
    found = calibrate_equal(times, epsilon=epsilon, delta=delta, failing=fails)
    guarantee = found.guarantee
    assert guarantee.epsilon <= epsilon
    assert guarantee.delta <= delta
    loss = ApproxDP(found.epsilon, found.delta) if fails else PureDP(found.epsilon)
    steps = [pairs_of(loss)] * times
    assert worst_delta(steps, float(guarantee.epsilon)) <= float(guarantee.delta) + ROUNDING
    if guarantee.composition == "optimal":
        # It claims to be optimal, so what it says is all used.
        assert worst_delta(steps, float(guarantee.epsilon) * (1 - 1e-6)) > float(guarantee.delta) * (1 - 1e-5)


@pytest.mark.parametrize(("epsilon", "delta"), [(F(1), F(1, 1000)), (F(1, 5), F(1, 20)), (F(3), F(1, 10**6))])
@pytest.mark.parametrize("share", [F(0), F(1, 2), F(9, 10)])
def test_a_calibrated_rho_stays_within_the_budget(epsilon: Fraction, delta: Fraction, share: Fraction) -> None:
    failure = share * min(delta, epsilon / 4)
    spent = calibrate_gaussian((OneSidedFailure(failure),), epsilon=epsilon, delta=delta)
    rho, f = float(spent[0]), float(failure)
    for steps in ([[priced(rho)]], [[priced(rho / 3)], [priced(2 * rho / 3)]]):
        assert f + worst_delta(steps, float(epsilon), (1 - f, 1.0)) <= float(delta) + ROUNDING
        assert worst_delta(steps, float(epsilon), (1.0, 1 - f)) <= float(delta) + ROUNDING
    assert f + worst_delta([[priced(4 * rho)]], float(epsilon), (1 - f, 1.0)) > float(delta)
