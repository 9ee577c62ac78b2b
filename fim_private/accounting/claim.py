"""The claimed privacy profile: for each epsilon the least delta that any of the theorems proves.

Theorems: docs/mathematics.md#claimed-profile.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction

from fim_private.accounting.basic_composition import basic_delta, basic_epsilon
from fim_private.accounting.calibration import failure_price
from fim_private.accounting.gaussian_composition import gaussian_delta
from fim_private.accounting.optimal_composition import optimal_delta
from fim_private.accounting.range_composition import range_delta
from fim_private.accounting.renyi_composition import renyi_delta
from fim_private.privacy import ZCDP, ApproxDP, Failure, Loss, OneSidedFailure, PureDP, failure_probability, separated


def claimed_delta(losses: Sequence[Loss], failures: Sequence[Failure], epsilon: float) -> float:
    """The least delta that is proved at `epsilon` for these losses and failures.

    Args:
        losses: what the steps cost if no failure happens.
        failures: what the losses do not cover.
        epsilon: at least 0.
    """
    failure = failure_probability(failures)
    proofs = [1.0]
    if not any(isinstance(loss, ApproxDP) for loss in losses):
        composed = min(theorem(losses, epsilon) for theorem in (renyi_delta, gaussian_delta, range_delta))
        proofs.append(composed + float(failure_price(failures, Fraction(math.exp(epsilon)))))
    if any(isinstance(one, OneSidedFailure) for one in separated(failures)):
        return min(proofs)
    if not any(isinstance(loss, ZCDP) for loss in losses):
        proofs.append(_basic(float(basic_epsilon(losses)), float(basic_delta(losses) + failure), epsilon))
    if failure == 0 and len(set(losses)) == 1 and isinstance(loss := losses[0], PureDP | ApproxDP):
        each = float(loss.delta) if isinstance(loss, ApproxDP) else 0.0
        proofs.append(optimal_delta(epsilon, float(loss.epsilon), each, len(losses)))
    return min(proofs)


def _basic(epsilon_0: float, delta_0: float, epsilon: float) -> float:
    """The delta that (epsilon_0, delta_0) proves at another epsilon; below epsilon_0, as for randomised response."""
    if epsilon >= epsilon_0:
        return delta_0
    return delta_0 + (1 - delta_0) * (math.exp(epsilon_0) - math.exp(epsilon)) / (1 + math.exp(epsilon_0))
