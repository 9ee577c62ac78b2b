"""The compiled loops over bytes and item codes. They are few and small, because each is compiled at its first use.

Import this module only for data large enough to gain from it: loading numba takes longer than reading a small file.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from fim_private.compilation import compiled

MOST_DIGITS = 18

SHORT = 256
"""Rows of at most this many items are sorted by counting. It takes the square of their length, but few steps."""


@compiled
def parse_integers(
    data: NDArray[np.uint8],
    code_of: NDArray[np.int32],
    codes: NDArray[np.int32],
    lengths: NDArray[np.int32],
    unknown: NDArray[np.int64],
) -> tuple[int, int, int]:
    r"""Turn lines of whole numbers, separated by blanks, into codes.

    Args:
        data: lines with `\n` between them.
        code_of: the code of each small number plus one, or 0 for a number without a code. Another thread may fill it.
        codes: written: the code of each number, or -1 for a number without a code.
        lengths: written: how many numbers each line has.
        unknown: written: the numbers without a code.

    Returns:
        the number of numbers, or -1 if a token is not a number of at most 18 digits without leading zeros; the number
        of lines; the number of numbers without a code.
    """
    number, line, line_start, unknowns = 0, 0, 0, 0
    size = np.uint64(len(data))
    at = np.uint64(0)
    one = np.uint64(1)
    while at < size:
        digit = np.uint8(data[at] - np.uint8(48))
        if digit < 10:
            value = np.uint64(digit)
            start = at
            at += one
            while at < size:
                digit = np.uint8(data[at] - np.uint8(48))
                if digit > 9:
                    break
                value = value * np.uint64(10) + np.uint64(digit)
                at += one
            if at - start > MOST_DIGITS or (at - start > 1 and data[start] == 48):
                return -1, line, unknowns
            if at < size and not _is_blank(data[at]):
                return -1, line, unknowns
            code = np.int32(0)
            if value < np.uint64(len(code_of)):
                code = code_of[value]
            if code == 0:
                unknown[unknowns] = value
                unknowns += 1
            codes[number] = code - np.int32(1)
            number += 1
            if at == size:
                break
        byte = data[at]
        if byte == 10:
            lengths[line] = number - line_start
            line += 1
            line_start = number
        elif not _is_blank(byte):
            return -1, line, unknowns
        at += one
    lengths[line] = number - line_start
    return number, line + 1, unknowns


@compiled
def _is_blank(byte: np.uint8) -> bool:
    """Whether this is a blank, a tab, a line end, a vertical tab or a form feed."""
    return bool(byte == 32 or (byte >= 9 and byte <= 12))


@compiled
def sort_rows(
    codes: NDArray[np.int32],
    lengths: NDArray[np.int32],
    new_code: NDArray[np.int32],
    items: NDArray[np.int32],
    ends: NDArray[np.int64],
    filled: NDArray[np.bool_],
    room: NDArray[np.int32],
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
    at, first, rows = 0, 0, 0
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
def sort_distinct(items: NDArray[np.int32], first: int, end: int, room: NDArray[np.int32]) -> int:
    """Sort `items[first:end]`, drop repetitions, and return the new end.

    In a row that fits in `room`, each item goes to the place that is the number of smaller items. Processors compare
    many items at a time, and no branch depends on the items. Longer rows, and rows with repetitions, get a Shell sort.
    """
    length = end - first
    if length <= len(room):
        places = np.uint64(0)
        for one in range(np.uint64(first), np.uint64(end)):
            item, place = items[one], np.uint64(0)
            for other in range(np.uint64(first), np.uint64(end)):
                place += np.uint64(items[other] < item)
            room[place] = item
            places += place
        if places == np.uint64(length * (length - 1) // 2):  # less if two items have one place
            for one in range(np.uint64(length)):
                items[np.uint64(first) + one] = room[one]
            return end
    gap = 1
    while gap * 9 < length:
        gap = gap * 9 // 4 + 1
    while True:
        for place in range(first + gap, end):
            item = items[place]
            before = place - gap
            while before >= first and items[before] > item:
                items[before + gap] = items[before]
                before -= gap
            items[before + gap] = item
        if gap == 1:
            break
        gap = gap * 4 // 9
        gap = max(gap, 1)
    kept = first + 1
    for place in range(first + 1, end):
        if items[place] != items[kept - 1]:
            items[kept] = items[place]
            kept += 1
    return kept


@compiled
def take_rows(
    offsets: NDArray[np.int64], items: NDArray[np.int32], rows: NDArray[np.int64], taken: NDArray[np.int32]
) -> None:
    """Copy some rows, end to end.

    Args:
        offsets: the offsets of all rows.
        items: the items of all rows.
        rows: which rows to take, in this order.
        taken: written: the items of those rows.
    """
    end = 0
    for row in rows:
        for place in range(offsets[row], offsets[row + 1]):
            taken[end] = items[place]
            end += 1


@compiled
def keep_smallest(
    offsets: NDArray[np.int64],
    items: NDArray[np.int32],
    words: NDArray[np.uint64],
    new_offsets: NDArray[np.int64],
    kept: NDArray[np.int32],
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
    items: NDArray[np.int32],
    first: NDArray[np.int64],
    kept_offsets: NDArray[np.int64],
    kept: NDArray[np.int32],
    new_items: NDArray[np.int32],
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
