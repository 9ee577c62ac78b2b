"""Walking depth first through the itemsets that occur: inverted lists in, itemsets and counts out, in batches.

Items are ranks (0 = most frequent) and transactions are sorted by rank. The rarest member *owns* an itemset, so the
other members of an owner's itemsets stand before it in its transactions, and a row of counters for them has only as
many cells as its rank: the busiest rows stay in the processor's first caches.

Widths: ranks, positions and counts are uint32, which `index` guarantees to be enough. Indices are uint64 because numba
guards signed ones against wrapping around, which costs up to 1.4 times in these loops.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from fim_private.compilation import compiled
from fim_private.counting.local.batch import Batch
from fim_private.counting.local.index import DROPPED, U32, Lists
from fim_private.counting.local.instructions import AHEAD, prefetch

STEPS_A_CALL = 2**27
"""After so many steps, some tenths of a second, a walk comes back even without output: it can then be interrupted."""

_AHEAD = np.uint64(AHEAD)
_DROPPED = np.uint64(DROPPED)


class Scratch(NamedTuple):
    """One cell an item, uint32: counters (all zero between uses), the items touched, where their lists grow."""

    counter: U32
    touched: U32
    slot: U32


class Progress(NamedTuple):
    """Where a depth-first walk stands, so that it can go on after its output was taken away; int64.

    `depth[0]` is the present level, -1 at the end; `cursor[level]` and `number[level]` are the next list of a level
    and the end of its lists; `chosen[level]` is the member taken there. Of the present call, `steps[0]` is how many
    occurrences of items were walked over, and `written` how many runs and rows were written.
    """

    depth: NDArray[np.int64]
    cursor: NDArray[np.int64]
    number: NDArray[np.int64]
    chosen: NDArray[np.int64]
    steps: NDArray[np.int64]
    written: NDArray[np.int64]


def room_for_lists(levels: int, items: int, width: int) -> Lists:
    """Lists for each level below the owners: of `items` items, over `width` occurrences at most."""
    flat, start, position = (np.empty((levels, width + AHEAD), np.uint32) for _ in range(3))
    return Lists(flat, start, position, *(np.empty((levels, items), np.uint32) for _ in range(3)))


def scratch_for(items: int) -> Scratch:
    """Scratch for so many items."""
    return Scratch(np.zeros(items, np.uint32), np.empty(items + 1, np.uint32), np.empty(items, np.uint32))


def progress_for(size: int) -> Progress:
    """Progress of a walk through itemsets of this size, before its start."""
    return Progress(*(np.zeros(length, np.int64) for length in (1, size, size, size, 1, 2)))


@compiled
def sum_over_lists(lists: Lists, weight: NDArray[np.float64], total: NDArray[np.float64]) -> None:
    """Writes for every item the sum, over its occurrences, of weight[how many items stand before it]."""
    for item in range(len(lists.begin)):
        total[item] = 0.0
        for entry in range(np.uint64(lists.begin[item]), np.uint64(lists.end[item])):
            total[item] += weight[np.uint64(lists.position[entry] - lists.start[entry])]


@compiled
def _lists_at(owners: Lists, deeper: Lists, level: int) -> Lists:
    """The lists of a level: the index's own at level 0, below it a row of the workspace."""
    if level == 0:
        return owners
    row = level - 1
    return Lists(
        deeper.flat[row],
        deeper.start[row],
        deeper.position[row],
        deeper.member[row],
        deeper.begin[row],
        deeper.end[row],
    )


@compiled
def _touch(lists: Lists, chosen: int, scratch: Scratch) -> int:
    """Counts what stands before the item of list `chosen`, and notes each item counted; returns how many."""
    counter, touched, _ = scratch
    seen = np.uint64(0)
    for entry in range(np.uint64(lists.begin[chosen]), np.uint64(lists.end[chosen])):
        prefetch(lists.flat, np.uint64(lists.start[entry + _AHEAD]))
        for place in range(np.uint64(lists.start[entry]), np.uint64(lists.position[entry])):
            item = np.uint64(lists.flat[place])
            count = counter[item]
            # Written each time and kept where it is new: no branch that the processor could guess wrong.
            touched[seen] = item
            seen += np.uint64(count == 0)
            counter[item] = count + np.uint32(1)
    return seen


@compiled
def _condition(source: Lists, chosen: int, to_come: int, floor: int, target: Lists, scratch: Scratch) -> int:
    """Writes into `target` the transactions of list `chosen`, cut before its item, without items below the floor,
    and the inverted lists of what remains; returns the number of lists.

    Occurrences with fewer than `to_come` items before them cannot be completed and get no entry.
    """  # noqa: D205
    counter, touched, slot = scratch
    one, least, needed = np.uint64(1), np.uint64(floor), np.uint64(to_come)
    lists = np.uint64(0)
    room = np.uint64(0)
    for index in range(_touch(source, chosen, scratch)):
        item = np.uint64(touched[index])
        count = np.uint64(counter[item])
        counter[item] = 0
        if count >= least:
            target.member[lists] = item
            target.begin[lists] = room
            slot[item] = room
            lists += one
            room += count
        else:
            slot[item] = DROPPED
    filled = np.uint64(0)
    for entry in range(np.uint64(source.begin[chosen]), np.uint64(source.end[chosen])):
        start = filled
        for place in range(np.uint64(source.start[entry]), np.uint64(source.position[entry])):
            item = np.uint64(source.flat[place])
            free = np.uint64(slot[item])
            if free != _DROPPED:
                if filled - start >= needed:
                    target.start[free] = start
                    target.position[free] = filled
                    slot[item] = free + one
                target.flat[filled] = item
                filled += one
    for index in range(lists):
        target.end[index] = slot[np.uint64(target.member[index])]
    return np.int64(lists)


