"""The database of transactions in this process. Each method calls the function of its name."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import polars as pl
from numpy.typing import NDArray

from fim_private.counting.database import TransactionDatabase
from fim_private.counting.hidden_counts import Hidden, HiddenCounts
from fim_private.counting.local import queries
from fim_private.counting.local.basis_bins import BasisBins, count_bins
from fim_private.counting.local.chosen_counts import ChosenCounts, count_chosen
from fim_private.counting.local.weighted_itemsets import weigh_itemsets
from fim_private.errors import UsageError
from fim_private.transactions.bounding import Words, cap_items, count_units, keep_transactions, merge_units
from fim_private.transactions.dataset import ReadingNotes, Transactions
from fim_private.transactions.restriction import containing, keep_items, restrict_to


@dataclass(frozen=True, eq=False, repr=False)
class LocalDatabase(Hidden):
    """Transactions in this process: each method calls the function of its name. Its `repr` shows no data."""

    transactions: Transactions

    @property
    def vocabulary(self) -> pl.Series:
        return self.transactions.vocabulary

    @property
    def has_units(self) -> bool:
        return self.transactions.units is not None

    @property
    def notes(self) -> ReadingNotes:
        return self.transactions.notes

    def restrict_to(self, names: Sequence[str]) -> LocalDatabase:
        return LocalDatabase(restrict_to(self.transactions, names))

    def keep_items(self, codes: NDArray[np.int32]) -> LocalDatabase:
        return LocalDatabase(keep_items(self.transactions, codes))

    def containing(self, names: Sequence[str]) -> LocalDatabase:
        return LocalDatabase(containing(self.transactions, names))

    def merge_units(self) -> LocalDatabase:
        return LocalDatabase(merge_units(self.transactions))

    def count_units(self) -> LocalDatabase:
        return LocalDatabase(count_units(self.transactions))

    def keep_transactions(self, most: int, words: Words) -> LocalDatabase:
        return LocalDatabase(keep_transactions(self.transactions, most, words))

    def cap_items(self, most: int, words: Words) -> LocalDatabase:
        return LocalDatabase(cap_items(self.transactions, most, words))

    def top_itemsets(self, size: int, m: int, *, ties: bool = True) -> HiddenCounts:
        return queries.top_itemsets(self.transactions, size, m, ties=ties)

    def count_histogram(self, size: int) -> HiddenCounts:
        return queries.count_histogram(self.transactions, size)

    def count_chosen(self, itemsets: NDArray[np.int32], weights: NDArray[np.int64] | None = None) -> ChosenCounts:
        return count_chosen(self.transactions, itemsets, weights)

    def count_bins(self, bases: NDArray[np.int32]) -> BasisBins:
        return count_bins(self.transactions, bases)

    def weigh_itemsets(self, sizes: Sequence[int], weights: NDArray[np.int64]) -> HiddenCounts:
        return weigh_itemsets(self.transactions, sizes, weights)

    def count_lengths(self, bins: NDArray[np.int64]) -> NDArray[np.int64]:
        return queries.lengths_in_bins(self.transactions.lengths(), bins)

    def occurs(self, itemset: Sequence[int]) -> bool:
        return queries.occurs(self.transactions, itemset)


def as_database(data: Transactions | TransactionDatabase) -> TransactionDatabase:
    """Wrap transactions as a database in this process; return a database as it is.

    Raises:
        UsageError: the data is neither.
    """
    if isinstance(data, Transactions):
        return LocalDatabase(data)
    if not hasattr(data, "top_itemsets"):
        raise UsageError("These are not transactions.", "Read them with read_transactions or transactions_from_lists.")
    return data
