"""Names into codes: the order of item names, and transactions from names and the rows they stand in."""

from __future__ import annotations

import re
from collections.abc import Hashable, Iterable, Sequence

import numpy as np
import polars as pl
from numpy.typing import NDArray

from fim_private.errors import InputError, UsageError
from fim_private.transactions.dataset import ReadingNotes, Transactions
from fim_private.transactions.names import not_blank, positions_in
from fim_private.transactions.rows import compress, without_gaps

CANONICAL_INTEGER = "^(0|[1-9][0-9]{0,17})$"
"""Up to 18 digits, which fit 64 bits; 007 and 7 are two names."""


def name_order(name: str) -> tuple[int, int, str]:
    """The sort key of an item name: whole numbers first, by value, then all other names by code point.

    The key depends on the name alone, so which of two items comes first never depends on the rest of the
    data: ties between itemsets are broken in this order, and a tie broken by the data would leak it.

    >>> sorted(["b", "10", "9", "010"], key=name_order)
    ['9', '10', '010', 'b']
    """
    if re.fullmatch(CANONICAL_INTEGER[1:-1], name):
        return 0, int(name), ""
    return 1, 0, name


def in_name_order(names: pl.Series) -> pl.Series:
    """Distinct names sorted by `name_order`, as a series called "item"."""
    whole = names.str.contains(CANONICAL_INTEGER)
    numbers = names.filter(whole).cast(pl.Int64).sort().cast(pl.String)
    # Polars compares strings byte by byte, which in UTF-8 is the order of code points.
    return pl.concat([numbers, names.filter(~whole).sort()]).rename("item")


class Coder:
    """Takes names with the rows they stand in, run by run, and makes transactions of them.

    Each run is coded by its own small vocabulary at once, so that strings never pile up: 12 bytes are kept for each
    occurrence, and under 60 are in use at the height of `finish`.
    """

    def __init__(self) -> None:
        self._runs: list[tuple[pl.Series, NDArray[np.int32], NDArray[np.int64]]] = []
        self._blanks = 0

    def add(self, names: pl.Series, rows: NDArray[np.int64]) -> None:
        """Take a run of names; they are stripped here, and nulls and blanks are dropped and counted.

        Args:
            names: strings, length p.
            rows: int64, shape (p,), each at least 0, in any order, over all runs.
        """
        stripped = names.str.strip_chars()
        filled = not_blank(stripped)
        if not filled.all():
            stripped, rows = stripped.filter(filled), rows[filled.to_numpy()]
            self._blanks += len(filled) - len(stripped)
        distinct = stripped.unique()
        self.add_coded(distinct, positions_in(distinct, stripped), rows)

    def add_integers(self, values: NDArray[np.int64], rows: NDArray[np.int64]) -> None:
        """Take a run of names that are canonical non-negative integers, int64, shape (p,)."""
        if len(values) and values.max() < 8 * len(values):
            occurs = np.zeros(int(values.max()) + 1, dtype=bool)
            occurs[values] = True
            distinct = np.flatnonzero(occurs)
            codes = (np.cumsum(occurs) - 1)[values]
        else:
            distinct, codes = np.unique(values, return_inverse=True)
        self.add_coded(pl.Series(distinct, dtype=pl.Int64).cast(pl.String), codes, rows)

    def add_coded(self, names: pl.Series, codes: NDArray[np.int64], rows: NDArray[np.int64]) -> None:
        """Take a run that is coded by distinct stripped names, all of which occur; codes of shape (p,)."""
        self._runs.append((names, codes.astype(np.int32), rows))

    def finish(
        self,
        *,
        row_count: int,
        read_as: str,
        units: NDArray[np.int64] | None = None,
        rows_without_unit: int = 0,
    ) -> Transactions:
        """The transactions: repetitions merged, rows without items left out. The coder is empty afterwards.

        Args:
            row_count: number of rows, of which some may be empty; every row given was below it.
            read_as: what was read, in words, for the notes.
            units: int64, shape (row_count,): the privacy unit of each row.
            rows_without_unit: rows the reader dropped, for the notes.
        """
        no_names = pl.Series([], dtype=pl.String)
        vocabulary = in_name_order(pl.concat([no_names, *(names for names, _, _ in self._runs)]).unique())
        occurrences = sum(len(codes) for _, codes, _ in self._runs)
        keys = np.empty(occurrences, dtype=np.int64)
        end = occurrences
        while self._runs:
            names, codes, rows = self._runs.pop()
            run = keys[end - len(codes) : end]
            np.multiply(rows, len(vocabulary), out=run)
            run += positions_in(vocabulary, names)[codes]
            end -= len(codes)
        offsets, items, filled = compress(keys, len(vocabulary))
        return Transactions(
            offsets=offsets,
            items=items,
            vocabulary=vocabulary,
            units=None if units is None else without_gaps(units[filled]),
            notes=ReadingNotes(
                format=read_as,
                blanks=self._blanks,
                duplicates=occurrences - len(items),
                empty=row_count - len(filled),
                rows_without_unit=rows_without_unit,
            ),
        )


def transactions_from_lists(
    lists: Iterable[Iterable[str | int | None]], units: Sequence[Hashable] | None = None
) -> Transactions:
    """Transactions from Python lists of item names; whole numbers are taken as their text, None as a blank.

    Args:
        lists: one iterable of names a transaction; they are stripped, repetitions are merged.
        units: the privacy unit of each transaction, of the same length, none of them None.

    Errors:
        UsageError: a transaction is a single string, an item is neither text nor a whole number, or `units`
            does not match. No transactions at all are not an error: the neighbour of a small data set may be
            empty.

    >>> len(transactions_from_lists([["milk", "bread"], ["milk"], []]))
    2
    """
    names: list[str | None] = []
    lengths: list[int] = []
    for transaction in lists:
        if isinstance(transaction, str):
            raise UsageError("A transaction is a single string.", "Give a list of names for each transaction.")
        before = len(names)
        names.extend(_name(item) for item in transaction)
        lengths.append(len(names) - before)
    unit_codes = None if units is None else _unit_codes(units, len(lengths))
    rows = np.repeat(np.arange(len(lengths), dtype=np.int64), np.asarray(lengths, dtype=np.int64))
    coder = Coder()
    coder.add(pl.Series(names, dtype=pl.String), rows)
    return coder.finish(row_count=len(lengths), read_as="in memory", units=unit_codes)


def _name(item: str | int | None) -> str | None:
    if item is None or isinstance(item, str):
        return item
    if isinstance(item, int | np.integer) and not isinstance(item, bool):
        return str(int(item))
    raise UsageError("An item is neither text nor a whole number.", "Turn the items into strings first.")


def _unit_codes(units: Sequence[Hashable], expected: int) -> NDArray[np.int64]:
    if len(units) != expected:
        raise UsageError("units and transactions differ in number.", "Give one unit for each transaction.")
    if any(unit is None for unit in units):
        raise InputError("A transaction has no unit.", "Leave such transactions out, or name their unit.")
    codes: dict[Hashable, int] = {}
    return np.asarray([codes.setdefault(unit, len(codes)) for unit in units], dtype=np.int64)