@compiled
def _write_last(lists: Lists, chosen: int, dense: bool, floor: int, row: int, batch: Batch, scratch: Scratch) -> int:
    """Counts what stands before the item of list `chosen` and writes items and counts from a row on; returns the next
    free row. Writes no more rows than the item has occurrences before it, or its rank says, and spoils the one after.

    Args:
        lists: of the last level.
        chosen: one of them.
        dense: whether to read all counters, which costs less than noting which were touched if those are many.
        floor: least count.
        row: uint64, the first free one.
        batch: to write to.
        scratch: cells for every item.
    """  # noqa: D205
    counter, touched, _ = scratch
    least = np.uint64(floor)
    if dense:
        for entry in range(np.uint64(lists.begin[chosen]), np.uint64(lists.end[chosen])):
            prefetch(lists.flat, np.uint64(lists.start[entry + _AHEAD]))
            for place in range(np.uint64(lists.start[entry]), np.uint64(lists.position[entry])):
                counter[np.uint64(lists.flat[place])] += np.uint32(1)
        for item in range(np.uint64(lists.member[chosen])):
            count = counter[item]
            counter[item] = 0
            batch.last[row] = item
            batch.counts[row] = count
            row += np.uint64(np.uint64(count) >= least)
    else:
        for index in range(_touch(lists, chosen, scratch)):
            found = np.uint64(touched[index])
            count = counter[found]
            counter[found] = 0
            batch.last[row] = found
            batch.counts[row] = count
            row += np.uint64(np.uint64(count) >= least)
    return row


@compiled
def write_last_members(
    lists: Lists, level: int, floor: int, progress: Progress, scratch: Scratch, batch: Batch
) -> None:
    """Goes on with the lists of the last level until their end, or until there might not be room for the next."""
    _, cursor, number, chosen, steps, written = progress
    runs, row = written[0], np.uint64(written[1])
    room, run_room = len(batch.counts), len(batch.end)
    x = cursor[level]
    while x < number[level]:
        first, end = np.uint64(lists.begin[x]), np.uint64(lists.end[x])
        entries = np.int64(end - first)
        if entries < floor or entries == 0:
            x += 1
            continue
        cells = np.int64(lists.member[x])
        occurrences = np.int64(0)
        for entry in range(first, end):
            occurrences += np.int64(lists.position[entry]) - np.int64(lists.start[entry])
        if runs == run_room or np.int64(row) + min(occurrences, cells) >= room or steps[0] > STEPS_A_CALL:
            break
        steps[0] += occurrences + entries
        before = row
        if entries == 1:  # a single transaction: what is in it, once each
            for place in range(np.uint64(lists.start[first]), np.uint64(lists.position[first])):
                batch.last[row] = lists.flat[place]
                batch.counts[row] = 1
                row += np.uint64(1)
        else:
            row = _write_last(lists, x, occurrences >= cells, floor, row, batch, scratch)
        if row > before:
            for column in range(level):
                batch.prefix[runs, column] = chosen[column]
            batch.prefix[runs, level] = cells
            batch.end[runs] = row
            runs += 1
        x += 1
    cursor[level] = x
    written[0], written[1] = runs, row


@compiled
def advance(owners: Lists, deeper: Lists, floor: int, progress: Progress, scratch: Scratch, batch: Batch) -> None:
    """Goes on with a walk until it ends, has gone on for long, or might not have room for the next rows.

    Args:
        owners: the lists of the index.
        deeper: room for the conditional lists of levels 1 to size - 2, of which there is one at least.
        floor: itemsets with fewer occurrences are left out; at least 1, may rise from call to call.
        progress: where to go on; `depth[0]` is -1 afterwards if the walk has ended.
        scratch: cells for every item.
        batch: written; its rows must exceed what the longest single list can give.
    """
    depth, cursor, number, chosen, steps, _ = progress
    last = batch.prefix.shape[1] - 1
    while depth[0] >= 0:
        level = depth[0]
        lists = _lists_at(owners, deeper, level)
        if level == last:
            write_last_members(lists, level, floor, progress, scratch, batch)
            if cursor[level] < number[level]:
                break
        x = cursor[level]
        while x < number[level] and np.int64(lists.end[x]) - np.int64(lists.begin[x]) < floor:
            x += 1
        if x == number[level]:
            depth[0] = level - 1
            continue
        if steps[0] > STEPS_A_CALL:
            break
        for entry in range(np.uint64(lists.begin[x]), np.uint64(lists.end[x])):
            steps[0] += 1 + np.int64(lists.position[entry]) - np.int64(lists.start[entry])
        chosen[level] = lists.member[x]
        cursor[level] = x + 1
        target = _lists_at(owners, deeper, level + 1)
        number[level + 1] = _condition(lists, x, last - level, floor, target, scratch)
        cursor[level + 1] = 0
        depth[0] = level + 1
