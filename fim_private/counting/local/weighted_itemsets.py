"""The weighted counts of all itemsets that occur: what a transaction adds to each depends on how many it holds.

A public table of weights says what a transaction that holds q itemsets adds to each of them. If w(q)^2 q is bounded, so
is the Euclidean length of what any transaction adds (docs/mathematics.md#weighted-gaussian-histogram).
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from fim_private.compilation import compiled
from fim_private.counting.hidden_counts import ItemsetCounts
from fim_private.counting.local.work import too_much_work
from fim_private.errors import InputError
from fim_private.transactions.dataset import Transactions

MOST_OCCURRENCES = 2**28
"""More occurrences of itemsets than this are refused. They would take minutes, and gigabytes of memory."""

_AT_ONCE = 2**23
_KEY_BITS = 63


def weigh_itemsets(transactions: Transactions, sizes: Sequence[int], weights: NDArray[np.int64]) -> ItemsetCounts:
    """All itemsets of these sizes with a weighted count of at least 1, in decreasing order of it.

    Args:
        transactions: the data.
        sizes: items per itemset, increasing.
        weights: int64; a transaction, or unit if these are counted, that holds q itemsets of these sizes adds
            weights[min(q, len(weights) - 1)] to each of them. The last weight is 0.

    Returns:
        The itemsets with their weighted counts, in units of the weights. If they have several sizes, they are padded.

    Raises:
        InputError: there are too many occurrences of itemsets, or too many items to tell their itemsets apart.

    Cost: some 200 ns per occurrence of an itemset in a transaction that adds something, and 60 bytes per itemset.
    """
    most, largest = len(weights) - 2, max(sizes)
    bits = len(transactions.vocabulary).bit_length()
    if bits * largest > _KEY_BITS:
        raise InputError(
            f"There are too many different items to weigh all itemsets of size {largest}.",
            "Ask for a smaller --size, or name the items of interest with --universe-file.",
        )
    first_of = transactions.first_of_units()
    begins = np.arange(len(transactions) + 1) if first_of is None else first_of
    held = _number_held(transactions.lengths(), sizes, most)
    of_unit = np.add.reduceat(held, begins[:-1]) if len(held) else held
    # What holds too many itemsets adds nothing, so nothing needs to be looked at.
    too_many = np.maximum.reduceat(held, begins[:-1]) > most if len(held) else held > most
    of_unit = np.where(too_many, 0, of_unit)
    if of_unit.sum() > MOST_OCCURRENCES:
        raise too_much_work(largest)
    cumulative = np.append(0, np.cumsum(of_unit))
    cuts = np.unique([*np.searchsorted(cumulative, np.arange(0, cumulative[-1], _AT_ONCE)).tolist(), len(of_unit)])
    keys, totals = np.zeros(0, np.int64), np.zeros(0, np.int64)
    for first, end in zip(cuts[:-1].tolist(), cuts[1:].tolist(), strict=True):
        more = np.empty(int(cumulative[end] - cumulative[first]), np.int64)
        added = np.empty(len(more), np.int64)
        units = begins[first : end + 1]
        number = _collect(
            units, transactions.offsets, transactions.items, of_unit[first:end], np.array(sizes), bits, weights,
            more, added,
        )  # fmt: skip
        keys, totals = _summed(np.append(keys, more[:number]), np.append(totals, added[:number]))
    order = np.argsort(-totals, kind="stable")
    shifts = bits * np.arange(largest - 1, -1, -1)
    itemsets = ((keys[order, np.newaxis] >> shifts) & ((1 << bits) - 1)).astype(np.int32) - 1
    return ItemsetCounts(itemsets=itemsets, counts=totals[order], complete=True)


def _number_held(lengths: NDArray[np.integer], sizes: Sequence[int], most: int) -> NDArray[np.int64]:
    """How many itemsets each transaction holds, by its length; `most` + 1 stands for more than `most`."""
    distinct, place = np.unique(lengths, return_inverse=True)
    held = [min(most + 1, sum(math.comb(length, size) for size in sizes)) for length in distinct.tolist()]
    return np.array(held, np.int64)[place]


def _summed(keys: NDArray[np.int64], added: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """The different keys in increasing order, and the sum of what was added to each."""
    order = np.argsort(keys)
    keys = keys[order]
    first = np.flatnonzero(np.diff(keys, prepend=-1))
    return keys[first], np.add.reduceat(added[order], first) if len(first) else added


@compiled
def _collect(
    units: NDArray[np.int64],
    offsets: NDArray[np.int64],
    items: NDArray[np.int32],
    of_unit: NDArray[np.int64],
    sizes: NDArray[np.int64],
    bits: int,
    weights: NDArray[np.int64],
    keys: NDArray[np.int64],
    added: NDArray[np.int64],
) -> int:
    """Write down every itemset of every unit, with the unit's weight, and return how many there are.

    Args:
        units: the first transaction of each unit, and the end.
        offsets: the offsets of the transactions.
        items: the items of the transactions.
        of_unit: how many itemsets the transactions of each unit hold; 0 if it is to be left out.
        sizes: items per itemset.
        bits: how many bits of a key an item takes.
        weights: what is added, by the number of different itemsets that a unit holds.
        keys: filled: the items of each itemset, the first one in the highest bits, each code plus 1.
        added: filled: the weight of its unit.
    """
    number = 0
    for unit in range(len(units) - 1):
        if of_unit[unit] == 0:
            continue
        begin = number
        for transaction in range(units[unit], units[unit + 1]):
            held = items[offsets[transaction] : offsets[transaction + 1]]
            for size in sizes:
                number += _write_itemsets(held, size, bits, bits * (sizes[-1] - size), keys[number:])
        if units[unit + 1] - units[unit] > 1:
            number = begin + _without_repetitions(keys[begin:number])
        weight = weights[min(number - begin, len(weights) - 1)]
        if weight == 0:
            number = begin
        added[begin:number] = weight
    return number


@compiled
def _write_itemsets(held: NDArray[np.int32], size: int, bits: int, shift: int, keys: NDArray[np.int64]) -> int:
    """Write the keys of all itemsets of one size, shifted, in lexicographic order, and return how many there are."""
    if size > len(held):
        return 0
    places = np.arange(size)
    number = 0
    while True:
        key = np.int64(0)
        for place in places:
            key = (key << bits) | (np.int64(held[place]) + 1)
        keys[number] = key << shift
        number += 1
        last = size - 1
        while last >= 0 and places[last] == len(held) - size + last:
            last -= 1
        if last < 0:
            return number
        places[last] += 1
        for at in range(last + 1, size):
            places[at] = places[at - 1] + 1


@compiled
def _without_repetitions(keys: NDArray[np.int64]) -> int:
    """Sort the keys, move the different ones to the front, and return how many they are."""
    keys.sort()
    kept = 0
    for key in keys:
        if kept == 0 or key != keys[kept - 1]:
            keys[kept] = key
            kept += 1
    return kept
