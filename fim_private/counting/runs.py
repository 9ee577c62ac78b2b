"""Rank itemsets without keeping them, as runs of equal count from one source."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from fim_private.counting.hidden_counts import RankedCounts

Ints = NDArray[np.int64]


@dataclass(frozen=True, eq=False, repr=False)
class Runs:
    """A ranking by decreasing count, then by source; only the source knows the order of its itemsets of equal count.

    Args:
        levels: the count of each run, int64, decreasing.
        sources: the number of the source of each run, increasing among equal levels.
        ends: the rank after the last itemset of each run, int64, increasing.
    """

    levels: Ints
    sources: Ints
    ends: Ints

    @classmethod
    def ranked(cls, levels: Ints, sources: Ints, numbers: Ints) -> Runs:
        """Rank runs given in any order, one per source and level, with `numbers` itemsets each."""
        order = np.lexsort([sources, -levels])
        return cls(levels[order], sources[order], np.cumsum(numbers[order]))

    def __len__(self) -> int:
        """The number of itemsets."""
        return int(self.ends[-1]) if len(self.ends) else 0

    def first(self, most: int) -> Runs:
        """The ranking of the first `most` itemsets."""
        kept = slice(int(np.searchsorted(self.starts, most)))
        return Runs(self.levels[kept], self.sources[kept], np.minimum(self.ends[kept], most))

    @property
    def starts(self) -> Ints:
        """The rank of each run's first itemset."""
        return np.concatenate([np.zeros(1, np.int64), self.ends])[:-1]

    def locate(self, ranks: Sequence[int]) -> tuple[Ints, Ints]:
        """The run of each rank, and the place in that run, both int64, shape (len(ranks),)."""
        wanted = np.asarray(ranks, np.int64)
        runs = np.searchsorted(self.ends, wanted, side="right")
        return runs, wanted - self.starts[runs]

    def distinct(self) -> tuple[Ints, Ints]:
        """Distinct counts, decreasing, and how many itemsets have each."""
        last = np.flatnonzero(np.diff(self.levels, append=0))
        return self.levels[last], np.diff(self.ends[last], prepend=0)


class RunCounts(RankedCounts):
    """What `HiddenCounts` of runs have in common: all but the itemsets of given ranks."""

    __slots__ = ("_runs",)

    def __init__(self, runs: Runs, *, complete: bool = True) -> None:
        super().__init__(complete=complete)
        self._runs = runs

    def __len__(self) -> int:
        return len(self._runs)

    def reveal_to_curator(self) -> tuple[Ints, Ints]:
        """Distinct counts, decreasing, and how many itemsets have each: data, not a release."""
        return self._runs.distinct()

    _distinct = reveal_to_curator
