"""Count the pairs of the most frequent items: one counter per pair, 2 MiB in all, and one pass over the transactions.

Most occurrences of pairs are pairs of frequent items. Counting them needs no inverted lists, and the counters stay in
the second or third cache of the processor.
"""

from __future__ import annotations

from itertools import pairwise

import numpy as np

from fim_private.compilation import compiled
from fim_private.counting.local.batch import Batch
from fim_private.counting.local.depth_first import Progress
from fim_private.counting.local.index import U32, Index
from fim_private.transactions.in_order import mapping

ITEMS = 1024
"""The number of most frequent items whose pairs are counted."""

WORTH_IT = 2**17
"""With fewer item occurrences, clearing and reading the counters would take longer than counting."""

_WORTH_A_THREAD = 2**21

_UNITS_AT_ONCE = 2**16 - 1
"""The most units whose numbers and counts fit in half of a cell. Smaller cells stay in the cache."""


def count_triangle(index: Index, threads: int) -> U32:
    """How many transactions, or units, hold both of two items, for all pairs of the `ITEMS` most frequent.

    Returns:
        the counts, uint32; the pair of ranks i > j is at i (i - 1) / 2 + j.
    """
    items = min(ITEMS, index.items)
    parts = threads if len(index.flat) >= _WORTH_A_THREAD else 1
    cells = items * (items - 1) // 2 + 1

    def count(part: tuple[int, int]) -> U32:
        first, end = part
        offsets = index.offsets[first : end + 1]
        counter = np.zeros(cells, np.uint32)
        if index.counts_units:
            _stream_units(index.flat, offsets, index.units[first:end], items, np.zeros_like(counter), counter)
        else:
            _stream(index.flat, offsets, items, counter)
        return counter

    with mapping(parts) as each:
        counters: list[U32] = list(each(count, pairwise(index.cuts(parts))))
    for more in counters[1:]:
        counters[0] += more
    return counters[0]


@compiled
def _stream(flat: U32, offsets: U32, items: int, counter: U32) -> None:
    one, most = np.uint64(1), np.uint64(items)
    for transaction in range(np.uint64(len(offsets) - 1)):
        start = np.uint64(offsets[transaction])
        for place in range(start + one, np.uint64(offsets[transaction + one])):
            i = np.uint64(flat[place])
            if i >= most:
                break
            row = (i * (i - one)) >> one
            for before in range(start, place):
                counter[row + np.uint64(flat[before])] += np.uint32(1)


@compiled
def _stream_units(flat: U32, offsets: U32, units: U32, items: int, cells: U32, counter: U32) -> None:
    """Count a pair once per unit.

    The lower half of a cell is the pair's count in the present part of the data, which has at most `_UNITS_AT_ONCE`
    units. The upper half is the number, in this part, of the last unit with several transactions that held the pair. It
    never falls, so a cell below a unit's own tag is one that this unit has not reached.
    """
    one, most, count_bits = np.uint64(1), np.uint64(items), np.uint32(_UNITS_AT_ONCE)
    transactions, number = len(units), 0
    for transaction in range(transactions):
        unit = units[transaction]
        begins = transaction == 0 or units[transaction - 1] != unit
        alone = begins and (transaction + 1 == transactions or units[transaction + 1] != unit)
        if begins:
            if number == _UNITS_AT_ONCE:
                _add_cells(cells, counter)
                number = 0
            number += 1
        tag = np.uint32(number << 16)
        start = np.uint64(offsets[transaction])
        for place in range(start + one, np.uint64(offsets[transaction + 1])):
            i = np.uint64(flat[place])
            if i >= most:
                break
            row = (i * (i - one)) >> one
            if alone:
                for before in range(start, place):
                    cells[row + np.uint64(flat[before])] += np.uint32(1)
            else:
                for before in range(start, place):
                    cell = row + np.uint64(flat[before])
                    value = cells[cell]
                    cells[cell] = (tag | (value & count_bits)) + np.uint32(value < tag)
    _add_cells(cells, counter)


@compiled
def _add_cells(cells: U32, counter: U32) -> None:
    """Add the counts of the cells to the counter, and clear the cells."""
    for cell in range(np.uint64(len(cells))):
        counter[cell] += cells[cell] & np.uint32(_UNITS_AT_ONCE)
        cells[cell] = 0


@compiled
def read_triangle(counter: U32, end: int, floor: int, progress: Progress, batch: Batch) -> None:
    """Write the pairs whose rarer item is among ranks cursor[0] to `end`, while there is room for a whole row."""
    _, cursor, _, _, _, written = progress
    one, least = np.uint64(1), np.uint64(floor)
    i, runs, row = np.uint64(cursor[0]), written[0], np.uint64(written[1])
    while i < np.uint64(end) and row + i < np.uint64(len(batch.counts)) and runs < len(batch.end):
        cell = (i * (i - one)) >> one
        before = row
        for j in range(i):
            count = counter[cell + j]
            batch.last[row] = j
            batch.counts[row] = count
            row += np.uint64(np.uint64(count) >= least)
        if row > before:
            batch.prefix[runs, 0] = i
            batch.end[runs] = row
            runs += 1
        i += one
    cursor[0] = i
    written[0], written[1] = runs, row
