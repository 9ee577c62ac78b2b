"""Walk depth first through the occurring itemsets: from inverted lists to batches of itemsets with counts.

Items are ranks (0 = most frequent) and transactions are sorted by rank. The rarest member *owns* an itemset, so the
other members of an owner's itemsets stand before it in its transactions. A row of counters for them has only as many
cells as the rank of the owner, so the busiest rows stay in the processor's first caches.

If units are counted, the transactions of a unit are neighbours in every list. Most units have one transaction in a
list, and these are counted as without units. In a group of several, `Scratch.last` remembers which items were counted.
The loops for units are compiled only if units are counted: `units` is None otherwise, and numba skips what needs them.

Ranks, positions and counts are uint32; `index` guarantees that this is enough. Indices are uint64, because numba guards
signed ones against wrapping around, which makes these loops up to 1.4 times slower.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from fim_private.arrays import Floats
from fim_private.compilation import compiled
from fim_private.counting.local.batch import Batch
from fim_private.counting.local.index import DROPPED, U32, Lists
from fim_private.counting.local.instructions import AHEAD, prefetch

STEPS_A_CALL = 2**27
"""After this many steps (some tenths of a second) a walk returns even without output, so that Ctrl-C takes effect."""

_AHEAD = np.uint64(AHEAD)
_DROPPED = np.uint64(DROPPED)
_UNITS = np.uint64(32)
_OCCURRENCES = np.uint64(2**32 - 1)
_ONE_UNIT = np.uint64(2**32)
_MOST_GROUPS = 2**32 - 1


class Scratch(NamedTuple):
    """One cell per item, uint32: counters (all zero between uses), the items touched, and where their lists grow.

    Three more arrays are in use if units are counted. `cell` (uint64, all zero between uses) holds units times
    `_ONE_UNIT`, plus occurrences. `last` is the number of the last group of transactions that held the item, and
    `group[0]` is the number of the last group of all.
    """

    counter: U32
    touched: U32
    slot: U32
    cell: NDArray[np.uint64]
    last: U32
    group: U32


class Progress(NamedTuple):
    """The state of a depth-first walk between calls; int64.

    `depth[0]` is the present level, or -1 at the end. `cursor[level]` is the next list of a level, `number[level]` the
    end of its lists, and `chosen[level]` the member chosen there. For the present call, `steps[0]` is the number of
    occurrences walked over, and `written` has the numbers of runs and rows written.
    """

    depth: NDArray[np.int64]
    cursor: NDArray[np.int64]
    number: NDArray[np.int64]
    chosen: NDArray[np.int64]
    steps: NDArray[np.int64]
    written: NDArray[np.int64]


def room_for_lists(levels: int, items: int, width: int, flat_type: np.dtype[Any], *, counts_units: bool) -> Lists:
    """Room for the lists of each level below the owners: `items` items and at most `width` occurrences."""
    flat = np.empty((levels, width + AHEAD), flat_type)
    start, position = (np.empty((levels, width + AHEAD), np.uint32) for _ in range(2))
    unit = np.empty((levels, width if counts_units else 0), np.uint32)
    return Lists(flat, start, position, unit, *(np.empty((levels, items), np.uint32) for _ in range(4)))


def scratch_for(items: int, *, counts_units: bool) -> Scratch:
    """Scratch for `items` items."""
    return Scratch(
        counter=np.zeros(items, np.uint32),
        touched=np.empty(items + 1, np.uint32),
        slot=np.empty(items, np.uint32),
        cell=np.zeros(items if counts_units else 0, np.uint64),
        last=np.zeros(items if counts_units else 0, np.uint32),
        group=np.zeros(1, np.uint32),
    )


def progress_for(size: int) -> Progress:
    """The progress of a walk through itemsets of this size before it starts."""
    return Progress(*(np.zeros(length, np.int64) for length in (1, size, size, size, 1, 2)))


@compiled
def sum_over_lists(lists: Lists, weight: Floats, total: Floats) -> None:
    """Write the total of each item: the sum over its occurrences of weight[number of items before it]."""
    for item in range(len(lists.begin)):
        total[item] = 0.0
        for entry in range(np.uint64(lists.begin[item]), np.uint64(lists.end[item])):
            total[item] += weight[np.uint64(lists.position[entry] - lists.start[entry])]


@compiled
def _lists_at(owners: Lists, deeper: Lists, level: int) -> Lists:
    """The lists of a level: those of the index at level 0, a row of the workspace at deeper levels."""
    if level == 0:
        return owners
    row = level - 1
    return Lists(
        deeper.flat[row],
        deeper.start[row],
        deeper.position[row],
        deeper.unit[row],
        deeper.member[row],
        deeper.begin[row],
        deeper.end[row],
        deeper.count[row],
    )


@compiled
def _touch(lists: Lists, chosen: int, scratch: Scratch) -> int:
    """Count the items before the item of list `chosen`, and note each of them. Return how many are noted."""
    counter, touched = scratch.counter, scratch.touched
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
def _first_group(lists: Lists, chosen: int, scratch: Scratch) -> int:
    """The number of the last group so far, such that the numbers of all groups of this list are still free."""
    if np.int64(scratch.group[0]) + np.int64(lists.end[chosen]) - np.int64(lists.begin[chosen]) > _MOST_GROUPS:
        scratch.last[:] = 0
        scratch.group[0] = 0
    return np.uint32(scratch.group[0])


@compiled
def _touch_units(lists: Lists, chosen: int, scratch: Scratch) -> int:
    """Do what `_touch` does, with units: count in `cell` how many units, and how often, hold each item."""
    cell, touched, last = scratch.cell, scratch.touched, scratch.last
    one, group = np.uint64(1), _first_group(lists, chosen, scratch)
    seen = np.uint64(0)
    entry, end = np.uint64(lists.begin[chosen]), np.uint64(lists.end[chosen])
    while entry < end:
        unit = lists.unit[entry]
        if entry + one == end or lists.unit[entry + one] != unit:
            prefetch(lists.flat, np.uint64(lists.start[entry + _AHEAD]))
            for place in range(np.uint64(lists.start[entry]), np.uint64(lists.position[entry])):
                item = np.uint64(lists.flat[place])
                value = cell[item]
                touched[seen] = item
                seen += np.uint64(value == 0)
                cell[item] = value + (_ONE_UNIT | one)
            entry += one
            continue
        group += np.uint32(1)
        while entry < end and lists.unit[entry] == unit:
            prefetch(lists.flat, np.uint64(lists.start[entry + _AHEAD]))
            for place in range(np.uint64(lists.start[entry]), np.uint64(lists.position[entry])):
                item = np.uint64(lists.flat[place])
                value = cell[item]
                touched[seen] = item
                seen += np.uint64(value == 0)
                cell[item] = value + ((np.uint64(last[item] != group) << _UNITS) | one)
                last[item] = group
            entry += one
    scratch.group[0] = group
    return seen


@compiled
def _condition(
    source: Lists, units: U32 | None, chosen: int, to_come: int, floor: int, target: Lists, scratch: Scratch
) -> int:
    """Write into `target` the transactions of list `chosen`, cut before its item and without items below the floor,
    and their inverted lists. Return the number of lists.

    Occurrences with fewer than `to_come` items before them cannot complete an itemset and get no entry.
    """  # noqa: D205
    counter, touched, slot, cell = scratch.counter, scratch.touched, scratch.slot, scratch.cell
    one, least, needed = np.uint64(1), np.uint64(floor), np.uint64(to_come)
    lists = np.uint64(0)
    room = np.uint64(0)
    seen = _touch(source, chosen, scratch) if units is None else _touch_units(source, chosen, scratch)
    for index in range(seen):
        item = np.uint64(touched[index])
        if units is None:
            count = occurrences = np.uint64(counter[item])
            counter[item] = 0
        else:
            count, occurrences = cell[item] >> _UNITS, cell[item] & _OCCURRENCES
            cell[item] = 0
        if count >= least:
            target.member[lists] = item
            target.begin[lists] = room
            target.count[lists] = count
            slot[item] = room
            lists += one
            room += occurrences
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
                    if units is not None:
                        target.unit[free] = source.unit[entry]
                    slot[item] = free + one
                target.flat[filled] = item
                filled += one
    for index in range(lists):
        target.end[index] = slot[np.uint64(target.member[index])]
        target.count[index] = min(target.count[index], target.end[index] - target.begin[index])
    return np.int64(lists)


@compiled
def _write_last(lists: Lists, chosen: int, dense: bool, floor: int, row: int, batch: Batch, scratch: Scratch) -> int:
    """Count the items before the item of list `chosen`, and write items and counts from `row` on. Return the next free
    row. The number of rows is at most the rank of the item and at most the number of occurrences before it. The row
    after them is overwritten too.

    Args:
        lists: the lists of the last level.
        chosen: one of these lists.
        dense: whether to read all counters. If many are touched, this costs less than noting which.
        floor: the least count.
        row: uint64, the first free row.
        batch: written.
        scratch: cells for every item.
    """  # noqa: D205
    counter, touched = scratch.counter, scratch.touched
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
def _write_last_of_units(
    lists: Lists, chosen: int, dense: bool, floor: int, row: int, batch: Batch, scratch: Scratch
) -> int:
    """Do what `_write_last` does, with units."""
    cell, touched, last = scratch.cell, scratch.touched, scratch.last
    one, least = np.uint64(1), np.uint64(floor)
    if dense:
        group = _first_group(lists, chosen, scratch)
        entry, end = np.uint64(lists.begin[chosen]), np.uint64(lists.end[chosen])
        while entry < end:
            unit = lists.unit[entry]
            if entry + one == end or lists.unit[entry + one] != unit:
                prefetch(lists.flat, np.uint64(lists.start[entry + _AHEAD]))
                for place in range(np.uint64(lists.start[entry]), np.uint64(lists.position[entry])):
                    cell[np.uint64(lists.flat[place])] += _ONE_UNIT
                entry += one
                continue
            group += np.uint32(1)
            while entry < end and lists.unit[entry] == unit:
                prefetch(lists.flat, np.uint64(lists.start[entry + _AHEAD]))
                for place in range(np.uint64(lists.start[entry]), np.uint64(lists.position[entry])):
                    item = np.uint64(lists.flat[place])
                    cell[item] += np.uint64(last[item] != group) << _UNITS
                    last[item] = group
                entry += one
        scratch.group[0] = group
        for item in range(np.uint64(lists.member[chosen])):
            count = cell[item] >> _UNITS
            cell[item] = 0
            batch.last[row] = item
            batch.counts[row] = count
            row += np.uint64(count >= least)
    else:
        for index in range(_touch_units(lists, chosen, scratch)):
            found = np.uint64(touched[index])
            count = cell[found] >> _UNITS
            cell[found] = 0
            batch.last[row] = found
            batch.counts[row] = count
            row += np.uint64(count >= least)
    return row


@compiled
def write_last_members(
    lists: Lists, units: U32 | None, level: int, floor: int, progress: Progress, scratch: Scratch, batch: Batch
) -> None:
    """Continue with the lists of the last level until they end or there might not be room for the next."""
    _, cursor, number, chosen, steps, written = progress
    runs, row = written[0], np.uint64(written[1])
    room, run_room = len(batch.counts), len(batch.end)
    x = cursor[level]
    while x < number[level]:
        first, end = np.uint64(lists.begin[x]), np.uint64(lists.end[x])
        entries = np.int64(end - first)
        if np.int64(lists.count[x]) < floor:
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
        if entries == 1:  # a single transaction: each of its items counts 1
            for place in range(np.uint64(lists.start[first]), np.uint64(lists.position[first])):
                batch.last[row] = lists.flat[place]
                batch.counts[row] = 1
                row += np.uint64(1)
        elif units is None:
            row = _write_last(lists, x, occurrences >= cells, floor, row, batch, scratch)
        else:
            row = _write_last_of_units(lists, x, occurrences >= cells, floor, row, batch, scratch)
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
def advance(
    owners: Lists, deeper: Lists, units: U32 | None, floor: int, progress: Progress, scratch: Scratch, batch: Batch
) -> None:
    """Continue a walk until it ends, takes too many steps, or might not have room for the next rows.

    Args:
        owners: the lists of the index.
        deeper: room for the conditional lists of levels 1 to size - 2, at least one level.
        units: those of the index; None if transactions are counted.
        floor: the least count, at least 1; may rise from call to call.
        progress: where to continue. Afterwards `depth[0]` is -1 if the walk has ended.
        scratch: cells for every item.
        batch: written. It must have more rows than the longest single list can fill.
    """
    depth, cursor, number, chosen, steps, _ = progress
    last = batch.prefix.shape[1] - 1
    while depth[0] >= 0:
        level = depth[0]
        lists = _lists_at(owners, deeper, level)
        if level == last:
            write_last_members(lists, units, level, floor, progress, scratch, batch)
            if cursor[level] < number[level]:
                break
        x = cursor[level]
        while x < number[level] and np.int64(lists.count[x]) < floor:
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
        number[level + 1] = _condition(lists, units, x, last - level, floor, target, scratch)
        cursor[level + 1] = 0
        depth[0] = level + 1
