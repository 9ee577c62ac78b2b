"""The compiled loops: inverted lists in, itemsets and their counts out, a bounded number at a time.

Items are ranks (0 = most frequent) and transactions are sorted by rank. The rarest member *owns* an itemset, so the
other members of an owner's itemsets stand before it in its transactions, and a row of counters for them has only as
many cells as its rank: the busiest rows stay in the processor's first caches.

Widths: ranks, positions and counts are uint32, which `preparation` guarantees to be enough. Indices are uint64 because
numba guards signed ones against wrapping around, which costs up to 1.4 times in these loops.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from fim_private.compiled import compiled

_U32 = NDArray[np.uint32]

DROPPED = np.uint32(0xFFFFFFFF)
"""The rank of an item that takes no part."""

STEPS_A_CALL = 2**27
"""After so many steps, some tenths of a second, a walk comes back even without output: it can then be interrupted."""


class Lists(NamedTuple):
    """Inverted lists over a flat array of transactions; all uint32, with one more leading axis in a workspace.

    List x is that of item `member[x]`. Its entries k in `begin[x]..end[x]` are the occurrences of the item: the
    transaction starts at `flat[start[k]]` and the item stands at `flat[position[k]]`.
    """

    flat: _U32
    start: _U32
    position: _U32
    member: _U32
    begin: _U32
    end: _U32


class Scratch(NamedTuple):
    """One cell an item, uint32: counters (all zero between uses), the items touched, where their lists grow."""

    counter: _U32
    touched: _U32
    slot: _U32


class Progress(NamedTuple):
    """Where a depth-first walk stands, so that it can go on after its output was taken away; int64.

    `depth[0]` is the present level, -1 at the end; `cursor[level]` and `number[level]` are the next list of a level
    and the end of its lists; `chosen[level]` is the member taken there. `steps[0]` is how many occurrences of items
    were walked over so far.
    """

    depth: NDArray[np.int64]
    cursor: NDArray[np.int64]
    number: NDArray[np.int64]
    chosen: NDArray[np.int64]
    steps: NDArray[np.int64]


@compiled
def fill_lists(
    offsets: NDArray[np.int64],
    items: NDArray[np.int32],
    rank: _U32,
    grow: _U32,
    lists: Lists,
) -> None:
    """Sorts transactions by rank and inverts them in one go, by two counting sorts.

    Args:
        offsets: of the transactions.
        items: their codes.
        rank: of every item code, `DROPPED` for those left out.
        grow: where each item's list begins; overwritten.
        lists: `begin` and `end` given, `flat`, `start` and `position` written.
    """
    transactions = len(offsets) - 1
    free = np.empty(transactions, np.uint32)
    first = np.empty(transactions, np.uint32)
    kept = 0
    for transaction in range(transactions):
        first[transaction] = kept
        free[transaction] = kept
        for place in range(offsets[transaction], offsets[transaction + 1]):
            item = rank[items[place]]
            if item != DROPPED:
                lists.start[grow[item]] = transaction
                grow[item] += np.uint32(1)
                kept += 1
    for item in range(len(lists.begin)):
        for entry in range(lists.begin[item], lists.end[item]):
            transaction = lists.start[entry]
            position = free[transaction]
            free[transaction] = position + np.uint32(1)
            lists.flat[position] = item
            lists.start[entry] = first[transaction]
            lists.position[entry] = position


@compiled
def sum_over_lists(lists: Lists, weight: NDArray[np.float64], total: NDArray[np.float64]) -> None:
    """Writes for every item the sum, over its occurrences, of weight[how many items stand before it]."""
    for item in range(len(lists.begin)):
        total[item] = 0.0
        for entry in range(lists.begin[item], lists.end[item]):
            total[item] += weight[lists.position[entry] - lists.start[entry]]


@compiled
def _lists_at(owners: Lists, deeper: Lists, level: int) -> Lists:
    """The lists of a level: the index itself at level 0, below it a row of the workspace."""
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
def _condition(source: Lists, chosen: int, to_come: int, floor: int, target: Lists, scratch: Scratch) -> int:
    """Writes into `target` the transactions of list `chosen`, cut before its item, without items below the floor,
    and the inverted lists of what remains; returns the number of lists.

    Occurrences with fewer than `to_come` items before them cannot be completed and get no entry.
    """  # noqa: D205
    counter, touched, slot = scratch
    one, least, needed = np.uint64(1), np.uint64(floor), np.uint64(to_come)
    first, last = np.uint64(source.begin[chosen]), np.uint64(source.end[chosen])
    seen = np.uint64(0)
    for entry in range(first, last):
        for place in range(np.uint64(source.start[entry]), np.uint64(source.position[entry])):
            item = source.flat[place]
            count = counter[item]
            touched[seen] = item
            seen += np.uint64(count == 0)
            counter[item] = count + one
    lists = np.uint64(0)
    room = np.uint64(0)
    for index in range(seen):
        item = touched[index]
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
    for entry in range(first, last):
        start = filled
        for place in range(np.uint64(source.start[entry]), np.uint64(source.position[entry])):
            item = source.flat[place]
            free = np.uint64(slot[item])
            if free != np.uint64(DROPPED):
                if filled - start >= needed:
                    target.start[free] = start
                    target.position[free] = filled
                    slot[item] = free + one
                target.flat[filled] = item
                filled += one
    for index in range(lists):
        target.end[index] = slot[target.member[index]]
    return np.int64(lists)


@compiled
def _count_last(
    lists: Lists,
    chosen: int,
    occurrences: int,
    floor: int,
    rows: int,
    last: _U32,
    counts: _U32,
    scratch: Scratch,
) -> int:
    """Counts what stands before the item of list `chosen` and writes items and counts from row `rows` on; returns
    the next free row. Writes at most min(occurrences, rank of the item) rows and spoils the one after them.
    """  # noqa: D205
    counter, touched, _ = scratch
    one, least, row = np.uint64(1), np.uint64(floor), np.uint64(rows)
    first, end = np.uint64(lists.begin[chosen]), np.uint64(lists.end[chosen])
    cells = np.uint64(lists.member[chosen])
    if end - first == one:
        for place in range(np.uint64(lists.start[first]), np.uint64(lists.position[first])):
            last[row] = lists.flat[place]
            counts[row] = 1
            row += one
    elif np.uint64(occurrences) >= cells:
        for entry in range(first, end):
            for place in range(np.uint64(lists.start[entry]), np.uint64(lists.position[entry])):
                counter[lists.flat[place]] += np.uint32(1)
        for item in range(cells):
            count = counter[item]
            counter[item] = 0
            last[row] = item
            counts[row] = count
            row += np.uint64(count >= least)
    else:
        seen = np.uint64(0)
        for entry in range(first, end):
            for place in range(np.uint64(lists.start[entry]), np.uint64(lists.position[entry])):
                found = lists.flat[place]
                count = counter[found]
                touched[seen] = found
                seen += np.uint64(count == 0)
                counter[found] = count + np.uint32(1)
        for index in range(seen):
            found = touched[index]
            count = counter[found]
            counter[found] = 0
            last[row] = found
            counts[row] = count
            row += np.uint64(count >= least)
    return np.int64(row)


@compiled
def advance(
    owners: Lists,
    deeper: Lists,
    floor: int,
    progress: Progress,
    scratch: Scratch,
    itemsets: _U32,
    counts: _U32,
) -> int:
    """Goes on with a walk until it ends, has gone on for long, or might not have room for the next rows.

    Returns the rows written.

    Args:
        owners: the index.
        deeper: room for the conditional lists of levels 1 to size - 2.
        floor: itemsets with fewer occurrences are left out; at least 1, may rise from call to call.
        progress: where to go on; `depth[0]` is -1 afterwards if the walk has ended.
        scratch: cells for every item.
        itemsets: written, shape (size, rows), ranks, the owner first.
        counts: written, shape (rows,); rows must exceed what the longest single list can give.
    """
    depth, cursor, number, chosen, steps = progress
    size = len(itemsets)
    rows = 0
    level = depth[0]
    pause = steps[0] + STEPS_A_CALL
    while level >= 0:
        lists = _lists_at(owners, deeper, level)
        x = cursor[level]
        while x < number[level] and np.int64(lists.end[x]) - np.int64(lists.begin[x]) < floor:
            x += 1
        cursor[level] = x
        if x == number[level]:
            level -= 1
            continue
        occurrences = np.int64(0)
        for entry in range(lists.begin[x], lists.end[x]):
            occurrences += np.int64(lists.position[entry]) - np.int64(lists.start[entry])
        chosen[level] = lists.member[x]
        last = level == size - 2
        if steps[0] > pause or (last and rows + min(occurrences, chosen[level]) >= len(counts)):
            break
        steps[0] += occurrences + np.int64(lists.end[x]) - np.int64(lists.begin[x])
        cursor[level] = x + 1
        if last:
            after = _count_last(lists, x, occurrences, floor, rows, itemsets[size - 1], counts, scratch)
            for column in range(size - 1):
                itemsets[column, rows:after] = chosen[column]
            rows = after
        else:
            target = _lists_at(owners, deeper, level + 1)
            number[level + 1] = _condition(lists, x, size - level - 2, floor, target, scratch)
            cursor[level + 1] = 0
            level += 1
    depth[0] = level
    return rows


@compiled
def pack(
    itemsets: _U32,
    counts: _U32,
    place: _U32,
    ceiling: int,
    word: NDArray[np.int64],
    shift: NDArray[np.uint64],
    packed: NDArray[np.uint64],
) -> None:
    """Writes each itemset with its count as integers whose order is that of (count descending, itemset).

    Args:
        itemsets: as `advance` writes them.
        counts: likewise.
        place: of every rank, its item's place in the order of codes.
        ceiling: no count is larger.
        word: shape (size + 1,): in which word ceiling - count and each member go.
        shift: shape (size + 1,): and where in it.
        packed: written, shape (words, rows).
    """
    size, rows = len(itemsets), len(counts)
    members = np.empty(size, np.uint64)
    for row in range(rows):
        for column in range(size):
            member = np.uint64(place[itemsets[column, row]])
            free = column
            while free > 0 and members[free - 1] > member:
                members[free] = members[free - 1]
                free -= 1
            members[free] = member
        packed[:, row] = 0
        packed[0, row] = np.uint64(ceiling - counts[row]) << shift[0]
        for column in range(size):
            packed[word[column + 1], row] |= members[column] << shift[column + 1]
