"""The exponential mechanism over a public list, where only the most frequent itemsets are counted beforehand.

The first l + 1 itemsets are held with their counts. All others together are one level at c_(l+1), which no count of
theirs exceeds. Where a pick falls on that level, one of them is drawn and counted, and taken with probability
e^{rate (its count - c_(l+1))}. Otherwise the pick is drawn again. So the others are picked by their own counts, and
most of them are never counted. Counts far below c_(l+1) are lifted to a floor, or such a pick might be drawn again
without end. Proof: docs/mathematics.md#lifted-counts.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from fim_private.mechanisms.exponential import Exponential
from fim_private.mechanisms.peeling import Level
from fim_private.mechanisms.remaining_levels import RemainingLevels
from fim_private.profile import CountProfile
from fim_private.randomness import Randomness
from fim_private.randomness.bernoulli import bernoulli_exp
from fim_private.randomness.weighted_choice import WeightedChoice


@dataclass(frozen=True, kw_only=True)
class LiftedExponential(Exponential):
    """k picks, each with probability proportional to e^{rate max(c, floor)}, floor = c_(l+1) less a public number.

    Args:
        candidates: l, public.
        attempts: all picks together take so many at most, on average; public.
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

    def draw(self, held: CountProfile, draw_other: Callable[[], int], randomness: Randomness) -> Iterator[int | None]:
        """Yields ranks, in the order picked. None stands for the itemset that `draw_other` drew last.

        Args:
            held: the first l + 1 counts, or all if fewer itemsets occur.
            draw_other: draws an itemset of the list that is not held and was not picked, uniformly, and tells its
                count.
            randomness: where the bits come from.
        """
        levels = held.top(min(self.universe_size, held.occurring))
        highest = held.count(self.depth)
        floor = self.floor(highest)
        numbers = [number for _, number in levels]
        remaining = RemainingLevels([*numbers, self.universe_size - sum(numbers)])
        choices = {rate: WeightedChoice([*(count for count, _ in levels), highest], rate) for rate in self.rates}
        for rate in self.rates[: self.universe_size]:
            level = choices[rate].draw(remaining.left, randomness)
            while level == len(levels) and not bernoulli_exp(rate * (highest - max(draw_other(), floor)), randomness):
                level = choices[rate].draw(remaining.left, randomness)
            rank = remaining.take(level, randomness)
            yield None if level == len(levels) else rank

    def _levels(self, profile: CountProfile) -> Sequence[Level]:
        """The lifted counts of all itemsets of the list, with how many have each."""
        floor = self.floor(profile.count(self.depth))
        return [(max(count, floor), number) for count, number in profile.top(self.universe_size)]
