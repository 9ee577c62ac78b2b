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
from fim_private.counting.local.basis_bins import BasisBins
from fim_private.counting.local.chosen_counts import ChosenCounts
from fim_private.transactions.bounding import Words
from fim_private.transactions.dataset import ReadingNotes


class TransactionDatabase(Protocol):
    """Transactions over a vocabulary, wherever they are. No method changes the database.

    Each method makes the same promises, privacy included, as the function of its name makes for `Transactions`. See
    the layer `transactions` for `restrict_to`, `keep_items`, `containing`, `merge_units`, `count_units`,
    `keep_transactions` and `cap_items`, and this layer for the others. All counts after `count_units` are of units. An
    engine may also raise errors of its own, which show no data.
    """

    @property
    def vocabulary(self) -> pl.Series:
        """The item names, strings, in name order: an item's code is its position here."""

    @property
    def has_units(self) -> bool:
        """Whether the privacy unit of each transaction is known, so that several may belong to one unit."""

    @property
    def notes(self) -> ReadingNotes:
        """What the reader noticed, for the curator only."""

    def restrict_to(self, names: Sequence[str]) -> TransactionDatabase:
        """The database with exactly these names as vocabulary."""

    def keep_items(self, codes: NDArray[np.int32]) -> TransactionDatabase:
        """The database with only the items of these increasing codes as vocabulary."""

    def containing(self, names: Sequence[str]) -> TransactionDatabase:
        """The database of the transactions that hold all these items and more, without these items."""

    def merge_units(self) -> TransactionDatabase:
        """The database with one transaction per unit, the union of its items."""

    def count_units(self) -> TransactionDatabase:
        """The database that counts an itemset once per unit that holds it in at least one transaction."""

    def keep_transactions(self, most: int, words: Words) -> TransactionDatabase:
        """The database with at most `most` transactions of each unit, chosen uniformly at random."""

    def cap_items(self, most: int, words: Words) -> TransactionDatabase:
        """The database with at most `most` items of each transaction, or counted unit, chosen uniformly at random."""

    def top_itemsets(self, size: int, m: int, *, ties: bool = True) -> HiddenCounts:
        """The first m itemsets in order of (count descending, item codes ascending).

        Without `ties`, those as frequent as the m-th are any.
        """

    def count_histogram(self, size: int) -> HiddenCounts:
        """How many of the occurring itemsets have each count."""

    def count_chosen(self, itemsets: NDArray[np.int32], weights: NDArray[np.int64] | None = None) -> ChosenCounts:
        """The counts of given itemsets; the weight of a transaction or unit depends on how many of them it holds."""

    def count_bins(self, bases: NDArray[np.int32]) -> BasisBins:
        """How many transactions hold each subset of given small sets of items, and no other item of the set."""

    def weigh_itemsets(self, sizes: Sequence[int], weights: NDArray[np.int64]) -> HiddenCounts:
        """All itemsets that occur, with what transactions or units add, by how many of these itemsets they hold."""

    def count_lengths(self, bins: NDArray[np.int64]) -> NDArray[np.int64]:
        """How many transactions have at least each number of items, and fewer than the next; for the door only."""

    def occurs(self, itemset: Sequence[int]) -> bool:
        """Whether a transaction holds all items of the itemset."""
