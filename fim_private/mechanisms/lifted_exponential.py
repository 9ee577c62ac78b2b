"""The exponential mechanism over a public list, where only the most frequent itemsets are counted one by one.

Every count below c_(l+1) becomes c_(l+1), and l is public. So all other itemsets of the list are alike, whether they
occur or not, and need not be counted. One unit moves every count, and c_(l+1), in the same direction by at most Delta.
So it moves lifted counts as much, and the picks cost what those of the exponential mechanism cost. Proof:
docs/mathematics.md#lifted-counts.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from fim_private.mechanisms.exponential import Exponential
from fim_private.mechanisms.peeling import Level
from fim_private.profile import CountProfile


@dataclass(frozen=True, kw_only=True)
class LiftedExponential(Exponential):
    """k picks, each with probability proportional to e^{rate max(c, c_(l+1))}.

    Args:
        candidates: l, public.
    """

    candidates: int

    @property
    def depth(self) -> int:
        """The top l and the one after."""
        return self.candidates + 1

    def _levels(self, profile: CountProfile) -> Sequence[Level]:
        """The lifted counts of the itemsets that are held, and one level of all others on the list."""
        floor = profile.count(self.depth)
        held = profile.top(min(self.universe_size, profile.occurring))
        lifted = [(max(count, floor), number) for count, number in held]
        others = self.universe_size - sum(number for _, number in held)
        return [*lifted, (floor, others)] if others else lifted
