"""Stable max: the top itemset if it leads the second by enough, else nothing (Smith and Thakurta 2013).

A round is (eps, delta)-differentially private under add-remove: if neighbours have different top itemsets, both gaps
are at most Delta. The universe is open: itemsets that do not occur have count 0. Proof: docs/mathematics.md#stable-max.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction

from fim_private.accounting.calibration import calibrate_equal
from fim_private.accounting.rounding import RELATIVE_ERROR
from fim_private.mechanisms.protocol import CalibratedMechanism, Law, Margin, Request, Spending
from fim_private.mechanisms.rounds import laplace_reach, law_in_rounds, margin_of_rounds, select_in_rounds
from fim_private.privacy import ApproxDP, Loss
from fim_private.profile import CountProfile
from fim_private.randomness import Randomness
from fim_private.randomness.discrete_laplace import discrete_laplace_survival, sample_discrete_laplace


@dataclass(frozen=True, kw_only=True)
class StableMax:
    """k rounds, each on the itemsets that are left. The list ends with the first round that names nothing.

    Args:
        top: k.
        round_epsilon: the epsilon of one round.
        round_delta: the delta of one round.
        sensitivity: Delta.
    """

    top: int
    round_epsilon: Fraction
    round_delta: Fraction
    sensitivity: int = 1

    failures = ()

    @property
    def losses(self) -> tuple[Loss, ...]:
        return (ApproxDP(self.round_epsilon, self.round_delta),) * self.top

    @property
    def depth(self) -> int:
        """The last round compares place k with place k + 1."""
        return self.top + 1

    @property
    def spending(self) -> tuple[Spending, ...]:
        """The comparisons cost everything; the picks cost nothing."""
        return (Spending(what="comparisons of the first with the second", epsilon=self.round_epsilon, times=self.top),)

    @property
    def scale(self) -> Fraction:
        """The scale of the noise on the gap."""
        return self.sensitivity / self.round_epsilon

    @property
    def threshold(self) -> int:
        """T, the least integer with P(DL(Delta/eps) >= T - Delta) <= delta.

        >>> StableMax(top=1, round_epsilon=Fraction(1), round_delta=Fraction(1, 10**6)).threshold
        15
        """
        scale = float(self.scale)
        tail = -scale * math.log(float(self.round_delta) * (1 + math.exp(-1 / scale)))
        return self.sensitivity + max(1, math.ceil(tail * (1 + RELATIVE_ERROR)))

    @property
    def margins(self) -> tuple[Margin, ...]:
        """The threshold, plus what the noise may take off the gap in any round."""
        counts, one = (self.threshold + laplace_reach(self.scale, rounds) for rounds in (self.top, 1))
        return margin_of_rounds(counts, of_one=one)

    def select(self, profile: CountProfile, randomness: Randomness) -> tuple[int, ...]:
        """The first ranks in order, up to the round that names nothing."""

        def select_one(left: CountProfile) -> tuple[int, ...]:
            passed = self._gap(left) + sample_discrete_laplace(self.scale, randomness) >= self.threshold
            return _first(left) if passed else ()

        return select_in_rounds(profile, self.top, select_one)

    def law(self, profile: CountProfile) -> Law:

        def law_of_one(left: CountProfile) -> Law:
            chance = float(discrete_laplace_survival(self.threshold - self._gap(left), float(self.scale)))
            if not _first(left):
                return {(): 1.0}
            level = next((place for place, number in enumerate(left.multiplicities) if number), len(left.levels))
            return {(level,): chance, (): 1 - chance}

        return law_in_rounds(profile, self.top, law_of_one)

    def _gap(self, profile: CountProfile) -> int:
        return profile.count(1) - profile.count(2)


def _first(profile: CountProfile) -> tuple[int, ...]:
    """The top rank; empty if no itemset is left to name."""
    named = profile.occurring or profile.zeros
    return (0,) if named else ()


def calibrate(request: Request) -> CalibratedMechanism:
    """The mechanism with the largest epsilon per round that basic or optimal composition allows.

    Raises:
        BudgetError: delta is 0.
    """
    request.require_delta()
    found = calibrate_equal(request.top, epsilon=request.epsilon, delta=request.delta, failing=True)
    return CalibratedMechanism(
        mechanism=StableMax(
            top=request.top, round_epsilon=found.epsilon, round_delta=found.delta, sensitivity=request.sensitivity
        ),
        guarantee=found.guarantee,
    )
