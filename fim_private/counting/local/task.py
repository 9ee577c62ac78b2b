"""What is to be counted, ready for counting: itemsets of one size, and by which method those of which owner."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from fim_private.counting.local import triangle
from fim_private.counting.local.bitsets import is_dense
from fim_private.counting.local.depth_first import sum_over_lists
from fim_private.counting.local.index import U32, Index, Lists


class Task:
    """Counting the itemsets of one size in an index. Its `repr` shows no data.

    The rarest member of an itemset owns it. Pairs owned by the most frequent items are counted by a triangle of
    counters, all else over the inverted lists of the owners, depth first or by bits.

    Attributes:
        index: the data.
        size: of the itemsets; 1 for items, which the index has counted, so that no work is left.
        triangle: counters of the pairs of the `first` most frequent items; None where `first` is 0.
        first: the least frequent owner that has no list has the rank before this.
        lists: of the owners from `first` on.
        dense: whether all else is counted by bits rather than depth first.
        work: float64, shape (items,): for every owner, the occurrences of its itemsets.
        width: the most items that stand before one owner that has a list, over all its transactions together.
    """

    def __init__(
        self, index: Index, size: int, *, least: int = 1, threads: int = 1, counters: U32 | None = None
    ) -> None:
        """Makes the lists of the owners that occur at least `least` times.

        Args:
            index: the data.
            size: of the itemsets.
            least: no itemset with a smaller count is wanted.
            threads: at most so many threads.
            counters: the triangle, where it was counted before.
        """
        self.index, self.size = index, size
        self.triangle = counters
        if counters is None and size == 2 and len(index.flat) >= triangle.WORTH_IT:
            self.triangle = triangle.count_triangle(index, threads)
        self.first = 0 if self.triangle is None else min(triangle.ITEMS, index.items)
        end = int(np.count_nonzero(index.counts >= least)) if size > 1 else 0
        self.lists: Lists = index.lists(self.first, max(self.first, end))
        self.dense = size > 2 and is_dense(index)
        longest = index.longest()
        self.work = self._owner_work(longest)
        before = np.zeros(index.items)
        if size > 2 and not self.dense:
            sum_over_lists(self.lists, np.arange(longest + 1, dtype=np.float64), before)
        self.width = int(before.max(initial=0))

    def __repr__(self) -> str:
        return "Task(hidden)"

    @property
    def ceiling(self) -> int:
        """No itemset has a larger count: it is at most that of its rarest member."""
        return int(self.index.counts[self.size - 1]) if self.index.items >= self.size else 0

    def _owner_work(self, longest: int) -> NDArray[np.float64]:
        """For every owner, the occurrences of its itemsets; for one in the triangle, its cells.

        An occurrence of an item with p items before it in its transaction gives C(p, size - 1), or 2^53 where that is
        more: far more than can be counted, and floats are exact up to there. So the sum is 0 only if nothing occurs.
        """
        combinations = np.full(longest + 1, 2.0**53)
        for before in range(longest + 1):
            exact = math.comb(before, self.size - 1)
            if exact > 2**53:
                break
            combinations[before] = exact
        total = np.empty(self.index.items)
        sum_over_lists(self.lists, combinations, total)
        total[: self.first] = np.arange(self.first)
        return total
