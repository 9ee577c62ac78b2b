"""Count itemsets of dense data by bits: one bit per transaction of an owner, intersected in words of 64.

If an item is in every tenth transaction, intersecting 64 transactions at once costs less than counting one occurrence
after the other. Deeper levels leave out words in which a chosen item has no bit, so rare itemsets cost little.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from fim_private.compilation import compiled
from fim_private.counting.local.batch import Batch
from fim_private.counting.local.depth_first import STEPS_A_CALL, Progress
from fim_private.counting.local.index import U32, Index, Lists
from fim_private.counting.local.instructions import bits_set

_DENSE = 1 / 16
"""If a larger share of all pairs of an item and a transaction occurs than this, bits are faster."""

_MOST_BYTES = 2**26
"""The most bytes for the bits of all items; more would not stay in the cache."""


def is_dense(index: Index) -> bool:
    """Whether itemsets of three items and more are counted by bits."""
    cells = index.items * (len(index.offsets) - 1)
    return len(index.flat) > _DENSE * cells and cells <= 8 * _MOST_BYTES


class Bits(NamedTuple):
    """For each level below the owners, from 1: the items that may come next, and the transactions that hold them.

    Row x of a level is bits[level - 1, x * words[level - 1]:][:words[level - 1]] and belongs to item member[level - 1,
    x]; items are in order of rank. `filled` is scratch space for word numbers.
    """

    bits: NDArray[np.uint64]
    member: U32
    words: NDArray[np.int64]
    filled: NDArray[np.int64]


def room_for_bits(levels: int, index: Index) -> Bits:
    """Room for `levels` levels below the owners."""
    words = (int(index.counts.max(initial=0)) + 63) // 64
    return Bits(
        bits=np.zeros((levels, index.items * words), np.uint64),
        member=np.empty((levels, index.items), np.uint32),
        words=np.zeros(levels, np.int64),
        filled=np.empty(words + 1, np.int64),
    )


@compiled
def _common(bits: NDArray[np.uint64], one: int, other: int, words: int) -> int:
    """How many bits are set in both rows, which begin at words `one` and `other`."""
    total = np.uint64(0)
    for word in range(words):
        total += bits_set(bits[one + word] & bits[other + word])
    return np.int64(total)


@compiled
def _first_level(owners: Lists, owner: int, floor: int, counter: U32, slot: U32, room: Bits) -> int:
    """Write level 1, one bit per transaction of the owner. Return how many items at least `floor` of them hold."""
    first, end = np.int64(owners.begin[owner]), np.int64(owners.end[owner])
    words = (end - first + 63) >> 6
    room.words[0] = words
    for entry in range(first, end):
        for place in range(owners.start[entry], owners.position[entry]):
            counter[owners.flat[place]] += np.uint32(1)
    rows = 0
    for item in range(owners.member[owner]):
        enough = np.int64(counter[item]) >= floor
        slot[item] = rows if enough else len(slot)
        if enough:
            room.member[0, rows] = item
            rows += 1
        counter[item] = 0
    bits = room.bits[0]
    for word in range(rows * words):
        bits[word] = 0
    for entry in range(first, end):
        word, bit = (entry - first) >> 6, np.uint64(1) << np.uint64((entry - first) & 63)
        for place in range(owners.start[entry], owners.position[entry]):
            row = np.int64(slot[owners.flat[place]])
            if row < rows:
                bits[row * words + word] |= bit
    return rows


@compiled
def _next_level(room: Bits, level: int, x: int, floor: int) -> int:
    """Write level + 1 for item x of a level: the items in at least `floor` of its transactions. Return how many."""
    words = room.words[level - 1]
    source, target = room.bits[level - 1], room.bits[level]
    narrow = 0
    for word in range(words):
        room.filled[narrow] = word
        narrow += source[x * words + word] != 0
    rows = 0
    for y in range(x):
        total = np.uint64(0)
        for place in range(narrow):
            word = room.filled[place]
            both = source[x * words + word] & source[y * words + word]
            target[rows * narrow + place] = both
            total += bits_set(both)
        room.member[level, rows] = room.member[level - 1, y]
        rows += np.int64(total) >= floor
    room.words[level] = narrow
    return rows


@compiled
def advance_by_bits(
    owners: Lists, room: Bits, floor: int, progress: Progress, counter: U32, slot: U32, batch: Batch
) -> None:
    """Do what `depth_first.advance` does, for itemsets of size 3 and more; a step is a word of bits.

    Args:
        owners: the lists of the index.
        room: room for levels 1 to size - 2.
        floor: the least count, at least 1.
        progress: where to go on.
        counter: one cell per item, all zero.
        slot: one cell per item.
        batch: written: the itemsets.
    """
    depth, cursor, number, chosen, steps, written = progress
    last = batch.prefix.shape[1] - 1
    runs, rows = written[0], written[1]
    while depth[0] >= 0:
        level = depth[0]
        x = cursor[level]
        if x >= number[level]:
            depth[0] = level - 1
            continue
        full = runs == len(batch.end) or rows + x >= len(batch.counts)
        if steps[0] > STEPS_A_CALL or (level == last and full):
            break
        cursor[level] = x + 1
        if level == 0:
            if np.int64(owners.end[x]) - np.int64(owners.begin[x]) >= floor:
                chosen[0] = owners.member[x]
                number[1] = _first_level(owners, x, floor, counter, slot, room)
                steps[0] += number[1] * room.words[0]
                cursor[1] = last
                depth[0] = 1
            continue
        words = room.words[level - 1]
        steps[0] += words * x + 1
        if level < last:
            chosen[level] = room.member[level - 1, x]
            number[level + 1] = _next_level(room, level, x, floor)
            # Skip items with too few items before them to complete an itemset.
            cursor[level + 1] = last - level
            depth[0] = level + 1
            continue
        before = rows
        for y in range(x):
            count = _common(room.bits[level - 1], x * words, y * words, words)
            batch.last[rows] = room.member[level - 1, y]
            batch.counts[rows] = count
            rows += count >= floor
        if rows > before:
            for column in range(level):
                batch.prefix[runs, column] = chosen[column]
            batch.prefix[runs, level] = room.member[level - 1, x]
            batch.end[runs] = rows
            runs += 1
    written[0], written[1] = runs, rows
