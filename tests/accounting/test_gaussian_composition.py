"""Gaussian composition: its table by a program that leaves no gap, and whole compositions by backward recursion."""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.special import erfcx
from scipy.stats import norm

from fim_private.accounting.claim import claimed_delta
from fim_private.accounting.gaussian_composition import (
    FACTORS,
    gaussian_delta,
    gaussian_epsilon,
    gaussian_rho,
    pick_rho,
    picks_cost,
    profile,
    range_costing,
)
from fim_private.accounting.range_composition import range_delta
from fim_private.accounting.renyi_composition import renyi_delta
from fim_private.privacy import ApproxDP, BoundedRange, DiscreteGaussian, Gaussian, Loss, PureDP
from fim_private.randomness.discrete_gaussian import discrete_gaussian_mass

F = Fraction
Floats = NDArray[np.float64]

ROUNDING = 1e-12
"""Far more than floats lose here, and far less than the margins of the table."""


def excess(at: Floats, variance: float) -> Floats:
    """E (N(0, variance) - at)_+."""
    deviation = math.sqrt(variance)
    z = np.abs(at) / deviation
    mills = math.sqrt(math.pi / 2) * erfcx(z / math.sqrt(2))
    tail: Floats = deviation * np.exp(-z * z / 2) / math.sqrt(2 * math.pi) * (1 - z * mills)
    return tail + np.maximum(-at, 0)


def room(after: float, factor: float, cells: int = 4000, step: float = 2e-3) -> float:
    """By what share, at least, N(0, after + factor/4) is above every Y + N(0, after) in convex order.

    Y has mean 0 and two values that are 1 apart. It is 1 - v with probability v. Each cell of v is replaced by its
    ends, which are `width` apart. The proof in docs/mathematics.md#gaussian-composition says why this leaves no gap.
    """
    variance, width = after + factor / 4, 1 + 1 / cells
    # Beyond this the density on the right is the larger one: (z - width)^2/after >= z^2/variance + ln(variance/after).
    a, b = 1 / after - 1 / variance, width / after
    beyond = max(width, (b + math.sqrt(max(0.0, b * b - a * (width**2 / after - math.log(variance / after))))) / a)
    at = np.arange(0, beyond + 2 * step, step)
    right = excess(at, variance)
    densest = np.exp(-(np.maximum(at - step, 0) ** 2) / (2 * variance)) / math.sqrt(2 * math.pi * variance)
    lowest = right - step**2 / 8 * densest
    found = math.inf
    for start in range(0, cells, 200):
        up = (np.arange(start, min(start + 200, cells))[:, np.newaxis] + 1) / cells
        down = up - width
        left = -down / width * excess(at - up, after) + up / width * excess(at - down, after)
        found = min(found, float(((lowest - left) / right).min()))
    return found


QUICK = (0.1, 0.39, 1.1)


@pytest.mark.parametrize(("after", "factor"), [pair for pair in FACTORS if pair[0] in QUICK])
def test_a_pick_is_below_gaussian_noise_of_its_price_in_convex_order(after: float, factor: float) -> None:
    # A coarser grid leaves no gap either: it proves less room, and these have enough.
    assert room(after, factor, cells=2000, step=4e-3) > ROUNDING


@pytest.mark.long
@pytest.mark.parametrize(("after", "factor"), [pair for pair in FACTORS[1:] if pair[0] not in QUICK])
def test_the_whole_table_of_prices(after: float, factor: float) -> None:
    assert room(after, factor) > ROUNDING


@pytest.mark.parametrize("after", QUICK)
def test_the_program_finds_a_price_that_is_too_low(after: float) -> None:
    needed = {0.1: 1.268, 0.39: 1.094, 1.1: 1.0361}[after]
    assert room(after, needed - 0.002) < 0


def test_the_last_pick_costs_what_a_bit_costs() -> None:
    """(1 - x)^2/4 is the most that a pick can have beyond x, and meets the noise at 0 alone."""
    at = np.linspace(0, 1, 100_001)
    left, right = (1 - at) ** 2 / 4, excess(at, math.pi / 8)
    assert FACTORS[0] == (0.0, math.pi / 2)
    assert right[0] == pytest.approx(left[0], rel=1e-14)
    assert np.all(right[1:] > left[1:])
    assert not np.all(excess(at, 0.99 * math.pi / 8) >= left)


