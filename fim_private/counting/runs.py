"""Rankings of itemsets that are not kept: runs of ranks, each of one count and from one source."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from fim_private.profile import CountProfile

Ints = NDArray[np.int64]


@dataclass(frozen=True, eq=False, repr=False)
class Runs:
    """A ranking by decreasing count; equals by source, and those of one source in an order that it alone knows.

    Args:
        levels: the count of each run, int64, decreasing.
        sources: where its itemsets come from, a number each, increasing among equal levels.
        ends: the rank after its last itemset, int64, increasing.
    """

    levels: Ints
    sources: Ints
    ends: Ints

    @classmethod
    def ranked(cls, levels: Ints, sources: Ints, numbers: Ints) -> Runs:
        """Of runs in any order, of which each source has one a level; `numbers` says how many itemsets each has."""
        order = np.lexsort([sources, -levels])
        return cls(levels[order], sources[order], np.cumsum(numbers[order]))

    def __len__(self) -> int:
        """How many itemsets there are."""
        return int(self.ends[-1]) if len(self.ends) else 0

    def first(self, most: int) -> Runs:
        """The first so many itemsets."""
        kept = slice(int(np.searchsorted(self.starts, most)))
        return Runs(self.levels[kept], self.sources[kept], np.minimum(self.ends[kept], most))

    @property
    def starts(self) -> Ints:
        """The rank of each run's first itemset."""
        return np.concatenate([np.zeros(1, np.int64), self.ends])[:-1]

    def locate(self, ranks: Sequence[int]) -> tuple[Ints, Ints]:
        """For each rank its run and the place in it, int64, shape (len(ranks),)."""
        wanted = np.asarray(ranks, np.int64)
        runs = np.searchsorted(self.ends, wanted, side="right")
        return runs, wanted - self.starts[runs]

    def distinct(self) -> tuple[Ints, Ints]:
        """Distinct counts, decreasing, and how many itemsets have each."""
        last = np.flatnonzero(np.diff(self.levels, append=0))
        return self.levels[last], np.diff(self.ends[last], prepend=0)

    def as_profile(self, zeros: int | None, *, complete: bool = True) -> CountProfile:
        """What a mechanism may see."""
        levels, multiplicities = self.distinct()
        return CountProfile(
            levels=levels.tolist(), multiplicities=multiplicities.tolist(), zeros=zeros, complete=complete
        )
