"""Levels of equal counts from which itemsets are taken one at a time, without replacement."""

from __future__ import annotations

from bisect import insort
from collections.abc import Sequence
from itertools import accumulate

from fim_private.randomness import Randomness
from fim_private.randomness.uniform import uniform_below


class RemainingLevels:
    """How many itemsets each level still has, and which of them were taken.

    Args:
        multiplicities: one per level, in decreasing order of counts. They may be of any size: nothing is enumerated.
    """

    def __init__(self, multiplicities: Sequence[int]) -> None:
        self.left = list(multiplicities)
        self._starts = [0, *accumulate(multiplicities)]
        self._taken: dict[int, list[int]] = {}

    def take(self, level: int, randomness: Randomness) -> int:
        """Take a uniform choice from what is left of a level; return its rank among all itemsets at the start."""
        offset = uniform_below(self.left[level], randomness)
        place = take_place(offset, self._taken.setdefault(level, []))
        self.left[level] -= 1
        return self._starts[level] + place


def take_place(offset: int, taken: list[int]) -> int:
    """The place after so many places that were not taken, 0-based. It joins `taken`, which is in increasing order."""
    place = offset
    for earlier in taken:
        place += earlier <= place
    insort(taken, place)
    return place
