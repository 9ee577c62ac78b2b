"""What the theorems prove of given losses within a budget."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

from fim_private.accounting.calibration import composed_need, granted
from fim_private.privacy import AnyFailure, Guarantee, Loss, OneSidedFailure


def prove_composed(
    losses: Sequence[Loss], failure: Fraction, *, epsilon: Fraction, delta: Fraction
) -> Guarantee | None:
    """The guarantee if failures may happen on either side; None if it exceeds (epsilon, delta)."""
    return granted(
        composed_need(losses, [AnyFailure(failure)], epsilon=epsilon, delta=delta), epsilon=epsilon, delta=delta
    )


def prove_discovery(
    losses: Sequence[Loss], failure: Fraction, *, epsilon: Fraction, delta: Fraction
) -> Guarantee | None:
    """The guarantee if failures happen on one side only; None if it exceeds (epsilon, delta)."""
    return granted(
        composed_need(losses, [OneSidedFailure(failure)], epsilon=epsilon, delta=delta), epsilon=epsilon, delta=delta
    )
