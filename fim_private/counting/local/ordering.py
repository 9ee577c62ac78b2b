"""Sort itemsets (count descending, then item codes ascending), packed into as few 64-bit words as possible."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from fim_private.compilation import compiled
from fim_private.counting.local.batch import Batch
from fim_private.counting.local.index import U32
from fim_private.counting.local.task import Task

Packed = NDArray[np.uint64]
"""Itemsets with their counts, shape (words, rows). Comparing rows word by word gives the order of the itemsets."""

_BLOCK = 2**18  # rows unpacked at a time, so that intermediate arrays stay in the cache


class Ordering:
    """Packs the itemsets of one task.

    The first field of a row is `ceiling - count`, in ceiling.bit_length() bits. One field per member follows: its place
    among the codes of the index. No field is split between words. The pairs and triples of a supermarket fit in one.
    """

    def __init__(self, task: Task) -> None:
        codes, size = task.index.codes, task.size
        by_code = np.argsort(codes)
        self._codes = codes[by_code]
        self._place = np.empty(len(by_code), np.uint32)
        self._place[by_code] = np.arange(len(by_code), dtype=np.uint32)
        self._ceiling = task.ceiling
        self._bits = [self._ceiling.bit_length()] + size * [len(by_code).bit_length()]
        word, free = 0, 64
        fields = []
        for bits in self._bits:
            if bits > free:
                word, free = word + 1, 64
            free -= bits
            fields.append((word, free))
        self._word = np.array([word for word, _ in fields], np.int64)
        self._shift = np.array([shift for _, shift in fields], np.uint64)

    def pack(self, batch: Batch) -> Packed:
        """A batch in packed form; a copy."""
        packed = np.empty((int(self._word[-1]) + 1, len(batch.counts)), np.uint64)
        members = np.empty(len(self._word) - 2, np.uint64)
        _pack(batch, self._place, self._ceiling, self._word, self._shift, members, packed)
        return packed

    def join(self, parts: list[Packed]) -> Packed:
        """All rows of several packed arrays, or of none."""
        return np.concatenate([np.empty((int(self._word[-1]) + 1, 0), np.uint64), *parts], axis=1)

    def count(self, first_word: np.uint64) -> int:
        """The count of a row, from its first word."""
        return self._ceiling - int(first_word >> self._shift[0])

    def first(self, packed: Packed, m: int) -> Packed:
        """The first m rows of the order, in any order; all rows if there are fewer."""
        if packed.shape[1] <= m:
            return packed
        packed = packed[:, packed[0] <= np.partition(packed[0], m - 1)[m - 1]]
        return packed if packed.shape[1] == m else packed[:, np.lexsort(packed[::-1])[:m]]

    def unpack(self, packed: Packed) -> tuple[NDArray[np.int32], NDArray[np.int64]]:
        """Itemsets as codes, int32 (rows, size), and counts, int64 (rows,), in order; sorts `packed` in place."""
        if len(packed) == 1:
            packed[0].sort()
        else:
            packed[:] = packed[:, np.lexsort(packed[::-1])]
        rows = packed.shape[1]
        itemsets = np.empty((rows, len(self._bits) - 1), np.int32)
        counts = np.empty(rows, np.int64)
        for start in range(0, rows, _BLOCK):
            block = slice(start, start + _BLOCK)
            counts[block] = self._ceiling - self._field(packed[:, block], 0)
            for member in range(itemsets.shape[1]):
                itemsets[block, member] = self._codes[self._field(packed[:, block], member + 1)]
        return itemsets, counts

    def _field(self, packed: Packed, field: int) -> NDArray[np.int64]:
        mask = np.uint64((1 << self._bits[field]) - 1)
        values: NDArray[np.int64] = ((packed[self._word[field]] >> self._shift[field]) & mask).astype(np.int64)
        return values


@compiled
def _pack(
    batch: Batch,
    place: U32,
    ceiling: int,
    word: NDArray[np.int64],
    shift: NDArray[np.uint64],
    members: NDArray[np.uint64],
    packed: Packed,
) -> None:
    """Write each itemset with its count as integers that sort by (count descending, itemset).

    Args:
        batch: the itemsets.
        place: the place of the item of every rank in the order of codes.
        ceiling: no count is larger.
        word: shape (size + 1,): the word of ceiling - count and of each member.
        shift: shape (size + 1,): their positions in these words, in bits.
        members: room for the members of a run, shape (size - 1,).
        packed: written, shape (words, rows).
    """
    prefix, end, last, counts = batch
    size = prefix.shape[1] + 1
    row = np.uint64(0)
    for run in range(len(end)):
        for column in range(size - 1):
            member = np.uint64(place[prefix[run, column]])
            free = column
            while free > 0 and members[free - 1] > member:
                members[free] = members[free - 1]
                free -= 1
            members[free] = member
        while row < end[run]:
            own = np.uint64(place[last[row]])
            for each in range(len(packed)):
                packed[each, row] = 0
            packed[0, row] = np.uint64(ceiling - counts[row]) << shift[0]
            # The members of the run are in order. Those after the row's own member move one place on.
            at = 1
            for column in range(size - 1):
                if members[column] < own:
                    packed[word[at], row] |= members[column] << shift[at]
                    at += 1
            packed[word[at], row] |= own << shift[at]
            at += 1
            for column in range(at - 2, size - 1):
                packed[word[at], row] |= members[column] << shift[at]
                at += 1
            row += np.uint64(1)
