"""Count itemsets of dense data by bits: one bit per transaction of an owner, intersected in words of 64.

If an item is in every tenth transaction, intersecting 64 transactions at once costs less than counting one occurrence
after the other. Deeper levels leave out words in which a chosen item has no bit, so rare itemsets cost little.

If units are counted, a bit stands for a unit. A unit with several transactions of an owner has its bit in as many
words, one per transaction, which are neighbours. Their intersections are joined by OR before bits are counted. Units
with the most transactions come first, so the units of a word have about as many. Behind these **deep** words come those
of units with one transaction each, which are counted as without units.
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
    cells = index.items * _most_words(index) * 64
    return len(index.flat) > _DENSE * cells and cells <= 8 * _MOST_BYTES


def _most_words(index: Index) -> int:
    """The most words for the transactions of one owner: those for all transactions."""
    if not index.counts_units:
        return (len(index.offsets) + 62) // 64
    of_units = np.unique(index.units, return_counts=True)[1]
    # How many units have more than j transactions, for j = 0, 1, ...
    more = len(of_units) - np.cumsum(np.bincount(of_units))[:-1]
    return int(((more + 63) // 64).sum())


class Bits(NamedTuple):
    """For each level below the owners, from 1: the items that may come next, and the transactions that hold them.

    Row x of a level is bits[level - 1, x * words[level - 1]:][:words[level - 1]] and belongs to item member[level - 1,
    x]; items are in order of rank. `filled` is scratch space for word numbers.

    If units are counted: the first `deep[level - 1]` words are deep, and those of the same units have equal numbers in
    group[level - 1]. `bit` is scratch space for the places of transactions, and `sizes` for numbers of them. Otherwise
    `deep` is 0, and these arrays are empty.
    """

    bits: NDArray[np.uint64]
    member: U32
    words: NDArray[np.int64]
    filled: NDArray[np.int64]
    deep: NDArray[np.int64]
    group: NDArray[np.int64]
    bit: NDArray[np.int64]
    sizes: NDArray[np.int64]


def room_for_bits(levels: int, index: Index) -> Bits:
    """Room for `levels` levels below the owners."""
    most = int(index.occurrences.max(initial=0))
    words = min(_most_words(index), most) if index.counts_units else (most + 63) // 64
    scratch = most if index.counts_units else 0
    return Bits(
        bits=np.zeros((levels, index.items * words), np.uint64),
        member=np.empty((levels, index.items), np.uint32),
        words=np.zeros(levels, np.int64),
        filled=np.empty(words + 1, np.int64),
        deep=np.zeros(levels, np.int64),
        group=np.zeros((levels, words + 1 if index.counts_units else 0), np.int64),
        bit=np.empty(scratch, np.int64),
        sizes=np.empty(scratch + 1, np.int64),
    )


@compiled
def _place_units(owners: Lists, owner: int, room: Bits) -> int:
    """Write into `bit` the place of every transaction of the owner, and return how many words there are."""
    first, end = np.int64(owners.begin[owner]), np.int64(owners.end[owner])
    bit, begins = room.bit, room.sizes[: end - first + 1]
    # Where the units of each number of transactions begin, in decreasing order of it.
    most, units = 0, 0
    begins[:] = 0
    entry = first
    while entry < end:
        size = 1
        while entry + size < end and owners.unit[entry + size] == owners.unit[entry]:
            size += 1
        begins[size] += 1
        most = max(most, size)
        units += 1
        entry += size
    before = 0
    for size in range(most, 0, -1):
        before, begins[size] = before + begins[size], before
    # A word of units has as many words as its first unit has transactions.
    words = 0
    base = room.filled
    size = most
    room.deep[0] = 0
    for number in range((units + 63) >> 6):
        while size > 1 and begins[size - 1] <= number * 64:
            size -= 1
        base[number] = words
        if size > 1:
            room.group[0, words : words + size] = number
            room.deep[0] = words + size
        words += size
    entry = first
    while entry < end:
        size = 1
        while entry + size < end and owners.unit[entry + size] == owners.unit[entry]:
            size += 1
        place = begins[size]
        begins[size] += 1
        for number in range(size):
            bit[entry - first + number] = ((base[place >> 6] + number) << 6) | (place & 63)
        entry += size
    return words


@compiled
def _common(bits: NDArray[np.uint64], one: int, other: int, words: int, deep: int, group: NDArray[np.int64]) -> int:
    """How many bits are set in both rows, which begin at words `one` and `other`; in words of one group, each once."""
    total = np.uint64(0)
    together = np.uint64(0)
    for word in range(deep):
        together |= bits[one + word] & bits[other + word]
        if word + 1 == deep or group[word + 1] != group[word]:
            total += bits_set(together)
            together = np.uint64(0)
    for word in range(deep, words):
        total += bits_set(bits[one + word] & bits[other + word])
    return np.int64(total)


@compiled
def _first_level(owners: Lists, owner: int, floor: int, counter: U32, slot: U32, room: Bits) -> int:
    """Write level 1, one bit per transaction of the owner. Return how many items at least `floor` of them hold."""
    counts_units = len(owners.unit) > 0
    first, end = np.int64(owners.begin[owner]), np.int64(owners.end[owner])
    words = _place_units(owners, owner, room) if counts_units else (end - first + 63) >> 6
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
        at = room.bit[entry - first] if counts_units else entry - first
        word, bit = at >> 6, np.uint64(1) << np.uint64(at & 63)
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
    narrow, deep = 0, 0
    for word in range(words):
        room.filled[narrow] = word
        kept = source[x * words + word] != 0
        if word < room.deep[level - 1]:
            room.group[level, narrow] = room.group[level - 1, word]
            deep += kept
        narrow += kept
    room.deep[level] = deep
    group = room.group[level]
    rows = 0
    for y in range(x):
        total = np.uint64(0)
        together = np.uint64(0)
        for place in range(deep):
            word = room.filled[place]
            both = source[x * words + word] & source[y * words + word]
            target[rows * narrow + place] = both
            together |= both
            if place + 1 == deep or group[place + 1] != group[place]:
                total += bits_set(together)
                together = np.uint64(0)
        for place in range(deep, narrow):
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

    `counter` and `slot` have one cell per item, those of `counter` all zero.
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
            if np.int64(owners.count[x]) >= floor:
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
        deep, group = room.deep[level - 1], room.group[level - 1]
        for y in range(x):
            count = _common(room.bits[level - 1], x * words, y * words, words, deep, group)
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
