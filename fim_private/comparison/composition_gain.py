"""What composition theorems gain: the epsilon of one pick, and the margins, as functions of k."""

from __future__ import annotations

from fractions import Fraction

from fim_private.accounting.calibration import calibrate_equal, calibrate_pick
from fim_private.plan import make_plan
from fim_private.privacy import BoundedRange, Budget, Loss, PrivacyUnit

TOPS = (1, 2, 5, 10, 20, 50, 100, 200, 500)


def pick_epsilons(budget: Budget, top: int) -> dict[str, float]:
    """The largest epsilon of one of k picks, by theorem.

    basic: epsilons add up. optimal: the theorem of Kairouz, Oh, Viswanath for any picks. bounded range: the
    Renyi curve of picks by the exponential mechanism (Durfee and Rogers; Dong et al.), or Gaussian composition.
    """

    def losses_of(pick: Fraction) -> tuple[Loss, ...]:
        return (BoundedRange(pick),) * top

    equal = calibrate_equal(top, epsilon=budget.epsilon, delta=budget.delta, failing=False)
    ranged = calibrate_pick(losses_of, epsilon=budget.epsilon, delta=budget.delta, failing=False)
    return {
        "basic": float(budget.epsilon / top),
        "optimal": float(equal.epsilon),
        "bounded range": float(ranged.pick_epsilon),
    }


def margins(budget: Budget, top: int) -> dict[str, int]:
    """The leads that the published search, the calibrated search (first and last test) and the fallback need."""

    def leads(name: str) -> list[int]:
        plan = make_plan(size=2, top=top, budget=budget, unit=PrivacyUnit(), mechanism=name)
        return [margin.counts for margin in plan.mechanism.margins]

    calibrated = leads("lmm")
    return {
        "lmm-paper": leads("lmm-paper")[0],
        "lmm, first test": calibrated[0],
        "lmm, last test": calibrated[1],
        "limited-domain": leads("limited-domain")[0],
    }
