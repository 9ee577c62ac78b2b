"""Levels of equal counts from which itemsets are taken one at a time, without replacement."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from itertools import accumulate, pairwise
from operator import sub

from fim_private.randomness import Randomness
from fim_private.randomness.uniform import uniform_below


class RemainingLevels:
    """How many itemsets each level still has, and which of them were taken.

    Levels are in decreasing order of counts. Multiplicities may be of any size: nothing is enumerated.
    """

    def __init__(self, multiplicities: Sequence[int]) -> None:
        self.left = list(multiplicities)
        self._starts = [0, *accumulate(multiplicities)]
        self._taken: dict[int, Gaps] = {}

    def take(self, level: int, randomness: Randomness) -> int:
        """Take a uniform choice from what is left of a level; return its rank among all itemsets at the start."""
        taken = self._taken.setdefault(level, Gaps())
        place = taken.place(uniform_below(self.left[level], randomness))
        taken.take(place)
        self.left[level] -= 1
        return self._starts[level] + place


class WeightedLevels:
    """The weight that each level still has, and which itemsets were taken.

    Args:
        multiplicities: how many itemsets each level has, in decreasing order of counts.
        weights: one per itemset, level by level, whole numbers of 1 or more, of any size.
    """

    def __init__(self, multiplicities: Sequence[int], weights: Sequence[int]) -> None:
        self._ends = [0, *accumulate(weights)]
        self._starts = [self._ends[rank] for rank in accumulate(multiplicities, initial=0)]
        self.left = [end - start for start, end in pairwise(self._starts)]
        self._taken: dict[int, Gaps] = {}

    def take(self, level: int, randomness: Randomness) -> int:
        """Take one of those left of a level, by weight; return its rank among all itemsets at the start."""
        taken = self._taken.setdefault(level, Gaps())
        place = self._starts[level] + taken.place(uniform_below(self.left[level], randomness))
        rank = bisect_right(self._ends, place) - 1
        weight = self._ends[rank + 1] - self._ends[rank]
        taken.take(self._ends[rank] - self._starts[level], weight)
        self.left[level] -= weight
        return rank


class Gaps:
    """Intervals that were taken from a line of whole numbers from 0 on."""

    def __init__(self) -> None:
        self._starts, self._lengths = list[int](), list[int]()
        self._before, self._left = [0], list[int]()

    @property
    def length(self) -> int:
        """How much was taken."""
        return self._before[-1]

    def place(self, offset: int) -> int:
        """The place after this many places that were not taken, 0-based."""
        return offset + self._before[bisect_right(self._left, offset)]

    def take(self, start: int, length: int = 1) -> None:
        """Take an interval of which nothing was taken before."""
        at = bisect_right(self._starts, start)
        self._starts.insert(at, start)
        self._lengths.insert(at, length)
        self._before = [0, *accumulate(self._lengths)]
        self._left = [*map(sub, self._starts, self._before)]
