"""The database of transactions: it bounds what a unit adds and counts itemsets. It gives out hidden counts only.

There are two engines: arrays in this process (`LocalDatabase`), and Spark (`counting.spark`), where the transactions
never enter this process.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
import polars as pl
from numpy.typing import NDArray

from fim_private.counting import local
from fim_private.counting.chosen import ChosenCounts, count_chosen
from fim_private.counting.hidden import HiddenCounts
from fim_private.errors import UsageError
from fim_private.transactions.bounding import Words, cap_items, keep_transactions, merge_units
from fim_private.transactions.dataset import ReadingNotes, Transactions
from fim_private.transactions.restrict import containing, keep_items, restrict_to


class TransactionDatabase(Protocol):
    """Transactions over a vocabulary, wherever they are. No method changes the database.

    The methods promise what the functions of the same names promise for `Transactions`, privacy included:
    `restrict_to`, `keep_items`, `containing`, `merge_units`, `keep_transactions` and `cap_items` of the layer
    `transactions`, `top_itemsets`, `count_histogram`, `count_chosen` and `occurs` of this one. An engine may fail with
    its own errors, which show no data either.
    """

    @property
    def vocabulary(self) -> pl.Series:
        """The item names, strings, in name order: an item's code is its place here."""

    @property
    def has_units(self) -> bool:
        """Whether several transactions may belong to one privacy unit, and it is known which."""

    @property
    def notes(self) -> ReadingNotes:
        """What was noticed while reading, for the curator's eyes."""

    def restrict_to(self, names: Sequence[str]) -> TransactionDatabase:
        """With exactly these names as vocabulary."""

    def keep_items(self, codes: NDArray[np.int32]) -> TransactionDatabase:
        """With the items of these increasing codes alone as vocabulary."""

    def containing(self, names: Sequence[str]) -> TransactionDatabase:
        """With only the transactions that hold all these items, and without these items."""

    def merge_units(self) -> TransactionDatabase:
        """With one transaction for each unit, the union of its items."""

    def keep_transactions(self, most: int, words: Words) -> TransactionDatabase:
        """With a uniform random choice of at most `most` transactions of each unit."""

    def cap_items(self, most: int, words: Words) -> TransactionDatabase:
        """With a uniform random choice of at most `most` items of each transaction."""

    def top_itemsets(self, size: int, m: int) -> HiddenCounts:
        """The first m itemsets in order of (count descending, item codes ascending)."""

    def count_histogram(self, size: int) -> HiddenCounts:
        """How many itemsets have which count, for all that occur."""

    def count_chosen(self, itemsets: NDArray[np.int32], weights: NDArray[np.int64] | None = None) -> ChosenCounts:
        """The counts of given itemsets, weighted by how many of them a transaction holds."""

    def occurs(self, itemset: Sequence[int]) -> bool:
        """Whether a transaction holds all items of the itemset."""


@dataclass(frozen=True, eq=False, repr=False)
class LocalDatabase:
    """Transactions in this process. Its `repr` shows no data.

    Args:
        transactions: the data.
    """

    transactions: Transactions

    def __repr__(self) -> str:
        return "LocalDatabase(hidden)"

    @property
    def vocabulary(self) -> pl.Series:
        """The item names."""
        return self.transactions.vocabulary

    @property
    def has_units(self) -> bool:
        """Whether the data was read with a unit column, and is not merged."""
        return self.transactions.units is not None

    @property
    def notes(self) -> ReadingNotes:
        """What was noticed while reading."""
        return self.transactions.notes

    def restrict_to(self, names: Sequence[str]) -> LocalDatabase:
        """See `transactions.restrict_to`."""
        return LocalDatabase(restrict_to(self.transactions, names))

    def keep_items(self, codes: NDArray[np.int32]) -> LocalDatabase:
        """See `transactions.keep_items`."""
        return LocalDatabase(keep_items(self.transactions, codes))

    def containing(self, names: Sequence[str]) -> LocalDatabase:
        """See `transactions.containing`."""
        return LocalDatabase(containing(self.transactions, names))

    def merge_units(self) -> LocalDatabase:
        """See `transactions.merge_units`."""
        return LocalDatabase(merge_units(self.transactions))

    def keep_transactions(self, most: int, words: Words) -> LocalDatabase:
        """See `transactions.keep_transactions`."""
        return LocalDatabase(keep_transactions(self.transactions, most, words))

    def cap_items(self, most: int, words: Words) -> LocalDatabase:
        """See `transactions.cap_items`."""
        return LocalDatabase(cap_items(self.transactions, most, words))

    def top_itemsets(self, size: int, m: int) -> HiddenCounts:
        """See `counting.top_itemsets`."""
        return local.top_itemsets(self.transactions, size, m)

    def count_histogram(self, size: int) -> HiddenCounts:
        """See `counting.count_histogram`."""
        return local.count_histogram(self.transactions, size)

    def count_chosen(self, itemsets: NDArray[np.int32], weights: NDArray[np.int64] | None = None) -> ChosenCounts:
        """See `counting.count_chosen`."""
        return count_chosen(self.transactions, itemsets, weights)

    def occurs(self, itemset: Sequence[int]) -> bool:
        """See `counting.occurs`."""
        return local.occurs(self.transactions, itemset)


def as_database(data: Transactions | TransactionDatabase) -> TransactionDatabase:
    """Transactions become a database in this process; a database stays as it is.

    Raises:
        UsageError: the data is neither.
    """
    if isinstance(data, Transactions):
        return LocalDatabase(data)
    if not hasattr(data, "top_itemsets"):
        raise UsageError("These are no transactions.", "Read them with read_transactions or transactions_from_lists.")
    return data
