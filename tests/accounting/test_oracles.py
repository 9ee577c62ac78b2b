"""Other people's accountants as oracles: Google's dp-accounting, by privacy loss distributions and by Renyi orders.

A privacy loss distribution on a grid bounds the exact epsilon from both sides: rounded up (`pessimistic`) and down.
What claims to be optimal has to lie between the two; what is a bound has to lie above the lower. The objects are
composed by hand, for dp-accounting's PLDAccountant ignores the `count` of a randomised response.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from fim_private.accounting.optimal_composition import optimal_delta, optimal_epsilon
from fim_private.accounting.renyi_composition import bounded_range_curve, pure_curve, renyi_curve, renyi_epsilon
from fim_private.privacy import ZCDP, BoundedRange, Loss, PureDP

privacy_loss_distribution = pytest.importorskip(
    "dp_accounting.pld.privacy_loss_distribution", reason="dp-accounting is the oracle here"
)
rdp = pytest.importorskip("dp_accounting.rdp", reason="dp-accounting is the oracle here")
dp_accounting = pytest.importorskip("dp_accounting", reason="dp-accounting is the oracle here")

F = Fraction
GRID = 1e-3
"""The grid of the privacy losses. Each loss may be off by a step, so k of them by k steps."""


def response(epsilon: float, *, pessimistic: bool) -> Any:
    """Randomised response with odds e^epsilon: with chance p the answer is a fair coin's."""
    return privacy_loss_distribution.from_randomized_response(
        noise_parameter=2 / (1 + math.exp(epsilon)),
        num_buckets=2,
        value_discretization_interval=GRID,
        pessimistic_estimate=pessimistic,
    )


def bounded(epsilon: float, share: float, *, pessimistic: bool) -> Any:
    """The two-point pair with log ratios t and t - epsilon."""
    t = share * epsilon
    first = math.expm1(epsilon - t) / (math.exp(epsilon - t) - math.exp(-t))
    upper = {"a": math.log(first), "b": math.log1p(-first)}
    lower = {"a": upper["a"] - t, "b": upper["b"] + epsilon - t}
    return privacy_loss_distribution.from_two_probability_mass_functions(
        lower, upper, value_discretization_interval=GRID, pessimistic_estimate=pessimistic, symmetric=False
    )


def gaussian(rho: float, *, pessimistic: bool) -> Any:
    return privacy_loss_distribution.from_gaussian_mechanism(
        math.sqrt(1 / (2 * rho)), value_discretization_interval=GRID, pessimistic_estimate=pessimistic
    )


def composed(distributions: Sequence[Any]) -> Any:
    return functools.reduce(lambda one, other: one.compose(other), distributions)


def bracket(make: Callable[[bool], Any], delta: float) -> tuple[float, float]:
    """Epsilon from below and from above."""
    low, high = (make(pessimistic).get_epsilon_for_delta(delta) for pessimistic in (False, True))
    assert low <= high
    return low, high


@pytest.mark.parametrize(("epsilon", "times"), [(0.1, 5), (0.1, 50), (0.5, 20), (1.0, 3), (0.02, 300)])
@pytest.mark.parametrize("delta", [1e-3, 1e-6])
def test_optimal_composition_lies_between_the_two_bounds(epsilon: float, times: int, delta: float) -> None:
    low, high = bracket(lambda up: response(epsilon, pessimistic=up).self_compose(times), delta)
    claimed = optimal_epsilon(epsilon, 0.0, times, delta)
    assert low - 1e-9 <= claimed <= high + 1e-9
    assert high - low <= (times + 1) * GRID


@pytest.mark.parametrize(("epsilon", "delta_0", "times"), [(0.1, 1e-8, 50), (0.3, 1e-4, 8), (1.0, 1e-3, 4)])
@pytest.mark.parametrize("share", [0.2, 0.6])
def test_optimal_composition_with_a_delta_of_its_own_agrees_with_dp_accounting(
    epsilon: float, delta_0: float, times: int, share: float
) -> None:
    """Their deltas are rounded up, by very little."""
    parameters = dp_accounting.pld.common.DifferentialPrivacyParameters(epsilon, delta_0)
    one = privacy_loss_distribution.from_privacy_parameters(parameters, value_discretization_interval=GRID)
    at = share * times * epsilon
    theirs = one.self_compose(times).get_delta_for_epsilon(at)
    claimed = optimal_delta(at, epsilon, delta_0, times)
    assert claimed <= theirs * (1 + 1e-6)
    assert claimed == pytest.approx(theirs, rel=0.03)


@pytest.mark.parametrize("epsilons", [(0.1, 0.4), (0.05,) * 20 + (0.5, 0.5), (1.0, 0.2, 0.2)], ids=str)
@pytest.mark.parametrize("delta", [1e-3, 1e-8])
def test_renyi_composition_of_different_pure_losses_is_above(epsilons: tuple[float, ...], delta: float) -> None:
    low, high = bracket(lambda up: composed([response(epsilon, pessimistic=up) for epsilon in epsilons]), delta)
    claimed = renyi_epsilon([PureDP(F(epsilon)) for epsilon in epsilons], delta)
    assert claimed >= low
    assert claimed <= 1.3 * high


