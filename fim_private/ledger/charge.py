"""From a plan to what it is charged: the figures of `accounting/filter.py`, from the plan alone, never from data.

The pair (epsilon, delta) is the plan's guarantee. For the Renyi test there are two proofs, of which the cheaper counts:
  the guarantee itself: a release that is (epsilon, delta)-differentially private is what somebody can make of
    randomised response with odds e^epsilon that reveals everything with probability delta (Kairouz, Oh, Viswanath
    2015). With R the run in which it does not, M >= (1 - delta) R: r is randomised response's, g = -ln(1 - delta), and
    delta is paid once;
  the mechanism's losses, where they hold for the relation as they stand, and its failure event:
    items-first: independent of all else, so M' >= (1 - f) R' and f is paid once (proof in mechanisms/items_first.py);
    limited-domain: whatever was picked before, the itemsets that only one neighbour ranks are picked before the stop
      symbol with probability at most delta_0 in each of k steps, so M' >= (1 - delta_0)^k R'; in the whole list with
      probability at most delta_0, which is paid once;
    others: paid on both sides, the second time multiplied by e^eps.
    Searches of several sizes come one after the other, and so do their factors.
    Losses that are (epsilon, delta) themselves are treated like the guarantee above. Released counts are one more loss:
    they are measured alike in M and R, of whatever itemsets were chosen, so all of these inequalities hold with them.
`replace` served by group privacy has a guarantee and no losses.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from fractions import Fraction
from itertools import groupby

import numpy as np

from fim_private.accounting.filter import Charge, Filter
from fim_private.accounting.renyi import renyi_curve
from fim_private.accounting.rounding import RELATIVE_ERROR, round_up
from fim_private.mechanisms.items_first import ItemsFirst
from fim_private.mechanisms.limited_domain import LimitedDomain
from fim_private.mechanisms.registry import find
from fim_private.plan import Plan
from fim_private.privacy import ApproxDP, Loss, NeighbouringRelation, PureDP


def charge_of(plan: Plan, rule: Filter) -> Charge:
    """What the plan is charged in a ledger with this filter."""
    guarantee = plan.guarantee
    if rule.order is None:
        return Charge(epsilon=guarantee.epsilon, delta=guarantee.delta)
    ways = [_renyi((ApproxDP(guarantee.epsilon, guarantee.delta),), (), Fraction(0), rule.order)]
    if losses_hold(plan):
        paid_once, paid_twice = [], Fraction(0)
        for _, mechanism in plan.selections:
            if isinstance(mechanism, ItemsFirst | LimitedDomain):
                tries = mechanism.top if isinstance(mechanism, LimitedDomain) else 1
                paid_once.append((mechanism.failure, tries))
            else:
                paid_twice += mechanism.failure
        ways.append(_renyi(plan.losses, paid_once, paid_twice, rule.order))
    cheapest = min(ways, key=lambda way: way.renyi if rule.bound is None else rule.renyi_share(way))
    return cheapest + Charge(epsilon=guarantee.epsilon, delta=guarantee.delta)


def losses_hold(plan: Plan) -> bool:
    """Whether the mechanism's losses hold for the plan's relation as they stand."""
    return plan.relation is NeighbouringRelation.ADD_REMOVE or find(plan.mechanism_name).both_relations


def losses_record(losses: Sequence[Loss]) -> list[dict[str, str | int]]:
    """Losses as plain values, exact fractions as text, equal neighbours together."""
    return list(_grouped(losses))


def _grouped(losses: Sequence[Loss]) -> Iterator[dict[str, str | int]]:
    for loss, same in groupby(losses):
        figures = {name: str(value) for name, value in vars(loss).items()}
        yield {"loss": type(loss).__name__, **figures, "times": sum(1 for _ in same)}


def _renyi(
    losses: Sequence[Loss], paid_once: Sequence[tuple[Fraction, int]], twice: Fraction, order: Fraction
) -> Charge:
    """The Renyi figures of losses, of failures paid once (and how many tries each has), and of what is paid twice."""
    # One object a loss: the curve knows equal losses by identity.
    pure = {loss: PureDP(loss.epsilon) for loss in set(losses) if isinstance(loss, ApproxDP)}
    curved = [pure[loss] if isinstance(loss, ApproxDP) else loss for loss in losses]
    revealed = [loss.delta for loss in losses if isinstance(loss, ApproxDP)]
    divergence = float(renyi_curve(curved, np.array([float(order)]))[0])
    divergence -= sum(tries * math.log1p(-float(once)) for once, tries in paid_once)
    divergence -= sum(math.log1p(-float(delta)) for delta in revealed)
    return Charge(
        renyi=round_up(divergence * (1 + RELATIVE_ERROR)),
        plain=sum((once for once, _ in paid_once), Fraction(0)) + sum(revealed, Fraction(0)),
        failure=twice,
    )
