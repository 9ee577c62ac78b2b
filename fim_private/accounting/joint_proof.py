"""The best proof for several parts of a release under one budget, where each part is calibrated by itself.

There are two theorems. Both hold for parts that are chosen after seeing the answers of earlier parts:
    added up: add the parts' own guarantees and the cost of the further steps (basic composition);
    composed: compose all losses by Gaussian, Renyi or optimal composition, and add what the failures cost.
Proofs: docs/mathematics.md#joint-accounting.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

from fim_private.accounting.basic_composition import basic_epsilon
from fim_private.accounting.calibration import Need, composed_epsilon, composed_need, excess, granted
from fim_private.accounting.rounding import round_up
from fim_private.privacy import ZCDP, ApproxDP, Failure, Guarantee, Loss, PureDP, failures_of_parts


@dataclass(frozen=True, kw_only=True)
class Part:
    """A step that comes with a proof of its own.

    Args:
        losses: what the part costs if no failure happens.
        failures: the events that the losses do not cover.
        guarantee: what is proved of the part.
    """

    losses: tuple[Loss, ...]
    failures: tuple[Failure, ...]
    guarantee: Guarantee


def prove_together(
    parts: Sequence[Part], further: Sequence[PureDP | ZCDP], *, epsilon: Fraction, delta: Fraction
) -> Guarantee | None:
    """A guarantee of at most (epsilon, delta) for parts and further steps, or None if neither theorem gives one.

    Args:
        parts: at least one part.
        further: the losses of steps without a proof of their own.
        epsilon: what everything together may spend.
        delta: what everything together may spend.
    """
    added, failed = _added_up(parts, further, delta=delta)
    return granted(added, epsilon=epsilon, delta=failed) or granted(
        _composed(parts, further, epsilon=epsilon, delta=delta, fast=False), epsilon=epsilon, delta=delta
    )


def needed_together(
    parts: Sequence[Part], further: Sequence[PureDP | ZCDP], *, epsilon: Fraction, delta: Fraction, fast: bool = False
) -> Need:
    """What the cheaper theorem needs (`prove_together`). `fast` leaves out optimal composition."""
    composed = _composed(parts, further, epsilon=epsilon, delta=delta, fast=fast)
    needs = _added_up(parts, further, delta=delta)[0], composed
    return min(needs, key=lambda need: excess(need, epsilon))


def _added_up(parts: Sequence[Part], further: Sequence[PureDP | ZCDP], *, delta: Fraction) -> tuple[Need, Fraction]:
    """What it needs, and the delta at which it does."""
    own = [part.guarantee for part in parts]
    spent, failed = sum((each.epsilon for each in own), Fraction(0)), sum((each.delta for each in own), Fraction(0))
    theorems = {each.composition for each in own}
    if all(isinstance(loss, PureDP) for loss in further):
        spent += basic_epsilon(further)
    elif failed < delta:
        # The delta that the parts leave turns noise into an epsilon.
        composed, theorem = composed_epsilon(further, float(delta - failed))
        spent += round_up(composed)
        failed = delta
        theorems.add(theorem)
    else:
        return None, failed
    if failed > delta:
        return None, failed
    return (spent, " and ".join([*sorted(theorems - {"basic"}), "basic"])), failed


def _composed(
    parts: Sequence[Part], further: Sequence[PureDP | ZCDP], *, epsilon: Fraction, delta: Fraction, fast: bool
) -> Need:
    losses = [*(loss for part in parts for loss in part.losses), *further]
    failures = failures_of_parts(part.failures for part in parts)
    if any(isinstance(loss, ApproxDP) for loss in losses):
        return None
    return composed_need(losses, failures, epsilon=epsilon, delta=delta, fast=fast)
