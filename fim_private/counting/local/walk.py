"""Walking through all itemsets in bounded memory: chunks of owners, shared by threads, handed over batch by batch."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from fim_private.compilation import compiled
from fim_private.counting.local.batch import Batch, room_for
from fim_private.counting.local.bitsets import advance_by_bits, room_for_bits
from fim_private.counting.local.depth_first import (
    advance,
    progress_for,
    room_for_lists,
    scratch_for,
    write_last_members,
)
from fim_private.counting.local.index import U32
from fim_private.counting.local.task import Task
from fim_private.counting.local.triangle import read_triangle
from fim_private.counting.local.work import Effort, cut_into_chunks

Tally = tuple[NDArray[np.int64], NDArray[np.int64]]
"""Counts, increasing, and the number of itemsets of each."""

Result = TypeVar("Result")

_BATCH_ROWS = 2**14
"""Of output at a time: they stay in the cache until they are taken away."""

_TALLY_CELLS = 2**12
"""Counts from here on are rare, and tallied one by one."""
_SINGLE_THREAD_WORK = 2e6  # some ten milliseconds: below it a second thread costs more than it brings


class Walk:
    """One thread's room for walking through the itemsets of a task, used for one chunk after the other.

    Memory: 12 (size - 2) bytes for each item and for each of the task's `width`, which is no more than the item
    occurrences in the data, and the output of one batch.

    Args:
        task: what to count.
        effort: told of every step.
    """

    def __init__(self, task: Task, effort: Effort) -> None:
        self._task, self._effort = task, effort
        items = task.index.items
        levels = task.size - 2
        self._bits = room_for_bits(levels, task.index) if task.dense else None
        self._deeper = room_for_lists(0 if task.dense else levels, items, task.width)
        self._scratch = scratch_for(items)
        self._progress = progress_for(task.size)
        self._tally = np.zeros(_TALLY_CELLS, np.int64)
        self._room = room_for(task.size, max(_BATCH_ROWS, items + 1), _BATCH_ROWS)

    def batches(
        self, first: int, end: int, floor: Callable[[], int], room: Callable[[], Batch] | None = None
    ) -> Iterator[Batch]:
        """All itemsets owned by ranks `first` to `end` that occur at least floor() times.

        The order depends on the task, the range and the floor alone.

        Args:
            first: the first owner.
            end: the one after the last.
            floor: may rise meanwhile.
            room: gives the batch to be filled next, with more rows than there are items; by default the same one
                every time, so that each batch overwrites the one before.
        """
        depth, cursor, number, _, steps, written = self._progress
        between = min(max(self._task.first, first), end)
        for start, stop, go_on in ((first, between, self._read_triangle), (between, end, self._advance)):
            depth[0], cursor[0], number[0] = (0 if start < stop else -1), start, stop
            while depth[0] >= 0:
                steps[0] = 0
                written[:] = 0
                batch = room() if room else self._room
                go_on(floor(), batch)
                self._effort.add(int(steps[0]))
                if written[1]:
                    yield batch.cut(*written.tolist())

    def tally(self, first: int, end: int) -> Tally:
        """How many of the itemsets owned by ranks `first` to `end` have which count."""
        self._tally[:] = 0
        large = []
        for batch in self.batches(first, end, lambda: 1):
            if add_to_tally(batch.counts, self._tally):
                large.append(batch.counts[batch.counts >= len(self._tally)].astype(np.int64))
        levels = np.flatnonzero(self._tally)
        beyond, numbers = np.unique(np.concatenate([np.zeros(0, np.int64), *large]), return_counts=True)
        return np.append(levels, beyond), np.append(self._tally[levels], numbers)

    def _read_triangle(self, floor: int, batch: Batch) -> None:
        depth, cursor, number, *_ = self._progress
        if self._task.triangle is None:
            raise AssertionError("only the triangle has owners before the first that has a list")
        read_triangle(self._task.triangle, int(number[0]), floor, self._progress, batch)
        if cursor[0] == number[0]:
            depth[0] = -1

    def _advance(self, floor: int, batch: Batch) -> None:
        task, progress, scratch = self._task, self._progress, self._scratch
        if self._bits is not None:
            advance_by_bits(task.lists, self._bits, floor, progress, scratch.counter, scratch.slot, batch)
        elif task.size == 2:
            write_last_members(task.lists, 0, floor, progress, scratch, batch)
            if progress.cursor[0] == progress.number[0]:
                progress.depth[0] = -1
        else:
            advance(task.lists, self._deeper, floor, progress, scratch, batch)


@compiled
def add_to_tally(counts: U32, tally: NDArray[np.int64]) -> bool:
    """Adds 1 to tally[count] for each count; returns whether there were any without a cell there."""
    most = np.uint64(len(tally) - 1)
    largest = np.uint64(0)
    for row in range(np.uint64(len(counts))):
        count = np.uint64(counts[row])
        largest = max(largest, count)
        if count <= most:
            tally[count] += 1
    return largest > most


def map_chunks(
    task: Task,
    work_on: Callable[[Walk, int, int], Result],
    *,
    effort: Effort,
    threads: int,
) -> list[Result]:
    """work_on(walk, first, end) for each chunk of owners, in the order of chunks.

    `work_on` runs in the thread that counts, while others count on, so what it shares it must guard. Chunks are begun
    in order. A failure or an interrupt drops the chunks not yet begun.

    Args:
        task: what to count; little of it is not worth a second thread.
        work_on: what to keep of a chunk; whatever it returns is all that is kept.
        effort: told of every step; `work_on` may add its own.
        threads: at most so many threads.

    Raises:
        InputError: the walk took more steps than are allowed.
    """
    cuts = cut_into_chunks(task.work).tolist()
    waiting = deque(enumerate(pairwise(cuts)))
    results: dict[int, Result] = {}

    def labour() -> None:
        if not waiting:
            return
        walk = Walk(task, effort)
        while True:
            try:
                number, (first, end) = waiting.popleft()
            except IndexError:
                return
            results[number] = work_on(walk, first, end)

    def labour_or_stop_all() -> None:
        try:
            labour()
        finally:
            waiting.clear()

    if threads == 1 or task.work.sum() < _SINGLE_THREAD_WORK:
        labour()
    else:
        with ThreadPoolExecutor(threads) as pool:
            labourers = [pool.submit(labour_or_stop_all) for _ in range(threads)]
            try:
                for labourer in labourers:
                    labourer.result()
            except BaseException:
                effort.stop()
                raise
            finally:
                waiting.clear()
    return [results[number] for number in sorted(results)]
