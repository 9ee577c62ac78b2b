"""The steps of PrivBasis. Picks and noisy counts come through the door; the bases follow from them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from fim_private.arrays import Floats
from fim_private.counting import HiddenCounts, TransactionDatabase
from fim_private.mechanisms.privbasis import PrivBasis
from fim_private.mining.bases import bases_of
from fim_private.mining.outcome import Outcome
from fim_private.randomness import Randomness
from fim_private.release.door import measure_bins, pick, pick_number
from fim_private.transactions.item_codes import PADDING, one_item_each


def run(
    database: TransactionDatabase,
    mechanism: PrivBasis,
    counts: HiddenCounts,
    randomness: Randomness,
    progress: Callable[[str], None],
) -> Outcome:
    """Choose the number of items, then items and pairs; then count all subsets of bases that cover these.

    The transactions are over the public list. Arguments as for `stepwise.run`.
    """
    progress("finding items")
    number = pick_number(database.top_itemsets(1, mechanism.most_items), counts, mechanism, randomness)
    item_picks, pair_picks = mechanism.picks(max(number, min(mechanism.fewest_items, mechanism.items)))
    every = one_item_each(len(database.vocabulary))
    items = pick(database.count_chosen(every), item_picks, randomness)[:, 0]
    pairs = np.zeros((0, 2), np.int32)
    if pair_picks is not None:
        progress("finding pairs")
        all_pairs = np.array(list(combinations(np.sort(items).tolist(), 2)), np.int32)
        pairs = pick(database.count_chosen(all_pairs), pair_picks, randomness)
    progress("counting")
    bases = bases_of(items, pairs, most=mechanism.most, power=mechanism.variance_power)
    bins = measure_bins(database.count_bins(bases), mechanism.bins(len(bases)), randomness)
    itemsets, estimates = subset_counts(bases, bins, mechanism.sizes)
    best = np.argsort(-estimates, kind="stable")[: mechanism.top]
    return Outcome(itemsets=itemsets[best], counts=estimates[best])


def subset_counts(
    bases: NDArray[np.int32], bins: NDArray[np.int64], sizes: Sequence[int]
) -> tuple[NDArray[np.int32], Floats]:
    """Every subset of a basis that has one of these sizes, once, with its estimated count: post-processing.

    A count is a sum of noisy bins (docs/mathematics.md#bins-of-bases). Counts from several bases are averaged with the
    weights of least variance, where all bins have equal noise.

    Args:
        bases: int32, shape (w, width), padded.
        bins: the noisy bins of all bases, as `counting.BasisBins` orders them.
        sizes: items per itemset.

    Returns:
        Itemsets, int32, shape (n, largest size), padded, in an order that does not depend on the bins; and their
        counts, float64, shape (n,).
    """
    found: dict[tuple[int, ...], tuple[float, float]] = {}
    begin = 0
    for row in bases.tolist():
        basis = [code for code in row if code != PADDING]
        end = begin + (1 << len(basis)) - 1
        sums = np.concatenate([np.zeros(1, np.int64), bins[begin:end]])
        begin = end
        for bit in range(len(basis)):
            # Bins without this item get those with it added.
            halves = sums.reshape(-1, 2, 1 << bit)
            halves[:, 0] += halves[:, 1]
        for number in range(1, len(sums)):
            size = number.bit_count()
            if size in sizes:
                itemset = tuple(code for place, code in enumerate(basis) if number >> place & 1)
                weight = 2.0 ** (size - len(basis))
                total, weights = found.get(itemset, (0.0, 0.0))
                found[itemset] = total + weight * float(sums[number]), weights + weight
    itemsets = np.full((len(found), max(sizes)), PADDING, np.int32)
    for place, itemset in enumerate(found):
        itemsets[place, : len(itemset)] = itemset
    return itemsets, np.array([total / weights for total, weights in found.values()], np.float64)
