from __future__ import annotations

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fim_private.accounting.basic_composition import basic_epsilon
from fim_private.accounting.renyi_composition import bounded_range_curve, pure_curve, renyi_epsilon
from fim_private.privacy import ZCDP, ApproxDP, BoundedRange, PureDP


def test_a_zcdp_loss_has_no_epsilon_of_its_own() -> None:
    with pytest.raises(ValueError, match="zCDP"):
        basic_epsilon([ZCDP(Fraction(1))])


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


def test_renyi_refuses_a_loss_without_a_curve() -> None:
    with pytest.raises(ValueError, match="no Renyi curve"):
        renyi_epsilon([ApproxDP(Fraction(1), Fraction(1, 10))], 1e-6)
