"""Count the pairs of the most frequent items: one counter per pair, 2 MiB in all, and one pass over the transactions.

Most occurrences of pairs are pairs of frequent items. Counting them needs no inverted lists, and the counters stay in
the second or third cache of the processor.
"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise

import numpy as np

from fim_private.compilation import compiled
from fim_private.counting.local.batch import Batch
from fim_private.counting.local.depth_first import Progress
from fim_private.counting.local.index import U32, Index

ITEMS = 1024
"""The number of most frequent items whose pairs are counted."""

WORTH_IT = 2**17
"""With fewer item occurrences, clearing and reading the counters would take longer than counting."""

_WORTH_A_THREAD = 2**21


def count_triangle(index: Index, threads: int) -> U32:
    """How many transactions hold both of two items, for all pairs of the `ITEMS` most frequent.

    Returns:
        the counts, uint32; the pair of ranks i > j is at i (i - 1) / 2 + j.
    """
    items = min(ITEMS, index.items)
    parts = threads if len(index.flat) >= _WORTH_A_THREAD else 1
    cuts = [part * (len(index.offsets) - 1) // parts for part in range(parts + 1)]
    counters = [np.zeros(items * (items - 1) // 2 + 1, np.uint32) for _ in range(parts)]
    with ThreadPoolExecutor(parts) as pool:
        jobs = zip(pairwise(cuts), counters, strict=True)
        list(pool.map(lambda job: _stream(index.flat, index.offsets[job[0][0] : job[0][1] + 1], items, job[1]), jobs))
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
