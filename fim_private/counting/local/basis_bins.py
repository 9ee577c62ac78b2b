"""Transactions in bins: which items of a basis does a transaction hold?

A basis is a small public set of items. Each of its subsets, except the empty one, is a bin. A transaction falls into at
most one bin of each basis, that of the items it holds. So one transaction changes one number per basis, whatever it
holds, and the count of every subset of a basis is a sum of bins (docs/mathematics.md#bins-of-bases).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from fim_private.compilation import compiled
from fim_private.counting.hidden_counts import Hidden
from fim_private.counting.local.chosen_counts import sum_over_parts
from fim_private.counting.local.work import THREADS
from fim_private.errors import UsageError
from fim_private.transactions.dataset import Transactions
from fim_private.transactions.item_codes import PADDING


class BasisBins(Hidden):
    """How many transactions are in each bin of public bases. `repr` shows no data; `len` is the number of bins."""

    __slots__ = ("_bases", "_totals")

    def __init__(self, *, bases: NDArray[np.int32], totals: NDArray[np.int64]) -> None:
        """Take over the arrays.

        Args:
            bases: shape (w, width), padded.
            totals: the number of transactions in each bin, for one basis after the other. Bin number b of a basis, from
                1 on, holds exactly those of its items whose bit is 1 in b, the first item's bit being the lowest.
        """
        self._bases = bases
        self._totals = totals

    def __len__(self) -> int:
        return len(self._totals)

    @property
    def bases(self) -> NDArray[np.int32]:
        """The bases, in the order given, which is public."""
        return self._bases

    def vector(self) -> NDArray[np.int64]:
        """The numbers of transactions, in the order of the bins; for the door only, which adds noise to them."""
        return self._totals


def number_of_bins(bases: NDArray[np.int32]) -> NDArray[np.int64]:
    """How many bins each basis has, int64, shape (w,)."""
    lengths = np.count_nonzero(bases != PADDING, axis=1).astype(np.int64)
    bins: NDArray[np.int64] = (np.int64(1) << lengths) - 1
    return bins


def count_bins(transactions: Transactions, bases: NDArray[np.int32], *, threads: int = THREADS) -> BasisBins:
    """How many transactions are in each bin of each basis.

    Args:
        transactions: the data. Units are not counted: the baskets of a unit may be in several bins.
        bases: int32, shape (w, width), item codes increasing in each row, padded with `PADDING` at the end.
        threads: the most threads to use.

    Raises:
        UsageError: units are counted.

    Cost: one step per occurrence of an item and basis that has it. Memory for each thread: one number per bin.
    """
    if transactions.first_of_units() is not None:
        raise refusal_of_units()
    starts = np.append(0, np.cumsum(number_of_bins(bases)))
    if not len(bases) or not len(transactions):
        return BasisBins(bases=bases, totals=np.zeros(int(starts[-1]), np.int64))
    index = _index(bases, starts, len(transactions.vocabulary))
    totals, _ = sum_over_parts(
        transactions,
        lambda units, offsets, items, totals, _holders: _add_bins(units, offsets, items, index, totals),
        (int(starts[-1]), 0),
        threads,
    )
    return BasisBins(bases=bases, totals=totals)


def refusal_of_units() -> UsageError:
    """The error for counted units."""
    return UsageError(
        "A unit with several baskets is in no single bin of a basis.",
        "Merge its baskets (--together unit), or keep some of them (--max-transactions).",
    )


class _Index(NamedTuple):
    """Which bases have an item.

    The entries of item `code` go from `first[code]` to `first[code + 1]`. Each names a basis and the item's bit in it.
    The bins of a basis begin at `starts`.
    """

    first: NDArray[np.int64]
    basis: NDArray[np.int64]
    bit: NDArray[np.int64]
    starts: NDArray[np.int64]


def _index(bases: NDArray[np.int32], starts: NDArray[np.int64], items: int) -> _Index:
    basis, place = np.nonzero(bases != PADDING)
    codes = bases[basis, place]
    order = np.argsort(codes, kind="stable")
    first = np.searchsorted(codes[order], np.arange(max(items, int(codes.max(initial=0)) + 1) + 1))
    return _Index(
        first=first.astype(np.int64),
        basis=basis[order].astype(np.int64),
        bit=(np.int64(1) << place[order]).astype(np.int64),
        starts=starts.astype(np.int64),
    )


@compiled
def _add_bins(
    units: NDArray[np.int64],
    offsets: NDArray[np.int64],
    items: NDArray[np.int32],
    index: _Index,
    totals: NDArray[np.int64],
) -> None:
    """Add every transaction to its bins."""
    first, basis, bit, starts = index
    bins = np.zeros(len(starts), np.int64)
    touched = np.empty(len(starts), np.int64)
    for at in range(len(units) - 1):
        number = 0
        for place in range(offsets[units[at]], offsets[units[at] + 1]):
            for entry in range(first[items[place]], first[items[place] + 1]):
                if bins[basis[entry]] == 0:
                    touched[number] = basis[entry]
                    number += 1
                bins[basis[entry]] |= bit[entry]
        for each in range(number):
            # Bin 0, of the transactions that hold nothing of the basis, is left out.
            totals[starts[touched[each]] + bins[touched[each]] - 1] += 1
            bins[touched[each]] = 0