@pytest.mark.parametrize(("epsilon", "times"), [(0.1, 10), (0.3, 40), (1.0, 5)])
@pytest.mark.parametrize("delta", [1e-3, 1e-8])
def test_renyi_composition_of_bounded_ranges_is_above(epsilon: float, times: int, delta: float) -> None:
    claimed = renyi_epsilon([BoundedRange(F(epsilon))] * times, delta)
    lows, highs = zip(
        *(
            bracket(lambda up, t=share: bounded(epsilon, t, pessimistic=up).self_compose(times), delta)
            for share in (0.1, 0.3, 0.5, 0.7, 0.9)
        ),
        strict=True,
    )
    assert claimed >= max(lows)
    assert claimed <= 1.3 * max(highs)


@pytest.mark.parametrize(("rho", "times"), [(0.5, 1), (0.02, 1), (0.01, 20), (0.001, 300)])
@pytest.mark.parametrize("delta", [1e-3, 1e-6, 1e-10])
def test_zcdp_is_above_the_gaussian(rho: float, times: int, delta: float) -> None:
    low, high = bracket(lambda up: gaussian(rho, pessimistic=up).self_compose(times), delta)
    claimed = renyi_epsilon([ZCDP(F(rho))] * times, delta)
    assert claimed >= low
    assert claimed <= 1.25 * high


@pytest.mark.parametrize(("variance", "times"), [(1, 1), (9, 10), (100, 50)])
@pytest.mark.parametrize("delta", [1e-3, 1e-8])
def test_zcdp_is_above_the_discrete_gaussian(variance: int, times: int, delta: float) -> None:
    def make(up: bool) -> Any:
        return privacy_loss_distribution.from_discrete_gaussian_mechanism(
            math.sqrt(variance), value_discretization_interval=GRID, pessimistic_estimate=up
        ).self_compose(times)

    low, high = bracket(make, delta)
    claimed = renyi_epsilon([ZCDP(F(1, 2 * variance))] * times, delta)
    assert claimed >= low
    assert claimed <= 1.25 * high


@pytest.mark.parametrize("delta", [1e-4, 1e-9])
def test_a_release_of_all_three_kinds_is_above(delta: float) -> None:
    """Noisy counts, a search and picks: what items-first and lmm are made of."""
    losses: list[Loss] = [ZCDP(F(1, 50)), PureDP(F(1, 5)), *[BoundedRange(F(3, 10))] * 10]

    def make(up: bool) -> Any:
        picks = bounded(0.3, 0.5, pessimistic=up).self_compose(10)
        return composed([gaussian(0.02, pessimistic=up), response(0.2, pessimistic=up), picks])

    low, high = bracket(make, delta)
    assert low <= renyi_epsilon(losses, delta) <= 1.3 * high


# The same curves, converted by others; and curves of others, against ours.

ORDERS = np.exp(np.linspace(math.log(1.011), math.log(1e9), 8000))


@pytest.mark.parametrize("times", [1, 3, 20, 200])
@pytest.mark.parametrize("delta", [1e-3, 1e-6, 1e-12])
@pytest.mark.parametrize("loss", [PureDP(F(1, 10)), BoundedRange(F(3, 10)), ZCDP(F(1, 100))], ids=str)
def test_the_conversion_is_that_of_dp_accounting(loss: Loss, times: int, delta: float) -> None:
    theirs, _ = rdp.compute_epsilon(ORDERS, renyi_curve([loss] * times, ORDERS - 1), delta)
    assert renyi_epsilon([loss] * times, delta) == pytest.approx(theirs, rel=1e-4)


@pytest.mark.parametrize("epsilon", [0.05, 0.7, 2.0])
@pytest.mark.parametrize("times", [1, 7])
def test_the_curve_of_a_pure_loss_is_that_of_randomised_response(epsilon: float, times: int) -> None:
    orders = [1.5, 2.0, 8.0, 64.0]
    event = dp_accounting.RandomizedResponseDpEvent(2 / (1 + math.exp(epsilon)), 2)
    accountant = rdp.RdpAccountant(orders, dp_accounting.NeighboringRelation.REPLACE_ONE)
    accountant.compose(event, times)
    ours = times * pure_curve(epsilon, np.array(orders) - 1)
    assert ours == pytest.approx(accountant._rdp, rel=1e-9)
    assert np.all(times * bounded_range_curve(epsilon, np.array(orders) - 1) < accountant._rdp)


@pytest.mark.parametrize("sigma", [1.0, 6.0])
@pytest.mark.parametrize("times", [1, 12])
def test_the_curve_of_zcdp_is_that_of_the_gaussian(sigma: float, times: int) -> None:
    orders = [1.5, 2.0, 8.0, 64.0]
    accountant = rdp.RdpAccountant(orders)
    accountant.compose(dp_accounting.GaussianDpEvent(sigma), times)
    ours = renyi_curve([ZCDP(F(1 / (2 * sigma**2)))] * times, np.array(orders) - 1)
    assert ours == pytest.approx(accountant._rdp, rel=1e-9)
