"""How good a list is, measured against the exact counts.

Hits are the itemsets named that belong to the true top k; where itemsets are tied at place k, any of them will do for
the places that the tie leaves. What was not named is missed.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from fim_private.profile import CountProfile


@dataclass(frozen=True, kw_only=True)
class TrialMeasures:
    """One trial's figures.

    Args:
        named: how many itemsets were named.
        precision: hits / k.
        precision_named: hits / named; None where nothing was named.
        false_negative_rate: of the itemsets above the k-th count, the share not named; 0 where there are none.
        rank_loss: share of the top k's weight that was missed, place j weighing 1/log2(j + 1).
        count_loss: share of the top k's count mass that was missed.
        empty: whether nothing was named.
        shortfall: the largest count minus the first named one's, in transactions; None where that is not known.
    """

    named: int
    precision: float
    precision_named: float | None
    false_negative_rate: float
    rank_loss: float
    count_loss: float
    empty: bool
    shortfall: int | None


@dataclass(frozen=True, eq=False, repr=False)
class Truth:
    """The true top k of a profile, against which lists are measured."""

    counts: tuple[int, ...]

    @classmethod
    def of(cls, profile: CountProfile, top: int) -> Truth:
        """The k largest counts, in decreasing order; zeros where fewer itemsets occur."""
        return cls(tuple(count for count, number in profile.top(top) for _ in range(number)))

    def measure(self, named: Sequence[int | None]) -> TrialMeasures:
        """The figures of a list.

        Args:
            named: the true count of each itemset named, in order; None for one whose count is not known, which is
                surely below the k-th.
        """
        bar = self.counts[-1] if self.counts else 0
        # The j-th best of the hits stands for the best place not yet taken whose count it reaches.
        hits = sorted((count for count in named if count is not None and count >= max(bar, 1)), reverse=True)
        weights = [1 / math.log2(place + 2) for place in range(len(self.counts))]
        taken = weight = mass = above = 0.0
        places = iter(range(len(self.counts)))
        for count in hits:
            for place in places:
                if self.counts[place] == count:
                    weight += weights[place]
                    mass += count
                    taken += 1
                    above += count > bar
                    break
        must = sum(count > bar for count in self.counts)
        total = sum(self.counts)
        return TrialMeasures(
            named=len(named),
            precision=taken / len(self.counts) if self.counts else 1.0,
            precision_named=taken / len(named) if named else None,
            false_negative_rate=1 - above / must if must else 0.0,
            rank_loss=1 - weight / sum(weights) if weights else 0.0,
            count_loss=1 - mass / total if total else 0.0,
            empty=not named,
            shortfall=self.counts[0] - named[0] if named and named[0] is not None and self.counts else None,
        )
