"""What the steps of a mechanism release. Items are codes of the transactions' vocabulary."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from fim_private.arrays import Floats
from fim_private.mining.consistency import averages_of_bounds
from fim_private.transactions.item_codes import PADDING


@dataclass(frozen=True, eq=False, kw_only=True)
class FoundItems:
    """Items that were counted by themselves, with noise.

    Args:
        codes: int32, shape (items,), in decreasing order of noisy count.
        counts: float64, of the same shape, in transactions.
    """

    codes: NDArray[np.int32]
    counts: Floats


@dataclass(frozen=True, eq=False, kw_only=True)
class Outcome:
    """The answer of a mechanism that counts step by step.

    Args:
        itemsets: int32, shape (n, size), in decreasing order, items increasing in each row, padded if they have several
            sizes.
        counts: float64, shape (n,), estimates in transactions; None if itemsets were picked.
        found: the items of these itemsets, if the mechanism counts items.
    """

    itemsets: NDArray[np.int32]
    counts: Floats | None = None
    found: FoundItems | None = None

    @property
    def codes(self) -> list[tuple[int, ...]]:
        """The items of each itemset, without padding."""
        return [tuple(code for code in itemset if code != PADDING) for itemset in self.itemsets.tolist()]

    @property
    def consistent(self) -> Outcome:
        """The same with counts that do not contradict each other, and in their order: post-processing.

        Counts of one size cannot contradict each other. Among equal counts, smaller itemsets come first.
        """
        if self.counts is None or not (self.itemsets == PADDING).any():
            return self
        counts = averages_of_bounds(self.codes, self.counts)
        order = np.lexsort(((self.itemsets != PADDING).sum(axis=1), -counts))
        return replace(self, itemsets=self.itemsets[order], counts=counts[order])
