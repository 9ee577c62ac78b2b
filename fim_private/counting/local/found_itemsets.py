"""All itemsets that were found, in no order: the cheapest way to hold many of them, and hidden like all counts."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import numpy as np
from numpy.typing import NDArray

from fim_private.compilation import compiled
from fim_private.counting.hidden_counts import ItemsetCounts
from fim_private.counting.local.batch import Batch, room_for
from fim_private.counting.local.ordering import Ordering
from fim_private.counting.local.task import Task
from fim_private.counting.local.work import THREADS

_ROWS = 2**20
"""Of one block, so large that its memory is given back to the operating system when it is no longer needed."""


class Blocks:
    """Room for one thread's batches, end to end in blocks, written once and never moved. `repr` shows no data."""

    def __init__(self, size: int, longest: int) -> None:
        """Takes the size of the itemsets, and the most rows that one step writes."""
        self._size, self._longest = size, longest
        self._open = room_for(size, 0, 0)
        self.batches: list[Batch] = []

    def __repr__(self) -> str:
        return "Blocks(hidden)"

    def room(self) -> Batch:
        """What is left of the open block, or a new one."""
        if len(self._open.last) <= self._longest or not len(self._open.end):
            rows = max(_ROWS, 2 * self._longest)
            self._open = room_for(self._size, rows, rows)
        return self._open

    def take(self, batch: Batch) -> None:
        """Keeps a batch that fills the beginning of the room."""
        prefix, end, last, counts = self._open
        runs, rows = len(batch.end), len(batch.last)
        self._open = Batch(prefix[runs:], end[runs:], last[rows:], counts[rows:])
        self.batches.append(batch)


class FoundItemsets:
    """Itemsets of one size with their counts, in no particular order. `repr` shows no data; `len` is their number."""

    __slots__ = ("_blocks", "_complete", "_task")

    def __init__(self, task: Task, blocks: list[Batch], *, complete: bool) -> None:
        """Takes the blocks over.

        Args:
            task: what was counted.
            blocks: what was found.
            complete: whether these are surely all itemsets of this size that occur.
        """
        self._task, self._blocks, self._complete = task, blocks, complete

    def __len__(self) -> int:
        return sum(len(block.last) for block in self._blocks)

    def __repr__(self) -> str:
        return "FoundItemsets(hidden)"

    def in_order(self, threads: int) -> ItemsetCounts:
        """The same in decreasing order of count, ties in order of item codes."""
        ordering = Ordering(self._task)
        itemsets, counts = ordering.unpack(ordering.pack_all(self._blocks, threads))
        return ItemsetCounts(itemsets=itemsets, counts=counts, complete=self._complete)

    def reveal_to_curator(self) -> tuple[NDArray[np.int32], NDArray[np.uint32]]:
        """Itemsets as codes, int32 (rows, size), each with its rarest item first, and counts, uint32 (rows,).

        Data, not a release, and protected by no privacy guarantee.
        """
        parts = self.reveal_in_parts_to_curator()
        empty = np.empty((0, self._task.size), np.int32), np.empty(0, np.uint32)
        itemsets, counts = zip(empty, *parts, strict=True)
        return np.concatenate(itemsets), np.concatenate(counts)

    def reveal_in_parts_to_curator(
        self, *, threads: int = THREADS
    ) -> list[tuple[NDArray[np.int32], NDArray[np.uint32]]]:
        """The same in parts of up to some millions of rows, which takes no memory in one piece."""

        def write(block: Batch) -> tuple[NDArray[np.int32], NDArray[np.uint32]]:
            itemsets = np.empty((self._task.size, len(block.last)), np.int32)
            _expand(block, self._task.index.codes, itemsets)
            return itemsets.T, block.counts

        with ThreadPoolExecutor(threads) as pool:
            return list(pool.map(write, self._blocks))


@compiled
def _expand(block: Batch, codes: NDArray[np.int32], itemsets: NDArray[np.int32]) -> None:
    """Writes every row of a block with all its members."""
    members = block.prefix.shape[1]
    row = np.uint64(0)
    for run in range(len(block.end)):
        end = np.uint64(block.end[run])
        for member in range(members):
            code = codes[np.uint64(block.prefix[run, member])]
            for place in range(row, end):
                itemsets[member, place] = code
        for place in range(row, end):
            itemsets[members, place] = codes[np.uint64(block.last[place])]
        row = end
