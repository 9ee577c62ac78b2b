"""How good a list is, measured against the exact counts.

Hits are the named itemsets that belong to the true top k. Where itemsets are tied at place k, any of them can fill the
places that are left. An itemset of the top k that is not named is missed.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import median

from fim_private.profile import CountProfile


@dataclass(frozen=True, kw_only=True)
class TrialMeasures:
    """The measures of one trial.

    Args:
        named: how many itemsets were named.
        precision: hits / k.
        precision_named: hits / named. None if nothing was named.
        false_negative_rate: of the itemsets above the k-th count, the share not named. 0 if no itemset is above it.
        rank_loss: share of the top k's weight that was missed. Place j has weight 1/log2(j + 1).
        count_loss: share of the top k's count mass that was missed.
        empty: whether nothing was named.
        shortfall: the largest count minus the count of the first named itemset, in transactions. None if not known.
        count_error: the median relative error of the released counts. None if there are none.
    """

    named: int
    precision: float
    precision_named: float | None
    false_negative_rate: float
    rank_loss: float
    count_loss: float
    empty: bool
    shortfall: int | None
    count_error: float | None


@dataclass(frozen=True, eq=False, repr=False)
class Truth:
    """The true top k of a profile, against which lists are measured."""

    counts: tuple[int, ...]

    @classmethod
    def of(cls, profile: CountProfile, top: int) -> Truth:
        """The k largest counts, in decreasing order, filled up with zeros if fewer itemsets occur."""
        return cls(tuple(count for count, number in profile.top(top) for _ in range(number)))

    def measure(self, named: Sequence[int | None], counts: Sequence[float] | None = None) -> TrialMeasures:
        """Measure a list.

        Args:
            named: the true count of each named itemset, in order. None for an itemset whose count is not known; such a
                count is certainly below the k-th.
            counts: the released counts, in the same order; None if none were released.
        """
        errors = [
            abs(released / true - 1) for true, released in zip(named, counts or (), strict=counts is not None) if true
        ]
        bar = self.counts[-1] if self.counts else 0
        # Each hit, from the largest count down, takes the first free place with its count.
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
            count_error=median(errors) if errors else None,
            shortfall=self.counts[0] - named[0] if named and named[0] is not None and self.counts else None,
        )
