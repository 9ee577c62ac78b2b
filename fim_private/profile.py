"""What a mechanism may see of the data: how many itemsets have which count, and no name of an itemset.

A profile is data. Its `repr` shows nothing, and only the door (`release/door.py`) hands a profile to a mechanism.
"""

from __future__ import annotations

from bisect import bisect_right
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import accumulate

OPEN = None
"""The number of itemsets of count 0 in an open universe: unknown, and treated as infinite."""


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class CountProfile:
    """Positive counts in decreasing order, how often each occurs, and how many itemsets do not occur.

    A *rank* is the 0-based place of an itemset in decreasing order of counts. The counting layer orders the itemsets
    inside a level of equal counts. Ranks from `occurring` on stand for itemsets that do not occur
    (docs/mathematics.md#universes-and-ranks).

    Args:
        levels: counts, decreasing, each at least 1. The counting layer gives each count once. If a count stands twice,
            the itemsets of its first level come first in the ranking.
        multiplicities: number of itemsets at each level, exact; 0 if all of them were taken away.
        zeros: number of itemsets of count 0 in a declared universe (exact, any size), or `OPEN`.
        complete: whether the levels hold every occurring itemset. Otherwise they hold the most frequent ones alone, and
            it is a fault of the program to look further down: a mechanism states its `depth` beforehand.
    """

    levels: Sequence[int]
    multiplicities: Sequence[int]
    zeros: int | None = OPEN
    complete: bool = True
    _ends: list[int] = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "_ends", list(accumulate(self.multiplicities)))

    @classmethod
    def of(cls, counts: Sequence[int], *, zeros: int | None = OPEN) -> CountProfile:
        """The profile of a plain list of counts. Zeros in the list are dropped.

        >>> profile = CountProfile.of([40, 38, 38, 3])
        >>> list(profile.levels), list(profile.multiplicities)
        ([40, 38, 3], [1, 2, 1])
        """
        tally = Counter(sorted((count for count in counts if count > 0), reverse=True))
        return cls(levels=list(tally), multiplicities=list(tally.values()), zeros=zeros)

    @property
    def occurring(self) -> int:
        """L, the number of itemsets with a positive count; of those held, if the profile is not complete."""
        return self._ends[-1] if self._ends else 0

    @property
    def universe_size(self) -> int | None:
        """The number of itemsets in a declared universe, or `OPEN`."""
        return None if self.zeros is None else self.occurring + self.zeros

    def count(self, place: int) -> int:
        """c_(place), the place-th largest count, 1-based as in the mathematics; 0 beyond the occurring itemsets."""
        level = bisect_right(self._ends, place - 1)
        if level < len(self._ends):
            return int(self.levels[level])
        self._need_complete()
        return 0

    def top(self, places: int) -> list[tuple[int, int]]:
        """(count, multiplicity) for the `places` largest counts. The last level is cut to fit.

        If fewer itemsets occur, a level of count 0 follows. In an open universe it fills all places; in a declared one
        it ends with the universe.
        """
        top: list[tuple[int, int]] = []
        left = places
        for count, multiplicity in zip(self.levels, self.multiplicities, strict=True):
            if left == 0:
                return top
            taken = min(int(multiplicity), left)
            top.append((int(count), taken))
            left -= taken
        if left:
            self._need_complete()
            padding = left if self.zeros is None else min(left, self.zeros)
            if padding:
                top.append((0, padding))
        return top

    def without(self, rank: int) -> CountProfile:
        """The profile without the itemset of this rank."""
        if rank >= self.occurring:
            self._need_complete()
            zeros = None if self.zeros is None else self.zeros - 1
            return CountProfile(levels=self.levels, multiplicities=self.multiplicities, zeros=zeros)
        at = bisect_right(self._ends, rank)
        multiplicities = list(self.multiplicities)
        multiplicities[at] -= 1
        keep = [level for level, multiplicity in enumerate(multiplicities) if multiplicity]
        return CountProfile(
            levels=[self.levels[level] for level in keep],
            multiplicities=[multiplicities[level] for level in keep],
            zeros=self.zeros,
            complete=self.complete,
        )

    def without_level(self, level: int) -> CountProfile:
        """The profile without one itemset of a level; every level keeps its place.

        A level is a place in `levels`; `len(levels)` stands for an itemset that does not occur.
        """
        if level == len(self.levels):
            return self.without(self.occurring)
        multiplicities = list(self.multiplicities)
        multiplicities[level] -= 1
        return CountProfile(levels=self.levels, multiplicities=multiplicities, zeros=self.zeros, complete=self.complete)

    def _need_complete(self) -> None:
        if not self.complete:
            raise AssertionError("a mechanism looked further down than the depth it stated")

    def __repr__(self) -> str:
        return "CountProfile(hidden)"
