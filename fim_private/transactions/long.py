"""Long tables, text or Parquet: a row for each item of a transaction, rows of one transaction anywhere."""

from __future__ import annotations

import polars as pl

from fim_private.errors import InputError
from fim_private.transactions.columns import Columns, long_columns
from fim_private.transactions.dataset import Transactions
from fim_private.transactions.encode import Coder
from fim_private.transactions.names import group_codes, not_blank
from fim_private.transactions.parquet import as_text, parquet_columns, parquet_schema
from fim_private.transactions.source import Content
from fim_private.transactions.table import TextTable
from fim_private.transactions.units import rows_with_unit, unit_of_each

OPTIONS = ("--transaction-column", "--item-column", "--unit-column")


def read_long_text(table: TextTable, columns: Columns) -> Transactions:
    """Read a delimited long table.

    Args:
        table: the text.
        columns: which columns to take; well-known names fill what is not named.

    Errors:
        InputError: a column is missing or ambiguous, a row is ragged, a transaction or a unit is blank, a
            transaction has two units.
    """
    positions = [at for at in long_columns(table.header, columns) if at is not None]
    return _assemble(
        table.columns(positions), columns, _read_as("CSV", [table.header[position] for position in positions])
    )


def read_long_parquet(content: Content, columns: Columns) -> Transactions:
    """Read a long Parquet table; numbers and dates become their text. Errors as for text."""
    header = list(parquet_schema(content))
    names = [header[at] for at in long_columns(header, columns) if at is not None]
    values = parquet_columns(content, list(dict.fromkeys(names)))
    by_name = dict(zip(dict.fromkeys(names), values, strict=True))
    taken = [as_text(by_name[name], option).str.strip_chars() for name, option in zip(names, OPTIONS, strict=False)]
    return _assemble(taken, columns, _read_as("Parquet", names))


def _read_as(kind: str, names: list[str]) -> str:
    unit = f", unit column {names[2]!r}" if len(names) > 2 else ""
    return f"long {kind}: transaction column {names[0]!r}, item column {names[1]!r}{unit}"


def _assemble(table: list[pl.Series], columns: Columns, read_as: str) -> Transactions:
    """Transactions from stripped columns of transactions, items and, if there is a third, units."""
    rows_without_unit = 0
    if len(table) > 2:
        kept = rows_with_unit(table[2], drop=columns.drop_rows_without_unit)
        rows_without_unit = int((~kept).sum())
        table = [column.filter(pl.Series(kept)) for column in table]
    has_transaction, has_item = not_blank(table[0]), not_blank(table[1])
    if (has_item & ~has_transaction).any():
        raise InputError(
            "A row has an item but no transaction: the transaction column is blank there.",
            "Fill the column, leave such rows out, or choose another --transaction-column.",
        )
    if not has_transaction.all():
        table = [column.filter(has_transaction) for column in table]
    rows, row_count = group_codes(table[0])
    units = unit_of_each(rows, group_codes(table[2])[0], row_count) if len(table) > 2 else None
    coder = Coder()
    coder.add(table[1], rows)
    return coder.finish(row_count=row_count, read_as=read_as, units=units, rows_without_unit=rows_without_unit)
