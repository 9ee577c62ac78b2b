"""Itemsets of several sizes in one ranking: by count, then by size, then in the order of their own size."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from fim_private.counting.hidden import HiddenCounts
from fim_private.profile import CountProfile

PADDING = -1
"""Stands for no item, after the last item of an itemset that is smaller than others beside it."""


class SeveralSizes:
    """The hidden counts of several sizes as one. `repr` shows no data, and `len` is the number of itemsets held.

    Where each part holds the first `most` itemsets of its size, what is held of all together are exactly the first
    `most` of them: the order does not depend on the data beyond the counts, so neighbouring data sets cut ties alike.
    """

    __slots__ = ("_complete", "_ends", "_levels", "_parts", "_shift", "_source")

    def __init__(self, parts: Sequence[HiddenCounts], most: int | None = None) -> None:
        """Merges the rankings; the itemsets stay where they are.

        Args:
            parts: one a size.
            most: hold no more itemsets than this; None for all, where all parts are complete.
        """
        self._parts = sorted(parts, key=lambda part: part.size)
        profiles = [part.profile() for part in self._parts]
        numbers = [np.array(profile.multiplicities, np.int64) for profile in profiles]
        levels = np.concatenate([np.zeros(0, np.int64), *(np.array(profile.levels, np.int64) for profile in profiles)])
        source = np.repeat(np.arange(len(profiles)), [len(number) for number in numbers])
        first = np.concatenate([np.zeros(0, np.int64), *(np.cumsum(number) - number for number in numbers)])
        order = np.lexsort([source, -levels])
        ends = np.cumsum(np.concatenate([np.zeros(0, np.int64), *numbers])[order])
        self._complete = all(part.complete for part in parts)
        if most is not None and len(ends) and ends[-1] > most:
            order = order[: int(np.searchsorted(ends, most)) + 1]
            ends = np.minimum(ends[: len(order)], most)
            self._complete = False
        self._levels, self._source, self._ends = levels[order], source[order], ends
        # The rank in its own size is the rank among all less this.
        self._shift = np.concatenate([[0], ends])[:-1] - first[order]

    def __len__(self) -> int:
        return int(self._ends[-1]) if len(self._ends) else 0

    def __repr__(self) -> str:
        return "SeveralSizes(hidden)"

    @property
    def size(self) -> int:
        """The largest number of items of an itemset."""
        return max(part.size for part in self._parts)

    @property
    def complete(self) -> bool:
        """Whether these are surely all itemsets of these sizes that occur."""
        return self._complete

    def profile(self, zeros: int | None = None) -> CountProfile:
        """What a mechanism may see; for the door only, which charges the budget before it asks.

        Args:
            zeros: number of itemsets of count 0 in a declared universe, None for an open one.
        """
        last = np.flatnonzero(np.diff(self._levels, append=0))
        return CountProfile(
            levels=self._levels[last].tolist(),
            multiplicities=np.diff(self._ends[last], prepend=0).tolist(),
            zeros=zeros,
            complete=self._complete,
        )

    def itemsets_at(self, ranks: Sequence[int]) -> NDArray[np.int32]:
        """The itemsets of these ranks, int32, shape (len(ranks), size), smaller ones padded; for the door only."""
        wanted = np.asarray(ranks, np.int64)
        runs = np.searchsorted(self._ends, wanted, side="right")
        found = np.full((len(wanted), self.size), PADDING, np.int32)
        for place, part in enumerate(self._parts):
            here = np.flatnonzero(self._source[runs] == place)
            if len(here):
                found[here, : part.size] = part.itemsets_at((wanted[here] - self._shift[runs[here]]).tolist())
        return found
