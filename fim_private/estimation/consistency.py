"""Noisy counts made consistent with what is true of counts: post-processing.

Counts are whole and not negative, and an itemset is in no more transactions than any of its subsets. Of all sequences
that say so this takes a quick one, the average of two: the largest noisy count among an itemset and the released ones
that contain it, and the smallest among it and the released ones that it contains. Both fall from a set to what contains
it, hence so does their average, rounded and cut off at 0 (min-max and max-min bounds: Robertson, Wright, Dykstra 1988).
Where no itemset contains another, nothing but the cut is done.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray


def consistent_counts(itemsets: Sequence[tuple[int, ...]], noisy: NDArray[np.int64]) -> NDArray[np.int64]:
    """Whole counts, at least 0, none above that of a subset.

    Args:
        itemsets: item codes, each itemset once.
        noisy: shape (n,), the noisy counts.

    Returns:
        int64, shape (n,).

    >>> consistent_counts([(1,), (1, 2), (3,)], np.array([4, 8, -2])).tolist()
    [6, 6, 0]
    """
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
    # Halves go to the even neighbour: rounding keeps the order, and favours neither side.
    return np.maximum(0, np.rint((largest + smallest) / 2)).astype(np.int64)
