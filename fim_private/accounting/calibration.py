"""Inversion: how much each pick may spend so that everything together stays within a budget.

A mechanism states two things: its losses as a function of the epsilon of one pick, and the probability `failure`, on
either neighbour's side, of the event that its losses do not cover. Two theorems turn these into a guarantee:
    basic: (sum of epsilons, sum of deltas + failure);
    composed: (eps, delta_acc + (1 + e^eps) failure), where eps is the least that Gaussian, Renyi or optimal composition
        has at delta_acc. Some failures cost less (`failure_price`).
docs/mathematics.md#failures has the premises and the proofs.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from itertools import groupby

from fim_private.accounting.basic_composition import basic_delta, basic_epsilon
from fim_private.accounting.gaussian_composition import gaussian_epsilon
from fim_private.accounting.optimal_composition import optimal_delta, optimal_epsilon
from fim_private.accounting.range_composition import range_epsilon
from fim_private.accounting.renyi_composition import renyi_epsilon
from fim_private.accounting.rounding import RELATIVE_ERROR, exp_up, round_down, round_up
from fim_private.accounting.search import crossed, largest
from fim_private.errors import BudgetError
from fim_private.privacy import (
    AnyFailure,
    ChosenFailure,
    Failure,
    Gaussian,
    Guarantee,
    Loss,
    OneSidedFailure,
    failure_probability,
    separated,
)

LossesOfPick = Callable[[Fraction], Sequence[Loss]]
Need = tuple[Fraction, str] | None
"""The epsilon that a theorem needs, and which theorem that is; None if it proves nothing."""
_FAILING_SHARE = Fraction(1, 2)
"""Where losses are composed, this share of delta pays for what they do not cover: for lmm, limited-domain, stable-max
and choosing alike. The registry says so under `loose`."""
_LEAST_EXCESS = 1e-300
_LEAST_SEARCHED, _CLOSE = 0.1, 100
"""The more picks there are, the less optimal composition gains. It is searched for up to a tenth more than 1/picks, and
as closely as a hundredth of that."""


@dataclass(frozen=True, kw_only=True)
class Calibration:
    """What one pick may spend.

    Args:
        pick_epsilon: the largest epsilon of one pick that the theorem allows, rounded down.
        failure: the probability granted to the event that the losses do not cover; 0 if there is no such event.
        guarantee: what is proved for these two values, evaluated after rounding.
    """

    pick_epsilon: Fraction
    failure: Fraction
    guarantee: Guarantee


def prove_basic(losses: Sequence[Loss], failure: Fraction) -> Guarantee:
    """The guarantee of basic composition, exact; `failure` is added to the deltas."""
    return Guarantee(epsilon=basic_epsilon(losses), delta=basic_delta(losses) + failure, composition="basic")


def composed_epsilon(losses: Sequence[Loss], delta: float, *, fast: bool = False) -> tuple[float, str]:
    """The least epsilon that a theorem proves at `delta` > 0, rounded up, and which theorem that is.

    Args:
        losses: in the order in which the steps are taken.
        delta: what is allowed.
        fast: whether only Gaussian and Renyi composition are tried. Optimal composition takes far longer.
    """
    # The searches for what fits, and plans that share a part, come back to the same losses.
    runs = tuple((loss, sum(1 for _ in alike)) for loss, alike in groupby(losses))
    return _composed_epsilon(runs, delta, fast=fast)


@lru_cache(maxsize=4096)
def _composed_epsilon(runs: tuple[tuple[Loss, int], ...], delta: float, *, fast: bool) -> tuple[float, str]:
    """The same, given how often each loss occurs in a row. Losses that are one object are counted fast."""
    losses = [loss for loss, times in runs for _ in range(times)]
    found = min((gaussian_epsilon(losses, delta), "gaussian"), (renyi_epsilon(losses, delta), "renyi"))
    return found if fast else min(found, (range_epsilon(losses, delta, found[0]), "optimal"))


def failure_price(failures: Sequence[Failure], odds: Fraction) -> Fraction:
    """What failures add to delta.

    Proofs: docs/mathematics.md#one-sided-failures and docs/mathematics.md#chosen-failures.

    Args:
        failures: of all parts of a release. The looks of a single `ChosenFailure` are the first steps of all.
        odds: e^epsilon. A proof rounds it up.
    """
    match failures:
        case [ChosenFailure(one_sided, other, looks)]:
            apart = Fraction(math.sqrt(looks / 2) * (1 + RELATIVE_ERROR))
            return max(one_sided, (1 + odds) * other) + odds * other * apart
        case _:
            each = separated(failures)
            once = sum((one.probability for one in each if isinstance(one, OneSidedFailure)), Fraction(0))
            return once + (1 + odds) * (failure_probability(each) - once)


def composed_need(
    losses: Sequence[Loss], failures: Sequence[Failure], *, epsilon: Fraction, delta: Fraction, fast: bool = False
) -> Need:
    """What `composed_epsilon` needs if failures are paid at `epsilon`: nothing is proved if that is more."""
    delta_acc = delta - failure_price(failures, exp_up(epsilon))
    if delta_acc <= 0:
        return None
    found, composition = composed_epsilon(losses, float(delta_acc), fast=fast)
    return None if math.isinf(found) else (round_up(found), composition)


def granted(need: Need, *, epsilon: Fraction, delta: Fraction) -> Guarantee | None:
    """The guarantee if a theorem needs no more than `epsilon`, else None."""
    if need is None or need[0] > epsilon:
        return None
    return Guarantee(epsilon=need[0], delta=delta, composition=need[1])


def excess(need: Need, epsilon: Fraction) -> float:
    """The logarithm of what is needed over what may be spent: above 0 if and only if that is too much."""
    if need is None:
        return math.inf
    logarithm = math.log(need[0] / epsilon) if need[0] else -math.inf
    return max(logarithm, _LEAST_EXCESS) if need[0] > epsilon else min(logarithm, 0.0)


def calibrate_pick(losses_of: LossesOfPick, *, epsilon: Fraction, delta: Fraction, failing: bool) -> Calibration:
    """The largest epsilon of one pick, by whichever theorem allows more.

    Args:
        losses_of: the losses as a function of the pick's epsilon. Their epsilons are affine in it, and at 0 they cost
            less than `epsilon`.
        epsilon: what everything together may spend.
        delta: what everything together may spend.
        failing: whether there is an event that the losses do not cover. Where losses are composed, half of delta then
            pays for the composition and half for that event.

    A composition grants the failure event less, and a mechanism then needs a larger margin. So it is preferred only
    if the picks gain at least 1 %.
    """
    basic = _calibrate_basic(losses_of, epsilon, delta if failing else Fraction(0))
    composed = _calibrate_composed(losses_of, epsilon, delta, failing=failing) if delta > 0 else None
    return composed if composed and _worth_it(composed.pick_epsilon, basic.pick_epsilon) else basic


def _calibrate_basic(losses_of: LossesOfPick, epsilon: Fraction, failure: Fraction) -> Calibration:
    fixed = basic_epsilon(losses_of(Fraction(0)))
    slope = basic_epsilon(losses_of(Fraction(1))) - fixed
    pick = (epsilon - fixed) / slope
    return Calibration(pick_epsilon=pick, failure=failure, guarantee=prove_basic(losses_of(pick), failure))


def _calibrate_composed(
    losses_of: LossesOfPick, epsilon: Fraction, delta: Fraction, *, failing: bool
) -> Calibration | None:
    failure = round_down(float(_FAILING_SHARE * delta / (1 + exp_up(epsilon)))) if failing else Fraction(0)
    found = largest_pick(losses_of, AnyFailure(failure), epsilon=epsilon, delta=delta)
    if found is None:
        return None
    pick, guarantee = found
    return Calibration(pick_epsilon=pick, failure=failure, guarantee=guarantee)


def largest_pick(
    losses_of: LossesOfPick, failure: Failure, *, epsilon: Fraction, delta: Fraction, beside: Sequence[Loss] = ()
) -> tuple[Fraction, Guarantee] | None:
    """The largest epsilon of one pick if all is composed, with `beside` after the picks; None if nothing is proved."""

    def need(pick: Fraction, *, fast: bool = False) -> Need:
        losses = [*losses_of(pick), *beside]
        return composed_need(losses, [failure], epsilon=epsilon, delta=delta, fast=fast)

    return largest_proved(need, picks=len(losses_of(Fraction(1))), epsilon=epsilon, delta=delta)


def largest_proved(
    need: Callable[..., Need], *, picks: int = 1, epsilon: Fraction, delta: Fraction
) -> tuple[Fraction, Guarantee] | None:
    """The most that a part may spend, epsilon or rho, and what is then guaranteed.

    Returns None if nothing is guaranteed however little the part spends.

    Args:
        need: what a theorem needs if the part spends this much. With `fast` only fast theorems are tried.
        picks: how many picks there are, about.
        epsilon: what everything together may spend.
        delta: what everything together may spend.
    """
    spent = largest(lambda each: excess(need(each, fast=True), epsilon), epsilon)
    if spent is None:
        return None
    needed = need(spent)
    if needed is not None and needed[1] == "optimal":
        spent = largest_above(spent, need, picks=picks, epsilon=epsilon)
        # What the search leaves of epsilon is of no use to anybody.
        _, theorem = need(spent) or needed
        return spent, Guarantee(epsilon=epsilon, delta=delta, composition=theorem)
    guarantee = granted(needed, epsilon=epsilon, delta=delta)
    return None if guarantee is None else (spent, guarantee)


def largest_above(spent: Fraction, need: Callable[[Fraction], Need], *, picks: int, epsilon: Fraction) -> Fraction:
    """How much more a part may spend by optimal composition.

    Args:
        spent: what a faster theorem allows.
        need: what is needed if the part spends this much.
        picks: how many picks there are, about.
        epsilon: what everything together may spend.
    """

    def more(log: float) -> Fraction:
        return max(spent, round_down(float(spent) * math.exp(log)))

    most = _LEAST_SEARCHED + 1 / picks
    low, _ = crossed(lambda log: excess(need(more(log)), epsilon), 0.0, most, close=most / _CLOSE)
    return more(low)


@lru_cache(maxsize=256)
def calibrate_gaussian(
    failures: tuple[Failure, ...], *, epsilon: Fraction, delta: Fraction
) -> tuple[Fraction, Guarantee]:
    """The most that steps may cost together as Gaussian noise, and what is then guaranteed.

    Args:
        failures: what the steps do not cover.
        epsilon: what everything together may spend.
        delta: what everything together may spend.

    Raises:
        BudgetError: that is nothing.
    """
    found = largest_proved(
        lambda rho, **_: composed_need([Gaussian(rho)], failures, epsilon=epsilon, delta=delta),
        epsilon=epsilon,
        delta=delta,
    )
    if found is None:
        raise BudgetError("The budget is too small for any noise.", "Give a larger --epsilon.")
    return found


@dataclass(frozen=True, kw_only=True)
class EqualCalibration:
    """What each of k equal selections may spend.

    Args:
        epsilon: the epsilon of one selection, rounded down.
        delta: the delta of one selection.
        guarantee: what is proved for all selections together, evaluated after rounding.
    """

    epsilon: Fraction
    delta: Fraction
    guarantee: Guarantee


def calibrate_equal(times: int, *, epsilon: Fraction, delta: Fraction, failing: bool) -> EqualCalibration:
    """The largest epsilon of each of `times` adaptive selections, by basic or optimal composition.

    Args:
        times: the number of selections, at least 1.
        epsilon: what everything together may spend.
        delta: what everything together may spend.
        failing: whether a selection needs a delta of its own. Under optimal composition the selections share half of
            delta.
    """
    each = delta / times if failing else Fraction(0)
    basic = EqualCalibration(
        epsilon=epsilon / times,
        delta=each,
        guarantee=Guarantee(epsilon=epsilon, delta=each * times, composition="basic"),
    )
    if delta == 0:
        return basic
    each *= _FAILING_SHARE

    def beyond(selection: Fraction) -> float:
        needed = optimal_delta(float(epsilon), float(selection), float(each), times)
        return math.log(needed / delta) if needed > 0 else -math.inf

    optimal = largest(beyond, epsilon)
    if optimal is None or not _worth_it(optimal, basic.epsilon):
        return basic
    composed = optimal_epsilon(float(optimal), float(each), times, float(delta))
    return EqualCalibration(
        epsilon=optimal,
        delta=each,
        guarantee=Guarantee(epsilon=min(epsilon, round_up(composed)), delta=delta, composition="optimal"),
    )


def _worth_it(advanced: Fraction, basic: Fraction) -> bool:
    """Whether an advanced theorem gains at least 1 %."""
    return advanced * 100 >= basic * 101
