"""The calibrated large margin mechanism, round by round: k searches and k picks (docs/mathematics.md#lmm-in-rounds).

Each round is `lmm` with k = 1 on the itemsets that are left. Every pick pays for a search, so the same budget certifies
less than with one search for all k. But if the list stops early, every itemset on it was certified. There is no
fallback.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

from fim_private.accounting.calibration import calibrate_pick
from fim_private.mechanisms.lmm import GRID_PER_PICK, LargeMargin
from fim_private.mechanisms.protocol import CalibratedMechanism, Law, Margin, Request, Spending
from fim_private.mechanisms.rounds import law_in_rounds, margin_of_rounds, select_in_rounds
from fim_private.privacy import AnyFailure, BoundedRange, Failure, Loss, PureDP
from fim_private.profile import CountProfile
from fim_private.randomness import Randomness


@dataclass(frozen=True, kw_only=True)
class RepeatedLargeMargin:
    """k rounds of a search and a pick.

    Args:
        top: k.
        search_epsilon: eps_S of one round.
        pick_epsilon: eps_A of one round.
        certificate_delta: the delta that one round's thresholds share.
        grid_limit: public cap of the grid.
        sensitivity: Delta.
    """

    top: int
    search_epsilon: Fraction
    pick_epsilon: Fraction
    certificate_delta: Fraction
    grid_limit: int = GRID_PER_PICK
    sensitivity: int = 1

    @cached_property
    def round(self) -> LargeMargin:
        """One round."""
        return LargeMargin(
            top=1,
            search_epsilon=self.search_epsilon,
            pick_epsilon=self.pick_epsilon,
            certificate_delta=self.certificate_delta,
            grid_limit=self.grid_limit,
            sensitivity=self.sensitivity,
        )

    @property
    def losses(self) -> tuple[Loss, ...]:
        return self.round.losses * self.top

    @property
    def failures(self) -> tuple[Failure, ...]:
        """A wrong certificate in any round."""
        return (AnyFailure(self.top * self.certificate_delta),)

    @property
    def depth(self) -> int:
        """The depth of one round, plus the places of the other rounds."""
        return self.round.depth + self.top

    @property
    def spending(self) -> tuple[Spending, ...]:
        return (
            Spending(what="searches for a margin", epsilon=self.search_epsilon, times=self.top),
            Spending(what="picks", epsilon=self.pick_epsilon, times=self.top),
        )

    @property
    def margins(self) -> tuple[Margin, ...]:
        """The gap that each round has to find."""
        return margin_of_rounds(self.round.margins[0].counts)

    def select(self, profile: CountProfile, randomness: Randomness) -> tuple[int, ...]:
        """Up to k ranks. The list ends with the first round that certifies nothing."""
        return select_in_rounds(profile, self.top, lambda left: self.round.select(left, randomness))

    def law(self, profile: CountProfile) -> Law:
        return law_in_rounds(profile, self.top, self.round.law)


def calibrate(request: Request) -> CalibratedMechanism:
    """The mechanism with equal epsilons for search and pick, the largest that composition allows.

    A round picks from a handful of certified itemsets, so the search causes nearly all of its threshold. A larger share
    for the search lowers the threshold more than it blurs the pick.

    Raises:
        BudgetError: delta is 0.
    """
    request.require_delta()

    def losses_of(pick: Fraction) -> tuple[Loss, ...]:
        return (PureDP(pick), BoundedRange(pick)) * request.top

    found = calibrate_pick(losses_of, epsilon=request.epsilon, delta=request.delta, failing=True)
    return CalibratedMechanism(
        mechanism=RepeatedLargeMargin(
            top=request.top,
            search_epsilon=found.pick_epsilon,
            pick_epsilon=found.pick_epsilon,
            certificate_delta=found.failure / request.top,
            sensitivity=request.sensitivity,
        ),
        guarantee=found.guarantee,
    )
