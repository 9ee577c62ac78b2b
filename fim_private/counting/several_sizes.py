"""Itemsets of several sizes in one ranking: by count, then by size, then by the ranking of their own size."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from fim_private.counting.database import TransactionDatabase
from fim_private.counting.hidden_counts import HiddenCounts
from fim_private.counting.runs import RunCounts, Runs
from fim_private.transactions.item_codes import PADDING


class SeveralSizes(RunCounts):
    """The hidden counts of several sizes in one ranking. `repr` shows no data; `len` is the number of itemsets held.

    If each part holds the first `most` itemsets of its size, this holds exactly the first `most` of all of them. Apart
    from the counts, the order does not depend on the data, so neighbouring data sets cut ties in the same way.
    """

    __slots__ = ("_own", "_parts")

    def __init__(self, parts: Sequence[HiddenCounts], most: int | None = None) -> None:
        """Merge the rankings of the parts, one per size; the itemsets stay there.

        At most `most` itemsets are held. None holds all of them, if all parts are complete.
        """
        self._parts = sorted(parts, key=lambda part: part.size)
        profiles = [part.profile() for part in self._parts]
        numbers = [np.array(profile.multiplicities, np.int64) for profile in profiles]
        levels = np.concatenate([np.zeros(0, np.int64), *(np.array(profile.levels, np.int64) for profile in profiles)])
        source = np.repeat(np.arange(len(profiles)), [len(number) for number in numbers])
        runs = Runs.ranked(levels, source, np.concatenate([np.zeros(0, np.int64), *numbers]))
        kept = runs if most is None else runs.first(most)
        super().__init__(kept, complete=len(kept) == len(runs) and all(part.complete for part in parts))
        # The rank of each run's first itemset among those of its size. The runs of one size keep their order here.
        self._own = np.zeros_like(self._runs.ends)
        for place, number in enumerate(numbers):
            here = np.flatnonzero(self._runs.sources == place)
            self._own[here] = (np.cumsum(number) - number)[: len(here)]

    @property
    def size(self) -> int:
        """The number of items of the largest itemsets."""
        return max(part.size for part in self._parts)

    def itemsets_at(self, ranks: Sequence[int]) -> NDArray[np.int32]:
        """The itemsets of these ranks, int32, shape (len(ranks), size), padded with `PADDING`; for the door only."""
        runs, within = self._runs.locate(ranks)
        found = np.full((len(ranks), self.size), PADDING, np.int32)
        for place, part in enumerate(self._parts):
            here = np.flatnonzero(self._runs.sources[runs] == place)
            if len(here):
                found[here, : part.size] = part.itemsets_at((self._own[runs[here]] + within[here]).tolist())
        return found


def largest_counts(database: TransactionDatabase, sizes: Sequence[int], depth: int | None) -> HiddenCounts:
    """The largest counts over all sizes together: the first `depth`, or all of them with None.

    Raises:
        InputError: there is too much to count.
    """
    parts = [database.count_histogram(size) if depth is None else database.top_itemsets(size, depth) for size in sizes]
    return parts[0] if len(parts) == 1 else SeveralSizes(parts, depth)
