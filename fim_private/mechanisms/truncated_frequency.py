"""Truncated frequencies: the exponential mechanism on counts that are lifted to a floor (Bhaskar et al. 2010).

Every count below c_(k) - gamma becomes c_(k) - gamma. So rare itemsets are all alike, whether they occur or not, and
need not be told apart. gamma is public. The lifted counts move as counts do, so the picks cost what those of the
exponential mechanism cost. As published, the exponent is half as large and the epsilons of the picks are added up.
Proof, and what it is good for: docs/mathematics.md#truncated-frequencies.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction

from fim_private.accounting.calibration import calibrate_pick
from fim_private.accounting.rounding import log_up
from fim_private.mechanisms.exponential import Exponential
from fim_private.mechanisms.peeling import Level, peel, peel_law, peeling_losses
from fim_private.mechanisms.protocol import CalibratedMechanism, Law, Margin, Request, Spending
from fim_private.privacy import Loss
from fim_private.profile import CountProfile
from fim_private.randomness import Randomness

MISS = Fraction(1, 100)
"""The paper's rho: at most one of 100 lists holds an itemset that was lifted."""


@dataclass(frozen=True, kw_only=True)
class TruncatedFrequency:
    """k picks, each with probability proportional to e^{rate max(c, c_(k) - gamma)}.

    Args:
        top: k.
        pick_epsilon: the epsilon of one pick.
        universe_size: how many itemsets were declared.
        general: whether to use the textbook's exponent, half as large.
        sensitivity: Delta.
    """

    top: int
    pick_epsilon: Fraction
    universe_size: int
    general: bool = False
    sensitivity: int = 1

    failures = ()
    depth = None

    @property
    def losses(self) -> tuple[Loss, ...]:
        return peeling_losses(self.top, self.pick_epsilon)

    @property
    def spending(self) -> tuple[Spending, ...]:
        return self._untruncated.spending

    @property
    def rate(self) -> Fraction:
        """A pick's exponent is this times the lifted count."""
        return self._untruncated.rate

    @property
    def scale(self) -> Fraction:
        """With so much more of a lead, in counts, a wrong pick is less likely by a factor e."""
        return 1 / self.rate

    @property
    def gamma(self) -> int:
        """How far below c_(k) the floor lies, in counts."""
        return math.ceil(log_up(self.top * self.universe_size / MISS) / self.rate)

    @property
    def tipping_lead(self) -> int:
        """From this lead of c_(k) on, an itemset is lifted."""
        return self.gamma

    @property
    def margins(self) -> tuple[Margin, ...]:
        """That of the exponential mechanism: gamma is larger, so lifted counts are still further below c_(k)."""
        return self._untruncated.margins

    def select(self, profile: CountProfile, randomness: Randomness) -> tuple[int, ...]:
        return peel(self._levels(profile), picks=self.top, rate=self.rate, open_universe=False, randomness=randomness)

    def law(self, profile: CountProfile) -> Law:
        return peel_law(self._levels(profile), picks=self.top, rate=self.rate, open_universe=False)

    def _levels(self, profile: CountProfile) -> list[Level]:
        """All levels with their lifted counts. A draw does not tell levels with equal scores apart."""
        floor = profile.count(self.top) - self.gamma
        return [(max(count, floor), multiplicity) for count, multiplicity in profile.top(self.universe_size)]

    @property
    def _untruncated(self) -> Exponential:
        return Exponential(
            top=self.top,
            pick_epsilon=self.pick_epsilon,
            universe_size=self.universe_size,
            general=self.general,
            sensitivity=self.sensitivity,
        )


def calibrate(request: Request, *, published: bool = False) -> CalibratedMechanism:
    """The mechanism with the largest epsilon per pick that basic or Renyi composition allows.

    Args:
        request: what is asked.
        published: whether to use the paper's exponent and basic composition, whatever delta is.

    Raises:
        UsageError: the universe was not declared.
    """
    universe_size = request.require_universe()

    def losses_of(pick: Fraction) -> tuple[Loss, ...]:
        return peeling_losses(request.top, pick)

    delta = Fraction(0) if published else request.delta
    found = calibrate_pick(losses_of, epsilon=request.epsilon, delta=delta, failing=False)
    return CalibratedMechanism(
        mechanism=TruncatedFrequency(
            top=request.top,
            pick_epsilon=found.pick_epsilon,
            universe_size=universe_size,
            general=published,
            sensitivity=request.sensitivity,
        ),
        guarantee=found.guarantee,
    )
