"""Optimal composition of picks and noise: against brute force, other theorems, and the pairs it has to cover."""

from __future__ import annotations

import math
from fractions import Fraction
from functools import cache

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fim_private.accounting import range_composition
from fim_private.accounting.basic_composition import basic_delta, basic_epsilon
from fim_private.accounting.calibration import composed_epsilon
from fim_private.accounting.gaussian_composition import gaussian_epsilon, profile
from fim_private.accounting.optimal_composition import optimal_delta, optimal_epsilon
from fim_private.accounting.range_composition import (
    MOST_PICKS,
    _surrounds,
    bounded_range_pairs,
    picks_of,
    range_delta,
    range_epsilon,
)
from fim_private.accounting.renyi_composition import renyi_epsilon
from fim_private.privacy import ZCDP, ApproxDP, BoundedRange, Chosen, DiscreteGaussian, Gaussian, Loss, PureDP

F = Fraction


def brute_force(epsilons: tuple[float, ...], epsilon: float, points: int) -> float:
    """The delta of an adversary who chooses the log ratio of each pick from a few, after seeing the earlier answers."""

    @cache
    def curve(done: int, left: float) -> float:
        if done == len(epsilons):
            return max(0.0, -math.expm1(left))
        eta = epsilons[done]
        found = 0.0
        for point in range(1, points):
            up = eta * point / points
            p = math.expm1(up - eta) / math.expm1(-eta)
            found = max(found, p * curve(done + 1, left - up) + (1 - p) * curve(done + 1, left - up + eta))
        return found

    return curve(0, epsilon)


@pytest.mark.parametrize(
    ("epsilons", "epsilon"),
    [((0.4,) * 3, 0.5), ((0.4,) * 3, 0.9), ((0.3, 0.5, 0.2), 0.4), ((1.5, 1.0), 1.6), ((0.1,) * 4, 0.2)],
)
def test_no_adversary_gets_more(epsilons: tuple[float, ...], epsilon: float) -> None:
    """The claim is above what an adversary gets, and hardly: 60 choices of each pick come close to all."""
    got = brute_force(epsilons, epsilon, 60 if len(epsilons) < 4 else 24)
    claimed = range_delta([BoundedRange(F(each)) for each in epsilons], epsilon)
    assert got <= claimed <= 1.03 * got


@pytest.mark.parametrize("times", [2, 7, 25])
@pytest.mark.parametrize("epsilon_0", [0.02, 0.3, 1.0])
def test_pure_steps_are_those_of_the_closed_formula(times: int, epsilon_0: float) -> None:
    exact = optimal_epsilon(epsilon_0, 0.0, times, 1e-6)
    claimed = range_epsilon([PureDP(F(epsilon_0))] * times, 1e-6, exact * 1.05)
    assert exact * (1 - 1e-9) <= claimed <= 1.02 * exact
    delta = optimal_delta(0.8 * exact, epsilon_0, 0.0, times)
    assert delta <= range_delta([PureDP(F(epsilon_0))] * times, 0.8 * exact) <= 1.05 * delta


@pytest.mark.parametrize("rhos", [(0.02,), (0.005, 0.02), (0.01, 0.001, 0.01)])
def test_noise_alone_is_hardly_more_than_it_costs(rhos: tuple[float, ...]) -> None:
    """A pick that costs next to nothing makes the recursion run."""
    losses = [*(Gaussian(F(rho)) for rho in rhos), BoundedRange(F(1, 10**6))]
    for epsilon in (0.3, 0.8, 1.2):
        delta = profile(sum(rhos), epsilon)
        assert delta <= range_delta(losses, epsilon) <= 1.004 * delta
        assert epsilon <= range_epsilon(losses, delta, 1.02 * epsilon) * (1 + 1e-9)


@pytest.mark.parametrize("epsilon", [8.0, 9.6, 10.5, 12.5])
def test_noise_beyond_nine_deviations_counts_as_certain_and_no_more(epsilon: float) -> None:
    claimed = range_delta([Gaussian(F(1, 2)), BoundedRange(F(1, 10**6))], epsilon)
    assert profile(0.5, epsilon) <= claimed <= 1.01 * profile(0.5, epsilon) + 1.3e-19


