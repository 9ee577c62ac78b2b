"""Inversion: how much each pick may spend so that everything together stays within a budget.

A mechanism states its losses as a function of the epsilon of one pick, and the probability `failure` of the event that
its losses do not cover (on either neighbour's side). Two theorems turn these into a guarantee:
    basic: (sum of epsilons, sum of deltas + failure);
    Renyi: (eps, delta_acc + (1 + e^eps) failure), eps the composed epsilon at delta_acc.
What each asks of the mechanism, and the proofs: docs/mathematics.md#failures.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction

from fim_private.accounting.basic import basic_delta, basic_epsilon
from fim_private.accounting.optimal import optimal_delta, optimal_epsilon
from fim_private.accounting.renyi import renyi_epsilon
from fim_private.accounting.rounding import RELATIVE_ERROR, exp_up, round_down, round_up
from fim_private.accounting.search import largest
from fim_private.privacy import ZCDP, Guarantee, Loss

LossesOfPick = Callable[[Fraction], Sequence[Loss]]


@dataclass(frozen=True, kw_only=True)
class Calibration:
    """What one pick may spend.

    Args:
        pick_epsilon: the largest epsilon of one pick that the theorem allows, rounded down.
        failure: the probability granted to the event that the losses do not cover; 0 where there is none.
        guarantee: what was proved with these two, evaluated after rounding.
    """

    pick_epsilon: Fraction
    failure: Fraction
    guarantee: Guarantee


def prove_basic(losses: Sequence[Loss], failure: Fraction) -> Guarantee:
    """Basic composition, exact; `failure` is on top of the deltas."""
    return Guarantee(epsilon=basic_epsilon(losses), delta=basic_delta(losses) + failure, composition="basic")


def prove_renyi(losses: Sequence[Loss], failure: Fraction, *, epsilon: Fraction, delta: Fraction) -> Guarantee | None:
    """The guarantee of Renyi composition at most (epsilon, delta), or None where it does not prove that much."""
    delta_acc = delta - (1 + exp_up(epsilon)) * failure
    if delta_acc <= 0:
        return None
    composed = round_up(renyi_epsilon(losses, float(delta_acc)))
    if composed > epsilon:
        return None
    return Guarantee(epsilon=composed, delta=delta, composition="renyi")


def calibrate_pick(losses_of: LossesOfPick, *, epsilon: Fraction, delta: Fraction, failing: bool) -> Calibration:
    """The largest epsilon of one pick, by whichever theorem allows more.

    Args:
        losses_of: the losses as a function of the pick's epsilon; their epsilons are affine in it, and at 0 cost less
            than `epsilon`.
        epsilon: what everything together may spend.
        delta: likewise.
        failing: whether there is an event that the losses do not cover. Under Renyi composition half of delta then pays
            for the composition and half for that event.

    Under Renyi composition the failure event is granted less, which costs a mechanism margin; it is preferred only
    where the picks gain a hundredth or more.
    """
    basic = _calibrate_basic(losses_of, epsilon, delta if failing else Fraction(0))
    renyi = _calibrate_renyi(losses_of, epsilon, delta, failing=failing) if delta > 0 else None
    return renyi if renyi and _worth_it(renyi.pick_epsilon, basic.pick_epsilon) else basic


def _calibrate_basic(losses_of: LossesOfPick, epsilon: Fraction, failure: Fraction) -> Calibration:
    fixed = basic_epsilon(losses_of(Fraction(0)))
    slope = basic_epsilon(losses_of(Fraction(1))) - fixed
    pick = (epsilon - fixed) / slope
    return Calibration(pick_epsilon=pick, failure=failure, guarantee=prove_basic(losses_of(pick), failure))


def _calibrate_renyi(
    losses_of: LossesOfPick, epsilon: Fraction, delta: Fraction, *, failing: bool
) -> Calibration | None:
    failure = round_down(float(delta / 2 / (1 + exp_up(epsilon)))) if failing else Fraction(0)

    def proved(pick: Fraction) -> Guarantee | None:
        return prove_renyi(losses_of(pick), failure, epsilon=epsilon, delta=delta)

    pick = largest(lambda pick: proved(pick) is not None, epsilon)
    guarantee = proved(pick) if pick else None
    if pick is None or guarantee is None:
        return None
    return Calibration(pick_epsilon=pick, failure=failure, guarantee=guarantee)


def prove_discovery(
    losses: Sequence[Loss], failure: Fraction, *, epsilon: Fraction, delta: Fraction
) -> Guarantee | None:
    """The guarantee where a failure happens on one neighbour's side only, and independently of all that is counted.

    It is (eps - ln(1 - failure), delta_acc + failure): docs/mathematics.md#one-sided-failures. None where that is more
    than (epsilon, delta).
    """
    composed = renyi_epsilon(losses, float(delta - failure)) - math.log1p(-float(failure))
    rounded = round_up(composed)
    return Guarantee(epsilon=rounded, delta=delta, composition="renyi") if rounded <= epsilon else None


def calibrate_zcdp(failure: Fraction, *, epsilon: Fraction, delta: Fraction) -> float:
    """The largest rho that `prove_discovery` proves to be (epsilon, delta), and a little less for rounding."""

    def fits(rho: Fraction) -> bool:
        return prove_discovery([ZCDP(rho)], failure, epsilon=epsilon, delta=delta) is not None

    return float(largest(fits, epsilon) or 0) * (1 - RELATIVE_ERROR)


@dataclass(frozen=True, kw_only=True)
class EqualCalibration:
    """What each of k equal selections may spend.

    Args:
        epsilon: of one selection, rounded down.
        delta: of one selection.
        guarantee: what was proved of all together, evaluated after rounding.
    """

    epsilon: Fraction
    delta: Fraction
    guarantee: Guarantee


def calibrate_equal(times: int, *, epsilon: Fraction, delta: Fraction, failing: bool) -> EqualCalibration:
    """The largest epsilon of each of `times` adaptive selections, by basic or optimal composition.

    Args:
        times: how many, at least 1.
        epsilon: what everything together may spend.
        delta: likewise.
        failing: whether a selection needs a delta of its own. Under optimal composition half of delta is shared out.
    """
    each = delta / times if failing else Fraction(0)
    basic = EqualCalibration(
        epsilon=epsilon / times,
        delta=each,
        guarantee=Guarantee(epsilon=epsilon, delta=each * times, composition="basic"),
    )
    if delta == 0:
        return basic

    def fits(selection: Fraction) -> bool:
        return optimal_delta(float(epsilon), float(selection), float(each / 2), times) <= delta

    optimal = largest(fits, epsilon)
    if optimal is None or not _worth_it(optimal, basic.epsilon):
        return basic
    composed = optimal_epsilon(float(optimal), float(each / 2), times, float(delta))
    return EqualCalibration(
        epsilon=optimal,
        delta=each / 2,
        guarantee=Guarantee(epsilon=min(epsilon, round_up(composed)), delta=delta, composition="optimal"),
    )


def _worth_it(advanced: Fraction, basic: Fraction) -> bool:
    """Whether an advanced theorem gains a hundredth or more."""
    return advanced * 100 >= basic * 101
