"""Make noisy counts consistent: post-processing.

True counts are whole and not negative, and an itemset is in no more transactions than any of its subsets. Each noisy
count is replaced by the average of two numbers: the largest noisy count among the itemset and its released supersets,
and the smallest among the itemset and its released subsets. Neither number is larger for a superset, so the same holds
for their average, which is rounded and cut off at 0 (min-max and max-min bounds: Robertson, Wright, Dykstra 1988). If
no itemset contains another, only the cut at 0 changes anything.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from fim_private.arrays import Floats


def consistent_counts(itemsets: Sequence[tuple[int, ...]], noisy: NDArray[np.int64]) -> NDArray[np.int64]:
    """Whole counts, int64, at least 0, of different itemsets. No itemset's count is above a subset's.

    >>> consistent_counts([(1,), (1, 2), (3,)], np.array([4, 8, -2])).tolist()
    [6, 6, 0]
    """
    # Halves are rounded to the even neighbour: this keeps the order and favours neither side.
    return np.maximum(0, np.rint(averages_of_bounds(itemsets, noisy))).astype(np.int64)


def averages_of_bounds(itemsets: Sequence[tuple[int, ...]], noisy: NDArray[np.int64] | Floats) -> Floats:
    """The counts before they are rounded and cut off, float64. Those that nothing contradicts stay as they are."""
    holders: dict[int, set[int]] = {}
    for place, itemset in enumerate(itemsets):
        for code in itemset:
            holders.setdefault(code, set()).add(place)
    largest, smallest = noisy.copy(), noisy.copy()
    for place, itemset in enumerate(itemsets):
        fewest, *others = sorted((holders[code] for code in itemset), key=len)
        containing = sorted(fewest.intersection(*others))
        largest[place] = noisy[containing].max()
        smallest[containing] = np.minimum(smallest[containing], noisy[place])
    averages: Floats = (largest + smallest) / 2
    return averages
