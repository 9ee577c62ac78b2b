"""Limited domain: peel from the top kbar counts and a stop symbol (Durfee and Rogers 2019).

The stop symbol's score is h = c_(kbar+1) + Delta + Delta ln(kbar/delta_0)/eps_A. So the probability that any itemset
outside the neighbour's top kbar is picked before the stop symbol is at most delta_0. Apart from that event each pick is
eps_A-bounded-range. Proof: docs/mathematics.md#limited-domain.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import partial

import numpy as np

from fim_private.accounting.calibration import calibrate_pick
from fim_private.accounting.rounding import log_up
from fim_private.mechanisms.peeling import Level, missed_by_picks, peel, peel_law, peeling_losses
from fim_private.mechanisms.protocol import CalibratedMechanism, Law, Margin, Request, Spending, lead_of_list
from fim_private.privacy import Failure, Loss, StepwiseFailure
from fim_private.profile import CountProfile
from fim_private.randomness import Randomness

CANDIDATES_PER_PICK = 1000
"""kbar = 1000 k. This makes c_(kbar+1) small in retail data, and a larger ln kbar costs little."""


@dataclass(frozen=True, kw_only=True)
class LimitedDomain:
    """Up to k picks from the top kbar. The list may be shorter, even empty.

    Args:
        top: k.
        candidates: kbar, at least k; public.
        pick_epsilon: the epsilon of one pick.
        stop_delta: delta_0.
        sensitivity: Delta.
    """

    top: int
    candidates: int
    pick_epsilon: Fraction
    stop_delta: Fraction
    sensitivity: int = 1

    @property
    def losses(self) -> tuple[Loss, ...]:
        return peeling_losses(self.top, self.pick_epsilon)

    @property
    def failures(self) -> tuple[Failure, ...]:
        """With probability at most delta_0 a pick falls on one neighbour's own itemsets, whatever was picked before."""
        return (StepwiseFailure(self.stop_delta, self.top),)

    @property
    def depth(self) -> int:
        """The top kbar and the next one."""
        return self.candidates + 1

    @property
    def spending(self) -> tuple[Spending, ...]:
        return (Spending(what="picks", epsilon=self.pick_epsilon, times=self.top),)

    @property
    def stop_lead(self) -> Fraction:
        """The stop symbol's lead h - c_(kbar+1), rounded up."""
        return self.sensitivity * (1 + log_up(self.candidates / self.stop_delta) / self.pick_epsilon)

    @property
    def rate(self) -> Fraction:
        """A pick's exponent is this times the count."""
        return self.pick_epsilon / self.sensitivity

    @property
    def margins(self) -> tuple[Margin, ...]:
        """The lead that the itemsets of the list need to be picked before the stop symbol and the bulk."""
        others = float(np.logaddexp(float(self.rate * self.stop_lead), math.log(self.candidates)))
        rates = np.full(self.top, float(self.rate))
        one = self.stop_lead + Fraction(self.sensitivity * math.log(19)) / self.pick_epsilon
        return (
            Margin(
                counts=lead_of_list(partial(missed_by_picks, rates, others), near=math.ceil(one)),
                of_one=math.ceil(one),
                words=f"over place {self.candidates + 1:,} of the ranking and most places before it",
                place=self.candidates + 1,
            ),
        )

    def select(self, profile: CountProfile, randomness: Randomness) -> tuple[int, ...]:
        return peel(
            self._levels(profile),
            rates=(self.rate,) * self.top,
            open_universe=profile.zeros is None,
            randomness=randomness,
            stop=self._stop(profile),
        )

    def law(self, profile: CountProfile) -> Law:
        return peel_law(
            self._levels(profile),
            rates=(self.rate,) * self.top,
            open_universe=profile.zeros is None,
            stop=self._stop(profile),
        )

    def _levels(self, profile: CountProfile) -> list[Level]:
        return profile.top(self.candidates)

    def _stop(self, profile: CountProfile) -> Fraction:
        return profile.count(self.candidates + 1) + self.stop_lead


def calibrate(request: Request) -> CalibratedMechanism:
    """The mechanism with the largest epsilon per pick that composition allows.

    Raises:
        BudgetError: delta is 0.
    """
    request.require_delta()
    losses_of = partial(peeling_losses, request.top)
    found = calibrate_pick(losses_of, epsilon=request.epsilon, delta=request.delta, failing=True)
    return CalibratedMechanism(
        mechanism=LimitedDomain(
            top=request.top,
            candidates=CANDIDATES_PER_PICK * request.top,
            pick_epsilon=found.pick_epsilon,
            stop_delta=found.failure,
            sensitivity=request.sensitivity,
        ),
        guarantee=found.guarantee,
    )
