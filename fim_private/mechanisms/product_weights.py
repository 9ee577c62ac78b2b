"""All itemsets of weighted items on a line of whole numbers: each is as long as the product of its items' weights.

A uniform number below the length of the line stands on an itemset with a probability proportional to its product. The
line is never made. Its length is an elementary symmetric polynomial of the weights, and an itemset is found from its
last item to its first, by such polynomials of fewer items. Proof: docs/mathematics.md#product-weights.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from itertools import accumulate

import numpy as np
from numpy.typing import NDArray


class ProductWeights:
    """The itemsets of `size` of the items 0, 1, 2, ... on a line.

    Args:
        weights: one per item, whole numbers of 1 or more, of any size.
        size: items per itemset, at least 1.
    """

    def __init__(self, weights: Sequence[int], size: int) -> None:
        self._weights = list(weights)
        # For each length j, the sums of the products of j of the first i items, for all i.
        self._sums = [[1] * (len(weights) + 1)]
        for _ in range(size):
            products = (weight * before for weight, before in zip(weights, self._sums[-1], strict=False))
            self._sums.append([0, *accumulate(products)])

    @property
    def total(self) -> int:
        """The length of the line; 0 if there are too few items."""
        return self._sums[-1][-1]

    def itemset(self, place: int) -> tuple[int, ...]:
        """The itemset at a place of the line, its items increasing."""
        items: list[int] = []
        end = len(self._weights) + 1
        for sums in self._sums[:0:-1]:
            item = bisect_right(sums, place, 0, end) - 1
            place = (place - sums[item]) // self._weights[item]
            items.append(item)
            end = item + 1
        return tuple(reversed(items))

    def interval(self, itemset: Sequence[int]) -> tuple[int, int]:
        """Where an itemset stands on the line: its first place and its length."""
        start, length = 0, 1
        for sums, item in zip(self._sums[1:], itemset, strict=True):
            start = sums[item] + self._weights[item] * start
            length *= self._weights[item]
        return start, length

    def lengths(self, itemsets: NDArray[np.int32]) -> list[int]:
        """The lengths of itemsets, int32, shape (n, size)."""
        lengths: list[int] = np.array(self._weights, object)[itemsets].prod(axis=1).tolist()
        return lengths
