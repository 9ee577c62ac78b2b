"""Counts of given itemsets, with a limit to what one transaction adds to all of them together.

The itemsets are public; how often each occurs is not. A transaction that holds q of them may add less than 1 to each,
by a public table of weights: with w(q)^2 q bounded, so is the Euclidean length of what it adds, however long it is.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from fim_private.compiled import compiled
from fim_private.errors import UsageError
from fim_private.profile import CountProfile
from fim_private.transactions.dataset import Transactions

_OCCURRENCES_AT_ONCE = 2**20


class ChosenCounts:
    """Given itemsets with their exact, perhaps weighted, counts. `repr` shows no data; `len` is the public number.

    A rank is a place in decreasing order of count, ties in the order given. Itemsets that do not occur have the last
    ranks.
    """

    __slots__ = ("_itemsets", "_order", "_totals")

    def __init__(self, *, itemsets: NDArray[np.int32], totals: NDArray[np.int64]) -> None:
        """Takes the arrays over: itemsets, shape (n, size), and their counts, shape (n,)."""
        self._itemsets = itemsets
        self._totals = totals
        self._order: NDArray[np.int64] | None = None

    def __len__(self) -> int:
        return len(self._totals)

    def __repr__(self) -> str:
        return "ChosenCounts(hidden)"

    @property
    def size(self) -> int:
        """The number of items of each itemset."""
        return int(self._itemsets.shape[1])

    @property
    def given(self) -> NDArray[np.int32]:
        """The itemsets, in the order given, which is public."""
        return self._itemsets

    def vector(self) -> NDArray[np.int64]:
        """The counts in the order of the itemsets given; for the door only, which adds noise to them."""
        return self._totals

    def profile(self) -> CountProfile:
        """What a mechanism may see, the itemsets given being the universe; for the door only."""
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
        """Itemsets and counts, as given: data, not a release, and protected by no privacy guarantee."""
        return self._itemsets, self._totals


def count_chosen(
    transactions: Transactions, itemsets: NDArray[np.int32], weights: NDArray[np.int64] | None = None
) -> ChosenCounts:
    """How many transactions hold each of the itemsets.

    Args:
        transactions: the data.
        itemsets: int32, shape (n, size), item codes increasing in each row, no row twice.
        weights: int64; a transaction that holds q of the itemsets adds weights[min(q, len(weights) - 1)] to each of
            them. None adds 1.

    Raises:
        UsageError: an itemset is not as described.

    Cost: for each transaction a walk through those of its subsets that begin one of the itemsets; never more than some
    steps for each itemset, however long the transaction is.
    """
    number, size = itemsets.shape
    if number == 0 or len(transactions) == 0:
        return ChosenCounts(itemsets=itemsets, totals=np.zeros(number, np.int64))
    if size < 1 or itemsets.min() < 0 or np.any(np.diff(itemsets, axis=1) <= 0):
        raise UsageError("An itemset's items are not in increasing order.", "Give item codes, increasing in each row.")
    order = np.lexsort(itemsets.T[::-1])
    tree = _tree(itemsets[order], len(transactions.vocabulary))
    totals = np.zeros(number, np.int64)
    table = np.ones(1, np.int64) if weights is None else weights
    # In parts, between which an interrupt is heard.
    parts = np.searchsorted(transactions.offsets, np.arange(0, len(transactions.items), _OCCURRENCES_AT_ONCE))
    for first, end in pairwise([*parts.tolist(), len(transactions)]):
        _add(transactions.offsets[first : end + 1], transactions.items, tree, table, totals)
    in_order = np.empty(number, np.int64)
    in_order[order] = totals
    return ChosenCounts(itemsets=itemsets, totals=in_order)


class _Tree(NamedTuple):
    """The beginnings of itemsets, a node for each; nodes of one depth follow each other in the order of the itemsets.

    `root[code]` is the node of the itemsets that begin with an item, or -1; `item` of every node is its last item;
    `child` of every node but the leaves is its first child, where that of the next node ends. `leaves` holds the first
    leaf, and `size` the depth of the tree.
    """

    root: NDArray[np.int64]
    item: NDArray[np.int32]
    child: NDArray[np.int64]
    leaves: int
    size: int


def _tree(ordered: NDArray[np.int32], items: int) -> _Tree:
    """The tree of itemsets in lexicographic order.

    Raises:
        UsageError: one is there twice.
    """
    number, size = ordered.shape
    is_new = np.zeros(number, bool)
    is_new[0] = True
    begins = []
    for depth in range(size):
        is_new[1:] |= ordered[1:, depth] != ordered[:-1, depth]
        begins.append(np.flatnonzero(is_new))
    if len(begins[-1]) < number:
        raise UsageError("An itemset is there twice.", "Give each itemset once.")
    first = np.concatenate([[0], np.cumsum([len(begin) for begin in begins])])
    child = [first[depth] + np.searchsorted(begins[depth], begins[depth - 1]) for depth in range(1, size)]
    root = np.full(max(items, int(ordered[-1, 0]) + 1), -1, np.int64)
    root[ordered[begins[0], 0]] = np.arange(len(begins[0]))
    return _Tree(
        root=root,
        item=np.concatenate([ordered[begin, depth] for depth, begin in enumerate(begins)]),
        child=np.concatenate([*child, [first[-1]]]).astype(np.int64),
        leaves=int(first[-2]),
        size=size,
    )


@compiled
def _add(
    offsets: NDArray[np.int64],
    items: NDArray[np.int32],
    tree: _Tree,
    weights: NDArray[np.int64],
    totals: NDArray[np.int64],
) -> None:
    """Adds what every transaction adds: finds the leaves it reaches, then weighs them by their number.

    Args:
        offsets: of the transactions.
        items: of the transactions.
        tree: of the itemsets.
        weights: by the number of itemsets held.
        totals: of every leaf; added to.
    """
    root, item, child, leaves, size = tree
    held = np.empty(len(totals), np.int64)
    node = np.zeros(size, np.int64)
    place = np.zeros(size, np.int64)
    position = np.zeros(size, np.int64)
    by_child = np.zeros(size, np.bool_)
    for transaction in range(len(offsets) - 1):
        end = offsets[transaction + 1]
        number, depth = 0, 0
        place[0] = offsets[transaction]
        while depth >= 0:
            # Go on to the next node of this depth that the transaction reaches, along whichever is shorter: its items
            # that are left, or the node's children.
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
            if depth == size - 1:
                held[number] = at - leaves
                number += 1
            else:
                node[depth] = at
                depth += 1
                position[depth] = here + 1
                by_child[depth] = child[at + 1] - child[at] < end - here - 1
                place[depth] = child[at] if by_child[depth] else here + 1
        weight = weights[min(number, len(weights) - 1)]
        for index in range(number):
            totals[held[index]] += weight


@compiled
def _find(codes: NDArray[np.int32], first: int, end: int, code: int) -> int:
    """The place from `first` to `end`, where codes increase, that holds this one, or -1."""
    low, high = first, end
    while low < high:
        middle = (low + high) >> 1
        if codes[middle] < code:
            low = middle + 1
        else:
            high = middle
    return low if low < end and codes[low] == code else -1
