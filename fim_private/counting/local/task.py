"""What to count: itemsets of one size, and the method for each owner."""

from __future__ import annotations

import math

import numpy as np

from fim_private.arrays import Floats
from fim_private.counting.hidden_counts import Hidden
from fim_private.counting.local import triangle
from fim_private.counting.local.bitsets import is_dense
from fim_private.counting.local.depth_first import sum_over_lists
from fim_private.counting.local.index import U32, Index, Lists


class Task(Hidden):
    """The task to count the itemsets of one size in an index. Its `repr` shows no data.

    The rarest member of an itemset owns it. A triangle of counters counts the pairs owned by the most frequent items.
    All other itemsets are counted over the inverted lists of their owners, depth first or by bits.

    Attributes:
        index: the data.
        size: the size of the itemsets; with size 1 no work is left, because the index has counted the items.
        triangle: counters of the pairs of the `first` most frequent items; None if `first` is 0.
        first: the rank of the first owner that is not in the triangle.
        lists: the lists of the owners from `first` on.
        dense: whether the other itemsets are counted by bits rather than depth first.
        work: float64, shape (items,): how often itemsets of each owner occur.
        width: the largest sum, for an owner with a list, of the items before it in its transactions.
    """

    def __init__(
        self,
        index: Index,
        size: int,
        *,
        least: int = 1,
        threads: int = 1,
        counters: U32 | None = None,
        owners: tuple[int, int] | None = None,
    ) -> None:
        """Make the lists of the owners that occur at least `least` times.

        Args:
            index: the data.
            size: the size of the itemsets.
            least: no itemset with a smaller count is wanted.
            threads: the most threads to use.
            counters: the triangle, if it is counted already.
            owners: the first owner and the one after the last, if the others belong to other tasks. Owners in the
                triangle belong to the first task.
        """
        self.index, self.size = index, size
        first, end = (0, index.items) if owners is None else owners
        self.triangle = counters if first == 0 else None
        if first == 0 and counters is None and size == 2 and len(index.flat) >= triangle.WORTH_IT:
            self.triangle = triangle.count_triangle(index, threads)
        self.first = 0 if self.triangle is None else min(triangle.ITEMS, index.items)
        first = max(first, self.first)
        end = min(end, int(np.count_nonzero(index.counts >= least))) if size > 1 else 0
        self.lists: Lists = index.lists(first, max(first, end))
        self.dense = size > 2 and is_dense(index)
        longest = index.longest()
        self.work = self._owner_work(longest)
        before = np.zeros(index.items)
        if size > 2 and not self.dense:
            sum_over_lists(self.lists, np.arange(longest + 1, dtype=np.float64), before)
        self.width = int(before.max(initial=0))

    @property
    def ceiling(self) -> int:
        """The largest count an itemset can have: an itemset counts at most as much as its rarest member."""
        return int(self.index.counts[self.size - 1]) if self.index.items >= self.size else 0

    def _owner_work(self, longest: int) -> Floats:
        """How often the itemsets of each owner occur; for an owner in the triangle, the number of its cells.

        An occurrence of an item after p other items of its transaction adds C(p, size - 1), but at most 2^53: that is
        far too much to count, and floats are exact up to it. So the sum is 0 only if nothing occurs.
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
