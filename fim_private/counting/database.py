"""The database of transactions: it bounds what a unit adds and counts itemsets. It gives out hidden counts only.

There are two engines: arrays in this process (`LocalDatabase`), and Spark (`counting.spark`), where the transactions
never enter this process.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

import numpy as np
import polars as pl
from numpy.typing import NDArray

from fim_private.counting.hidden_counts import HiddenCounts
from fim_private.counting.local.chosen_counts import ChosenCounts
from fim_private.transactions.bounding import Words
from fim_private.transactions.dataset import ReadingNotes


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
