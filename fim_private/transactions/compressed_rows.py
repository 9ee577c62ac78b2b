"""Build compressed sparse rows, with the codes of each row sorted and without repetitions."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from fim_private.transactions.dataset import Codes, Transactions, code_type
from fim_private.transactions.in_order import in_order
from fim_private.transactions.row_kernels import SHORT, sort_rows, take_rows

Run = tuple[Codes, NDArray[np.int32]]
"""Rows in order: their codes end to end, shape (p,), and the length of each row, int32, shape (r,)."""

SMALL = 1 << 18
"""Fewer occurrences than this are sorted without compiled code, which would take longer to load."""

AT_ONCE = 1 << 20


def sorted_rows(runs: deque[Run], new_code: NDArray[np.int32]) -> tuple[NDArray[np.int64], Codes, NDArray[np.bool_]]:
    """Offsets and codes without empty rows, codes increasing inside each row; and which rows were not empty.

    Args:
        runs: the rows. Each run is removed once it is copied, which frees its memory.
        new_code: int32, shape (c,): the new code of each code; two codes may become one.

    Cost: 2 or 4 bytes per occurrence, 9 per row, and the memory of one run.
    """
    occurrences = sum(len(codes) for codes, _ in runs)
    if occurrences < SMALL:
        codes = np.concatenate([np.empty(0, dtype=np.int32), *(codes for codes, _ in runs)])
        lengths = np.concatenate([np.empty(0, dtype=np.int32), *(lengths for _, lengths in runs)])
        runs.clear()
        return *_sorted_few(codes, lengths, new_code), lengths > 0
    row_count = sum(len(lengths) for _, lengths in runs)
    taken = (runs.popleft() for _ in range(len(runs)))
    items = np.empty(occurrences, dtype=_type_of(new_code))
    return recoded(taken, new_code, items=items, row_count=row_count)


def recoded(
    runs: Iterable[Run], new_code: NDArray[np.int32], *, items: Codes, row_count: int
) -> tuple[NDArray[np.int64], Codes, NDArray[np.bool_]]:
    """Do what `sorted_rows` does, with compiled code; codes may be left out.

    Args:
        runs: the rows.
        new_code: int32, shape (c,): the new code of each code, or -1 to leave it out.
        items: as long as all codes together; overwritten and returned. The runs may be views of it.
        row_count: the number of rows.
    """
    filled = np.empty(row_count, dtype=bool)
    offsets = np.zeros(row_count + 1, dtype=np.int64)

    def placed() -> Iterator[tuple[Run, int, int]]:
        row = at = 0
        for codes, lengths in runs:
            yield (codes, lengths), row, at
            row += len(lengths)
            at += len(codes)

    def sort(part: tuple[Run, int, int]) -> tuple[int, int, int, int]:
        (codes, lengths), row, at = part
        rows = slice(row, row + len(lengths))
        room = np.empty(SHORT, items.dtype)
        return row, at, *sort_rows(codes, lengths, new_code, items[at:], offsets[1:][rows], filled[rows], room)

    rows_now = now = 0
    # One part does not need a thread of its own. To start one takes longer than to sort small data.
    each = in_order if len(items) > AT_ONCE else map
    for row, at, rows, number in each(sort, placed()):
        # Close the gap that empty rows and repetitions of the runs before have left.
        offsets[rows_now + 1 : rows_now + rows + 1] = offsets[row + 1 : row + rows + 1] + now
        if at > now:
            items[now : now + number] = items[at : at + number]
        rows_now += rows
        now += number
    items.resize(now, refcheck=False)
    offsets.resize(rows_now + 1, refcheck=False)
    return offsets, items, filled


def runs_of(transactions: Transactions) -> Iterator[Run]:
    """The transactions as runs of about 2^20 occurrences. Ctrl-C takes effect between runs."""
    offsets = transactions.offsets
    cuts = np.searchsorted(offsets, np.arange(0, len(transactions.items), AT_ONCE))
    for first, end in pairwise([*cuts.tolist(), len(transactions)]):
        rows = offsets[first : end + 1]
        yield transactions.items[rows[0] : rows[-1]], np.diff(rows).astype(np.int32)


def taken(transactions: Transactions, rows: NDArray[np.int64]) -> tuple[NDArray[np.int64], Codes]:
    """Offsets and items of some transactions."""
    offsets = np.append(0, np.cumsum(transactions.lengths()[rows], dtype=np.int64))
    items = np.empty(int(offsets[-1]), dtype=transactions.items.dtype)
    take_rows(transactions.offsets, transactions.items, rows, items)
    return offsets, items


def compressed(keys: NDArray[np.int64], width: int) -> tuple[NDArray[np.int64], NDArray[np.int32], NDArray[np.int64]]:
    """Offsets and codes, strictly increasing inside each row, and the numbers of the rows that occur.

    Args:
        keys: int64, shape (p,): row * width + code, in any order; repetitions are merged.
        width: larger than any code.

    Cost: sorting p 64-bit keys. Meant for few keys, or for rows in no order.
    """
    row_of, items = np.divmod(np.unique(keys), max(width, 1))
    starts = np.flatnonzero(np.diff(row_of, prepend=-1)).astype(np.int64)
    return np.append(starts, len(items)), items.astype(np.int32), row_of[starts]


def _sorted_few(
    codes: Codes, lengths: NDArray[np.int32], new_code: NDArray[np.int32]
) -> tuple[NDArray[np.int64], Codes]:
    width = len(new_code) + 1
    rows = np.repeat(np.arange(len(lengths), dtype=np.int64), lengths)
    offsets, items, _ = compressed(rows * width + new_code[codes], width)
    return offsets, items.astype(_type_of(new_code))


def _type_of(new_code: NDArray[np.int32]) -> type[np.uint16 | np.int32]:
    return code_type(int(new_code.max(initial=-1)) + 1)


def without_gaps(codes: NDArray[np.int64]) -> NDArray[np.int64]:
    """Renumber codes of at least 0 in the same order, from 0 on and without gaps. The cost grows with the largest."""
    used = np.zeros(int(codes.max()) + 1 if len(codes) else 0, dtype=bool)
    used[codes] = True
    return codes if used.all() else (np.cumsum(used, dtype=np.int64) - 1)[codes]
