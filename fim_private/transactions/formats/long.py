"""Long tables, as text or columns: one item per row; the rows of a transaction may be anywhere."""

from __future__ import annotations

import numpy as np
import polars as pl
from numpy.typing import NDArray

from fim_private.errors import InputError
from fim_private.transactions.column_roles import Columns, long_columns
from fim_private.transactions.column_table import ColumnTable, as_text
from fim_private.transactions.dataset import Transactions
from fim_private.transactions.item_codes import Coder
from fim_private.transactions.layout import Layout
from fim_private.transactions.strings import group_codes, identities, not_blank
from fim_private.transactions.text_table import TextTable
from fim_private.transactions.units import rows_with_unit, unit_of_each

PIECE = 1 << 20
"""This many rows of a table of columns are text at a time."""

OPTIONS = ("--transaction-column", "--item-column", "--unit-column")


def read_long_text(table: TextTable, layout: Layout, columns: Columns) -> Transactions:
    """Read a delimited long table.

    Args:
        table: the text.
        layout: the layout of the text, without the names of its columns.
        columns: which columns to take; well-known names replace those not given.

    Errors:
        InputError: a column is missing or ambiguous, a row has the wrong number of fields, a transaction or a unit is
            blank, or a transaction has two units.
    """
    width = len(table.header)
    positions = [at for at in long_columns(table.header, columns) if at is not None]
    rows = _Rows(drop_rows_without_unit=columns.drop_rows_without_unit)
    for fields, _ in table.blocks():
        rows.add(*(fields.gather_every(width, offset=at) for at in positions))
    return rows.finish(_named(layout, columns, [table.header[at] for at in positions]))


def read_long_columnar(table: ColumnTable, layout: Layout, columns: Columns) -> Transactions:
    """Read a long table of columns; numbers and dates become their text. Errors as for `read_long_text`."""
    header = list(table.schema())
    names = [header[at] for at in long_columns(header, columns) if at is not None]
    values = table.columns(list(dict.fromkeys(names)))
    by_name = dict(zip(dict.fromkeys(names), values, strict=True))
    rows = _Rows(drop_rows_without_unit=columns.drop_rows_without_unit)
    # One piece at a time, because numbers and dates take several times the memory as text.
    for start in range(0, len(values[0]), PIECE):
        rows.add(
            *(as_text(by_name[name].slice(start, PIECE), option) for name, option in zip(names, OPTIONS, strict=False))
        )
    return rows.finish(_named(layout, columns, names))


def _named(layout: Layout, columns: Columns, names: list[str]) -> Layout:
    return layout.naming(columns, transaction=names[0], item=names[1], unit=names[2] if len(names) > 2 else None)


class _Rows:
    """Collects the rows of a table, some at a time, and builds transactions from them.

    Items become codes at once. Of equal neighbouring transaction ids and units only the first is kept, because in most
    tables the rows of a transaction stand together.
    """

    def __init__(self, *, drop_rows_without_unit: bool) -> None:
        self._drop = drop_rows_without_unit
        self._coder = Coder()
        self._codes: list[NDArray[np.int32]] = []
        self._lengths: list[NDArray[np.int64]] = []
        self._transactions: list[pl.Series] = []
        self._units: list[pl.Series] = []
        self._without_unit = 0

    def add(self, transactions: pl.Series, items: pl.Series, units: pl.Series | None = None) -> None:
        """Add rows, as strings of equal length, which are stripped. Either all calls give units or none does."""
        transactions, items = identities(transactions), items.str.strip_chars()
        if units is not None:
            units = identities(units)
            kept = pl.Series(rows_with_unit(units, drop=self._drop))
            self._without_unit += len(kept) - int(kept.sum())
            transactions, items, units = transactions.filter(kept), items.filter(kept), units.filter(kept)
        has_transaction, has_item = not_blank(transactions), not_blank(items)
        if (has_item & ~has_transaction).any():
            raise InputError(
                "A row has an item but no transaction: the transaction column is blank there.",
                "Fill the column, leave such rows out, or choose another --transaction-column.",
            )
        if not has_transaction.all():
            transactions, items, has_item = (part.filter(has_transaction) for part in (transactions, items, has_item))
            units = None if units is None else units.filter(has_transaction)
        begins = transactions.ne_missing(transactions.shift(1))
        if units is not None:
            begins |= units.ne_missing(units.shift(1))
            self._units.append(units.filter(begins))
        self._transactions.append(transactions.filter(begins))
        starts = np.flatnonzero(begins.to_numpy())
        present = np.append(0, np.cumsum(has_item.to_numpy(), dtype=np.int64))
        self._lengths.append(np.diff(present[np.append(starts, len(has_item))]))
        self._codes.append(self._coder.vocabulary.codes(items.filter(has_item)))
        self._coder.blanks += int((~has_item).sum())

    def finish(self, layout: Layout) -> Transactions:
        """The transactions, in the order in which they first appear."""
        rows, row_count = group_codes(_joined(self._transactions))
        units = unit_of_each(rows, group_codes(_joined(self._units))[0], row_count) if self._units else None
        codes = np.concatenate([np.empty(0, dtype=np.int32), *self._codes])
        rows = np.repeat(rows, np.concatenate([np.empty(0, dtype=np.int64), *self._lengths]))
        self._codes.clear()
        self._coder.add_pairs(codes, rows, row_count)
        del codes, rows
        return self._coder.finish(layout=layout, units=units, rows_without_unit=self._without_unit)


def _joined(parts: list[pl.Series]) -> pl.Series:
    return pl.concat([pl.Series([], dtype=pl.String), *parts])
