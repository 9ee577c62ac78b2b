"""Long tables, as text or columns: one item per row; the rows of a transaction may be anywhere."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import partial

import numpy as np
import polars as pl
from numpy.typing import NDArray

from fim_private.errors import InputError
from fim_private.transactions.columns.column_roles import Columns, LongColumns, long_columns, unnamed_unit
from fim_private.transactions.columns.column_table import ColumnTable, as_text, looked_at
from fim_private.transactions.columns.text_table import TextTable
from fim_private.transactions.columns.where_text import NUMBER
from fim_private.transactions.dataset import Transactions, noting
from fim_private.transactions.files.fields import split_lists
from fim_private.transactions.formats.doubt import OnDoubt, ask
from fim_private.transactions.formats.restarts import TRIED, WATCHED, Cells, Restarts
from fim_private.transactions.item_codes import Coder
from fim_private.transactions.layout import Layout
from fim_private.transactions.strings import group_codes, identities, joined_identities, not_blank
from fim_private.transactions.units import rows_with_unit, unit_of_each

PIECE = 1 << 20
"""This many rows of a table of columns are text at a time."""

SEARCHED = 1_000
"""How many rows are searched for signs of returns. Every run pays for the search, and returns are not rare."""

BELOW_ZERO, ANY_NUMBER = r"^-[0-9.,]*[1-9]", rf"{NUMBER}|^[+-]?[0-9][0-9.,]*$"
CURRENCY, MINUS = r"[ €$£\x{a0}\x{202f}]|EUR|USD|CHF", r"^\((.+)\)$|^[−–](.+)$|^(.+)-$"
"""What may stand around a number, and how programs for accounts write one below 0, beside -1: (1), −1, 1-."""

QUANTITY = r"(?i)^(.*[ _])?(qty|quantit|qt[ée]\b|menge|anzahl|stück|pieces|units|cantidad|aantal|antal)"
NOTHING = r"^0+([.,]0*)?$"
"""A quantity of 0 was not bought. Prices and discounts may well be 0."""

RETURNED = "(?i)^(is|was)?[ _]?(storn|cancel|refund|return|void|annul|anula|devol|devuel|retour|rückgabe|gutschrift)"
KINDS = 10
"""A column with such a name or such cells marks returns if it holds at most this many different cells."""

PREFIX = r"^(\pL*)[-_/. ]?[0-9]"
MOSTLY = 0.7
"""If this share of the transaction numbers begins with the same letters or none, others may be marked: C536379."""


def options_of(columns: LongColumns) -> list[str]:
    """The option that names each column, in the order of `LongColumns.all`."""
    options = ["--transaction-column"] * len(columns.transaction) + ["--item-column", "--unit-column"]
    return options[: len(columns.all)]


def parts_of_rows(values: Sequence[pl.Series], transactions: int) -> list[pl.Series]:
    """What each row says: its transaction, its item, and its unit if there are units, all stripped.

    The values are strings of equal length, in the order of `LongColumns.all`, with this many transaction columns first.
    """
    item, *unit = values[transactions:]
    named = values[0] if transactions == 1 else joined_identities(values[:transactions])
    return [part.str.strip_chars() for part in (named, item, *unit)]


def rows_of_items(parts: list[pl.Series], columns: Columns) -> tuple[list[pl.Series], int]:
    """What each row of one item says, with whether it has an item at the end; and how many rows had no unit.

    Args:
        parts: from `parts_of_rows`. Cells may hold lists of items. Rows without a transaction are left out.
        columns: what separates the items, if they do, and whether rows without a unit may be dropped.

    Errors:
        InputError: a row has an item but no transaction, or has no unit.
    """
    dropped = 0
    for names in parts[2:]:
        kept = pl.Series(rows_with_unit(names, drop=columns.drop_rows_without_unit))
        dropped = len(kept) - int(kept.sum())
        parts = [part.filter(kept) for part in parts]
    if columns.item_separator is not None:
        transaction, item, *unit = parts
        items, lengths = split_lists(item, columns.item_separator)
        row = np.repeat(np.arange(len(lengths)), lengths)
        parts = [transaction.gather(row), items.str.strip_chars(), *(names.gather(row) for names in unit)]
    has_transaction, has_item = map(not_blank, parts[:2])
    if (has_item & ~has_transaction).any():
        raise InputError(
            "A row has an item but no transaction: the transaction column is blank there.",
            "Fill the column (of merged cells only the first is filled), leave out rows such as sums, as in --where "
            "'COLUMN IS NOT NULL', or choose another --transaction-column.",
        )
    parts = [*parts, has_item]
    if not has_transaction.all():
        parts = [part.filter(has_transaction) for part in parts]
    return parts, dropped


def read_long_text(table: TextTable, layout: Layout, columns: Columns, on_doubt: OnDoubt) -> Transactions:
    """Read a delimited long table.

    Args:
        table: the text.
        layout: the layout of the text, without the names of its columns.
        columns: which columns to take; well-known names replace those not given.
        on_doubt: called if the format was guessed and the numbers of transactions seem to begin again every day.

    Errors:
        InputError: a column is missing or ambiguous, a row has the wrong number of fields, a transaction or a unit is
            blank, or a transaction has two units.
    """
    width = len(table.header)
    found = long_columns(table.header, columns)
    rows, restarts = _Rows(found, columns), Restarts(table.name, table.header, found, layout)
    returns: tuple[str, ...] | None = None
    last = 0
    for fields, numbers in table.blocks():
        if len(numbers):
            if numbers[0] <= last or not last:  # the numbers of lines begin anew in each file
                restarts.begin_file(fields.gather_every(width, offset=found.transaction[0]))
            last = int(numbers[-1])
        if returns is None:
            returns = _returns(table.header, found, partial(fields.gather_every, width))
        restarts.add(partial(fields.gather_every, width))
        rows.add([fields.gather_every(width, offset=at) for at in found.all])
    ask(restarts.doubt(), on_doubt)
    transactions = rows.finish(_named(layout, columns, table.header, found))
    return _with_unread(transactions, table.header, found, returns or ())


def read_long_columnar(table: ColumnTable, layout: Layout, columns: Columns, on_doubt: OnDoubt) -> Transactions:
    """Read a long table of columns; numbers and dates become their text. Errors as for `read_long_text`."""
    header = list(table.schema())
    found = long_columns(header, columns)
    names = [header[at] for at in found.all]
    values = table.columns(list(dict.fromkeys(names)))
    by_name = dict(zip(dict.fromkeys(names), values, strict=True))
    rows, restarts = _Rows(found, columns), Restarts(table.name, header, found, layout)
    for one in getattr(table, "tables", ()):
        restarts.begin_file(_first_rows(one, names[0]))
    restarts.add(lambda at: _first_rows(table, header[at]), lambda at: _first_rows(table, header[at], TRIED))
    ask(restarts.doubt(), on_doubt)
    options = options_of(found)
    # One piece at a time, because numbers and dates take several times the memory as text.
    for start in range(0, len(values[0]), PIECE):
        rows.add(
            [as_text(by_name[name].slice(start, PIECE), option) for name, option in zip(names, options, strict=True)]
        )
    returns = _returns(header, found, lambda at: _first_cells(table, header[at]))
    return _with_unread(rows.finish(_named(layout, columns, header, found)), header, found, returns)


def _first_rows(table: ColumnTable, name: str, rows: int = WATCHED) -> pl.Series:
    """The first cells of a column as strings; nulls for a column that doubts do not look at."""
    column = table.columns([name], rows=rows)[0]
    cells = looked_at(column)
    return pl.Series([None] * len(column), dtype=pl.String) if cells is None else cells


def _first_cells(table: ColumnTable, name: str) -> pl.Series:
    """The first cells of a column of numbers, text or yes and no as strings; none of another one."""
    column = table.columns([name], rows=SEARCHED)[0]
    if column.dtype.is_float():
        column = column.fill_nan(None)
    readable = column.dtype.is_numeric() or column.dtype in (pl.String, pl.Boolean)
    return column.cast(pl.String) if readable else pl.Series([""])


def _returns(header: Sequence[str], found: LongColumns, cells: Cells) -> tuple[str, ...]:
    """The columns that seem to mark returns or cancelled sales in the first rows; of those read, only transactions."""
    names = [name.strip() for name in header]
    first = (
        (name, cells(at).head(SEARCHED).str.strip_chars(), at in found.transaction)
        for at, name in enumerate(names)
        if at not in (found.item, found.unit) and name and names.count(name) == 1
    )
    return tuple(
        name
        for name, column, is_transaction in first
        if (_odd_letters(column) if is_transaction else _marks_returns(name, column.filter(not_blank(column)), column))
    )


def _marks_returns(name: str, filled: pl.Series, column: pl.Series) -> bool:
    """Whether a column holds numbers alone and some below 0, or has few different cells and a word for returns.

    A quantity of 0 is as good as one below 0.
    """
    numbers = filled.str.replace_all(CURRENCY, "").str.replace(MINUS, "-${1}${2}${3}")
    none_bought = f"{BELOW_ZERO}|{NOTHING}" if re.match(QUANTITY, name) else BELOW_ZERO
    if numbers.str.contains(none_bought).any() and numbers.str.contains(ANY_NUMBER).all():
        return True
    named = re.match(RETURNED, name) is not None or filled.str.contains(RETURNED).any()
    return named and 1 < column.fill_null("").n_unique() <= KINDS


def _odd_letters(ids: pl.Series) -> bool:
    """Whether most transaction numbers begin with the same letters or none, and some with others."""
    letters = ids.filter(not_blank(ids)).unique().str.extract(PREFIX)
    counts = letters.value_counts(sort=True).get_column("count")
    return not letters.has_nulls() and 1 < len(counts) <= 3 and int(counts[0]) >= MOSTLY * len(letters)


def _named(layout: Layout, columns: Columns, header: Sequence[str], found: LongColumns) -> Layout:
    return layout.naming(
        columns,
        transaction=",".join(header[at] for at in found.transaction),
        item=header[found.item],
        unit=None if found.unit is None else header[found.unit],
    )


def _with_unread(
    transactions: Transactions, header: Sequence[str], found: LongColumns, returns: tuple[str, ...]
) -> Transactions:
    """The transactions with notes of columns that were not read."""
    # A unit that is the transaction itself protects as little as none.
    named = found.unit is not None and found.transaction != (found.unit,)
    others = (found.item, *(found.transaction if len(found.transaction) == 1 else ()))
    return noting(transactions, returns=returns, unused_unit=None if named else unnamed_unit(header, others))


class _Rows:
    """Collects the rows of a table, some at a time, and builds transactions from them.

    Items become codes at once. Of equal neighbouring transaction ids and units only the first is kept, because in most
    tables the rows of a transaction stand together.
    """

    def __init__(self, found: LongColumns, columns: Columns) -> None:
        self._transaction_columns = len(found.transaction)
        self._columns = columns
        self._coder = Coder()
        self._codes: list[NDArray[np.int32]] = []
        self._lengths: list[NDArray[np.int64]] = []
        self._transactions: list[pl.Series] = []
        self._units: list[pl.Series] = []
        self._without_unit = 0

    def add(self, values: Sequence[pl.Series]) -> None:
        """Add rows, as strings of equal length, in the order of `LongColumns.all`."""
        parts = parts_of_rows(values, self._transaction_columns)
        (transactions, items, *unit, has_item), dropped = rows_of_items(parts, self._columns)
        self._without_unit += dropped
        begins = transactions.ne_missing(transactions.shift(1))
        for units in unit:
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
        rows, names = group_codes(identities(_joined(self._transactions)))
        row_count, units, unit_names = len(names), None, None
        if self._units:
            of_rows, unit_names = group_codes(identities(_joined(self._units)))
            units = unit_of_each(rows, of_rows, row_count)
        codes = np.concatenate([np.empty(0, dtype=np.int32), *self._codes])
        rows = np.repeat(rows, np.concatenate([np.empty(0, dtype=np.int64), *self._lengths]))
        self._codes.clear()
        self._coder.add_pairs(codes, rows, row_count)
        del codes, rows
        return self._coder.finish(
            layout=layout, units=units, unit_names=unit_names, rows_without_unit=self._without_unit
        )


def _joined(parts: list[pl.Series]) -> pl.Series:
    return pl.concat([pl.Series([], dtype=pl.String), *parts])
