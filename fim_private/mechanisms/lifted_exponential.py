"""The exponential mechanism over a public list or over tokens, where only the most frequent itemsets are counted first.

The first l + 1 itemsets are held with their counts. All others together are one level at c_(l+1), which no count of
theirs exceeds. Where a pick falls on that level, one of them is drawn and counted, and taken with probability
e^{rate (its count - c_(l+1))}. Otherwise the pick is drawn again. So the others are picked by their own counts, and
most of them are never counted. Counts far below c_(l+1) are lifted to a floor, or such a pick might be drawn again
without end. Proof: docs/mathematics.md#lifted-counts.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Protocol

from fim_private.mechanisms.exponential import Exponential
from fim_private.mechanisms.peeling import Level
from fim_private.profile import CountProfile
from fim_private.randomness import Randomness
from fim_private.randomness.bernoulli import bernoulli_exp
from fim_private.randomness.weighted_choice import WeightedChoice

OTHER, DECOY = -1, -2
"""These stand for an itemset that is not held, and for a decoy."""


class Held(Protocol):
    """Itemsets whose counts are known beforehand."""

    @property
    def left(self) -> Sequence[int]:
        """What is left of each level: how many itemsets, or what they weigh together."""

    def take(self, level: int, randomness: Randomness) -> int:
        """Take one of those left of a level; return its rank."""


class Others(Protocol):
    """Itemsets that are counted when they are drawn."""

    @property
    def left(self) -> int:
        """How many are left, or what they weigh together."""

    def draw(self) -> int:
        """The count of one of those left, drawn uniformly or by weight."""


def most_held(size: int) -> int:
    """How many of the most frequent itemsets are counted beforehand. To count more would take long."""
    return 1_000_000 if size <= 3 else 100_000


@dataclass(frozen=True, kw_only=True)
class LiftedExponential(Exponential):
    """k picks, each with probability proportional to e^{rate max(c, floor)}, floor = c_(l+1) less a public number.

    Args:
        candidates: l, public.
        attempts: the most attempts that all picks together take, on average; public.
    """

    candidates: int
    attempts: int = 30_000

    @property
    def depth(self) -> int:
        """The top l and the one after."""
        return self.candidates + 1

    def floor(self, deepest: int) -> int:
        """Counts below this one are lifted to it, by c_(l+1); 0 or more."""
        return max(0, deepest - self.reach)

    @property
    def reach(self) -> int:
        """The floor is so far below c_(l+1). An attempt succeeds with probability k/attempts or more."""
        return int(math.log(max(1.0, self.attempts / self.top)) / float(max(self.rates)))

    def draw(
        self, profile: CountProfile, held: Held, others: Others, randomness: Randomness, *, decoys: int = 0
    ) -> Iterator[int]:
        """Yields ranks of held itemsets in the order picked, `OTHER` for the one that `others` drew last, or `DECOY`.

        The caller takes the one that was drawn from the others before the next pick.

        Args:
            profile: the first l + 1 counts, or all if fewer itemsets occur.
            held: the itemsets of its levels.
            others: all others, which are no more frequent than c_(l+1).
            randomness: where the bits come from.
            decoys: what decoys weigh together. Their score is that of an itemset that nobody has, and none is taken.
        """
        highest, other = profile.count(self.depth), len(profile.levels)
        floor = self.floor(highest)
        choices = {rate: WeightedChoice([*profile.levels, highest, floor], rate) for rate in self.rates}
        for rate in self.rates:
            left = [*held.left, others.left, decoys]
            if not any(left):
                return
            while True:
                level = choices[rate].draw(left, randomness)
                if level != other or bernoulli_exp(rate * (highest - max(others.draw(), floor)), randomness):
                    break
            if level == other:
                yield OTHER
            else:
                yield DECOY if level > other else held.take(level, randomness)

    def _levels(self, profile: CountProfile) -> Sequence[Level]:
        """The lifted counts of all itemsets of the list, with how many have each."""
        floor = self.floor(profile.count(self.depth))
        return [(max(count, floor), number) for count, number in profile.top(self.universe_size)]
