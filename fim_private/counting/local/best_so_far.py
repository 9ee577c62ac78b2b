"""The first m itemsets of a walk, found without keeping the others."""

from __future__ import annotations

from threading import Lock

import numpy as np

from fim_private.counting.local.ordering import Ordering, Packed


class BestSoFar:
    """Holds the first m itemsets of those offered, and knows below which count nothing is needed any more.

    Itemsets of that count are still needed, since an earlier one may follow. Memory: 2 m rows and one offer a thread.
    """

    def __init__(self, ordering: Ordering, m: int, floor: int = 1) -> None:
        self._ordering = ordering
        self._m = m
        self._held = ordering.join([])
        self._waiting: list[Packed] = []
        self._rows_waiting = 0
        self._lock = Lock()
        self._last_word = np.uint64(0)
        self.floor = floor
        self.cut = floor > 1
        """Whether an itemset that occurs may have been left out."""

    def offer(self, packed: Packed) -> None:
        """Takes what is among the first m of all offers so far; any thread may call."""
        with self._lock:
            if self._held.shape[1] == self._m:
                packed = packed[:, packed[0] <= self._last_word]
            self._waiting.append(packed)
            self._rows_waiting += packed.shape[1]
            if self._held.shape[1] + self._rows_waiting >= 2 * self._m:
                self._settle()

    def settle(self) -> Packed:
        """Exactly the first m of all offers, unordered; `floor` and `cut` are up to date afterwards."""
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
            self.floor = max(self.floor, self._ordering.count(self._last_word))
            # Above 1, the walk leaves out itemsets that are never offered.
            self.cut = self.cut or self.floor > 1
