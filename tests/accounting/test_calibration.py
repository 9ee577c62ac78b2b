"""What the calibrations answer, number by number, and both sides of every preference.

The numbers are those of docs/mathematics.md#worked-figures.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from statistics import NormalDist

import pytest

from fim_private.accounting.calibration import (
    calibrate_equal,
    calibrate_gaussian,
    calibrate_pick,
    composed_epsilon,
)
from fim_private.accounting.optimal_composition import optimal_delta, optimal_epsilon
from fim_private.accounting.renyi_composition import renyi_epsilon
from fim_private.accounting.rounding import exp_up
from fim_private.accounting.search import largest
from fim_private.errors import BudgetError
from fim_private.privacy import AnyFailure, BoundedRange, Failure, Guarantee, Loss, OneSidedFailure, PureDP
from tests.accounting.proofs import prove_composed, prove_discovery

F = Fraction
DELTA = F(1, 10**6)
TEN: list[Loss] = [BoundedRange(F(1, 10))] * 10


def picks(times: int) -> Callable[[Fraction], list[Loss]]:
    return lambda pick: [BoundedRange(pick)] * times


@pytest.mark.parametrize("prove", [prove_composed, prove_discovery])
def test_what_is_proved_is_rounded_up_and_can_be_asked_for(prove: Callable[..., Guarantee | None]) -> None:
    computed = F(composed_epsilon(TEN, float(DELTA))[0])
    found = prove(TEN, F(0), epsilon=F(3), delta=DELTA)
    assert found == Guarantee(epsilon=found.epsilon, delta=DELTA, composition="optimal")
    assert found.epsilon < F(renyi_epsilon(TEN, float(DELTA))) * F(99, 100)
    assert computed <= found.epsilon <= computed * (1 + F(1, 10**11))
    assert prove(TEN, F(0), epsilon=found.epsilon, delta=DELTA) == found
    assert prove(TEN, F(0), epsilon=found.epsilon - F(1, 10**12), delta=DELTA) is None


def test_a_failure_that_takes_all_of_delta_leaves_nothing_to_prove() -> None:
    failure = F(1, 10**7)
    assert prove_composed(TEN, failure, epsilon=F(1), delta=(1 + exp_up(F(1))) * failure) is None
    assert prove_composed(TEN, failure, epsilon=F(1), delta=(1 + exp_up(F(1))) * failure * F(3, 2)) is not None


@pytest.mark.parametrize(
    ("times", "pick", "composition"), [(5, 0.2288, "renyi"), (20, 0.10340, "optimal"), (100, 0.04543, "gaussian")]
)
def test_picks_get_the_worked_figures(times: int, pick: float, composition: str) -> None:
    """Half of delta for the composition where there is a failure to pay for, else all of it."""
    for delta, failing in ((DELTA, True), (DELTA / 2, False)):
        found = calibrate_pick(picks(times), epsilon=F(1), delta=delta, failing=failing)
        assert found.guarantee.composition == composition
        assert float(found.pick_epsilon) == pytest.approx(pick, rel=2e-3)
        assert float(found.failure) == pytest.approx(5e-7 / (1 + math.e) if failing else 0, rel=1e-8)


def test_a_pick_may_spend_more_than_epsilon_where_delta_pays() -> None:
    found = calibrate_pick(picks(1), epsilon=F(1, 1000), delta=F(1, 2), failing=False)
    assert found.pick_epsilon == pytest.approx(math.log(9), rel=1e-3)  # two points with odds 3 and 1/3 reach one half
    found = calibrate_pick(picks(1), epsilon=F(1), delta=F(1, 2), failing=False)
    assert math.log(2 * math.e + 1) < found.pick_epsilon < 4  # a bounded range costs less than a pure loss


def test_selections_get_the_worked_figure() -> None:
    """Fifty of (0.1, 1e-8) are (3.26413, 1e-6) by optimal composition."""
    found = calibrate_equal(50, epsilon=F("3.26413"), delta=DELTA, failing=True)
    assert found.guarantee.composition == "optimal"
    assert found.delta == F(1, 10**8)
    assert float(found.epsilon) == pytest.approx(0.1, rel=1e-5)
    composed = F(optimal_epsilon(float(found.epsilon), 1e-8, 50, 1e-6))
    assert composed <= found.guarantee.epsilon <= min(F("3.26413"), composed * (1 + F(1, 10**11)))
    assert found.guarantee.delta == DELTA


def test_one_selection_may_spend_more_than_epsilon_where_delta_pays() -> None:
    for epsilon in (F(1, 1000), F(1)):
        # (e^x - e^epsilon)/(1 + e^x) = 1/2 for the x of randomised response.
        found = calibrate_equal(1, epsilon=epsilon, delta=F(1, 2), failing=False)
        assert float(found.epsilon) == pytest.approx(math.log(2 * math.exp(epsilon) + 1), rel=1e-6)


def delta_for(gain: float, pick_at: Callable[[Fraction], Fraction | None]) -> Fraction:
    """A delta at which the other theorem allows `gain` times what basic composition does."""
    low, high = -60.0, -0.5
    while high - low > 1e-4:
        middle = (low + high) / 2
        if float(pick_at(F(10**middle)) or 0) < gain * 0.1:
            low = middle
        else:
            high = middle
    return F(10**high)


@pytest.mark.parametrize(("gain", "composition"), [(0.995, "basic"), (1.005, "basic"), (1.015, "renyi")])
def test_renyi_composition_has_to_gain_a_hundredth(gain: float, composition: str) -> None:
    def renyi_pick(delta: Fraction) -> Fraction | None:
        return largest(lambda pick: renyi_epsilon(picks(10)(pick), float(delta)) - 1, F(1))

    found = calibrate_pick(picks(10), epsilon=F(1), delta=delta_for(gain, renyi_pick), failing=False)
    assert found.guarantee.composition == composition
    assert found.pick_epsilon == F(1, 10) or composition == "renyi"


@pytest.mark.parametrize(("gain", "composition"), [(1.005, "basic"), (1.015, "optimal")])
def test_optimal_composition_has_to_gain_a_hundredth(gain: float, composition: str) -> None:
    def optimal_pick(delta: Fraction) -> Fraction | None:
        return largest(lambda pick: optimal_delta(1.0, float(pick), 0.0, 10) - float(delta), F(1))

    found = calibrate_equal(10, epsilon=F(1), delta=delta_for(gain, optimal_pick), failing=False)
    assert found.guarantee.composition == composition
    assert found.epsilon == F(1, 10) or composition == "optimal"


def test_without_delta_nothing_but_basic_composition_is_left() -> None:
    pick = calibrate_pick(lambda pick: [PureDP(F(1, 5)), *picks(8)(pick)], epsilon=F(1), delta=F(0), failing=False)
    assert (pick.pick_epsilon, pick.failure) == (F(1, 10), 0)
    assert pick.guarantee == Guarantee(epsilon=F(1), delta=F(0), composition="basic")
    selection = calibrate_equal(8, epsilon=F(1), delta=F(0), failing=False)
    assert (selection.epsilon, selection.delta, selection.guarantee) == (F(1, 8), 0, pick.guarantee)


def test_a_failure_dearer_than_the_budget_leaves_no_rho() -> None:
    with pytest.raises(BudgetError, match="too small"):
        calibrate_gaussian((OneSidedFailure(F(9, 10)),), epsilon=F(1, 10), delta=F(9, 10))


@pytest.mark.parametrize("failures", [(), (OneSidedFailure(F(0)),), (AnyFailure(F(0)),)])
def test_rho_is_the_one_of_the_gaussian_mechanism(failures: tuple[Failure, ...]) -> None:
    """P(N > 1/m - m/2) - e P(N > 1/m + m/2) is one in a million for m^2 = 2 rho (Balle and Wang 2018)."""
    found = calibrate_gaussian(failures, epsilon=F(1), delta=DELTA)
    rho, guarantee = found
    move, normal = math.sqrt(2 * rho), NormalDist()
    assert normal.cdf(move / 2 - 1 / move) - math.e * normal.cdf(-move / 2 - 1 / move) == pytest.approx(1e-6, rel=1e-5)
    assert (guarantee.composition, guarantee.delta) == ("gaussian", DELTA)
    assert 1 - F(1, 10**8) < guarantee.epsilon <= 1