@given(st.floats(1e-7, 1.99), st.lists(st.tuples(st.floats(1e-9, 1 - 1e-9), st.floats(0, 1)), min_size=1, max_size=20))
def test_every_pick_is_inside_the_polygon(epsilon: float, picks: list[tuple[float, float]]) -> None:
    """Between the lines through neighbouring corners and the diagonal lie all pairs of a bounded range."""
    corners = bounded_range_pairs(epsilon)
    p = np.array([0.0, *(pair[1] for pair in corners), 1.0])
    q = np.array([0.0, *(pair[1] * math.exp(-pair[0]) for pair in corners), 1.0])
    for where, share in picks:
        eta = epsilon * share
        up = eta * where
        ours = math.expm1(up - eta) / math.expm1(-eta) if eta > 0 else where
        assert ours * math.exp(-up) >= np.interp(ours, p, q) - 1e-12 * epsilon
    for up, ours, down, other in corners:
        assert ours + other == pytest.approx(1, rel=1e-12)
        assert ours * math.exp(-up) + other * math.exp(-down) == pytest.approx(1, rel=1e-12)
        assert epsilon <= up - down <= 1.01 * epsilon


def test_a_polygon_inside_is_noticed() -> None:
    """Corners on the edge itself leave picks outside. So do wide ones that are too few."""
    angles = np.linspace(0.05, math.pi / 2 - 0.05, 40)
    assert not _surrounds(np.sin(angles) ** 2, 0.1, 0.1)
    assert not _surrounds(np.sin(angles[::13]) ** 2, 0.101, 0.1)
    assert not _surrounds(np.sin(angles[5:]) ** 2, 0.101, 0.1)
    assert _surrounds(np.sin(angles) ** 2, 0.101, 0.1)


@pytest.mark.parametrize("wide", [0.01, 0.3, 1.0, 2.0])
@pytest.mark.parametrize(
    ("corners", "first", "last"), [(4, 0.98, 0.98), (6, 0.98, 0.98), (60, 0.6, 0.9), (60, 0.9, 0.6)]
)
def test_a_polygon_goes_round_what_its_nearest_side_goes_round(
    wide: float, corners: int, first: float, last: float
) -> None:
    """The range of a step on a side is the logarithm of an odds ratio; its least is searched for here."""
    ends = (-math.expm1((first - 1) * wide) / -math.expm1(-wide), -math.expm1(-last * wide) / -math.expm1(-wide))
    p = np.sin(np.linspace(*(math.asin(math.sqrt(x)) for x in ends), corners)) ** 2
    q = p * np.exp(-(wide + np.log1p(p * math.expm1(-wide))))
    along = np.linspace(0, 1, 20_001)[:, np.newaxis]
    ours, theirs = (along * x[1:] + (1 - along) * x[:-1] for x in (p, q))
    nearest = float(np.log(ours * (1 - theirs) / (theirs * (1 - ours))).min())
    end = min(first, last) * wide
    assert (nearest < end) == (corners < 60), "a side, or an end"
    nearest = min(nearest, end)
    assert _surrounds(p, wide, nearest * (1 - 1e-6))
    assert not _surrounds(p, wide, nearest * (1 + 1e-6))


def test_corners_inside_claim_too_little(monkeypatch: pytest.MonkeyPatch) -> None:
    """A twin: five corners that are not checked. An adversary gets more than it claims."""
    losses = [BoundedRange(F(2, 5))] * 3
    got = brute_force((0.4,) * 3, 0.5, 60)
    monkeypatch.setattr(range_composition, "_CORNERS", 5)
    monkeypatch.setattr(range_composition, "_surrounds", lambda *_: True)
    monkeypatch.setattr(
        range_composition, "bounded_range_pairs", lambda epsilon: bounded_range_pairs.__wrapped__(epsilon * 0.9)
    )
    assert range_delta(losses, 0.5) < got


@pytest.mark.parametrize(
    ("times", "epsilon", "gain"), [(5, 1, 1.0), (10, 1, 1.02), (13, 2, 1.025), (20, 1, 1.03), (40, 0.5, 1.01)]
)
def test_a_few_picks_cost_less_than_other_theorems_say(times: int, epsilon: float, gain: float) -> None:
    def others(pick: float) -> float:
        losses = [BoundedRange(F(pick))] * times
        return min(gaussian_epsilon(losses, 1e-6), renyi_epsilon(losses, 1e-6))

    low, high = epsilon / times / 2, 2 * epsilon
    for _ in range(30):
        middle = (low + high) / 2
        low, high = (middle, high) if others(middle) <= epsilon else (low, middle)
    found, _ = composed_epsilon([BoundedRange(F(low * gain))] * times, 1e-6)
    assert found <= epsilon * (1 + 1e-6)