def test_the_table_only_falls() -> None:
    assert sorted(FACTORS) == sorted(FACTORS, key=lambda pair: -pair[1])
    assert FACTORS[-1][1] < 1.01


class Adversary:
    """The least delta at every eps of a grid, by recursion from the last step to the first.

    The recursion takes the worst of many two-point pairs for a pick, so it finds no more than the adversary has.
    """

    def __init__(self, reach: float, points: int = 6001) -> None:
        self.at = np.linspace(-reach, reach, points)
        self.left: Floats = np.maximum(0.0, -np.expm1(self.at))

    def _seen(self, at: Floats) -> Floats:
        inside = np.interp(at, self.at, self.left)
        return np.where(at < self.at[0], -np.expm1(np.minimum(at, 0)), np.where(at > self.at[-1], 0.0, inside))

    def pick(self, epsilon: float, shares: int = 24) -> None:
        highs = np.linspace(0, epsilon, shares + 1)[1:-1]
        first = (math.exp(epsilon) - np.exp(highs)) / math.expm1(epsilon)
        self.left = np.max(
            [
                chance * self._seen(self.at - high) + (1 - chance) * self._seen(self.at - high + epsilon)
                for high, chance in zip(highs.tolist(), first.tolist(), strict=True)
            ],
            axis=0,
        )

    def noise(self, rho: float) -> None:
        nodes, weights = np.polynomial.hermite_e.hermegauss(61)
        moves = rho + math.sqrt(2 * rho) * nodes
        seen = [
            weight * self._seen(self.at - move) for move, weight in zip(moves.tolist(), weights.tolist(), strict=True)
        ]
        self.left = np.sum(seen, axis=0) / math.sqrt(2 * math.pi)


def worst(steps: Sequence[Loss], reach: float) -> Adversary:
    adversary = Adversary(reach)
    for loss in reversed(steps):
        match loss:
            case Gaussian(rho):
                adversary.noise(float(rho))
            case BoundedRange(epsilon):
                adversary.pick(float(epsilon))
    return adversary


MIXTURES: list[list[Loss]] = [
    [BoundedRange(F(1, 5))] * 20,
    [BoundedRange(F(1, 2))] * 3,
    [BoundedRange(F(3, 2))],
    [BoundedRange(F(1, 10))] * 40 + [BoundedRange(F(3, 10)), Gaussian(F(1, 100))],
    [Gaussian(F(1, 50)), *[BoundedRange(F(2, 5)), BoundedRange(F(1, 10))] * 6, Gaussian(F(1, 50))],
    [BoundedRange(F(1, 10)), *[BoundedRange(F(1))] * 4, *[BoundedRange(F(1, 10))] * 8],
    [BoundedRange(F(3)), Gaussian(F(1, 50)), BoundedRange(F(1, 2))],
    [BoundedRange(F(4))] * 2,
    [BoundedRange(F(9, 5))] * 6,
    [BoundedRange(F(3, 10)), Gaussian(F(1, 50))],
    [BoundedRange(F(9, 5)), Gaussian(F(1))],
    [*[BoundedRange(F(1, 5))] * 5, BoundedRange(F(1, 10)), Gaussian(F(1, 100))],
]


@pytest.mark.parametrize("losses", MIXTURES, ids=range(len(MIXTURES)))
def test_no_adaptive_analyst_learns_more(losses: list[Loss]) -> None:
    rho = gaussian_rho(losses)
    adversary = worst(losses, reach=rho + 7 * math.sqrt(2 * rho) + 2)
    grid = 2 * adversary.at[-1] / (len(adversary.at) - 1)
    for epsilon in np.linspace(0, rho + 4 * math.sqrt(2 * rho), 13).tolist():
        found = float(np.interp(epsilon, adversary.at, adversary.left))
        # The interpolation of a convex function is above it, by its bend times the square of the grid for each step.
        blur = len(losses) * grid**2 / math.sqrt(rho)
        assert found <= gaussian_delta(losses, epsilon) + blur


