"""Counts of given itemsets, with a limit to what one transaction adds to all of them together.

The itemsets are public; how often each occurs is not. A public table of weights says what a transaction that holds q of
them adds to each. If w(q)^2 q is bounded, so is the Euclidean length of what any transaction adds; if w(q) q is, so is
the sum. The same holds for units if these are counted: a unit holds the itemsets that any of its transactions holds.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from fim_private.compilation import compiled
from fim_private.counting.hidden_counts import Hidden
from fim_private.counting.local.intersections import count_by_bits
from fim_private.counting.local.work import THREADS
from fim_private.errors import UsageError
from fim_private.profile import CountProfile
from fim_private.transactions.dataset import Transactions
from fim_private.transactions.item_codes import PADDING

_OCCURRENCES_AT_ONCE = 2**20

_MOST_CELLS = 2**24
"""The most cells, of 4 bytes each, in a table of pairs."""


class ChosenCounts(Hidden):
    """Given itemsets with their exact, perhaps weighted, counts. `repr` shows no data; `len` is the public number.

    A rank is the place of an itemset in decreasing order of count, ties in the order given. Itemsets that do not occur
    come last.
    """

    __slots__ = ("_holders", "_itemsets", "_order", "_totals")

    def __init__(
        self, *, itemsets: NDArray[np.int32], totals: NDArray[np.int64], holders: NDArray[np.int64] | None = None
    ) -> None:
        """Take over the arrays.

        Args:
            itemsets: shape (n, size), padded if they have several sizes.
            totals: shape (n,), the counts.
            holders: how many transactions, or units, hold q of the itemsets, by q. The last entry is for all larger q.
        """
        self._itemsets = itemsets
        self._totals = totals
        self._holders = np.zeros(1, np.int64) if holders is None else holders
        self._order: NDArray[np.int64] | None = None

    def __len__(self) -> int:
        return len(self._totals)

    @property
    def size(self) -> int:
        return int(self._itemsets.shape[1])

    def vector(self) -> NDArray[np.int64]:
        """The counts, in the order of the given itemsets; for the door only, which adds noise to them."""
        return self._totals

    def holders(self) -> NDArray[np.int64]:
        """By q, how many transactions, or units, hold q of the itemsets; for the door only, which adds noise."""
        return self._holders

    def padded(self, length: int) -> ChosenCounts:
        """With this many itemsets in all. The further ones are padding, and nobody has them."""
        further = ((0, length - len(self)),)
        itemsets = np.pad(self._itemsets, (*further, (0, 0)), constant_values=PADDING)
        return ChosenCounts(itemsets=itemsets, totals=np.pad(self._totals, further))

    def plus(self, public: NDArray[np.int64]) -> ChosenCounts:
        """Scores: each count plus a public number, from -2^62 to 2^62. One unit changes them as it changes counts.

        A score below 0 counts as 0, which changes no more.
        """
        return ChosenCounts(itemsets=self._itemsets, totals=self._totals + public)

    def profile(self) -> CountProfile:
        """What a mechanism may see if the given itemsets are the universe; for the door only."""
        levels, numbers = np.unique(self._totals, return_counts=True)
        occurring = levels > 0
        return CountProfile(
            levels=levels[occurring][::-1].tolist(),
            multiplicities=numbers[occurring][::-1].tolist(),
            zeros=int(numbers[~occurring].sum()),
        )

    def itemsets_at(self, ranks: Sequence[int]) -> NDArray[np.int32]:
        """The itemsets of these ranks, int32, shape (len(ranks), size); for the door only."""
        if self._order is None:
            self._order = np.argsort(-self._totals, kind="stable")
        return self._itemsets[self._order[np.asarray(ranks, np.int64)]]

    def reveal_to_curator(self) -> tuple[NDArray[np.int32], NDArray[np.int64]]:
        """Itemsets and counts, as given. They are data, not a release; no privacy guarantee protects them."""
        return self._itemsets, self._totals


def count_chosen(
    transactions: Transactions,
    itemsets: NDArray[np.int32],
    weights: NDArray[np.int64] | None = None,
    *,
    threads: int = THREADS,
) -> ChosenCounts:
    """How many transactions, or units if these are counted, hold each of the itemsets.

    Args:
        transactions: the data.
        itemsets: int32, shape (n, size), item codes increasing in each row, no row twice. Smaller itemsets are padded
            with `PADDING` at the end.
        weights: int64; a transaction, or unit, that holds q of the itemsets adds weights[min(q, len(weights) - 1)] to
            each of them. With None it adds 1.
        threads: the most threads to use.

    Raises:
        UsageError: an itemset is not as described.

    Cost: for single items, one step per occurrence. For pairs over not too many items, one step per pair of such items
    in a transaction. For larger itemsets of one size without weights, some words of 64 bits per itemset, and in units
    one step per transaction that holds it. Otherwise, per transaction, a walk through its subsets that begin one of the
    itemsets; it never takes more than some steps per itemset, however long the transaction is.
    """
    number, size = itemsets.shape
    # A copy, because loops would be compiled once more for an array that must not be written.
    table = np.array([1] if weights is None else weights, np.int64)
    if number == 0 or len(transactions) == 0:
        return ChosenCounts(
            itemsets=itemsets, totals=np.zeros(number, np.int64), holders=np.zeros(len(table), np.int64)
        )
    padded = itemsets == PADDING
    increasing = (itemsets[:, 1:] > itemsets[:, :-1]) & ~padded[:, :-1]
    if size < 1 or itemsets[:, 0].min() < 0 or not np.all(increasing | padded[:, 1:]):
        raise UsageError("The codes of an itemset are not increasing.", "Give item codes, increasing in each row.")
    order = np.lexsort(itemsets.T[::-1])
    ordered = itemsets[order]
    if np.any(np.all(ordered[1:] == ordered[:-1], axis=1)):
        raise UsageError("An itemset is given twice.", "Give each itemset once.")
    if weights is None and size > 2 and not padded.any():
        totals, holders = count_by_bits(transactions, ordered)
    else:
        add = _adder(ordered, len(transactions.vocabulary), table)
        holders = np.zeros(len(table), np.int64)
        # Nobody holds more than all of the itemsets. A table may be longer by millions, and each thread has sums of its
        # own.
        held = min(len(table), number + 1)
        totals, holders[:held] = sum_over_parts(transactions, add, (number, held), threads)
    in_order = np.empty(number, np.int64)
    in_order[order] = totals
    return ChosenCounts(itemsets=itemsets, totals=in_order, holders=holders)


Adder = Callable[[NDArray[np.int64], NDArray[np.int64], NDArray[np.int32], NDArray[np.int64], NDArray[np.int64]], None]
"""Adds the weights of units to the totals of the itemsets, and the units to the holders. Given: for each unit the place
of its first transaction in the offsets, and that after the last; the offsets; the items."""

_Sums = tuple[NDArray[np.int64], NDArray[np.int64]]


def sum_over_parts(transactions: Transactions, add: Adder, shape: tuple[int, int], threads: int) -> _Sums:
    """The totals over all transactions, and the holders. Ctrl-C takes effect between the parts."""
    # Without units, each transaction is one.
    first_of = transactions.first_of_units()
    begins = transactions.offsets if first_of is None else transactions.offsets[first_of]
    cuts = np.searchsorted(begins, np.arange(0, len(transactions.items), _OCCURRENCES_AT_ONCE))
    parts = deque(pairwise(np.unique([*cuts.tolist(), len(begins) - 1]).tolist()))

    def labour() -> _Sums:
        totals, holders = (np.zeros(length, np.int64) for length in shape)
        while True:
            try:
                first, end = parts.popleft()
            except IndexError:
                return totals, holders
            units = np.arange(first, end + 1) if first_of is None else first_of[first : end + 1]
            add(units, transactions.offsets, transactions.items, totals, holders)

    if min(threads, len(parts)) == 1:
        return labour()
    with ThreadPoolExecutor(threads) as pool:
        try:
            sums = [labourer.result() for labourer in [pool.submit(labour) for _ in range(threads)]]
        finally:
            parts.clear()
    totals, holders = (np.sum(each, axis=0, dtype=np.int64) for each in zip(*sums, strict=True))
    return totals, holders


def _adder(ordered: NDArray[np.int32], items: int, weights: NDArray[np.int64]) -> Adder:
    """The quickest way to count these itemsets, which are distinct and in lexicographic order, over `items` items."""
    number, size = ordered.shape
    distinct, uses = np.unique(ordered[ordered != PADDING], return_counts=True)
    # Items of many itemsets come first. They are the likely ones, so the rows in use are short and stay in the cache.
    distinct = distinct[np.argsort(-uses, kind="stable")]
    place = np.full(max(items, int(distinct.max()) + 1), -1, np.int32)
    place[distinct] = np.arange(len(distinct), dtype=np.int32)
    if size == 1:
        place[ordered[:, 0]] = np.arange(number, dtype=np.int32)
        return lambda units, offsets, codes, *sums: _add_items(units, offsets, codes, place, weights, *sums)
    if size == 2 and ordered.min() >= 0:
        pairs = np.sort(place[ordered], axis=1)
        widths = np.zeros(len(distinct), np.int64)
        np.maximum.at(widths, pairs[:, 0], pairs[:, 1] + np.int64(1))
        starts = np.append(0, np.cumsum(widths))
        if starts[-1] <= _MOST_CELLS:
            leaf = np.full(starts[-1], -1, np.int32)
            leaf[starts[pairs[:, 0]] + pairs[:, 1]] = np.arange(number, dtype=np.int32)
            table = _Table(place, pairs, starts, leaf)
            return lambda units, offsets, codes, *sums: _add_pairs(units, offsets, codes, table, weights, *sums)
    tree = _tree(ordered, items)
    return lambda units, offsets, codes, *sums: _add(units, offsets, codes, tree, weights, *sums)


@compiled
def _without_repetitions(held: NDArray[np.int32], before: int, number: int, last: NDArray[np.int64], unit: int) -> int:
    """Leave out of held[before:number] what the unit held before, and return the new number.

    Args:
        held: the itemsets that the unit holds.
        before: how many of them were known already.
        number: how many there are with those of one more transaction.
        last: updated: for each itemset, the number of the last unit that held it, counted from 1.
        unit: the number of this unit, counted from 1.
    """
    kept = before
    for at in range(before, number):
        itemset = held[at]
        if last[itemset] != unit:
            last[itemset] = unit
            held[kept] = itemset
            kept += 1
    return kept


@compiled
def _add_items(
    units: NDArray[np.int64],
    offsets: NDArray[np.int64],
    items: NDArray[np.int32],
    place: NDArray[np.int32],
    weights: NDArray[np.int64],
    totals: NDArray[np.int64],
    holders: NDArray[np.int64],
) -> None:
    """Add the weight of every unit to the single items it holds.

    Args:
        units: the first transaction of each unit, and the end.
        offsets: the offsets of the transactions.
        items: the items of the transactions.
        place: the place of every item among those counted, or -1.
        weights: the weight by the number of counted items held.
        totals: updated: the total of every counted item.
        holders: updated: how many units hold each number of counted items.
    """
    most = len(weights) - 1
    # One cell more, because every candidate is written, and kept only if `number` then moves on.
    held = np.empty(len(totals) + 1, np.int32)
    last = np.zeros(len(totals) + 1, np.int64)
    for unit in range(len(units) - 1):
        first, end = offsets[units[unit]], offsets[units[unit + 1]]
        number = 0
        if units[unit + 1] - units[unit] == 1:
            for at in range(first, end):
                held[number] = place[items[at]]
                number += held[number] >= 0
        else:
            for at in range(first, end):
                counted = place[items[at]]
                held[number] = counted
                number += counted >= 0 and last[counted] != unit + 1
                last[counted] = unit + 1
        weight = weights[min(number, most)]
        holders[min(number, most)] += 1
        for at in range(number):
            totals[held[at]] += weight


class _Table(NamedTuple):
    """A table to look up pairs by their items.

    `place[code]` is the place of an item among the items of all pairs, or -1. `pairs` holds the places of the two items
    of every pair, the lower one first. The row of a lower place in `leaf` begins at `starts[place]` and ends where that
    of the next place begins. By the higher place, it says which pair these two are, or -1.
    """

    place: NDArray[np.int32]
    pairs: NDArray[np.int32]
    starts: NDArray[np.int64]
    leaf: NDArray[np.int32]


@compiled
def _add_pairs(  # noqa: PLR0912 - one function, because a call per transaction would take as long as the work
    units: NDArray[np.int64],
    offsets: NDArray[np.int64],
    items: NDArray[np.int32],
    table: _Table,
    weights: NDArray[np.int64],
    totals: NDArray[np.int64],
    holders: NDArray[np.int64],
) -> None:
    """Add the weight of every unit to the pairs it holds, as `_add_items` does to items."""
    # One cell more, because every candidate is written, and kept only if `number` then moves on.
    place, pairs, starts, leaf = table
    held = np.empty(2 * len(totals) + 1, np.int32)
    last = np.zeros(len(totals), np.int64)
    own = np.empty(len(starts), np.int64)
    present = np.zeros(len(starts), np.bool_)
    most = len(weights) - 1
    for unit in range(len(units) - 1):
        number = int(np.int64(0))  # as in `row_kernels.sort_rows`
        for transaction in range(units[unit], units[unit + 1]):
            before, size = number, 0
            for at in range(offsets[transaction], offsets[transaction + 1]):
                counted = place[items[at]]
                own[size] = counted
                size += counted >= 0
            if size * (size - 1) > 4 * len(totals):
                for at in range(size):
                    present[own[at]] = True
                for pair in range(len(totals)):
                    held[number] = pair
                    number += present[pairs[pair, 0]] and present[pairs[pair, 1]]
                for at in range(size):
                    present[own[at]] = False
            else:
                for first in range(size - 1):
                    for second in range(first + 1, size):
                        low, high = min(own[first], own[second]), max(own[first], own[second])
                        cell = starts[low] + high
                        if cell < starts[low + 1]:
                            held[number] = leaf[cell]
                            number += leaf[cell] >= 0
            if units[unit + 1] - units[unit] > 1:
                number = _without_repetitions(held, before, number, last, unit + 1)
        weight = weights[min(number, most)]
        holders[min(number, most)] += 1
        for at in range(number):
            totals[held[at]] += weight


class _Tree(NamedTuple):
    """A tree with one node for each beginning of an itemset; nodes of equal depth are in the order of the itemsets.

    `root[code]` is the node of the itemsets that begin with this item, or -1. `item[node]` is the last item of a node.
    The children of a node go from `child[node]` up to `child[node + 1]`. `itemset[node]` is the number of the itemset
    that ends with this node, or -1. `size` is the depth of the tree.
    """

    root: NDArray[np.int64]
    item: NDArray[np.int32]
    child: NDArray[np.int64]
    itemset: NDArray[np.int64]
    size: int


def _tree(ordered: NDArray[np.int32], items: int) -> _Tree:
    """The tree of distinct itemsets in lexicographic order. Padding comes before all items."""
    number, size = ordered.shape
    is_new = np.zeros(number, bool)
    is_new[0] = True
    begins, ends = [], []
    for depth in range(size):
        is_new[1:] |= ordered[1:, depth] != ordered[:-1, depth]
        begin = np.flatnonzero(is_new & (ordered[:, depth] != PADDING))
        begins.append(begin)
        # An itemset comes right before those that it begins, so it is the first row of its node.
        ends.append(np.where(depth == size - 1 or ordered[begin, min(depth + 1, size - 1)] == PADDING, begin, -1))
    first = np.concatenate([[0], np.cumsum([len(begin) for begin in begins])])
    child = [first[depth] + np.searchsorted(begins[depth], begins[depth - 1]) for depth in range(1, size)]
    root = np.full(max(items, int(ordered[-1, 0]) + 1), -1, np.int64)
    root[ordered[begins[0], 0]] = np.arange(len(begins[0]))
    return _Tree(
        root=root,
        item=np.concatenate([ordered[begin, depth] for depth, begin in enumerate(begins)]),
        child=np.concatenate([*child, np.full(len(begins[-1]) + 1, first[-1])]).astype(np.int64),
        itemset=np.concatenate(ends).astype(np.int64),
        size=size,
    )


@compiled
def _add(
    units: NDArray[np.int64],
    offsets: NDArray[np.int64],
    items: NDArray[np.int32],
    tree: _Tree,
    weights: NDArray[np.int64],
    totals: NDArray[np.int64],
    holders: NDArray[np.int64],
) -> None:
    """Add the weight of every unit to the itemsets it holds, of any size, as `_add_items` does to items."""
    most = len(weights) - 1
    held = np.empty(2 * len(totals), np.int32)
    last = np.zeros(len(totals), np.int64)
    walk = np.zeros((3, tree.size), np.int64)
    by_child = np.zeros(tree.size, np.bool_)
    for unit in range(len(units) - 1):
        number = int(np.int64(0))  # as in `row_kernels.sort_rows`
        for transaction in range(units[unit], units[unit + 1]):
            before = number
            number = _hold(items, offsets[transaction], offsets[transaction + 1], tree, walk, by_child, held, number)
            if units[unit + 1] - units[unit] > 1:
                number = _without_repetitions(held, before, number, last, unit + 1)
        weight = weights[min(number, most)]
        holders[min(number, most)] += 1
        for index in range(number):
            totals[held[index]] += weight


@compiled
def _hold(
    items: NDArray[np.int32],
    first: int,
    end: int,
    tree: _Tree,
    walk: NDArray[np.int64],
    by_child: NDArray[np.bool_],
    held: NDArray[np.int32],
    number: int,
) -> int:
    """Append the itemsets that one transaction holds, and return how many there are then.

    Args:
        items: the items of the transactions.
        first: where the transaction begins.
        end: where it ends.
        tree: the itemsets.
        walk: scratch: the node, the place and the position of each depth.
        by_child: scratch: whether the children of a node are searched for, of each depth.
        held: written from `number` on: the itemsets.
        number: how many itemsets are held already.
    """
    root, item, child, itemset, _ = tree
    node, place, position = walk
    depth = 0
    by_child[0] = False
    place[0] = first
    while depth >= 0:
        # Move on to the next node of this depth that the transaction holds. Search the shorter of two lists: the
        # items left in the transaction, or the children of the parent node.
        at = -1
        if by_child[depth]:
            if place[depth] == child[node[depth - 1] + 1]:
                depth -= 1
                continue
            here = _find(items, position[depth], end, item[place[depth]])
            if here >= 0:
                at = place[depth]
        else:
            here = place[depth]
            if here == end:
                depth -= 1
                continue
            code = items[here]
            at = root[code] if depth == 0 else _find(item, child[node[depth - 1]], child[node[depth - 1] + 1], code)
        place[depth] += 1
        if at < 0:
            continue
        if itemset[at] >= 0:
            held[number] = itemset[at]
            number += 1
        if child[at] < child[at + 1]:
            node[depth] = at
            depth += 1
            position[depth] = here + 1
            by_child[depth] = child[at + 1] - child[at] < end - here - 1
            place[depth] = child[at] if by_child[depth] else here + 1
    return number


@compiled
def _find(codes: NDArray[np.int32], first: int, end: int, code: int) -> int:
    """The place of this code between `first` and `end`, where codes increase, or -1."""
    low, high = first, end
    while low < high:
        middle = (low + high) >> 1
        if codes[middle] < code:
            low = middle + 1
        else:
            high = middle
    return low if low < end and codes[low] == code else -1
