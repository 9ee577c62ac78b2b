"""The counts of all subsets of bases, as sums of noisy bins: post-processing (docs/mathematics.md#bins-of-bases)."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from fim_private.transactions.item_codes import PADDING


def subset_counts(
    bases: NDArray[np.int32], bins: NDArray[np.int64], sizes: Sequence[int]
) -> tuple[NDArray[np.int32], NDArray[np.float64]]:
    """Every subset of a basis that has one of these sizes, once, with its estimated count.

    Counts from several bases are averaged with the weights of least variance, where all bins have equal noise.

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
