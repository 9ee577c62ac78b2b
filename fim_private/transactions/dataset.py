"""Transactions as two flat arrays and a vocabulary."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from fim_private.transactions.layout import IN_MEMORY, Layout

MOST_NARROW = 2**16
"""With at most this many items in the vocabulary, codes have two bytes."""

Codes = NDArray[np.integer[Any]]
"""Item codes of whatever width."""


def code_type(items: int) -> type[np.uint16 | np.int32]:
    """The type of codes into a vocabulary of this many items."""
    return np.uint16 if items <= MOST_NARROW else np.int32


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class ReadingNotes:
    """What the reader noticed. Only the layout is public; the numbers are for the curator.

    Args:
        layout: how the data is laid out.
        blanks: the number of blank items dropped.
        duplicates: the number of repeated items merged inside transactions.
        empty: the number of transactions left out because they had no item.
        rows_without_unit: the number of rows dropped on request because their unit was missing.
        files: the number of files.
        rows_left_out: the number of rows that a filter left out, as far as this was counted.
        rows_undecided: how many of them it left out because a cell was blank, or no number or date.
        nobody: units with very many transactions whose names are words for a missing value, such as NA or 0, or with a
            large share of all transactions; and their numbers of transactions.
        unused_unit: the column with a well-known name of units that is no item, where no column was to name the unit.
            It depends on the names of the columns alone.
        single_items: whether nearly every transaction of a long table with units holds one item, if this was guessed.
        returns: columns of a long table that seem to mark what was returned or not bought. Not on Spark.
        alike_units: the number of units whose names differ from another one in case, leading zeros or Unicode form
            alone; 0 on Spark.
    """

    layout: Layout = IN_MEMORY
    blanks: int = 0
    duplicates: int = 0
    empty: int = 0
    rows_without_unit: int = 0
    files: int = 1
    rows_left_out: int = 0
    rows_undecided: int = 0
    nobody: tuple[tuple[str, int], ...] = ()
    unused_unit: str | None = None
    alike_units: int = 0
    single_items: bool = False
    returns: tuple[str, ...] = ()


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class Transactions:
    """n transactions over a vocabulary of items (compressed sparse rows). Its `repr` shows no data.

    Args:
        offsets: int64, shape (n + 1,); transaction t is `items[offsets[t]:offsets[t + 1]]`, never empty.
        items: codes into the vocabulary, increasing (hence unique) inside each transaction; of `code_type` where they
            were read, but either type is taken.
        vocabulary: item names in the order of `item_codes.name_order`, which depends on the names alone. So codes
            order items the same way in every data set.
        units: int64, shape (n,): the privacy unit of each transaction, codes from 0 without gaps; None if each
            transaction is a unit of its own.
        counts_units: whether an itemset counts once per unit that holds it in at least one transaction, rather than
            once per transaction. The transactions of a unit are then neighbours: `units` never decreases.
        notes: what the reader noticed.
    """

    offsets: NDArray[np.int64]
    items: Codes
    vocabulary: pl.Series
    units: NDArray[np.int64] | None = None
    counts_units: bool = False
    notes: ReadingNotes = field(default_factory=ReadingNotes)

    def __len__(self) -> int:
        return len(self.offsets) - 1

    def lengths(self) -> NDArray[np.int64]:
        """Number of items of each transaction, int64, shape (n,)."""
        return np.diff(self.offsets)

    def first_of_units(self) -> NDArray[np.int64] | None:
        """Where the transactions of each unit begin, and the number of transactions: int64, shape (units + 1,).

        None if itemsets are counted once per transaction.
        """
        if self.units is None or not self.counts_units:
            return None
        return np.append(np.flatnonzero(np.diff(self.units, prepend=-1)), len(self)).astype(np.int64)

    def __repr__(self) -> str:
        return "Transactions(hidden)"


def noting(transactions: Transactions, **notes: Any) -> Transactions:
    """The same transactions with some other `notes`."""
    return replace(transactions, notes=replace(transactions.notes, **notes))
