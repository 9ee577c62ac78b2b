"""The exponential mechanism over a declared universe, k picks by peeling (McSherry and Talwar 2007).

Under add-remove the exponent eps c / Delta is eps-bounded-range (Durfee and Rogers 2019). The textbook's exponent is
half of that, and also holds for `replace`. The universe is never enumerated: itemsets that do not occur are one level.
Proof: docs/mathematics.md#exponential-mechanism.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property, partial

import numpy as np

from fim_private.accounting.calibration import calibrate_pick
from fim_private.accounting.rising import FLAT, rising
from fim_private.arrays import Floats
from fim_private.mechanisms.peeling import Level, missed_by_picks, peel, peel_law, peeling_losses, picks_spending
from fim_private.mechanisms.protocol import MISSED, CalibratedMechanism, Law, Margin, Request, Spending, lead_of_list
from fim_private.privacy import Loss
from fim_private.profile import CountProfile
from fim_private.randomness import Randomness

RISE = Fraction(1, 2)
"""How much more of epsilon later picks get than earlier ones."""


@dataclass(frozen=True, kw_only=True)
class Exponential:
    """k picks, each with probability proportional to e^{pick_epsilon c / sensitivity}.

    Args:
        top: k.
        pick_epsilon: the epsilon of one pick; if they rise, of those in the middle.
        universe_size: how many itemsets were declared.
        general: whether to use the textbook's exponent, half as large.
        rise: how much more of epsilon later picks get than earlier ones.
        sensitivity: Delta.
    """

    top: int
    pick_epsilon: Fraction
    universe_size: int
    general: bool = False
    rise: Fraction = FLAT
    sensitivity: int = 1

    failures = ()

    @property
    def depth(self) -> int | None:
        """All counts are looked at."""
        return None

    @property
    def losses(self) -> tuple[Loss, ...]:
        return peeling_losses(self.top, self.pick_epsilon, self.rise)

    @property
    def spending(self) -> tuple[Spending, ...]:
        return picks_spending(self.top, self.pick_epsilon, self.rise)

    @property
    def rate(self) -> Fraction:
        """The exponent of a pick in the middle is this times the count."""
        return self.pick_epsilon / (self.sensitivity * (2 if self.general else 1))

    @property
    def rates(self) -> tuple[Fraction, ...]:
        """The exponent of each pick is this times the count."""
        return tuple(self.rate * factor for factor in rising(self.top, self.rise))

    @property
    def scale(self) -> Fraction:
        """With this much more of a lead, in counts, a wrong pick in the middle is less likely by a factor e."""
        return 1 / self.rate

    @cached_property
    def _float_rates(self) -> Floats:
        return np.array([float(rate) for rate in self.rates])

    @cached_property
    def margins(self) -> tuple[Margin, ...]:
        """The lead that the itemsets of the list need over all others of the universe together."""
        # Of single picks, the first have the smallest rate.
        one = math.ceil((math.log(self.universe_size) + math.log(19)) / float(self.rates[0]))
        words = "between each itemset of the list and the bulk of the declared universe"
        return (Margin(counts=self.lead(MISSED), of_one=one, words=words),)

    def lead(self, missed: float) -> int:
        """The lead with which the whole list is picked, except with this probability."""
        near = int(math.log(self.universe_size / missed) / float(self.rates[0]))
        return lead_of_list(self.missed, near=near, often=missed)

    def missed(self, lead: int) -> float:
        """How often not the whole list is picked if all its itemsets have this lead; a bound."""
        return missed_by_picks(self._float_rates, math.log(self.universe_size), lead)

    def select(self, profile: CountProfile, randomness: Randomness) -> tuple[int, ...]:
        return peel(self._levels(profile), rates=self.rates, open_universe=False, randomness=randomness)

    def law(self, profile: CountProfile) -> Law:
        return peel_law(self._levels(profile), rates=self.rates, open_universe=False)

    def _levels(self, profile: CountProfile) -> Sequence[Level]:
        """The scores of all itemsets of the universe, with how many have each."""
        return profile.top(self.universe_size)


def calibrate(
    request: Request, *, general: bool = False, kind: type[Exponential] = Exponential, rise: Fraction = RISE
) -> CalibratedMechanism:
    """The mechanism with the largest epsilon per pick that composition allows.

    Args:
        request: what is asked.
        general: whether to use the textbook's exponent, the same for all picks.
        kind: the class of the mechanism: picks by these or by other scores.
        rise: how much more of epsilon later picks get than earlier ones, if the exponent is not the textbook's.

    Raises:
        UsageError: the universe was not declared.
    """
    universe_size = request.require_universe()
    rise = FLAT if general else rise
    losses_of = partial(peeling_losses, request.top, rise=rise)
    found = calibrate_pick(losses_of, epsilon=request.epsilon, delta=request.delta, failing=False)
    return CalibratedMechanism(
        mechanism=kind(
            top=request.top,
            pick_epsilon=found.pick_epsilon,
            universe_size=universe_size,
            general=general,
            rise=rise,
            sensitivity=request.sensitivity,
        ),
        guarantee=found.guarantee,
    )
