"""Hold many itemsets cheaply, in no order, with hidden counts."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from fim_private.compilation import compiled
from fim_private.counting.hidden_counts import Hidden
from fim_private.counting.local.batch import Batch, room_for
from fim_private.counting.local.task import Task
from fim_private.counting.local.work import THREADS
from fim_private.transactions.in_order import mapping

_ROWS = 2**20
"""Rows per block: so many that the memory of a block goes back to the operating system when it is freed."""


class Blocks(Hidden):
    """Room for the batches of one thread, written end to end into blocks and never moved. `repr` shows no data."""

    def __init__(self, size: int, longest: int) -> None:
        """Make room for itemsets of `size` items; one step writes at most `longest` rows."""
        self._size, self._longest = size, longest
        self._open = room_for(size, 0, 0)
        self.batches: list[Batch] = []

    def room(self) -> Batch:
        """The rest of the open block, or a new block."""
        if len(self._open.last) <= self._longest or not len(self._open.end):
            rows = max(_ROWS, 2 * self._longest)
            self._open = room_for(self._size, rows, rows)
        return self._open

    def take(self, batch: Batch) -> None:
        """Keep a batch that was written at the beginning of `room()`."""
        prefix, end, last, counts = self._open
        runs, rows = len(batch.end), len(batch.last)
        self._open = Batch(prefix[runs:], end[runs:], last[rows:], counts[rows:])
        self.batches.append(batch)


class FoundItemsets(Hidden):
    """Itemsets of one size with their counts, in no particular order. `repr` shows no data; `len` is their number."""

    __slots__ = ("_blocks", "_task")

    def __init__(self, task: Task, blocks: list[Batch]) -> None:
        """Take over the blocks."""
        self._task, self._blocks = task, blocks

    def __len__(self) -> int:
        return sum(len(block.last) for block in self._blocks)

    def reveal_to_curator(self) -> tuple[NDArray[np.int32], NDArray[np.uint32]]:
        """Itemsets as codes, int32 (rows, size), each with its rarest item first, and counts, uint32 (rows,).

        They are data, not a release; no privacy guarantee protects them.
        """
        parts = self.reveal_in_parts_to_curator()
        empty = np.empty((0, self._task.size), np.int32), np.empty(0, np.uint32)
        itemsets, counts = zip(empty, *parts, strict=True)
        return np.concatenate(itemsets), np.concatenate(counts)

    def reveal_in_parts_to_curator(self) -> list[tuple[NDArray[np.int32], NDArray[np.uint32]]]:
        """Do what `reveal_to_curator` does, in parts of at most some millions of rows, each a small piece of memory."""

        def write(block: Batch) -> tuple[NDArray[np.int32], NDArray[np.uint32]]:
            itemsets = np.empty((self._task.size, len(block.last)), np.int32)
            _expand(block, self._task.index.codes, itemsets)
            return itemsets.T, block.counts

        with mapping(min(THREADS, len(self._blocks))) as each:
            return list(each(write, self._blocks))


@compiled
def _expand(block: Batch, codes: NDArray[np.int32], itemsets: NDArray[np.int32]) -> None:
    """Write every row of a block with all its members."""
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
