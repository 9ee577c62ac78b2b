"""Count itemsets on this machine: all of them, the most frequent, or how many have each count.

A count is the number of transactions that hold the itemset; if the transactions count units, it is the number of units
that hold it in at least one transaction.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import reduce
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from fim_private.counting.hidden_counts import ItemsetCounts
from fim_private.counting.local import triangle
from fim_private.counting.local.batch import Batch
from fim_private.counting.local.best_so_far import BestSoFar
from fim_private.counting.local.found_itemsets import Blocks, FoundItemsets
from fim_private.counting.local.histogram import ItemsetHistogram
from fim_private.counting.local.index import U32, Index, index
from fim_private.counting.local.ordering import Ordering
from fim_private.counting.local.task import Task
from fim_private.counting.local.walk import Walk, map_chunks
from fim_private.counting.local.work import MOST_STEPS, STEPS_OF_PACKING, THREADS, Effort, too_much_work
from fim_private.errors import UsageError
from fim_private.transactions.dataset import Transactions

_LARGE, _SHARE = 2**24, 8
"""With more than `_LARGE` item occurrences, it pays to find a bound in one of `_SHARE` parts of the data first."""

_ALL = 2**62
"""More itemsets than any data has."""

_LISTED = 2**26
"""Occurrences in lists that are in memory together: half a gigabyte. Frequent owners raise the floor for rarer ones."""


def count_itemsets(transactions: Transactions, size: int, floor: int = 1, *, threads: int = THREADS) -> ItemsetCounts:
    """All itemsets of `size` items that are in at least `floor` transactions, with their counts, in order.

    Args:
        transactions: the data.
        size: items per itemset, at least 1.
        floor: the least count, at least 1. The result is `complete` only at 1.
        threads: the most threads to use.

    Raises:
        UsageError: an argument is below 1.
        InputError: some transactions are too long to count all itemsets of this size in them, or the data holds 2^32
            item occurrences.

    Cost: time as `find_itemsets`, and that of sorting n itemsets. Memory is 8 n bytes (at least 16 n if an itemset with
    its count does not fit in 64 bits) while they are found, and (4 size + 8) n bytes for the result.
    """
    at_least_one(size=size, floor=floor, threads=threads)
    return _first(transactions, size, _ALL, floor=floor, ties=True, threads=threads)


def find_itemsets(transactions: Transactions, size: int, floor: int = 1, *, threads: int = THREADS) -> FoundItemsets:
    """Find what `count_itemsets` finds, in no particular order.

    Cost: after items below the floor are dropped, some hundred million occurrences of itemsets per second. Memory is 8
    bytes per itemset, and 4 size bytes for each set of `size - 1` members that itemsets share.
    """
    at_least_one(size=size, floor=floor, threads=threads)
    task, effort = Task(index(transactions, floor=floor), size, threads=threads), Effort(size)
    if size == 1:
        return FoundItemsets(task, [_items_as_batch(task)])
    blocks: dict[Walk, Blocks] = {}

    def collect(walk: Walk, first: int, end: int) -> None:
        to = blocks.setdefault(walk, Blocks(size, task.index.items))
        for batch in walk.batches(first, end, lambda: floor, to.room):
            to.take(batch)

    map_chunks(task, collect, effort=effort, threads=threads)
    found = [batch for part in blocks.values() for batch in part.batches]
    return FoundItemsets(task, found)


def top_itemsets(
    transactions: Transactions, size: int, m: int, *, ties: bool = True, threads: int = THREADS
) -> ItemsetCounts:
    """The first m itemsets in order of (count descending, item codes ascending), or all if fewer occur.

    The result has exactly m itemsets, however many have the same count as the last. Apart from the counts, the order
    does not depend on the data, so neighbouring data sets cut ties in the same way. The result is `complete` if
    certainly no other itemset occurs.

    The walk visits owners in decreasing order of frequency, and the m-th largest count so far is the floor for the
    rest. No itemset is more frequent than its owner, so rare owners are never visited.

    Args:
        transactions: the data.
        size: items per itemset, at least 1.
        m: the number of itemsets, at least 1.
        ties: whether it matters which of the itemsets as frequent as the m-th are held. If not, and there are m, these
            are any, and the walk need not see the others: in long transactions there may be billions of them.
        threads: the most threads to use.

    Raises:
        UsageError: an argument is below 1.
        InputError: some transactions are too long to find the first m itemsets of this size in them, or the data holds
            2^32 item occurrences.

    Cost: memory for 2 m itemsets, whatever the data.
    """
    at_least_one(size=size, m=m, threads=threads)
    floor = _bound(transactions, size, m, threads, ties=ties) if size > 1 and len(transactions.items) > _LARGE else 1
    return _first(transactions, size, m, floor=floor, ties=ties, threads=threads)


def count_histogram(transactions: Transactions, size: int, *, threads: int = THREADS) -> ItemsetHistogram:
    """How many of the occurring itemsets of `size` items have each count; the itemsets are not kept.

    Args:
        transactions: the data.
        size: items per itemset, at least 1.
        threads: the most threads to use.

    Raises:
        UsageError: an argument is below 1.
        InputError: some transactions are too long to count all itemsets of this size in them, or the data holds 2^32
            item occurrences.

    Cost: time as `count_itemsets` at floor 1; memory does not grow with the number of itemsets.
    """
    at_least_one(size=size, threads=threads)
    task = Task(index(transactions), size, threads=threads)
    if size == 1:
        levels, numbers = np.unique(task.index.counts, return_counts=True)
        return ItemsetHistogram(task, [(levels, numbers.astype(np.int64))])
    if task.work.sum() > MOST_STEPS:
        raise too_much_work(size)
    return ItemsetHistogram(task, map_chunks(task, Walk.tally, effort=Effort(size), threads=threads))


def lengths_in_bins(lengths: NDArray[np.integer], bins: NDArray[np.int64]) -> NDArray[np.int64]:
    """How many of these lengths are at least each bin's, and below the next bin's.

    Args:
        lengths: shape (transactions,), numbers of items.
        bins: int64, increasing. Shorter transactions are in no bin, and the last bin holds all longer ones.
    """
    return np.diff(np.searchsorted(np.sort(lengths), bins), append=len(lengths))


def occurs(transactions: Transactions, itemset: Sequence[int]) -> bool:
    """Whether some transaction holds all items of the itemset: at least one item code, in any order.

    Cost: one pass over the data per member.
    """
    if max(itemset) >= len(transactions.vocabulary):
        return False
    holders = [
        np.searchsorted(transactions.offsets, np.flatnonzero(transactions.items == code), side="right") - 1
        for code in itemset
    ]
    common = reduce(lambda some, more: np.intersect1d(some, more, assume_unique=True), holders)
    return len(common) > 0


def _bound(transactions: Transactions, size: int, m: int, threads: int, *, ties: bool) -> int:
    """A count that at least m itemsets reach, found in the first few transactions; 1 if fewer than m occur there.

    The bound holds for all transactions, because more transactions cannot lower a count.
    """
    few = len(transactions) // _SHARE
    end = int(transactions.offsets[few])
    part = replace(
        transactions,
        offsets=transactions.offsets[: few + 1],
        items=transactions.items[:end],
        units=None if transactions.units is None else transactions.units[:few],
    )
    top = top_itemsets(part, size, m, ties=ties, threads=threads)
    return int(top.profile().count(m)) if len(top) == m else 1


def _mth_largest(counts: U32, m: int) -> int:
    """The m-th largest of the counts, at least 1; 1 if there are fewer."""
    return max(1, int(np.partition(counts, len(counts) - m)[len(counts) - m])) if len(counts) >= m else 1


def _first(transactions: Transactions, size: int, m: int, *, floor: int, ties: bool, threads: int) -> ItemsetCounts:
    """The first m of the itemsets with a count of `floor` or more."""
    ranked = index(transactions, floor=floor)
    if size == 1:
        # The index has them in order already.
        itemsets, counts = ranked.codes[:m, np.newaxis].copy(), ranked.counts[:m].copy()
        return ItemsetCounts(itemsets=itemsets, counts=counts, complete=floor == 1 and ranked.items <= m)
    counters = None
    if size == 2 and len(ranked.flat) >= triangle.WORTH_IT:
        counters = triangle.count_triangle(ranked, threads)
        floor = max(floor, _mth_largest(counters, m))
    cuts = _cuts_of_owners(ranked, triangle.ITEMS if counters is not None else 0)
    task = Task(ranked, size, least=floor, threads=threads, counters=counters, owners=(0, cuts[0]))
    ordering, effort = Ordering(task), Effort(size)
    best = BestSoFar(ordering, m, floor=floor, ties=ties)

    def keep_best(walk: Walk, first: int, end: int) -> None:
        for batch in walk.batches(first, end, lambda: best.floor):
            effort.add(len(batch.last) * size * STEPS_OF_PACKING)  # sorting members and itemsets is effort too
            best.offer(ordering.pack(batch))

    map_chunks(task, keep_best, effort=effort, threads=threads)
    for owners in pairwise(cuts):
        del task  # and its lists, before there are others
        task = Task(ranked, size, least=best.floor, owners=owners)
        map_chunks(task, keep_best, effort=effort, threads=threads)
    itemsets, counts = ordering.unpack(best.settle())
    return ItemsetCounts(itemsets=itemsets, counts=counts, complete=not best.cut)


def _cuts_of_owners(ranked: Index, first: int) -> list[int]:
    """Owners after which lists end that are in memory together, from owner `first` on; the last is after all owners."""
    occurrences = np.cumsum(ranked.occurrences[first:])
    inner = np.searchsorted(occurrences, np.arange(_LISTED, int(occurrences[-1:].sum()), _LISTED))
    return [*(int(cut) + first for cut in np.unique(inner) if cut), ranked.items]


def _items_as_batch(task: Task) -> Batch:
    """All items as itemsets of size 1, in one run."""
    ranks = np.arange(task.index.items, dtype=np.uint32)
    return Batch(
        prefix=np.empty((1, 0), np.uint32),
        end=np.array([len(ranks)], np.uint32),
        last=ranks,
        counts=task.index.counts.astype(np.uint32),
    )


def at_least_one(**arguments: int) -> None:
    """Refuse an argument below 1, with a UsageError."""
    for name, value in arguments.items():
        if value < 1:
            raise UsageError(f"The {name} is below 1.", f"Give a {name} of 1 or more.")
