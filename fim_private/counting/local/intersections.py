"""Counts of given itemsets by bits: one bit per transaction and item, intersected in words of 64.

Itemsets in lexicographic order often begin with the same items, whose common words are kept. Of these most are empty if
few transactions hold them all, and the last item is intersected with the others only.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from fim_private.compilation import compiled
from fim_private.counting.local.instructions import bits_set
from fim_private.transactions.dataset import Transactions

MOST_BYTES = 2**26
"""The most bytes for the bits of all items. More transactions are counted in parts."""
AT_ONCE = 2**18
"""The number of itemsets counted between two checks for Ctrl-C."""


def count_by_bits(
    transactions: Transactions, ordered: NDArray[np.int32]
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """How many transactions, or units if these are counted, hold each of the itemsets; and how many there are.

    The itemsets are int32, shape (n, size), distinct and in lexicographic order, of at least two items each.
    """
    items = np.unique(ordered)
    row = np.full(max(len(transactions.vocabulary), int(items[-1]) + 1), -1, np.int32)
    row[items] = np.arange(len(items), dtype=np.int32)
    rows = row[ordered]
    totals = np.zeros(len(rows), np.int64)
    first_of = transactions.first_of_units()
    unit = np.zeros(0, np.int64) if first_of is None else np.repeat(np.arange(len(first_of) - 1), np.diff(first_of))
    # A unit may be in several parts, and counts once: the largest unit does not decide how much memory is needed.
    latest = np.full(0 if first_of is None else len(rows), -1, np.int64)
    at_once = 64 * max(1, MOST_BYTES // (8 * len(items)))
    for begin in range(0, len(transactions), at_once):
        end = min(begin + at_once, len(transactions))
        bits = np.zeros((len(items), (end - begin + 63) // 64), np.uint64)
        _set(transactions.offsets[begin : end + 1], transactions.items, row, bits)
        for first in range(0, len(rows), AT_ONCE):
            some = slice(first, first + AT_ONCE)
            _intersect(rows[some], bits, unit[begin:end], latest[some], totals[some])
    units = len(transactions) if first_of is None else len(first_of) - 1
    return totals, np.full(1, units)


@compiled
def _set(
    offsets: NDArray[np.int64], items: NDArray[np.int32], row: NDArray[np.int32], bits: NDArray[np.uint64]
) -> None:
    """Set the bit of every transaction in the row of each of its items, if that has one."""
    for transaction in range(len(offsets) - 1):
        word, bit = transaction >> 6, np.uint64(1) << np.uint64(transaction & 63)
        for at in range(offsets[transaction], offsets[transaction + 1]):
            own = row[items[at]]
            if own >= 0:
                bits[own, word] |= bit


@compiled
def _intersect(
    rows: NDArray[np.int32],
    bits: NDArray[np.uint64],
    unit: NDArray[np.int64],
    latest: NDArray[np.int64],
    totals: NDArray[np.int64],
) -> None:
    """Add to the total of each itemset how many bits are set in all its rows, or how many units have such a bit.

    Args:
        rows: shape (n, size), the rows of each itemset's items; equal beginnings are neighbours.
        bits: the bits of each item.
        unit: the unit of each bit, increasing; empty if bits are counted.
        latest: the last unit that was counted for each itemset; updated; empty if bits are counted.
        totals: updated.
    """
    size = rows.shape[1]
    # For each beginning of the last itemset, but the whole: its words that are not empty, and their places.
    common = np.empty((size - 1, bits.shape[1]), np.uint64)
    place = np.empty((size - 1, bits.shape[1]), np.int64)
    filled = np.zeros(size - 1, np.int64)
    one = np.uint64(1)
    for itemset in range(len(rows)):
        depth = 0
        while itemset > 0 and depth < size - 1 and rows[itemset, depth] == rows[itemset - 1, depth]:
            depth += 1
        for level in range(depth, size - 1):
            own = bits[rows[itemset, level]]
            number = 0
            for at in range(bits.shape[1] if level == 0 else filled[level - 1]):
                where = at if level == 0 else place[level - 1, at]
                both = own[where] if level == 0 else own[where] & common[level - 1, at]
                common[level, number] = both
                place[level, number] = where
                number += both != 0
            filled[level] = number
        last = bits[rows[itemset, size - 1]]
        total = np.uint64(0)
        before = latest[itemset] if len(unit) else np.int64(-1)
        for at in range(filled[size - 2]):
            where = place[size - 2, at]
            held = common[size - 2, at] & last[where]
            if len(unit) == 0:
                total += bits_set(held)
                continue
            while held != 0:
                bit = np.int64(bits_set((held & (~held + one)) - one))
                of = unit[64 * where + bit]
                total += np.uint64(of != before)
                before = of
                held &= held - one
        totals[itemset] += np.int64(total)
        if len(unit):
            latest[itemset] = before
