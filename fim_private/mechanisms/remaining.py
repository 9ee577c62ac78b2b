"""What is left of levels of equal counts as itemsets are taken away, one at a time and without replacement."""

from __future__ import annotations

from bisect import insort
from collections.abc import Sequence
from itertools import accumulate

from fim_private.randomness import Randomness
from fim_private.randomness.uniform import uniform_below


class Remaining:
    """How many itemsets each level still has, and which of them were taken.

    Args:
        multiplicities: of the levels, in decreasing order of counts; any size, for nothing is enumerated.
    """

    def __init__(self, multiplicities: Sequence[int]) -> None:
        self.left = list(multiplicities)
        self._starts = [0, *accumulate(multiplicities)]
        self._taken: dict[int, list[int]] = {}

    def take(self, level: int, randomness: Randomness) -> int:
        """The rank, among all itemsets as they were at first, of a uniform choice from what is left of a level."""
        offset = uniform_below(self.left[level], randomness)
        taken = self._taken.setdefault(level, [])
        for earlier in taken:
            offset += earlier <= offset
        insort(taken, offset)
        self.left[level] -= 1
        return self._starts[level] + offset
