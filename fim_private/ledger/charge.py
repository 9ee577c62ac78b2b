"""How much a ledger charges for a cost, in the figures of `accounting/privacy_filter.py`.

The pair (epsilon, delta) is the cost's guarantee. There are two proofs for the Renyi test, and the cheaper one counts:
  the guarantee itself: any (epsilon, delta)-differentially private release can be computed from randomised response
    with odds e^epsilon that reveals everything with probability delta (Kairouz, Oh, Viswanath 2015). Let R be the run
    in which it does not. Then M >= (1 - delta) R: r is randomised response's, g = -ln(1 - delta), and delta is paid
    once;
  the losses of its steps, if it has any for its relation, and their failures, by what was proved of them
    (`privacy.Failure`):
    one-sided: M' >= (1 - f) R', and f is paid once;
    stepwise: M' >= (1 - f)^steps R', and f is paid once;
    chosen: the one-sided way's is paid once, and the other way's on both sides;
    any: paid on both sides, if the ledger's first release settled that (the filter then has a share for each side).
    Searches of several sizes come one after the other, and their factors multiply.
    (epsilon, delta) losses are treated like the guarantee above. Released counts are one more loss: they are measured
    in the same way in M and R, whatever itemsets were chosen, so all these inequalities hold with them.
If group privacy serves `replace`, there is a guarantee but there are no losses. Proofs: docs/mathematics.md#charges.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from fractions import Fraction
from itertools import groupby
from typing import Any

import numpy as np

from fim_private.accounting.cost import Cost
from fim_private.accounting.privacy_filter import Charge, PrivacyFilter, log_of
from fim_private.accounting.renyi_composition import renyi_curve
from fim_private.accounting.rounding import RELATIVE_ERROR, round_up
from fim_private.privacy import ApproxDP, Chosen, Failure, Loss, OneSidedFailure, PureDP, StepwiseFailure, separated


def charge_of(cost: Cost, rule: PrivacyFilter) -> Charge:
    """What a ledger with this filter charges for this cost."""
    guarantee = cost.guarantee
    if rule.order is None:
        return Charge(epsilon=guarantee.epsilon, delta=guarantee.delta)
    ways = [_renyi((ApproxDP(guarantee.epsilon, guarantee.delta),), (), rule.order)]
    if cost.losses is not None:
        ways.append(_renyi(cost.losses, cost.failures, rule.order))
    payable = [way for way in ways if rule.pays(way)]
    cheapest = min(payable, key=lambda way: way.renyi if rule.bound is None else rule.renyi_share(way))
    return cheapest + Charge(epsilon=guarantee.epsilon, delta=guarantee.delta)


def losses_record(losses: Sequence[Loss]) -> list[dict[str, Any]]:
    """Losses as plain values: exact fractions as text, and equal losses in a row as one entry."""
    return list(_grouped(losses))


def _grouped(losses: Sequence[Loss]) -> Iterator[dict[str, Any]]:
    for loss, same in groupby(losses):
        figures: dict[str, Any] = {name: str(value) for name, value in vars(loss).items()}
        if isinstance(loss, Chosen):
            figures = {"ways": [losses_record(way) for way in loss.ways]}
        yield {"loss": type(loss).__name__, **figures, "times": sum(1 for _ in same)}


def _renyi(losses: Sequence[Loss], failures: Sequence[Failure], order: Fraction) -> Charge:
    """The Renyi figures of losses and of failures."""
    # One object per distinct loss: the curve recognises equal losses by identity.
    pure = {loss: PureDP(loss.epsilon) for loss in set(losses) if isinstance(loss, ApproxDP)}
    curved = [pure[loss] if isinstance(loss, ApproxDP) else loss for loss in losses]
    revealed = [loss.delta for loss in losses if isinstance(loss, ApproxDP)]
    divergence = float(renyi_curve(curved, np.array([float(order)]))[0])
    divergence -= sum(map(_log_of_the_rest, revealed))
    once, twice = sum(revealed, Fraction(0)), Fraction(0)
    for failure in separated(failures):
        match failure:
            case OneSidedFailure(probability):
                once, divergence = once + probability, divergence - _log_of_the_rest(probability)
            case StepwiseFailure(probability, steps):
                once, divergence = once + probability, divergence - steps * _log_of_the_rest(probability)
            case _:
                twice += failure.probability
    return Charge(renyi=round_up(divergence * (1 + RELATIVE_ERROR)), plain=once, failure=twice)


def _log_of_the_rest(probability: Fraction) -> float:
    """ln(1 - p), also if p is so close to 1 that a float rounds it to 1."""
    return math.log1p(-float(probability)) if 2 * probability < 1 else log_of(1 - probability)
