"""Walking through all itemsets in bounded memory: chunks of owners, shared by threads, handed over batch by batch."""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from fim_private.counting.batch import Batch, room_for
from fim_private.counting.bitsets import advance_by_bits, room_for_bits
from fim_private.counting.depth_first import advance, progress_for, room_for_lists, scratch_for
from fim_private.counting.index import U32
from fim_private.counting.task import Task
from fim_private.counting.triangle import read_triangle
from fim_private.counting.work import Effort, cut_into_chunks

Tally = tuple[NDArray[np.int64], NDArray[np.int64]]
"""Counts, increasing, and the number of itemsets of each."""

Result = TypeVar("Result")

THREADS = min(2, os.cpu_count() or 1)

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
        room = room or self._same_room
        if self._task.triangle is not None and first < self._task.first:
            yield from self._batches_of_triangle(self._task.triangle, first, min(end, self._task.first), floor, room)
        yield from self._advance(max(first, self._task.first), end, floor, np.zeros(0, np.int64), room)

    def tally(self, first: int, end: int) -> Tally:
        """How many of the itemsets owned by ranks `first` to `end` have which count."""
        tally = np.zeros(_TALLY_CELLS, np.int64)
        others = [np.zeros(0, np.int64)]
        if self._task.triangle is not None and first < self._task.first:
            last = min(end, self._task.first)
            others.append(self._task.triangle[first * (first - 1) // 2 : last * (last - 1) // 2].astype(np.int64))
        walked = self._advance(max(first, self._task.first), end, lambda: 1, tally, self._same_room)
        others += [batch.counts.astype(np.int64) for batch in walked]
        counts = np.concatenate(others)
        tally += np.bincount(counts[counts < _TALLY_CELLS], minlength=_TALLY_CELLS)
        tally[0] = 0
        levels = np.flatnonzero(tally)
        large, numbers = np.unique(counts[counts >= _TALLY_CELLS], return_counts=True)
        return np.append(levels, large), np.append(tally[levels], numbers)

    def _batches_of_triangle(
        self, counter: U32, first: int, end: int, floor: Callable[[], int], room: Callable[[], Batch]
    ) -> Iterator[Batch]:
        progress = np.array([first], np.int64)
        while progress[0] < end:
            batch = room()
            yield batch.cut(*read_triangle(counter, progress, end, floor(), batch))

    def _advance(
        self, first: int, end: int, floor: Callable[[], int], tally: NDArray[np.int64], room: Callable[[], Batch]
    ) -> Iterator[Batch]:
        depth, cursor, number, _, steps = self._progress
        depth[0], cursor[0], number[0] = (0 if first < end else -1), first, end
        while depth[0] >= 0:
            batch = room()
            if self._bits is None:
                runs, rows = advance(
                    self._task.lists, self._deeper, floor(), self._progress, self._scratch, batch, tally
                )
            else:
                counter, _, slot = self._scratch
                runs, rows = advance_by_bits(
                    self._task.lists, self._bits, floor(), self._progress, counter, slot, batch, tally
                )
            self._effort.add(int(steps[0]))
            if rows:
                yield batch.cut(runs, rows)

    def _same_room(self) -> Batch:
        return self._room


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
