"""The top k of each of several sizes from one budget: one search per size, accounted for together.

All searches use one mechanism, and each is calibrated by itself for the same epsilon. There are two ways to account for
them: share epsilon and delta evenly, or compose all losses. The way that needs the smaller lead wins
(docs/mathematics.md#per-size).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cache

from fim_private.accounting.joint_proof import Part, prove_together
from fim_private.accounting.rounding import exp_up, round_down
from fim_private.accounting.search import largest_between
from fim_private.mechanisms.protocol import CalibratedMechanism, Costed, Margin, Request, Spending
from fim_private.privacy import Failure, Loss, are_one_sided, failures_of_parts

_CLOSE = Fraction(105, 100)
"""The largest epsilon per search is found to within this factor."""


@dataclass(frozen=True, kw_only=True)
class PerSize:
    """One search, a part, for each of the sizes, which increase."""

    sizes: tuple[int, ...]
    parts: tuple[Costed, ...]
    sensitivity: int

    @property
    def top(self) -> int:
        """The number of itemsets that all searches select together."""
        return sum(part.top for part in self.parts)

    @property
    def losses(self) -> tuple[Loss, ...]:
        return tuple(loss for part in self.parts for loss in part.losses)

    @property
    def failures(self) -> tuple[Failure, ...]:
        return failures_of_parts(part.failures for part in self.parts)

    @property
    def spending(self) -> tuple[Spending, ...]:
        return tuple(
            replace(line, what=f"size {size}, {line.what}")
            for size, part in zip(self.sizes, self.parts, strict=True)
            for line in part.spending
        )

    @property
    def margins(self) -> tuple[Margin, ...]:
        """The margins of the search that needs the largest lead."""
        return max((part.margins for part in self.parts), key=lambda margins: min(each.compared for each in margins))


def calibrate_per_size(
    calibrate: Callable[[Request], CalibratedMechanism], requests: Sequence[Request], sizes: Sequence[int]
) -> CalibratedMechanism:
    """The searches with the smallest lead that together fit in the budget.

    Args:
        calibrate: the mechanism's calibration.
        requests: one request per size. Its epsilon and delta are what all searches together may spend.
        sizes: the sizes of the itemsets, increasing.

    Raises:
        BudgetError: the budget cannot pay for the searches.
        UsageError: the mechanism's calibration raises it.
    """
    first, number = requests[0], len(requests)
    epsilon, delta = first.epsilon, first.delta
    known = cache(calibrate)  # equal requests give equal searches

    def shared(each: Fraction, granted: Fraction) -> CalibratedMechanism | None:
        """All searches, each at this epsilon and delta; None if they do not fit."""
        found = [known(replace(one, epsilon=each, delta=granted)) for one in requests]
        parts = [
            Part(losses=one.mechanism.losses, failures=one.mechanism.failures, guarantee=one.guarantee) for one in found
        ]
        guarantee = prove_together(parts, [], epsilon=epsilon, delta=delta)
        if guarantee is None:
            return None
        searches = tuple(one.mechanism for one in found)
        together = PerSize(sizes=tuple(sizes), parts=searches, sensitivity=first.sensitivity)
        return CalibratedMechanism(mechanism=together, guarantee=guarantee)

    even = shared(epsilon / number, delta / number)
    if even is None:
        raise AssertionError("equal shares add up to the whole")
    if delta == 0:
        return even
    # If each search may fail with this probability, half of delta is left for the composition.
    granted = delta / number
    if not are_one_sided(even.mechanism.failures):
        granted = round_down(float(delta / 2 / number / (1 + exp_up(epsilon))))
    most = largest_between(lambda each: shared(each, granted) is not None, epsilon / number, epsilon, ratio=_CLOSE)
    composed = shared(most, granted)
    return even if composed is None or _lead(even) <= _lead(composed) else composed


def _lead(calibrated: CalibratedMechanism) -> int:
    return min(margin.compared for margin in calibrated.mechanism.margins)
