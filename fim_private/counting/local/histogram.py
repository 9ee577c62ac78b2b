"""How many itemsets have which count, where the itemsets themselves are too many to keep."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from fim_private.counting.local.task import Task
from fim_private.counting.local.walk import Tally, Walk
from fim_private.counting.local.work import Effort, cut_into_chunks
from fim_private.counting.runs import Runs
from fim_private.profile import CountProfile


class ItemsetHistogram:
    """The counts of all occurring itemsets of one size, and the way back to the itemsets of given ranks.

    Ranks are in decreasing order of count. Itemsets of the same count have a fixed order, that of the walk, which is
    not the order of `ItemsetCounts`; whoever chooses uniformly among equals need not mind. `repr` shows no data, and
    `len` is the number of occurring itemsets.
    """

    __slots__ = ("_runs", "_task")

    def __init__(self, task: Task, tallies: Sequence[Tally]) -> None:
        """Ranks the tallies; each chunk's share of a level is a run.

        Args:
            task: what was counted, all items.
            tallies: of each chunk.
        """
        level = np.concatenate([np.zeros(0, np.int64), *(levels for levels, _ in tallies)])
        share = np.concatenate([np.zeros(0, np.int64), *(numbers for _, numbers in tallies)])
        chunk = np.repeat(np.arange(len(tallies)), [len(levels) for levels, _ in tallies])
        self._task = task
        self._runs = Runs.ranked(level, chunk, share)

    def __len__(self) -> int:
        return len(self._runs)

    def __repr__(self) -> str:
        return "ItemsetHistogram(hidden)"

    @property
    def size(self) -> int:
        return self._task.size

    @property
    def complete(self) -> bool:
        return True

    def profile(self, zeros: int | None = None) -> CountProfile:
        """What a mechanism may see; for the door only, which charges the budget before it asks.

        Args:
            zeros: number of itemsets of count 0 in a declared universe, None for an open one.
        """
        return self._runs.as_profile(zeros)

    def itemsets_at(self, ranks: Sequence[int]) -> NDArray[np.int32]:
        """The itemsets of these ranks, int32, shape (len(ranks), size), codes increasing; for the door only.

        Cost: for each distinct count asked for, the chunks that hold the ranks are counted again, with that count as
        floor. No itemset is kept but those asked for.
        """
        if self.size == 1:
            return self._task.index.codes[np.asarray(ranks, np.int64), np.newaxis]
        found = np.empty((len(ranks), self.size), np.int32)
        runs, places = self._runs.locate(ranks)
        for run in np.unique(runs).tolist():
            here = np.flatnonzero(runs == run)
            offsets, back = np.unique(places[here], return_inverse=True)
            members = np.concatenate(list(self._members(run, offsets)), axis=1)
            found[here] = np.sort(self._task.index.codes[members], axis=0).T[back]
        return found

    def reveal_to_curator(self) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Distinct counts, decreasing, and how many itemsets have each: data, protected by no privacy guarantee."""
        return self._runs.distinct()

    def _members(self, run: int, offsets: NDArray[np.int64]) -> Iterator[NDArray[np.uint32]]:
        """The ranks of items, shape (size, ...), of the itemsets at these increasing offsets of a run."""
        level, chunk = int(self._runs.levels[run]), int(self._runs.sources[run])
        first, end = cut_into_chunks(self._task.work)[chunk : chunk + 2].tolist()
        passed, given = 0, 0
        walk = Walk(self._task, Effort(self.size))
        for batch in walk.batches(first, end, lambda: level):
            hits = np.flatnonzero(batch.counts == level)
            upto = int(np.searchsorted(offsets, passed + len(hits)))
            yield batch.members(hits[offsets[given:upto] - passed])
            passed, given = passed + len(hits), upto
            if given == len(offsets):
                return
