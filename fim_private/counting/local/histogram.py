"""How many itemsets have each count, without keeping the itemsets."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from fim_private.counting.local.task import Task
from fim_private.counting.local.walk import Tally, Walk
from fim_private.counting.local.work import Effort, cut_into_chunks
from fim_private.counting.runs import RunCounts, Runs


class ItemsetHistogram(RunCounts):
    """The counts of all occurring itemsets of one size, and the itemsets of given ranks on request.

    Ranks are in decreasing order of count. Itemsets of equal count are in the fixed order of the walk, not in that of
    `ItemsetCounts`; for a uniform choice among them this makes no difference. `repr` shows no data, and `len` is the
    number of occurring itemsets.
    """

    __slots__ = ("_task",)

    def __init__(self, task: Task, tallies: Sequence[Tally]) -> None:
        """Rank the tallies; the itemsets of one chunk and count are a run."""
        level = np.concatenate([np.zeros(0, np.int64), *(levels for levels, _ in tallies)])
        share = np.concatenate([np.zeros(0, np.int64), *(numbers for _, numbers in tallies)])
        chunk = np.repeat(np.arange(len(tallies)), [len(levels) for levels, _ in tallies])
        super().__init__(Runs.ranked(level, chunk, share))
        self._task = task

    @property
    def size(self) -> int:
        return self._task.size

    def itemsets_at(self, ranks: Sequence[int]) -> NDArray[np.int32]:
        """The itemsets of these ranks, int32, shape (len(ranks), size), codes increasing; for the door only.

        Cost: for each distinct count among the ranks, the chunks that hold them are counted again with that count as
        floor. Only the requested itemsets are kept.
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

    def _members(self, run: int, offsets: NDArray[np.int64]) -> Iterator[NDArray[np.uint32]]:
        """The members, as item ranks, shape (size, ...), of the itemsets at these increasing offsets of a run."""
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