def test_ways_cost_what_the_dearest_does() -> None:
    picks, noise = (BoundedRange(F(1, 8)),) * 6, (Gaussian(F(1, 50)),)
    look = Gaussian(F(1, 1000))

    def claim(*losses: Loss) -> float:
        return range_epsilon(losses, 1e-6, 1.5)

    assert claim(look, Chosen((picks, picks))) == claim(look, *picks)
    either = claim(look, Chosen((picks, noise)))
    dearest = max(claim(look, *picks), composed_epsilon([look, *noise], 1e-6)[0])
    assert dearest <= either <= 1.02 * dearest
    # What follows is paid after either way.
    assert claim(Chosen((picks, ())), *noise) == pytest.approx(claim(*picks, *noise), rel=1e-3)
    assert gaussian_epsilon([Chosen((picks, noise))], 1e-6) == max(
        gaussian_epsilon(picks, 1e-6), gaussian_epsilon(noise, 1e-6)
    )
    assert renyi_epsilon([Chosen((picks, noise))], 1e-6) >= max(renyi_epsilon(picks, 1e-6), renyi_epsilon(noise, 1e-6))


def test_the_look_may_choose_the_dearer_way() -> None:
    """An adversary whose look chooses between pure steps gets what is claimed, and more than in either way alone."""
    looks, ways = 0.2, ((0.6,), (0.35, 0.35, 0.35))
    epsilon = 0.55

    def left(way: tuple[float, ...], at: float) -> float:
        if not way:
            return max(0.0, -math.expm1(at))
        right = 1 / (1 + math.exp(-way[0]))
        return right * left(way[1:], at - way[0]) + (1 - right) * left(way[1:], at + way[0])

    def whole(chosen: tuple[tuple[float, ...], ...]) -> float:
        right = 1 / (1 + math.exp(-looks))
        best = [max(left(way, epsilon + move) for way in chosen) for move in (-looks, looks)]
        return right * best[0] + (1 - right) * best[1]

    both = whole(ways)
    assert both > max(whole(ways[:1]), whole(ways[1:]))
    losses = [PureDP(F(looks)), Chosen(tuple(tuple(PureDP(F(each)) for each in way) for way in ways))]
    assert both <= range_delta(losses, epsilon) <= 1.02 * both


def test_nothing_is_claimed_of_other_steps() -> None:
    for losses in (
        [],
        [Gaussian(F(1, 100))],
        [ZCDP(F(1, 100)), BoundedRange(F(1, 10))],
        [ApproxDP(F(1, 10), F(1, 10**6))],
        [DiscreteGaussian.of(1, 3), BoundedRange(F(1, 10))],
        [BoundedRange(F(3))],
        [BoundedRange(F(1, 100))] * (MOST_PICKS + 1),
        [Chosen(((ApproxDP(F(1, 10), F(1, 10**6)),), (BoundedRange(F(1, 10)),)))],
    ):
        assert range_epsilon(losses, 1e-6, 1.0) == math.inf
        assert range_delta(losses, 1.0) == 1.0
    assert range_epsilon([BoundedRange(F(1, 10))], 1e-6, math.inf) == math.inf
    assert range_delta([BoundedRange(F(1, 10))], 0.0) == 1.0
    # Where floats have too few digits, it claimed 4e-9 less than an adversary gets.
    assert range_delta([PureDP(F(1, 10**8)), Gaussian(F(1, 10**20))], 5e-9) == 1.0
    assert range_delta([PureDP(F(2, 10**8)), Gaussian(F(1, 10**20))], 1e-8) == 1.0
    # So much delta that it is enough from the first point of the grid on, where nothing is known of the points before.
    assert range_epsilon([BoundedRange(F(1, 1000))] * 2, 0.9999, 0.001) == math.inf
    # A grid that ends too early.
    assert range_epsilon([PureDP(F(1))] * 20, 1e-6, 0.1) == math.inf
    assert picks_of([Gaussian(F(1)), Chosen(((PureDP(F(1)),), (BoundedRange(F(1)),) * 3))]) == 3


def test_ways_are_added_up_by_the_dearest() -> None:
    ways = Chosen(((ApproxDP(F(1, 10), F(1, 10)),), (PureDP(F(1, 5)),)))
    assert (basic_epsilon([ways, ways]), basic_delta([ways, ways])) == (F(2, 5), F(1, 5))