def test_steps_cost_less_before_others_than_after_them() -> None:
    """An analyst who takes them in the other order learns more than the price of this one allows."""
    first, then = BoundedRange(F(3, 10)), Gaussian(F(1, 50))
    rho = gaussian_rho([first, then])
    adversary = worst([then, first], reach=6.0)
    found = [float(np.interp(epsilon, adversary.at, adversary.left)) for epsilon in (0.0, 0.1)]
    assert any(delta > profile(rho, epsilon) * 1.005 for delta, epsilon in zip(found, (0.0, 0.1), strict=True))
    assert gaussian_rho([then, first]) > 1.05 * rho


@pytest.mark.parametrize("after", [1e-3, 0.02, 1.0])
def test_a_range_before_other_steps_costs_what_it_may_and_little_less(after: float) -> None:
    epsilon = range_costing(0.02, 7, after)
    steps: list[Loss] = [*[BoundedRange(epsilon)] * 7, Gaussian(F(after))]
    assert gaussian_rho(steps) == pytest.approx(0.02 + after, rel=1e-6)
    assert range_costing(0.02, 7) < epsilon <= range_costing(0.02, 7, 2 * after)


def test_the_bound_is_near_what_an_analyst_reaches() -> None:
    losses = [BoundedRange(F(1, 5))] * 20
    adversary = worst(losses, reach=6.0)
    for epsilon in (0.2, 1.0, 2.0):
        found = float(np.interp(epsilon, adversary.at, adversary.left))
        assert gaussian_delta(losses, 1.05 * epsilon) < found


@pytest.mark.parametrize("rho", [1e-10, 1e-5, 1e-2, 0.3, 3.0, 30.0])
def test_the_profile_is_that_of_the_normal_law_rounded_up(rho: float) -> None:
    move = math.sqrt(2 * rho)
    for epsilon in (0.0, 1e-4, 0.01, 0.3, 1.0, 4.0):
        low = epsilon / move - move / 2
        if low > 35:
            continue
        # The difference of the two terms, in one exponent.
        log_one, log_two = norm.logsf(low), epsilon + norm.logsf(low + move)
        exact = math.exp(log_one) * -math.expm1(log_two - log_one)
        shown = profile(rho, epsilon)
        lost = 1e-13 * (1 + epsilon / move) ** 2 / move
        assert exact * (1 - lost) <= shown <= exact * (1 + lost) + 2e-9 * shown + 1e-3 * move**2 * shown + 1e-14


@pytest.mark.parametrize("epsilon", [1e-6, 0.009, 0.011, 0.1, 1.0, 1.9, 2.0, 5.0, 20.0, 80.0])
def test_a_single_pick_costs_what_its_worst_pair_does(epsilon: float) -> None:
    """The two points' odds differ by a factor e^epsilon. The threshold test of a normal law has to tell them apart."""
    move = math.sqrt(2 * pick_rho(epsilon))
    for share in np.linspace(-1, 1, 201):
        odds = epsilon * (1 + share) / 2  # of the first point, as a logarithm; epsilon less on the other side
        quantiles = norm.isf(1 / (1 + math.exp(odds))), -norm.isf(1 / (1 + math.exp(epsilon - odds)))
        if epsilon >= 0.01:
            assert quantiles[0] - quantiles[1] <= move * (1 + 1e-9)
    half = norm.isf(1 / (1 + math.exp(epsilon / 2)))
    assert move == pytest.approx(2 * half, rel=1e-5)
    assert pick_rho(epsilon, 7) <= 7 * pick_rho(epsilon) * (1 + 1e-12)


def test_a_pure_step_costs_what_a_pick_of_twice_the_range_does() -> None:
    assert gaussian_rho([PureDP(F(1, 3))]) == pytest.approx(pick_rho(2 / 3), rel=1e-8)
    assert gaussian_delta([PureDP(F(1, 3))], 1 / 3) > 0


@pytest.mark.parametrize("picks", [1, 3, 50, 1000])
@pytest.mark.parametrize("rho", [1e-18, 1e-6, 0.02, 1.0, 7.0, 60.0, 1e6])
def test_a_range_costs_what_it_may_and_little_less(rho: float, picks: int) -> None:
    epsilon = float(range_costing(rho, picks))
    assert pick_rho(epsilon, picks) <= rho
    # The costs jump where the bound for wide ranges takes over.
    assert pick_rho(epsilon * (1 + 1e-7), picks) > rho * (1 - 1e-6)


