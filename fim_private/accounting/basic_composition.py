"""Basic composition: epsilons add up, deltas add up. Exact in fractions (docs/mathematics.md#basic-composition)."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

from fim_private.privacy import ZCDP, ApproxDP, Chosen, Loss


def basic_epsilon(losses: Sequence[Loss]) -> Fraction:
    """The sum of the epsilons. A bounded range of epsilon counts as epsilon-differential privacy.

    Raises:
        ValueError: there is a ZCDP loss, which has no epsilon without a delta.
    """
    total = Fraction(0)
    for loss in losses:
        if isinstance(loss, ZCDP):
            raise ValueError("a zCDP loss has no epsilon of its own; use Renyi composition")
        total += max(map(basic_epsilon, loss.ways)) if isinstance(loss, Chosen) else loss.epsilon
    return total


def basic_delta(losses: Sequence[Loss]) -> Fraction:
    """The sum of the deltas. Pure and bounded-range losses have delta 0."""
    total = Fraction(0)
    for loss in losses:
        if isinstance(loss, Chosen):
            total += max(map(basic_delta, loss.ways))
        elif isinstance(loss, ApproxDP):
            total += loss.delta
    return total
