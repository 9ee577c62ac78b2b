"""The compiled loops over rows of item codes. They are few and small, because each is compiled at its first use.

Call them only for data large enough to gain from it: loading numba takes longer than reading a small file.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from fim_private.compilation import compiled
from fim_private.transactions.dataset import Codes

SHORT = 256
"""Rows of at most this many items are sorted by counting. It takes the square of their length, but few steps."""


@compiled
def sort_rows(
    codes: Codes,
    lengths: NDArray[np.int32],
    new_code: NDArray[np.int32],
    items: Codes,
    ends: NDArray[np.int64],
    filled: NDArray[np.bool_],
    room: Codes,
) -> tuple[int, int]:
    """Write recoded rows, each sorted and without repetitions; leave out empty rows.

    Args:
        codes: the rows, end to end.
        lengths: the number of codes in each row.
        new_code: the new code of each code, or -1 to leave it out.
        items: written: the new codes, end to end. It may be `codes` itself: no code is overwritten before it is read.
        ends: written: where each row ends.
        filled: written: whether each row has a code left. The others have no end.
        room: for a row while it is sorted.

    Returns:
        the number of rows that have a code left, and how many codes are left.
    """
    at, rows = 0, 0
    first = int(np.int64(0))  # A 0 alone has a type of its own, and what gets it would be compiled once more.
    for row in range(len(lengths)):
        length = lengths[row]
        end = first
        # Codes already in order, as in most files, are only copied.
        in_order = True
        last = np.int32(-1)
        for place in range(at, at + length):
            code = new_code[codes[place]]
            if code >= 0:
                in_order &= code > last
                items[end] = code
                last = code
                end += 1
        at += length
        if not in_order:
            end = sort_distinct(items, first, end, room)
        filled[row] = end > first
        if end > first:
            ends[rows] = end
            rows += 1
            first = end
    return rows, first


@compiled
def sort_distinct(items: Codes, first: int, end: int, room: Codes) -> int:
    """Sort `items[first:end]`, drop repetitions, and return the new end.

    In a row that fits in `room`, each item goes to the place that is the number of smaller items. Processors compare
    many items at a time, and no branch depends on the items. Longer rows, and rows with repetitions, get a Shell sort.
    """
    one, start, stop = np.uint64(1), np.uint64(first), np.uint64(end)
    length = stop - start
    if length <= np.uint64(len(room)):
        places = np.uint64(0)
        for this in range(start, stop):
            item, place = items[this], np.uint64(0)
            for other in range(start, stop):
                place += np.uint64(items[other] < item)
            room[place] = item
            places += place
        if places << one == length * (length - one):  # less if two items have one place
            for this in range(length):
                items[start + this] = room[this]
            return end
    step = one
    while step * np.uint64(9) < length:
        step = step * np.uint64(4) + one
    while step > 0:
        for place in range(start + step, stop):
            item = items[place]
            free = place
            while free >= start + step and items[free - step] > item:
                items[free] = items[free - step]
                free -= step
            items[free] = item
        step >>= np.uint64(2)
    kept = start + one
    for place in range(start + one, stop):
        items[kept] = items[place]
        kept += np.uint64(items[kept] != items[kept - one])
    return np.int64(kept)


@compiled
def take_rows(offsets: NDArray[np.int64], items: Codes, rows: NDArray[np.int64], taken: Codes) -> None:
    """Copy some rows, end to end."""
    end = 0
    for row in rows:
        for place in range(offsets[row], offsets[row + 1]):
            taken[end] = items[place]
            end += 1


@compiled
def keep_smallest(
    offsets: NDArray[np.int64],
    items: Codes,
    words: NDArray[np.uint64],
    new_offsets: NDArray[np.int64],
    kept: Codes,
) -> None:
    """Cut long rows to the items with the smallest words, in their old order; of equal words, the first are kept.

    Args:
        offsets: the offsets of the rows.
        items: the items of all rows.
        words: one word for each item of a long row, in the order of the rows.
        new_offsets: the offsets afterwards. A row is long if it gets less room than it has items.
        kept: written: the items that are kept.
    """
    first_word = 0
    scratch = np.empty(len(words), np.uint64)
    for row in range(len(offsets) - 1):
        start, end = offsets[row], offsets[row + 1]
        at, most = new_offsets[row], new_offsets[row + 1] - new_offsets[row]
        if end - start == most:
            for place in range(start, end):
                kept[at] = items[place]
                at += 1
            continue
        length = end - start
        for place in range(length):
            scratch[place] = words[first_word + place]
        largest = _nth_smallest(scratch, length, most)
        equal = most
        for place in range(length):
            equal -= words[first_word + place] < largest
        for place in range(length):
            word = words[first_word + place]
            if word == largest and equal > 0:
                equal -= 1
            elif word >= largest:
                continue
            kept[at] = items[start + place]
            at += 1
        first_word += length


@compiled
def keep_common(
    offsets: NDArray[np.int64],
    items: Codes,
    first: NDArray[np.int64],
    kept_offsets: NDArray[np.int64],
    kept: Codes,
    new_items: Codes,
    lengths: NDArray[np.int64],
) -> None:
    """Keep in the rows of each unit only the unit's own kept items.

    Args:
        offsets: the offsets of the rows.
        items: the items of the rows, increasing inside each.
        first: the first row of each unit, and the number of rows.
        kept_offsets: the offsets of the kept items of each unit.
        kept: the kept items of each unit, increasing.
        new_items: written: the items that stay, end to end.
        lengths: written: how many items stay in each row.
    """
    filled = 0
    for unit in range(len(first) - 1):
        for row in range(first[unit], first[unit + 1]):
            before = filled
            wanted, end = kept_offsets[unit], kept_offsets[unit + 1]
            for place in range(offsets[row], offsets[row + 1]):
                while wanted < end and kept[wanted] < items[place]:
                    wanted += 1
                if wanted < end and kept[wanted] == items[place]:
                    new_items[filled] = items[place]
                    filled += 1
            lengths[row] = filled - before


@compiled
def _nth_smallest(values: NDArray[np.uint64], size: int, number: int) -> np.uint64:
    """The `number`-th smallest of the first `size` values, counted from 1. It rearranges them (Hoare's selection)."""
    low, high = 0, size - 1
    while low < high:
        pivot = values[(low + high) >> 1]
        left, right = low, high
        while left <= right:
            while values[left] < pivot:
                left += 1
            while values[right] > pivot:
                right -= 1
            if left <= right:
                values[left], values[right] = values[right], values[left]
                left += 1
                right -= 1
        if number - 1 <= right:
            high = right
        elif number - 1 >= left:
            low = left
        else:
            break
    found: np.uint64 = values[number - 1]
    return found
