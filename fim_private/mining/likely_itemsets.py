"""Choose the itemsets worth counting from noisy counts of their items and pairs: post-processing.

An itemset cannot be more frequent than its items. The product of its items' counts predicts its count (independence).
The counts of its pairs predict it better (Kirkwood 1935: dependence among more than two items is ignored).
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from itertools import combinations, pairwise

import numpy as np
from numpy.typing import NDArray

from fim_private.accounting.search import halved
from fim_private.arrays import Floats

Itemsets = NDArray[np.int32]

ON_THE_WAY = 20_000
"""At least this many itemsets of each smaller size are kept to build larger ones."""

_BLOCK = 2**20


def likely_pairs(counts: Floats, most: int) -> Itemsets:
    """The pairs with the largest products of their items' counts, in decreasing order of the product.

    Args:
        counts: shape (items,), positive; estimates.
        most: the largest number of pairs; ties at the end are left out.

    Returns:
        int32, shape (n, 2), places in `counts`, increasing in each row; all pairs if there are at most `most`.
    """
    order = np.argsort(-counts, kind="stable")
    logs = np.log(counts[order])
    places = np.arange(len(logs))

    def partners(bound: float) -> NDArray[np.int64]:
        """With how many later items each item has a product above the bound."""
        later: NDArray[np.int64] = np.searchsorted(-logs, logs - bound, side="right") - places - 1
        return later.clip(0)

    if len(logs) < 2:
        return np.empty((0, 2), np.int32)
    high, low = 2 * float(logs[0]) + 1.0, 2 * float(logs[-1]) - 1.0
    if partners(low).sum() > most:
        _, low = halved(lambda bound: bool(partners(bound).sum() > most), low, high, 40)
    numbers = partners(low)
    first = np.repeat(places, numbers)
    second = first + 1 + _within(numbers)
    best = np.argsort(-(logs[first] + logs[second]), kind="stable")
    return np.sort(order[np.column_stack([first[best], second[best]])], axis=1).astype(np.int32)


def joined_itemsets(
    pairs: Itemsets, pair_counts: Floats, item_counts: Floats, size: int, most: int, *, total: float
) -> tuple[Itemsets, Floats]:
    """Among the itemsets whose pairs are all given, those with the largest predicted counts, in decreasing order.

    An itemset is no more frequent than its rarest pair.

    Args:
        pairs: shape (n, 2), increasing in each row.
        pair_counts: shape (n,), estimates; values below 1 count as 1.
        item_counts: shape (items,), positive; estimates.
        size: items per itemset, at least 2.
        most: the largest number of itemsets. Smaller sizes on the way keep at least `ON_THE_WAY`.
        total: the number of transactions; an estimate.

    Returns:
        int32, shape (n, size); and the logarithms of the predicted counts, of shape (n,).
    """
    logs = np.log(np.maximum(pair_counts, 1))
    if size == 2:
        best = np.argsort(-pair_counts, kind="stable")[:most]
        return pairs[best], logs[best]
    table = _Pairs(pairs, logs, len(item_counts))
    log_item = np.log(item_counts)
    found = pairs
    for length in range(3, size + 1):
        kept = most if length == size else max(most, ON_THE_WAY)
        longer, predicted = np.empty((0, length), np.int32), np.empty(0)
        # All extensions together may be many times what is kept.
        for block in _extended(found, table):
            longer = np.concatenate([longer, block])
            predicted = np.concatenate([predicted, _predicted(block, table, log_item, total)])
            best = np.argsort(-predicted, kind="stable")[:kept]
            longer, predicted = longer[best], predicted[best]
        found, logs = longer, predicted
    return found, logs


def _predicted(itemsets: Itemsets, table: _Pairs, log_item: Floats, total: float) -> Floats:
    """The logarithm of the count of each itemset, predicted from its items and pairs, but no more than a pair's."""
    length = itemsets.shape[1]
    # Shares are multiplied and divided, not counts.
    shares = 1 + length * (length - 3) // 2
    predicted = shares * math.log(max(total, 1.0)) - (length - 2) * log_item[itemsets].sum(axis=1)
    rarest = np.full(len(itemsets), np.inf)
    for first, second in combinations(range(length), 2):
        pair = table.logs[table.places(itemsets[:, first], itemsets[:, second])]
        predicted += pair
        rarest = np.minimum(rarest, pair)
    least: Floats = np.minimum(predicted, rarest)
    return least


class _Pairs:
    """A lookup table of pairs with the logarithms of their counts. Its memory grows with the pairs, not the items."""

    def __init__(self, pairs: Itemsets, logs: Floats, items: int) -> None:
        keys = pairs[:, 0].astype(np.int64) * items + pairs[:, 1]
        order = np.argsort(keys)
        self._items = items
        self._keys = keys[order]
        self.logs = logs[order]
        self.second = pairs[order, 1]
        self.begin = np.searchsorted(self._keys, np.arange(items + 1, dtype=np.int64) * items)

    def places(self, first: Itemsets, second: Itemsets) -> NDArray[np.int64]:
        """The place of each pair (first, second); -1 if the pair is not there."""
        keys = first.astype(np.int64) * self._items + second
        places = np.minimum(np.searchsorted(self._keys, keys), len(self._keys) - 1)
        return np.where(self._keys[places] == keys, places, -1)


def _extended(found: Itemsets, pairs: _Pairs) -> Iterator[Itemsets]:
    """Every itemset, extended by every later item that forms a given pair with each member; in blocks."""
    length = found.shape[1]
    degrees = np.diff(pairs.begin)
    ends = np.cumsum(degrees[found[:, -1]])
    cuts = np.searchsorted(ends, np.arange(0, int(ends[-1]) if len(ends) else 0, _BLOCK))
    for first, end in pairwise([*dict.fromkeys(cuts.tolist()), len(found)]):
        block = found[first:end]
        last = block[:, -1]
        row = np.repeat(np.arange(len(block)), degrees[last])
        item = pairs.second[pairs.begin[last][row] + _within(degrees[last])]
        for column in range(length - 1):
            fits = pairs.places(block[row, column], item) >= 0
            row, item = row[fits], item[fits]
        yield np.column_stack([block[row], item])


def _within(numbers: NDArray[np.int64]) -> NDArray[np.int64]:
    """0, 1, ..., n - 1 for each of these numbers n, one after the other."""
    places: NDArray[np.int64] = np.arange(numbers.sum()) - np.repeat(np.cumsum(numbers) - numbers, numbers)
    return places
