"""The compiled loops over the bytes of texts. They are few and small, because each is compiled at its first use.

Call them only for data large enough to gain from it: loading numba takes longer than reading a small file.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from fim_private.compilation import compiled

MOST_DIGITS = 18

ODD = -2
"""Stands for the code of a name that is not what it seems: it has white space around it that is not of ASCII."""

_KEY = np.uint64(8)
"""Bytes in the key of a name."""
_FACTOR = np.uint64(0x9E3779B97F4A7C15)
_LONG = np.uint64(2**63)
_HIGH = np.uint64(32)
"""Multiplying by an odd number brings every bit of a key into the high bits (Knuth's multiplicative hashing)."""

_MOST_TRIES = 64
"""A name is looked for in this many slots of the table. Names that were made to have one hash are not in the table."""


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
    """Whether this is a blank, a tab, a line end, a vertical tab or a form feed.

    A carriage return is none of them: alone it ends a line, which is left to slower code.
    """
    return bool(byte == 32 or (byte >= 9 and byte <= 12))


@compiled
def split_names(  # noqa: PLR0912 - one function, because a call per name would take as long as the work
    data: NDArray[np.uint8],
    separator: int,
    begins: NDArray[np.uint32],
    stops: NDArray[np.uint32],
    lengths: NDArray[np.int32],
) -> tuple[int, int, int]:
    r"""Find the names in lines, without the white space of ASCII around them, and without quotes around a field.

    Args:
        data: lines with `\n` between them, below 4 GiB.
        separator: what separates names, a byte of ASCII.
        begins: written: where each name begins that is not blank.
        stops: written: where it ends.
        lengths: written: how many names each line has.

    Returns:
        the number of names, or -1 if a quoted field holds quotes, is left open or goes on; the number of lines; of
        blank names, which are left out.
    """
    number, line, blanks = 0, 0, 0
    size, one, mark = np.uint64(len(data)), np.uint64(1), np.uint8(separator)
    line_start, blanks_before, is_blank = 0, 0, True
    at = np.uint64(0)
    while True:
        start = at
        while mark != 32 and start < size and data[start] == 32:
            start += one
        if start < size and data[start] == 34:
            is_blank = False
            start += one
            stop = start
            while stop < size and data[stop] != 34 and data[stop] != 10:
                stop += one
            at = stop + one
            while mark != 32 and at < size and data[at] == 32:
                at += one
            if stop >= size or data[stop] == 10 or (at < size and data[at] != mark and data[at] != 10):
                return -1, line, blanks
        else:
            at = start
            while at < size and data[at] != mark and data[at] != 10:
                at += one
            stop = at
        while start < stop and _is_white(data[start]):
            start += one
        while start < stop and _is_white(data[stop - one]):
            stop -= one
        begins[number], stops[number] = start, stop
        number += np.int64(start < stop)
        blanks += np.int64(start == stop)
        ends_line = at >= size or data[at] == 10
        is_blank &= start == stop and (ends_line or _is_white(mark))
        if ends_line:
            # A blank line is an empty transaction, not one with blank names.
            if is_blank:
                blanks = blanks_before
            lengths[line] = number - line_start
            line += 1
            if at >= size:
                return number, line, blanks
            line_start, blanks_before, is_blank = number, blanks, True
        at += one


@compiled
def find_names(
    data: NDArray[np.uint8],
    begins: NDArray[np.uint32],
    stops: NDArray[np.uint32],
    slots: NDArray[np.uint64],
    ends: NDArray[np.int64],
    letters: NDArray[np.uint8],
    codes: NDArray[np.int32],
    keys: NDArray[np.uint64],
) -> None:
    """Find the codes of names.

    Args:
        data: holds the names.
        begins: where each begins.
        stops: where each ends.
        slots: a table of known names, as `add_names` makes it. Another thread may fill it and the next two.
        ends: where each known name ends in `letters`; the first begins at `ends[0]`.
        letters: the known names, end to end.
        codes: written: the code of each name, or -1 for an unknown name.
        keys: written: the key of each name: the bytes of a short name, as a number, and a hash of a long one.
    """
    one, two, byte_bits, low = np.uint64(1), np.uint64(2), np.uint64(8), np.uint64(2**32 - 1)
    mask = np.uint64(len(slots) // 2 - 1)
    for number in range(np.uint64(len(begins))):
        start, stop = np.uint64(begins[number]), np.uint64(stops[number])
        length = stop - start
        key, word, left = np.uint64(0), np.uint64(0), _KEY
        for place in range(start, stop):
            if left == 0:
                key = (key ^ word) * _FACTOR
                key ^= key >> _HIGH
                word, left = np.uint64(0), _KEY
            word = (word << byte_bits) | np.uint64(data[place])
            left -= one
        key ^= word
        keys[number] = key
        codes[number] = -1
        slot = ((key * _FACTOR) >> _HIGH) & mask
        for _ in range(_MOST_TRIES):
            value = slots[two * slot + one]
            if value == 0:
                break
            same = slots[two * slot] == key and (value & _LONG != 0) == (length > _KEY)
            if same and length > _KEY:
                begin, end = np.uint64(ends[(value & low) - one]), np.uint64(ends[value & low])
                same = end - begin == length
                place = start
                while same and place < stop:
                    same = data[place] == letters[begin + (place - start)]
                    place += one
            if same:
                codes[number] = np.int64((value & ~_LONG) >> _HIGH) + ODD
                break
            slot = (slot + one) & mask


@compiled
def add_names(
    keys: NDArray[np.uint64], codes: NDArray[np.int32], first: int, slots: NDArray[np.uint64], ends: NDArray[np.int64]
) -> None:
    """Add names to a table that does not hold them and has room.

    A slot is two numbers: the key of a name; and in one number, which is 0 if the slot is free, the code of the name,
    its number plus one and, in the highest bit, whether it is longer than a key.

    Args:
        keys: of the names to add.
        codes: of the names to add.
        first: the number of the first of them.
        slots: updated. A name that finds no free slot near that of its key is left out.
        ends: where all names end, also those to add.
    """
    one, two, mask = np.uint64(1), np.uint64(2), np.uint64(len(slots) // 2 - 1)
    for each in range(len(keys)):
        number = first + each
        slot = ((keys[each] * _FACTOR) >> _HIGH) & mask
        for _ in range(_MOST_TRIES):
            if slots[two * slot + one] == 0:
                slots[two * slot] = keys[each]
                value = (np.uint64(codes[each] - ODD) << _HIGH) | np.uint64(number + 1)
                if np.uint64(ends[number + 1] - ends[number]) > _KEY:
                    value |= _LONG
                slots[two * slot + one] = value
                break
            slot = (slot + one) & mask


@compiled
def _is_white(byte: np.uint8) -> bool:
    """Whether this is white space of ASCII."""
    return bool(byte == 32 or (byte >= 9 and byte <= 13))
