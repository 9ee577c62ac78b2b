from __future__ import annotations

from fractions import Fraction
from itertools import pairwise

import pytest

from fim_private.accounting.gaussian_composition import gaussian_rho, range_costing
from fim_private.accounting.rising import FLAT, STAGES, rising
from fim_private.privacy import BoundedRange, DiscreteGaussian, Loss

F = Fraction


@pytest.mark.parametrize("picks", [1, 2, 3, 5, 7, 26, 400])
@pytest.mark.parametrize("rise", [FLAT, F(1, 2), F(1), F(12, 5)])
def test_later_picks_get_more_and_all_together_as_much(picks: int, rise: Fraction) -> None:
    factors = rising(picks, rise)
    assert len(factors) == picks
    assert len(set(factors)) == (min(picks, STAGES) if rise else 1)
    assert all(0 < former <= latter for former, latter in pairwise(factors))
    # Stages are symmetrical.
    assert all(first + last == 2 for first, last in zip(factors, reversed(factors), strict=True))


@pytest.mark.parametrize("picks", [1, 3, 26, 300])
@pytest.mark.parametrize("rise", [FLAT, F(1, 2), F(1)])
@pytest.mark.parametrize("rho", [1e-6, 0.02, 3.0])
@pytest.mark.parametrize("follows", [False, True])
def test_rising_picks_cost_what_they_may(picks: int, rise: Fraction, rho: float, *, follows: bool) -> None:
    test = DiscreteGaussian.of(1, DiscreteGaussian.variance_costing(1, F(rho) / 10))
    after: list[Loss] = [test] if follows else []
    paid = float(test.gaussian.rho) if follows else 0.0
    epsilon = range_costing(rho, picks, paid, rise)
    for share, fits in ((1, True), (F(1_000_001, 1_000_000), False)):
        losses = [BoundedRange(share * epsilon * factor) for factor in rising(picks, rise)]
        assert (gaussian_rho([*losses, *after]) - paid <= rho * (1 + 3e-9)) == fits
