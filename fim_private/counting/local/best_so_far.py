"""Keep the first m itemsets of a walk and drop the others."""

from __future__ import annotations

from threading import Lock

import numpy as np

from fim_private.counting.local.ordering import Ordering, Packed


class BestSoFar:
    """Holds the first m itemsets offered so far. Itemsets with a count below `floor` need not be offered.

    With ties, itemsets as frequent as the m-th so far are still needed: a later offer may come earlier in the order of
    itemsets. Memory: 2 m rows, and one offer per thread.
    """

    def __init__(self, ordering: Ordering, m: int, floor: int, *, ties: bool) -> None:
        self._ordering = ordering
        self._m = m
        self._ties = ties
        self._held = ordering.join([])
        self._waiting: list[Packed] = []
        self._rows_waiting = 0
        self._lock = Lock()
        self._last_word = np.uint64(0)
        self.floor = floor
        self.cut = floor > 1
        """Whether an occurring itemset may be missing."""

    def offer(self, packed: Packed) -> None:
        """Keep the rows that are among the first m of all offers so far. Any thread may call this."""
        with self._lock:
            if self._held.shape[1] == self._m:
                packed = packed[:, packed[0] <= self._last_word]
            self._waiting.append(packed)
            self._rows_waiting += packed.shape[1]
            if self._held.shape[1] + self._rows_waiting >= 2 * self._m:
                self._settle()

    def settle(self) -> Packed:
        """The first m of all offers, unordered. Afterwards `floor` and `cut` are up to date."""
        with self._lock:
            self._settle()
            return self._held

    def _settle(self) -> None:
        everything = self._ordering.join([self._held, *self._waiting])
        self._waiting, self._rows_waiting = [], 0
        self._held = self._ordering.first(everything, self._m)
        if everything.shape[1] > self._m:
            self.cut = True
        if self._held.shape[1] == self._m:
            self._last_word = self._held[0].max()
            last = self._ordering.count(self._last_word)
            self.floor = max(self.floor, last if self._ties else last + 1)
            # With a floor above 1, the walk does not offer every itemset.
            self.cut = self.cut or self.floor > 1
