"""Claims to their last digit.

People publish these figures and ledgers keep them: the same request has to state the same ones tomorrow, and on another
machine. A change that moves a digit changes plans; it belongs in the changelog. That the figures are true, and
tight, is what the other tests are for.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

import pytest

from fim_private.accounting.calibration import (
    calibrate_equal,
    calibrate_gaussian,
    calibrate_pick,
)
from fim_private.accounting.joint_proof import Part, prove_together
from fim_private.accounting.optimal_composition import optimal_epsilon
from fim_private.accounting.privacy_filter import best_order, renyi_bound
from fim_private.accounting.renyi_composition import renyi_delta, renyi_epsilon
from fim_private.accounting.rounding import round_up
from fim_private.privacy import ZCDP, BoundedRange, Guarantee, Loss, OneSidedFailure, PureDP
from tests.accounting.proofs import prove_composed, prove_discovery

F = Fraction
MILLIONTH = F(1, 10**6)
PURE, RANGE, RHO = PureDP(F(1, 10)), BoundedRange(F(1, 5)), ZCDP(F(1, 50))


def digits(value: float | Fraction | None) -> str:
    """Twelve significant digits, rounded up as claims are."""
    return "nothing" if value is None else f"{float(round_up(value)):.12g}"


@pytest.mark.parametrize(
    ("losses", "delta", "figure"),
    [
        ([PURE] * 50, 1e-6, "3.35561204446"),
        ([RANGE] * 10, 5e-7, "1.39433556362"),
        ([PURE, RANGE, RHO], 1e-9, "1.34792856362"),
        ([RHO], 1e-12, "1.37884155441"),
        ([BoundedRange(F(30))], 1e-3, "29.9357328822"),
        # The best order lies at either end of those that are looked at.
        ([ZCDP(F(10**6))], 0.4, "1010086.01993"),
        ([PureDP(F(1, 10**9))], 1e-15, "1.32502914016e-08"),
    ],
)
def test_renyi_composition_keeps_its_figures(losses: Sequence[Loss], delta: float, figure: str) -> None:
    assert digits(renyi_epsilon(losses, delta)) == figure


@pytest.mark.parametrize(
    ("losses", "epsilon", "figure"),
    [
        ([PURE] * 50, 3.0, "1.41452483189e-05"),
        ([RANGE] * 10, 1.0, "0.000242623781743"),
        ([RHO], 0.1, "0.0720005610892"),
        ([RHO], 2.0, "3.81936750445e-24"),
    ],
)
def test_renyi_composition_solved_for_delta_keeps_its_figures(
    losses: Sequence[Loss], epsilon: float, figure: str
) -> None:
    assert digits(renyi_delta(losses, epsilon)) == figure


@pytest.mark.parametrize(
    ("epsilon", "delta", "times", "budget", "figure"),
    [
        (0.1, 1e-8, 50, 1e-6, "3.26413307918"),
        (0.02, 0.0, 1000, 1e-9, "3.73436421011"),
        (1.0, 1e-3, 2, 0.1, "1.79698207752"),
    ],
)
def test_optimal_composition_keeps_its_figures(
    epsilon: float, delta: float, times: int, budget: float, figure: str
) -> None:
    assert digits(optimal_epsilon(epsilon, delta, times, budget)) == figure


@pytest.mark.parametrize(
    ("epsilon", "delta", "order", "bound"),
    [
        (F(1), MILLIONTH / 2, "22.3872", "0.536424406554"),
        (F(1, 10), F(1, 10**9), "288.403", "0.0512585673886"),
        (F(20), F(1, 10), "0.40738", "16.4264064582"),
        # At either end nothing beyond is looked at.
        (F(10**9), F(1, 2), "0.01", "999999935.295"),
        (F(1, 10**8), F(1, 10**40), "10000000000", "3.19224470401e-09"),
    ],
)
def test_what_a_ledger_allows_keeps_its_figures(epsilon: Fraction, delta: Fraction, order: str, bound: str) -> None:
    best = best_order(epsilon, delta)
    assert best is not None
    assert (digits(best), digits(renyi_bound(epsilon, delta, best))) == (order, bound)


def test_calibrations_keep_their_figures() -> None:
    def peeled(pick: Fraction) -> list[Loss]:
        return [PURE, *[BoundedRange(pick)] * 20]

    pick = calibrate_pick(peeled, epsilon=F(1), delta=MILLIONTH, failing=True)
    assert digits(pick.pick_epsilon) == "0.0964126904"
    assert digits(pick.failure) == "1.3447071e-07"
    assert pick.guarantee.epsilon == 1
    each = calibrate_equal(40, epsilon=F(1), delta=MILLIONTH, failing=True)
    assert digits(each.epsilon) == "0.037808303"
    assert digits(each.guarantee.epsilon) == "0.999999998905"
    rho, _ = calibrate_gaussian((OneSidedFailure(MILLIONTH / 2),), epsilon=F(1), delta=MILLIONTH)
    assert digits(rho) == "0.0262404136"


def test_proofs_keep_their_figures() -> None:
    renyi = prove_composed([RHO], MILLIONTH / 9, epsilon=F(1), delta=MILLIONTH)
    discovery = prove_discovery([RHO], F(1, 10), epsilon=F(1), delta=F(1, 5))
    alone = Guarantee(epsilon=F(1, 10), delta=F(0), composition="basic")
    part = Part(losses=(PURE,), failures=(), guarantee=alone)
    together = prove_together([part], [RHO], epsilon=F(2), delta=MILLIONTH)
    assert renyi.epsilon == F("0.922777236627")
    assert discovery.epsilon == F("0.0398372027736")
    assert together.epsilon == F("0.999935268639")
