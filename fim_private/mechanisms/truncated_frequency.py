"""Truncated frequencies: the exponential mechanism on counts that are lifted to a floor (Bhaskar et al. 2010).

Every count below c_(k) - gamma becomes c_(k) - gamma. So rare itemsets are all alike, whether they occur or not, and
need not be told apart. gamma is public. The lifted counts move as counts do, so the picks cost what those of the
exponential mechanism cost. As published, the exponent is half as large and the epsilons of the picks are added up.
Proof, and what it is good for: docs/mathematics.md#truncated-frequencies.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction

from fim_private.accounting.rising import FLAT
from fim_private.accounting.rounding import log_up
from fim_private.mechanisms import exponential
from fim_private.mechanisms.exponential import Exponential
from fim_private.mechanisms.peeling import Level
from fim_private.mechanisms.protocol import CalibratedMechanism, Request
from fim_private.profile import CountProfile

MISS = Fraction(1, 100)
"""The paper's rho: at most one of 100 lists holds an itemset that was lifted."""


@dataclass(frozen=True, kw_only=True)
class TruncatedFrequency(Exponential):
    """k picks, each with probability proportional to e^{rate max(c, c_(k) - gamma)}.

    Its margins are those of the exponential mechanism: gamma is larger, so lifted counts are still further below c_(k).
    """

    @property
    def gamma(self) -> int:
        """How far below c_(k) the floor lies, in counts."""
        return math.ceil(log_up(self.top * self.universe_size / MISS) / self.rate)

    @property
    def tipping_leads(self) -> tuple[int, ...]:
        """From this lead of c_(k) on, an itemset is lifted."""
        return (self.gamma,)

    def _levels(self, profile: CountProfile) -> Sequence[Level]:
        """All levels with their lifted counts. A draw does not tell levels with equal scores apart."""
        floor = profile.count(self.top) - self.gamma
        return [(max(count, floor), multiplicity) for count, multiplicity in profile.top(self.universe_size)]


def calibrate(request: Request, *, published: bool = False) -> CalibratedMechanism:
    """The mechanism with the largest epsilon per pick that composition allows.

    As `published`, it has the paper's exponent and basic composition, whatever delta is.

    Raises:
        UsageError: the universe was not declared.
    """
    asked = replace(request, delta=Fraction(0)) if published else request
    return exponential.calibrate(asked, general=published, kind=TruncatedFrequency, rise=FLAT)
