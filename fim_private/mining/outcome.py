"""What the steps of a mechanism release. Items are codes of the transactions' vocabulary."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from fim_private.arrays import Floats


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
        expected: float64, shape (n,), about how many transactions would hold the itemsets if their items did not depend
            on each other; None if they are not ranked by leverage.
        found: the items of these itemsets, if the mechanism counts items.
    """

    itemsets: NDArray[np.int32]
    counts: Floats | None
    expected: Floats | None = None
    found: FoundItems | None = None
