"""The choosing mechanism: if the top count is large, pick among the itemsets that occur (Beimel, Nissim, Stemmer 2013).

Transactions are capped, so a unit adds at most g new itemsets, each with a count of at most Delta. If
c_(1) + DL(Delta/eps_1) >= T, a round picks from the occurring itemsets by the exponential mechanism with exponent
eps_A c / Delta. A round is (eps_1 + eps_A, delta)-differentially private: T bounds the probability of naming a new
itemset. Proof: docs/mathematics.md#choosing.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

from fim_private.accounting.calibration import calibrate_equal
from fim_private.accounting.rounding import RELATIVE_ERROR
from fim_private.errors import UsageError
from fim_private.mechanisms.gap_thresholds import least_threshold
from fim_private.mechanisms.peeling import mix, peel, peel_law
from fim_private.mechanisms.protocol import CalibratedMechanism, Law, Margin, Request, Spending
from fim_private.mechanisms.rounds import laplace_reach, law_in_rounds, select_in_rounds
from fim_private.privacy import ApproxDP, Loss
from fim_private.profile import CountProfile
from fim_private.randomness import Randomness
from fim_private.randomness.discrete_laplace import discrete_laplace_survival, log_survival, sample_discrete_laplace

COMPARISON_SHARE = Fraction(1, 2)
"""The share of eps_1 in a round's epsilon. T is about ln(1/delta)/eps_1 + ln(g)/eps_A, so neither may be small."""


@dataclass(frozen=True, kw_only=True)
class Choosing:
    """k rounds, each on the itemsets that are left. The list ends with the first round that names nothing.

    Args:
        top: k.
        comparison_epsilon: eps_1 of one round.
        pick_epsilon: eps_A of one round.
        round_delta: the delta of one round.
        most_new: g, how many itemsets a unit can add to those that occur.
        sensitivity: Delta.
    """

    top: int
    comparison_epsilon: Fraction
    pick_epsilon: Fraction
    round_delta: Fraction
    most_new: int
    sensitivity: int = 1

    failures = ()
    depth = None

    @property
    def losses(self) -> tuple[Loss, ...]:
        return (ApproxDP(self.comparison_epsilon + self.pick_epsilon, self.round_delta),) * self.top

    @property
    def spending(self) -> tuple[Spending, ...]:
        return (
            Spending(what="comparisons of the top count", epsilon=self.comparison_epsilon, times=self.top),
            Spending(what="picks", epsilon=self.pick_epsilon, times=self.top),
        )

    @property
    def scale(self) -> Fraction:
        """The scale of the noise on the top count."""
        return self.sensitivity / self.comparison_epsilon

    @property
    def rate(self) -> Fraction:
        """A pick's exponent is this times the count."""
        return self.pick_epsilon / self.sensitivity

    @cached_property
    def threshold(self) -> int:
        """T, in counts."""
        scale = float(self.scale)
        return least_threshold(
            lambda needed: log_survival(needed, scale),
            candidates=self.most_new,
            log_delta=math.log(self.round_delta) - RELATIVE_ERROR,
            rate=float(self.rate),
            sensitivity=self.sensitivity,
        )

    @property
    def margins(self) -> tuple[Margin, ...]:
        """The threshold, plus what the noise may take off the top count in any round."""
        return (
            Margin(
                counts=self.threshold + laplace_reach(self.scale, self.top),
                of_one=self.threshold + laplace_reach(self.scale, 1),
                words="in each round, between the top itemset that is left and those that do not occur",
            ),
        )

    def select(self, profile: CountProfile, randomness: Randomness) -> tuple[int, ...]:
        """Up to k ranks, of occurring itemsets only."""

        def select_one(left: CountProfile) -> tuple[int, ...]:
            if left.count(1) + sample_discrete_laplace(self.scale, randomness) < self.threshold:
                return ()
            return peel(left.top(left.occurring), rates=(self.rate,), open_universe=True, randomness=randomness)

        return select_in_rounds(profile, self.top, select_one)

    def law(self, profile: CountProfile) -> Law:

        def law_of_one(left: CountProfile) -> Law:
            chance = float(discrete_laplace_survival(self.threshold - left.count(1), float(self.scale)))
            picked = peel_law(left.top(left.occurring), rates=(self.rate,), open_universe=True)
            return mix((chance, picked), (1 - chance, {(): 1.0}))

        return law_in_rounds(profile, self.top, law_of_one)


def calibrate(request: Request) -> CalibratedMechanism:
    """The mechanism with the largest epsilon per round that basic or optimal composition allows.

    Raises:
        UsageError: transactions are not capped.
        BudgetError: delta is 0.
    """
    request.require_delta()
    if request.most_new is None:
        raise UsageError(
            "The choosing mechanism needs a bound on how many itemsets one unit can add.",
            "Cap the items of a transaction with --max-items, such as 10.",
        )
    found = calibrate_equal(request.top, epsilon=request.epsilon, delta=request.delta, failing=True)
    comparison = COMPARISON_SHARE * found.epsilon
    return CalibratedMechanism(
        mechanism=Choosing(
            top=request.top,
            comparison_epsilon=comparison,
            pick_epsilon=found.epsilon - comparison,
            round_delta=found.delta,
            most_new=request.most_new,
            sensitivity=request.sensitivity,
        ),
        guarantee=found.guarantee,
    )
