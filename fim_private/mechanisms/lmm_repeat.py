"""The calibrated large margin mechanism, round by round: k searches and k picks (docs/mathematics.md#lmm-in-rounds).

Each round is `lmm` with k = 1 on what is left. A pick costs a search, so the same budget certifies less than one search
for all k; but where the list stops early, what it names was certified. There is no fallback.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

from fim_private.accounting.calibration import calibrate_pick
from fim_private.mechanisms.lmm import GRID_PER_PICK, LargeMargin
from fim_private.mechanisms.protocol import Calibrated, Law, Margin, Request, Spending
from fim_private.mechanisms.rounds import law_in_rounds, select_in_rounds
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
        certificate_delta: what one round's thresholds share out.
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
        """A search and a pick, k times."""
        return self.round.losses * self.top

    @property
    def failures(self) -> tuple[Failure, ...]:
        """A wrong certificate in any round."""
        return (AnyFailure(self.top * self.certificate_delta),)

    @property
    def depth(self) -> int:
        """What one round looks at, after the others took theirs away."""
        return self.round.depth + self.top

    @property
    def spending(self) -> tuple[Spending, ...]:
        """The two steps of a round."""
        return (
            Spending(what="searches for a margin", epsilon=self.search_epsilon, times=self.top),
            Spending(what="picks", epsilon=self.pick_epsilon, times=self.top),
        )

    @property
    def margins(self) -> tuple[Margin, ...]:
        """The gap each round has to find."""
        return (
            Margin(
                counts=self.round.margins[0].counts,
                words="between the first and the second of what is left, in each round",
                place=2,
            ),
        )

    def select(self, profile: CountProfile, randomness: Randomness) -> tuple[int, ...]:
        """Up to k ranks; the list ends where a round certifies nothing."""
        return select_in_rounds(profile, self.top, lambda left: self.round.select(left, randomness))

    def law(self, profile: CountProfile) -> Law:
        """The exact law over ordered lists."""
        return law_in_rounds(profile, self.top, self.round.law)


def calibrate(request: Request) -> Calibrated:
    """Search and pick of a round get equal epsilons, the most that basic or Renyi composition allows.

    A round's pick comes from a handful of certified itemsets, so its threshold is nearly all search: a larger share for
    the search lowers it more than it blurs the pick.

    Raises:
        BudgetError: delta is 0.
    """
    request.require_delta()

    def losses_of(pick: Fraction) -> tuple[Loss, ...]:
        return (PureDP(pick), BoundedRange(pick)) * request.top

    found = calibrate_pick(losses_of, epsilon=request.epsilon, delta=request.delta, failing=True)
    return Calibrated(
        mechanism=RepeatedLargeMargin(
            top=request.top,
            search_epsilon=found.pick_epsilon,
            pick_epsilon=found.pick_epsilon,
            certificate_delta=found.failure / request.top,
            sensitivity=request.sensitivity,
        ),
        guarantee=found.guarantee,
    )
