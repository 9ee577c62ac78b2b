"""Itemsets with exact counts. Only the door may look inside, and `repr` shows no data."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from fim_private.profile import CountProfile


class HiddenCounts(Protocol):
    """Counts of occurring itemsets of one or several sizes, by rank: the place from 0 in decreasing order of count.

    `len` is the number of itemsets held, and `repr` shows no data.
    """

    def __len__(self) -> int: ...

    @property
    def size(self) -> int:
        """The number of items of an itemset; with several sizes, the largest."""

    @property
    def complete(self) -> bool:
        """Whether all itemsets of these sizes that occur are certainly held."""

    def profile(self, zeros: int | None = None) -> CountProfile:
        """What a mechanism may see; for the door only."""

    def itemsets_at(self, ranks: Sequence[int]) -> NDArray[np.int32]:
        """The itemsets of these ranks, int32, shape (len(ranks), size), padded with -1; for the door only."""


class Hidden:
    """What holds data. Its `repr` shows none."""

    __slots__ = ()

    def __repr__(self) -> str:
        return f"{type(self).__name__}(hidden)"


class RankedCounts(Hidden, ABC):
    """What `HiddenCounts` have in common, however they keep counts and itemsets."""

    __slots__ = ("_complete",)

    def __init__(self, *, complete: bool) -> None:
        self._complete = complete

    @property
    def complete(self) -> bool:
        """Whether all itemsets of these sizes that occur are certainly held."""
        return self._complete

    def profile(self, zeros: int | None = None) -> CountProfile:
        """What a mechanism may see; for the door only, which charges the budget before it asks.

        `zeros` is the number of itemsets of count 0 in a declared universe; None for an open universe.
        """
        levels, multiplicities = self._distinct()
        return CountProfile(
            levels=levels.tolist(), multiplicities=multiplicities.tolist(), zeros=zeros, complete=self._complete
        )

    @abstractmethod
    def _distinct(self) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Distinct counts, decreasing, and how many itemsets have each."""


class ItemsetCounts(RankedCounts):
    """Itemsets of one size in decreasing order of count, ties in lexicographic order of item codes.

    The place of an itemset in this order, from 0, is its rank. `repr` shows no data, and `len` is the number of
    itemsets held.
    """

    __slots__ = ("_counts", "_itemsets")

    def __init__(self, *, itemsets: NDArray[np.int32], counts: NDArray[np.int64], complete: bool) -> None:
        """Take over the arrays and make them read-only.

        Args:
            itemsets: int32, shape (L, size), item codes increasing in each row, rows in the order above.
            counts: int64, shape (L,), the number of transactions that hold each itemset, at least 1.
            complete: whether these are certainly all itemsets of this size that occur.
        """
        itemsets.setflags(write=False)
        counts.setflags(write=False)
        super().__init__(complete=complete)
        self._itemsets = itemsets
        self._counts = counts

    def __len__(self) -> int:
        return len(self._counts)

    @property
    def size(self) -> int:
        return int(self._itemsets.shape[1])

    def itemsets_at(self, ranks: Sequence[int]) -> NDArray[np.int32]:
        """The itemsets of these ranks, int32, shape (len(ranks), size); for the door only."""
        return self._itemsets[np.asarray(ranks, np.int64)]

    def reveal_to_curator(self) -> tuple[NDArray[np.int32], NDArray[np.int64]]:
        """Itemsets and exact counts, as given. They are data, not a release; no privacy guarantee protects them."""
        return self._itemsets, self._counts

    def _distinct(self) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        ends = np.flatnonzero(np.diff(self._counts, append=0)) + 1
        return self._counts[ends - 1], np.diff(ends, prepend=0)
