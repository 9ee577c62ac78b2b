"""The best proof for several parts of a release under one budget, where each part is calibrated by itself.

There are two theorems. Both hold for parts that are chosen after seeing the answers of earlier parts:
    added up: add the parts' own guarantees and the cost of the further steps (basic composition);
    composed: compose all losses by Gaussian or Renyi composition, and count the failures as one with the sum of
        their probabilities.
Proofs: docs/mathematics.md#joint-accounting.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

from fim_private.accounting.basic_composition import basic_epsilon
from fim_private.accounting.calibration import composed_epsilon, prove_composed, prove_discovery
from fim_private.accounting.rounding import round_up
from fim_private.privacy import ZCDP, ApproxDP, Failure, Guarantee, Loss, PureDP, are_one_sided, failure_probability


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
    return _added_up(parts, further, epsilon=epsilon, delta=delta) or _composed(
        parts, further, epsilon=epsilon, delta=delta
    )


def _added_up(
    parts: Sequence[Part], further: Sequence[PureDP | ZCDP], *, epsilon: Fraction, delta: Fraction
) -> Guarantee | None:
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
        return None
    if spent > epsilon or failed > delta:
        return None
    return Guarantee(epsilon=spent, delta=failed, composition=" and ".join([*sorted(theorems - {"basic"}), "basic"]))


def _composed(
    parts: Sequence[Part], further: Sequence[PureDP | ZCDP], *, epsilon: Fraction, delta: Fraction
) -> Guarantee | None:
    losses = [*(loss for part in parts for loss in part.losses), *further]
    failures = [failure for part in parts for failure in part.failures]
    failure = failure_probability(failures)
    if failure >= delta or any(isinstance(loss, ApproxDP) for loss in losses):
        return None
    if are_one_sided(failures):
        return prove_discovery(losses, failure, epsilon=epsilon, delta=delta)
    return prove_composed(losses, failure, epsilon=epsilon, delta=delta)
