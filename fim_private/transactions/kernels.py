"""The compiled loops over bytes and item codes. They are few and small, for each is compiled at its first use.

Imported only where data is large enough to gain from them: loading numba takes longer than reading a small file.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from fim_private.compilation import compiled

MOST_DIGITS = 18


@compiled
def parse_integers(
    data: NDArray[np.uint8],
    code_of: NDArray[np.int32],
    names: int,
    codes: NDArray[np.int32],
    lengths: NDArray[np.int32],
    fresh: NDArray[np.int64],
    large: NDArray[np.int64],
) -> tuple[int, int, int, int]:
    r"""Lines of whole numbers between blanks, turned into codes.

    Args:
        data: lines with `\n` between them.
        code_of: for a small number its code plus one, or 0 while it has none; new ones are entered.
        names: how many codes there are.
        codes: written: for each number its code, or -1 for one that is not below `len(code_of)`.
        lengths: written: how many numbers stand in each line.
        fresh: written: the small numbers that have got codes now, in the order of these.
        large: written: the numbers coded -1.

    Returns:
        how many numbers there are, or -1 for anything but numbers of at most 18 digits without leading zeros; how many
        lines; how many codes there are now; how many numbers are large.
    """
    number, line, line_start, names_now, larges = 0, 0, 0, names, 0
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
                return -1, line, names_now, larges
            if at < size and not _is_blank(data[at]):
                return -1, line, names_now, larges
            if value < np.uint64(len(code_of)):
                code = code_of[value]
                if code == 0:
                    fresh[names_now - names] = value
                    names_now += 1
                    code = np.int32(names_now)
                    code_of[value] = code
                codes[number] = code - np.int32(1)
            else:
                large[larges] = value
                larges += 1
                codes[number] = -1
            number += 1
            if at == size:
                break
        byte = data[at]
        if byte == 10:
            lengths[line] = number - line_start
            line += 1
            line_start = number
        elif not _is_blank(byte):
            return -1, line, names_now, larges
        at += one
    lengths[line] = number - line_start
    return number, line + 1, names_now, larges


@compiled
def _is_blank(byte: np.uint8) -> bool:
    """Whether this is a blank, a tab, a line end or one of the two breaks beside it."""
    return bool(byte == 32 or (byte >= 9 and byte <= 12))


@compiled
def sort_rows(
    codes: NDArray[np.int32],
    lengths: NDArray[np.int32],
    new_code: NDArray[np.int32],
    items: NDArray[np.int32],
    offsets: NDArray[np.int64],
    rows: int,
    filled: NDArray[np.bool_],
) -> int:
    """Rows recoded, each sorted and without repetitions, put after those that are there already; empty ones are not.

    Args:
        codes: the rows, end to end.
        lengths: of each row.
        new_code: for each code the one to be written, or -1 for a code that is left out.
        items: the rows so far, `offsets[rows]` codes, and room for the new ones. It may be `codes` itself as long as no
            code is overwritten before it is read.
        offsets: of the rows so far, and room for the new ones.
        rows: how many there are so far.
        filled: written: whether anything is left of each row.

    Returns:
        how many there are now.
    """
    at = 0
    first = offsets[rows]
    for row in range(len(lengths)):
        length = lengths[row]
        end = first
        # Codes that come in order, as they do in most files, are only copied.
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
            end = _sort_distinct(items, first, end)
        filled[row] = end > first
        if end > first:
            rows += 1
            offsets[rows] = end
            first = end
    return rows


@compiled
def _sort_distinct(items: NDArray[np.int32], first: int, end: int) -> int:
    """Shell sort of `items[first:end]`, which for a few items is insertion sort; the end of what is distinct."""
    gap = 1
    while gap * 9 < end - first:
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
    """Some rows, end to end.

    Args:
        offsets: of all rows.
        items: of all rows.
        rows: which to take, in this order.
        taken: written.
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
    """Of rows that are too long the items with the smallest words, in their order; of equal words the first.

    Args:
        offsets: of the rows.
        items: of all rows.
        words: one for each item of a row that is too long, in the order of the rows.
        new_offsets: of what is kept: how much, says how much is to be kept of each row.
        kept: written.
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
def _nth_smallest(values: NDArray[np.uint64], size: int, number: int) -> np.uint64:
    """The `number`-th smallest of the first `size` values, counted from 1; these are rearranged (Hoare's selection)."""
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
