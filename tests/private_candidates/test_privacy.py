"""Algorithms 1 and 2 and Theorem C.1: no neighbouring candidates break the claims, and mistakes are caught."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction
from functools import partial

import pytest

from fim_private.audit.private_candidates import OutcomeLaw, worst
from fim_private.errors import UsageError
from fim_private.privacy import ApproxDP, PureDP
from fim_private.private_candidates import KnownThreshold, RandomStopping
from fim_private.private_candidates.pool import CandidateLoss, FiniteLaw, parts
from verification.private_candidates.amplification import Amplification
from verification.private_candidates.cases import (
    EPSILON,
    ROUNDING,
    CandidateCase,
    cases,
    mistakes,
    neighbours,
    one_against_all,
    products,
    six_that_move,
    verdict_of,
    without_dummies,
)
from verification.private_candidates.last_step import steps_for, steps_for_delta, steps_for_epsilon
from verification.private_candidates.relatives import decreasing_thresholds

EPSILONS = [Fraction(1, 10), Fraction(1, 2), Fraction(3, 2)]
STOPS = [Fraction(1, 2), Fraction(1, 10), Fraction(1, 200)]


def test_neighbours_are_as_far_apart_as_is_said_and_no_further() -> None:
    for delta in (Fraction(0), Fraction(1, 50)):
        found = worst(lambda law: law, neighbours(Fraction(1, 2), delta), 0.5)
        assert found.delta == pytest.approx(float(delta), abs=1e-12)
        found = worst(lambda law: law, neighbours(Fraction(1, 2), delta), 0.49)
        assert found.delta > float(delta) + 0.001


@pytest.mark.parametrize("stop", STOPS)
@pytest.mark.parametrize("epsilon", EPSILONS)
def test_known_threshold_keeps_its_pure_claim(epsilon: Fraction, stop: Fraction) -> None:
    for steps in (None, 2, 7, steps_for(stop, Fraction(1, 10))):
        selection = KnownThreshold(threshold=1, stop=stop, steps=steps)
        claimed = float(selection.cost(PureDP(epsilon)).epsilon)
        assert worst(selection.law, neighbours(epsilon), claimed).loss <= claimed + ROUNDING
    assert selection.cost(PureDP(epsilon)).epsilon <= 2 * epsilon + Fraction(1, 10), "what Theorem 3.1 claims"


def test_known_threshold_reaches_its_claim() -> None:
    selection = KnownThreshold(threshold=1, stop=Fraction(1, 1000))
    assert worst(selection.law, neighbours(Fraction(1, 2)), 1.0).loss > 0.998


@pytest.mark.parametrize("stop", STOPS)
@pytest.mark.parametrize("epsilon", EPSILONS)
def test_random_stopping_keeps_its_pure_claim(epsilon: Fraction, stop: Fraction) -> None:
    selection = RandomStopping(stop=stop)
    assert selection.cost(PureDP(epsilon)) == selection.pure_cost(PureDP(epsilon)) == PureDP(3 * epsilon)
    assert worst(selection.law, neighbours(epsilon), 1.0).loss <= 3 * epsilon + ROUNDING


def test_random_stopping_reaches_its_claim() -> None:
    assert worst(RandomStopping(stop=Fraction(1, 1000)).law, neighbours(Fraction(1, 2)), 1.0).loss > 1.49


@pytest.mark.parametrize("stop", STOPS)
@pytest.mark.parametrize("epsilon", EPSILONS)
def test_last_step_costs_a_delta(epsilon: Fraction, stop: Fraction) -> None:
    for steps in (2, 10, steps_for_delta(stop, Fraction(1, 100))):
        selection = RandomStopping(stop=stop, steps=steps)
        cost = selection.cost(PureDP(epsilon))
        assert cost.epsilon == 3 * epsilon
        found = worst(selection.law, neighbours(epsilon), float(3 * epsilon))
        assert found.delta <= parts(cost)[1] + 1e-12
    assert parts(cost)[1] <= Fraction(1, 100) * (1 + Fraction(1, 10**6)), "what Theorem 3.4 claims"


@pytest.mark.parametrize("stop", STOPS)
@pytest.mark.parametrize("epsilon", EPSILONS)
def test_a_last_step_may_be_paid_in_epsilon_alone(epsilon: Fraction, stop: Fraction) -> None:
    published = steps_for_epsilon(stop, Fraction(1, 10))
    for steps in (math.ceil(2 / stop), published):
        selection = RandomStopping(stop=stop, steps=steps)
        claimed = selection.pure_cost(PureDP(epsilon)).epsilon
        assert worst(selection.law, neighbours(epsilon), 1.0).loss <= claimed + ROUNDING
    assert claimed <= 3 * epsilon + Fraction(3, 10), "what Theorem 3.5 claims"


@pytest.mark.parametrize("stop", STOPS)
def test_last_step_s_share_is_what_a_sum_says(stop: Fraction) -> None:
    """rho bounds what the last step adds to each outcome, relative to the rest, and is reached at the best outcome."""
    gamma, steps = float(stop), math.ceil(2 / stop)
    shares = []
    for chance in (0.0, 0.001, 0.01, 0.1, 0.5, 0.9):
        rest = sum(j * gamma * ((1 - gamma) * (1 - chance)) ** (j - 1) for j in range(1, steps + 1))
        shares.append(steps * (1 - gamma) ** steps * (1 - chance) ** (steps - 1) / rest)
    assert max(shares) == shares[0]
    added = RandomStopping(stop=stop, steps=steps).pure_cost(PureDP(Fraction(1))).epsilon - 3
    assert float(added) == pytest.approx(math.log1p(shares[0]), rel=1e-6)


def test_too_early_a_last_step_is_not_pure() -> None:
    selection = RandomStopping(stop=Fraction(1, 200), steps=10)
    with pytest.raises(UsageError, match="So few calls"):
        selection.pure_cost(PureDP(Fraction(1, 2)))
    found = worst(selection.law, neighbours(Fraction(1, 2)), 1.5)
    assert found.loss > 2.5
    assert found.delta > 0.02


DELTAS = [Fraction(1, 10**4), Fraction(1, 50)]


@pytest.mark.slow
@pytest.mark.parametrize("delta", DELTAS)
@pytest.mark.parametrize("stop", STOPS)
def test_candidates_with_a_delta_keep_their_claim(stop: Fraction, delta: Fraction) -> None:
    loss = ApproxDP(Fraction(1, 2), delta)
    for selection in (
        KnownThreshold(threshold=1, stop=stop),
        KnownThreshold(threshold=1, stop=stop, steps=steps_for(stop, Fraction(1, 10))),
        RandomStopping(stop=stop),
        RandomStopping(stop=stop, steps=10),
    ):
        epsilon, claimed = parts(selection.cost(loss))
        some = itertools.islice(neighbours(loss.epsilon, delta), 0, None, 5)
        found = worst(selection.law, some, float(epsilon))
        assert found.delta <= claimed + 1e-12


@pytest.mark.parametrize("delta", DELTAS)
def test_a_delta_is_multiplied_by_the_calls(delta: Fraction) -> None:
    """The claim is nearly reached, so a smaller one would be wrong."""
    loss = ApproxDP(Fraction(1, 100), delta)
    for selection in (KnownThreshold(threshold=2, stop=Fraction(1, 10)), RandomStopping(stop=Fraction(1, 10))):
        epsilon, claimed = parts(selection.cost(loss))
        assert claimed == delta / (Fraction(1, 10) + delta * Fraction(9, 10))
        found = worst(selection.law, neighbours(loss.epsilon, delta), float(epsilon))
        assert 0.8 * claimed < found.delta <= claimed + 1e-12


def test_published_delta_of_algorithm_1_is_larger() -> None:
    loss, stop, epsilon_0 = ApproxDP(Fraction(1, 2), Fraction(1, 10**6)), Fraction(1, 20), Fraction(1, 10)
    cost = KnownThreshold(threshold=0, stop=stop, steps=steps_for(stop, epsilon_0)).cost(loss)
    assert isinstance(cost, ApproxDP)
    assert cost.epsilon <= 2 * loss.epsilon + epsilon_0
    assert cost.delta < 3 * math.exp(2 * loss.epsilon + epsilon_0) * loss.delta / stop


def amplified(selection: Amplification, laws: tuple[FiniteLaw, ...]) -> OutcomeLaw:
    return selection.law(laws)


@pytest.mark.parametrize("exponent", [None, Fraction(1, 5), Fraction(3)])
@pytest.mark.parametrize("dummies", [2, 5, 40])
def test_amplification_keeps_its_claim(dummies: int, exponent: Fraction | None) -> None:
    selection = Amplification(threshold=1, exponent=exponent, dummies=dummies)
    epsilon = Fraction(1, 2)
    claimed = selection.cost(PureDP(epsilon), 2).epsilon
    assert claimed <= 2 * epsilon + Fraction(8, dummies - 1), "what Theorem C.1 claims"
    for number in (1, 2):
        found = worst(partial(amplified, selection), products(epsilon, Fraction(0), number), 1.0)
        assert found.loss <= claimed + ROUNDING


def test_amplification_with_a_delta_keeps_its_claim() -> None:
    selection = Amplification(threshold=1, exponent=None, dummies=5)
    loss = ApproxDP(Fraction(1, 2), Fraction(1, 50))
    epsilon, claimed = parts(selection.cost(loss, 2))
    assert claimed == Fraction(1, 25)
    found = worst(partial(amplified, selection), products(loss.epsilon, loss.delta, 2), float(epsilon))
    assert 0 < found.delta <= claimed


def test_dummies_are_what_makes_amplification_private() -> None:
    found = worst(without_dummies, iter([six_that_move()]), 1.0)
    assert found.loss == pytest.approx(3.0), "six candidates, six losses"
    selection = Amplification(threshold=1, exponent=None, dummies=2)
    kept = worst(partial(amplified, selection), iter([six_that_move()]), 1.0)
    assert kept.loss <= selection.cost(PureDP(Fraction(1, 2)), 6).epsilon


def test_amplification_reaches_nearly_two_losses() -> None:
    """One candidate goes down and all others up: less than the claim would be wrong."""
    selection = Amplification(threshold=1, exponent=None, dummies=6)
    found = worst(partial(amplified, selection), iter([one_against_all(13)]), 1.0)
    least = math.log(6 / 5)
    assert 0.5 + least < found.loss <= selection.cost(PureDP(Fraction(1, 2)), 13).epsilon == 1


@pytest.mark.slow
@pytest.mark.parametrize("case", cases(), ids=lambda case: case.name)
def test_every_algorithm_keeps_its_claim(case: CandidateCase) -> None:
    assert verdict_of(case).holds


@pytest.mark.slow
@pytest.mark.parametrize("case", mistakes(), ids=lambda case: case.name)
def test_relatives_that_are_not_private_are_caught(case: CandidateCase) -> None:
    for pair in itertools.islice(case.pairs(), 0, None, 50):
        assert sum(case.law(pair[0]).values()) == pytest.approx(1)
    verdict = verdict_of(case)
    assert not verdict.holds
    assert verdict.found.loss > 1.3 * case.epsilon
    assert verdict.found.delta > case.delta + 1e-4


def test_a_cost_too_low_is_caught() -> None:
    selection = RandomStopping(stop=Fraction(1, 100))
    assert worst(selection.law, neighbours(EPSILON), 2 * float(EPSILON)).delta > 0.005
    known = KnownThreshold(threshold=1, stop=Fraction(1, 100))
    assert worst(known.law, neighbours(EPSILON), float(EPSILON)).delta > 0.01


def test_algorithm_6_gives_the_law_of_the_paper_s_example() -> None:
    """P(0) = (1 - p) gamma^R ((1 - p)/(p(1 - gamma) + gamma))^R (B.2)."""
    p, gamma = 0.3, 0.1
    law = decreasing_thresholds(gamma, [1, 0.75, 0.5, 0.25, 0], {(1, "1"): p, (0, "0"): 1 - p})
    assert law[0, "0"] == pytest.approx((1 - p) * gamma**4 * ((1 - p) / (p * (1 - gamma) + gamma)) ** 4)


def losses() -> list[CandidateLoss]:
    return [PureDP(Fraction(1, 3)), ApproxDP(Fraction(1, 3), Fraction(1, 10**9))]


@pytest.mark.parametrize("loss", losses())
def test_parameters_out_of_range_are_refused(loss: CandidateLoss) -> None:
    for stop, steps in ((Fraction(0), None), (Fraction(3, 2), None), (Fraction(1, 2), 0)):
        with pytest.raises(UsageError):
            KnownThreshold(threshold=1, stop=stop, steps=steps)
        with pytest.raises(UsageError):
            RandomStopping(stop=stop, steps=steps)
    for epsilon_0 in (Fraction(0), Fraction(2)):
        with pytest.raises(UsageError):
            steps_for(Fraction(1, 2), epsilon_0)
        with pytest.raises(UsageError):
            steps_for_epsilon(Fraction(1, 2), epsilon_0)
        with pytest.raises(UsageError):
            steps_for_delta(Fraction(1, 2), epsilon_0)
    assert KnownThreshold(threshold=1, stop=Fraction(1), steps=5).cost(loss).epsilon == 2 * loss.epsilon
