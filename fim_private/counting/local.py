"""Counting itemsets on this machine: all of them, the most frequent, or how many have which count."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import reduce

import numpy as np

from fim_private.counting.hidden import ItemsetCounts
from fim_private.counting.histogram import ItemsetHistogram, tally
from fim_private.counting.ordering import Ordering, Packed
from fim_private.counting.preparation import Index, prepare
from fim_private.counting.selection import BestSoFar
from fim_private.counting.walk import THREADS, Batch, map_chunks
from fim_private.counting.work import MOST_STEPS, Effort, cut_into_chunks, owner_work, too_much_work
from fim_private.errors import UsageError
from fim_private.transactions.dataset import Transactions


def count_itemsets(transactions: Transactions, size: int, floor: int = 1, *, threads: int = THREADS) -> ItemsetCounts:
    """All itemsets of `size` items that are in at least `floor` transactions, with their counts.

    Args:
        transactions: the data.
        size: items an itemset, at least 1.
        floor: least count, at least 1. The result is `complete` at 1 only.
        threads: at most so many threads.

    Raises:
        UsageError: an argument is below 1.
        InputError: some transactions are too long to count all itemsets of this size in them, or the data holds 2^32
            item occurrences.

    Cost: time as the occurrences of itemsets after items below the floor were dropped, some hundred million a second;
    memory 8 bytes an itemset (16 or more where an itemset with its count takes more than 64 bits) while counting, and
    as much again with 4 size + 8 more for the result.
    """
    _at_least_one(size=size, floor=floor, threads=threads)
    index = prepare(transactions, floor=floor)
    if size == 1:
        return _items(index, len(index.codes), complete=floor == 1)
    work = owner_work(index, size)
    ordering, effort = Ordering(index, size), Effort(size)

    def collect(batches: Iterable[Batch]) -> Packed:
        return ordering.join([_packed(batch, ordering, effort) for batch in batches])

    cuts = cut_into_chunks(work)
    parts = map_chunks(index, size, cuts, collect, floor=lambda: floor, work=work.sum(), effort=effort, threads=threads)
    itemsets, counts = ordering.unpack(ordering.join(parts))
    return ItemsetCounts(itemsets=itemsets, counts=counts, complete=floor == 1)


def top_itemsets(transactions: Transactions, size: int, m: int, *, threads: int = THREADS) -> ItemsetCounts:
    """The first m itemsets in order of (count descending, item codes ascending), or all if fewer occur.

    Exactly m, however many have the same count as the last: the order does not depend on the data beyond the counts, so
    neighbouring data sets cut ties alike. The result is `complete` if surely no other itemset occurs.

    Owners are walked through in decreasing order of frequency, and the m-th largest count so far is the floor for what
    follows: no itemset is more frequent than its owner, so the rare ones are never counted.

    Args:
        transactions: the data.
        size: items an itemset, at least 1.
        m: number of itemsets, at least 1.
        threads: at most so many threads.

    Raises:
        UsageError: an argument is below 1.
        InputError: some transactions are too long to find the first m itemsets of this size in them, or the data holds
            2^32 item occurrences.

    Cost: memory as for 2 m itemsets, whatever the data.
    """
    _at_least_one(size=size, m=m, threads=threads)
    index = prepare(transactions)
    if size == 1:
        return _items(index, m, complete=len(index.codes) <= m)
    work = owner_work(index, size)
    ordering, effort = Ordering(index, size), Effort(size)
    best = BestSoFar(ordering, m)

    def keep_best(batches: Iterable[Batch]) -> None:
        for batch in batches:
            best.offer(_packed(batch, ordering, effort))

    cuts = cut_into_chunks(work)
    map_chunks(index, size, cuts, keep_best, floor=lambda: best.floor, work=work.sum(), effort=effort, threads=threads)
    itemsets, counts = ordering.unpack(best.settle())
    return ItemsetCounts(itemsets=itemsets, counts=counts, complete=not best.cut)


def count_histogram(transactions: Transactions, size: int, *, threads: int = THREADS) -> ItemsetHistogram:
    """How many itemsets of `size` items have which count, for all that occur, without ever holding them.

    Args:
        transactions: the data.
        size: items an itemset, at least 1.
        threads: at most so many threads.

    Raises:
        UsageError: an argument is below 1.
        InputError: some transactions are too long to count all itemsets of this size in them, or the data holds 2^32
            item occurrences.

    Cost: time as `count_itemsets` at floor 1; memory does not grow with the number of itemsets.
    """
    _at_least_one(size=size, threads=threads)
    index = prepare(transactions)
    if size == 1:
        levels, numbers = np.unique(index.counts, return_counts=True)
        everything = np.array([0, len(index.codes)])
        return ItemsetHistogram(index=index, size=1, cuts=everything, tallies=[(levels, numbers.astype(np.int64))])
    work = owner_work(index, size)
    if work.sum() > MOST_STEPS:
        raise too_much_work(size)
    cuts = cut_into_chunks(work)
    tallies = map_chunks(
        index, size, cuts, tally, floor=lambda: 1, work=work.sum(), effort=Effort(size), threads=threads
    )
    return ItemsetHistogram(index=index, size=size, cuts=cuts, tallies=tallies)


def occurs(transactions: Transactions, itemset: Sequence[int]) -> bool:
    """Whether there is a transaction that holds all items of the itemset.

    Args:
        transactions: the data.
        itemset: item codes, at least one, in any order.

    Cost: one pass over the items for each member.
    """
    if max(itemset) >= len(transactions.vocabulary):
        return False
    holders = [
        np.searchsorted(transactions.offsets, np.flatnonzero(transactions.items == code), side="right") - 1
        for code in itemset
    ]
    common = reduce(lambda some, more: np.intersect1d(some, more, assume_unique=True), holders)
    return len(common) > 0


def _packed(batch: Batch, ordering: Ordering, effort: Effort) -> Packed:
    """The batch in packed form; to sort the members of a large itemset takes more steps than to find it."""
    size, rows = batch[0].shape
    effort.add(rows * size * size // 2)
    return ordering.pack(batch)


def _items(index: Index, m: int, *, complete: bool) -> ItemsetCounts:
    """The first m items as itemsets of size 1: the index has them in order already."""
    return ItemsetCounts(itemsets=index.codes[:m, np.newaxis].copy(), counts=index.counts[:m].copy(), complete=complete)


def _at_least_one(**arguments: int) -> None:
    for name, value in arguments.items():
        if value < 1:
            raise UsageError(f"The {name} is below 1.", f"Give a {name} of 1 or more.")
