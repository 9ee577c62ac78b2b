"""Walking through all itemsets in bounded memory: chunks of owners, shared by threads, handed over batch by batch."""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from fim_private.counting.kernels import Lists, Progress, Scratch, advance
from fim_private.counting.preparation import Index
from fim_private.counting.work import Effort

Batch = tuple[NDArray[np.uint32], NDArray[np.uint32]]
"""Itemsets as ranks, shape (size, rows), the rarest member first, and their counts, shape (rows,). Both are views that
the next batch overwrites."""

Result = TypeVar("Result")

THREADS = min(2, os.cpu_count() or 1)

_BATCH_ROWS = 2**16
_SINGLE_THREAD_WORK = 2e6  # some ten milliseconds: below it a second thread costs more than it brings


class Walk:
    """One thread's room for walking through itemsets of one size, used for one chunk after the other.

    Memory: 12 (size - 2) bytes for each item and for each of the index's `width`, which is no more than the item
    occurrences in the data, and the output of one batch.

    Args:
        index: the data.
        size: of the itemsets, at least 2.
        effort: told of every step.
    """

    def __init__(self, index: Index, size: int, effort: Effort) -> None:
        items, levels = len(index.codes), size - 2
        self._effort = effort
        self._owners = index.lists
        self._deeper = Lists(
            *(np.empty((levels, index.width), np.uint32) for _ in range(3)),
            *(np.empty((levels, items), np.uint32) for _ in range(3)),
        )
        self._scratch = Scratch(np.zeros(items, np.uint32), np.empty(items + 1, np.uint32), np.empty(items, np.uint32))
        self._progress = Progress(*(np.zeros(length, np.int64) for length in (1, size, size, size, 1)))
        rows = max(_BATCH_ROWS, min(index.width, items) + 1)
        self._itemsets = np.empty((size, rows), np.uint32)
        self._counts = np.empty(rows, np.uint32)

    def batches(self, first: int, end: int, floor: Callable[[], int]) -> Iterator[Batch]:
        """All itemsets owned by ranks `first` to `end` that occur at least floor() times.

        The floor may rise meanwhile. The order depends on the index, the range and the floor alone.
        """
        depth, cursor, number, _, steps = self._progress
        depth[0], cursor[0], number[0] = 0, first, end
        while depth[0] >= 0:
            steps[0] = 0
            rows = advance(
                self._owners,
                self._deeper,
                floor(),
                self._progress,
                self._scratch,
                self._itemsets,
                self._counts,
            )
            self._effort.add(int(steps[0]))
            if rows:
                yield self._itemsets[:, :rows], self._counts[:rows]


def map_chunks(
    index: Index,
    size: int,
    cuts: NDArray[np.int64],
    reduce: Callable[[Iterable[Batch]], Result],
    *,
    floor: Callable[[], int],
    work: float,
    effort: Effort,
    threads: int,
) -> list[Result]:
    """reduce(batches of the chunk) for each chunk of owners, in the order of chunks.

    `reduce` runs in the thread that counts, while others count on, so what it shares it must guard. Chunks are begun
    in order. A failure or an interrupt drops the chunks not yet begun.

    Args:
        index: the data.
        size: of the itemsets, at least 2.
        cuts: as `cut_into_chunks` gives them.
        reduce: what to keep of a chunk; whatever it returns is all that is kept.
        floor: the least count of interest, at least 1, asked for again with each batch.
        work: total work; little of it is not worth a second thread.
        effort: told of every step; `reduce` may add its own.
        threads: at most so many threads.

    Raises:
        InputError: the walk took more steps than are allowed.
    """
    waiting = deque(enumerate(zip(cuts[:-1].tolist(), cuts[1:].tolist(), strict=True)))
    results: dict[int, Result] = {}

    def labour() -> None:
        if not waiting:
            return
        walk = Walk(index, size, effort)
        while True:
            try:
                number, (first, end) = waiting.popleft()
            except IndexError:
                return
            results[number] = reduce(walk.batches(first, end, floor))

    def labour_or_stop_all() -> None:
        try:
            labour()
        finally:
            waiting.clear()

    if threads == 1 or work < _SINGLE_THREAD_WORK:
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