@pytest.mark.parametrize("delta", [0.9, 1e-3, 1e-6, 1e-20, 1e-100])
@pytest.mark.parametrize("rho", [1e-10, 1e-4, 0.03, 1.0, 60.0])
def test_epsilon_is_the_least_with_this_delta(rho: float, delta: float) -> None:
    losses = [Gaussian(F(rho))]
    epsilon = gaussian_epsilon(losses, delta)
    assert gaussian_delta(losses, epsilon) <= delta * (1 + 1e-12)
    assert epsilon <= 1e-12 or gaussian_delta(losses, epsilon * (1 - 1e-9)) > delta


def least_delta(variance: float, moved: int, epsilon: float) -> float:
    """The exact delta of discrete Gaussian noise on a count that moves by so much."""
    reach = math.ceil(14 * math.sqrt(variance)) + moved
    values = np.arange(-reach, reach + moved + 1)
    one, other = (discrete_gaussian_mass(values - shift, variance) for shift in (0, moved))
    return float(np.maximum(one - math.exp(epsilon) * other, 0).sum())


def test_discrete_noise_is_rounded_gaussian_noise_of_a_variance_less_by_three() -> None:
    """Without the three it would cost more than is charged: the discrete law is not a rounded Gaussian of its own."""
    above = 0
    for variance in (4, 5, 8, 20, 100):
        for moved in (1, 2, 5):
            loss = DiscreteGaussian.of(moved**2, variance)
            for epsilon in np.linspace(0, 6, 61).tolist():
                exact = least_delta(float(variance), moved, epsilon)
                assert exact <= gaussian_delta([loss], epsilon) * (1 + 1e-9) + 1e-15
                above += exact > profile(float(loss.rho), epsilon) * (1 + 1e-9) + 1e-15
    assert above > 100
    assert gaussian_rho([DiscreteGaussian.of(1, 3)]) == math.inf


@pytest.mark.parametrize("rho", [F(1, 10**6), F(1, 20), F(3)])
@pytest.mark.parametrize("moved", [1, 4096])
def test_a_variance_costs_what_it_may_and_little_less(moved: int, rho: Fraction) -> None:
    variance = DiscreteGaussian.variance_costing(moved, rho)
    assert DiscreteGaussian.of(moved, variance).gaussian.rho <= rho
    assert variance == 4 or DiscreteGaussian.of(moved, variance - 1).gaussian.rho > rho


def test_what_has_a_delta_of_its_own_is_left_to_other_theorems() -> None:
    losses: list[Loss] = [Gaussian(F(1, 100)), ApproxDP(F(1, 10), F(1, 1000))]
    assert gaussian_rho(losses) == math.inf
    assert gaussian_delta(losses, 1.0) == 1.0
    assert gaussian_delta([], 0.0) == 0.0


def test_picks_of_one_kind_cost_little_more_than_their_variance() -> None:
    assert picks_cost(1) == pytest.approx(math.pi / 8)
    for picks in (1, 10, 100, 1000):
        extra = 4 * picks_cost(picks) - picks
        assert 0.57 < extra < 0.6 + 0.2 * math.log(picks) + 0.008 * picks


def test_long_lists_of_picks_are_proved_to_cost_less_than_by_renyi_composition() -> None:
    for picks, epsilon in ((100, F(1, 20)), (400, F(1, 50))):
        losses = [BoundedRange(epsilon)] * picks
        rho = gaussian_rho(losses)
        for deviations in (1, 2, 3, 4):
            at = rho + deviations * math.sqrt(2 * rho)
            composed = renyi_delta(losses, at)
            assert claimed_delta(losses, (), at) == gaussian_delta(losses, at) < composed
    few = [BoundedRange(F(1, 5))] * 5
    assert claimed_delta(few, (), 0.9) <= renyi_delta(few, 0.9) < gaussian_delta(few, 0.9)
    twenty = [BoundedRange(F(1, 10))] * 20
    assert claimed_delta(twenty, (), 1.0) == range_delta(twenty, 1.0) < gaussian_delta(twenty, 1.0)
