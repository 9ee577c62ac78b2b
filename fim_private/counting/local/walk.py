"""Walk through all itemsets in bounded memory. Threads share the chunks of owners and hand over one batch at a time."""

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
"""Increasing counts, and the number of itemsets of each count."""

Result = TypeVar("Result")

_BATCH_ROWS = 2**14
"""Rows per batch: few enough to stay in the cache until they are used."""

_TALLY_CELLS = 2**12
"""Counts of at least this are rare, and are tallied one by one."""
_SINGLE_THREAD_WORK = 2e6  # about ten milliseconds; for less, a second thread does not pay


class Walk:
    """The memory with which one thread walks through the itemsets of a task, reused for every chunk.

    Memory: 16 (size - 2) bytes for each item and for each of the task's `width`, which is at most the number of item
    occurrences in the data; and one batch of output.
    """

    def __init__(self, task: Task, effort: Effort) -> None:
        self._task, self._effort = task, effort
        items = task.index.items
        levels = task.size - 2
        self._bits = room_for_bits(levels, task.index) if task.dense else None
        self._deeper = room_for_lists(
            0 if task.dense else levels,
            items,
            task.width,
            task.index.flat.dtype,
            counts_units=task.index.counts_units,
        )
        self._scratch = scratch_for(items, counts_units=task.index.counts_units)
        self._progress = progress_for(task.size)
        self._tally = np.zeros(_TALLY_CELLS, np.int64)
        self._room = room_for(task.size, max(_BATCH_ROWS, items + 1), _BATCH_ROWS)

    def batches(
        self, first: int, end: int, floor: Callable[[], int], room: Callable[[], Batch] | None = None
    ) -> Iterator[Batch]:
        """All itemsets owned by ranks `first` to `end` that occur at least floor() times.

        The order depends only on the task, the range and the floor.

        Args:
            first: the first owner.
            end: the owner after the last.
            floor: returns the least count, which may rise during the walk.
            room: returns the batch to fill next, with more rows than there are items. By default it is always the
                same, so each batch overwrites the one before.
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
        """How many of the itemsets owned by ranks `first` to `end` have each count."""
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
        units = task.index.units if task.index.counts_units else None
        if self._bits is not None:
            advance_by_bits(task.lists, self._bits, floor, progress, scratch.counter, scratch.slot, batch)
        elif task.size == 2:
            write_last_members(task.lists, units, 0, floor, progress, scratch, batch)
            if progress.cursor[0] == progress.number[0]:
                progress.depth[0] = -1
        else:
            advance(task.lists, self._deeper, units, floor, progress, scratch, batch)


@compiled
def add_to_tally(counts: U32, tally: NDArray[np.int64]) -> bool:
    """Add 1 to tally[count] for each count. Return whether some count is too large for the tally."""
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

    Several threads call `work_on` at the same time, so it must guard what it shares. Chunks begin in order. After a
    failure or an interrupt, no other chunk begins.

    Args:
        task: what to count. A small task gets only one thread.
        work_on: its return value is all that is kept of a chunk.
        effort: counts the steps; `work_on` may add steps of its own.
        threads: the most threads to use.

    Raises:
        InputError: the walk took more steps than allowed.
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
