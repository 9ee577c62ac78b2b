"""Parquet files and frames with a column of lists: one transaction per row."""

from __future__ import annotations

import numpy as np
import polars as pl

from fim_private.errors import InputError, UsageError
from fim_private.transactions.columns.column_roles import Columns, find_column, unnamed_unit
from fim_private.transactions.columns.column_table import ColumnTable, as_text
from fim_private.transactions.dataset import Transactions, noting
from fim_private.transactions.formats.row_units import row_units
from fim_private.transactions.item_codes import Coder
from fim_private.transactions.layout import Layout


def list_columns(schema: pl.Schema) -> list[str]:
    """Names of the columns that hold lists."""
    return [name for name, dtype in schema.items() if isinstance(dtype, pl.List | pl.Array)]


def read_lists(table: ColumnTable, layout: Layout, columns: Columns) -> Transactions:
    """Read lists of strings or numbers. A null list is an empty transaction, and a null item a blank.

    Errors:
        InputError: there is no column of lists, a named column is missing, or a list holds lists.
        UsageError: there are several columns of lists and none is named, or a column is named twice.
    """
    schema = table.schema()
    header = list(schema)
    item = _item_column(schema, columns)
    named = [None if at is None else header[at] for at in columns.of_rows(header)]
    others = [name for name in named if name is not None]
    if item in others:
        raise UsageError("One column is named twice.", "Give different columns for items, transactions and units.")
    wanted = list(dict.fromkeys([item, *others]))
    taken = dict(zip(wanted, table.columns(wanted), strict=True))
    lists = taken[item].arr.to_list() if isinstance(schema[item], pl.Array) else taken[item]
    transaction, unit = named
    rows = row_units(
        len(lists),
        transaction=None if transaction is None else as_text(taken[transaction], "--transaction-column"),
        unit=None if unit is None else as_text(taken[unit], "--unit-column"),
        columns=columns,
    )
    lists = lists.filter(pl.Series(rows.kept))
    lengths = lists.list.len().fill_null(0)
    names = as_text(lists.filter(lengths > 0).explode(), "--item-column")
    coder = Coder()
    coder.add(names, lengths.to_numpy().astype(np.int64))
    transactions = coder.finish(
        layout=layout.naming(columns, transaction=transaction, item=item, unit=unit),
        units=rows.units,
        unit_names=rows.names,
        rows_without_unit=int((~rows.kept).sum()),
    )
    unnamed = None if unit is not None else unnamed_unit(header, [header.index(name) for name in wanted])
    return noting(transactions, unused_unit=unnamed)


def _item_column(schema: pl.Schema, columns: Columns) -> str:
    header, candidates = list(schema), list_columns(schema)
    if columns.item is not None:
        name = header[find_column(header, columns.item, "--item-column")]
        if name in candidates:
            return name
        raise InputError(
            "The item column does not hold lists.",
            "Choose a column of lists, or use --format long for one item per row.",
        )
    if not candidates:
        raise InputError("No column holds lists.", "Use --format long or --format one-hot.")
    if len(candidates) > 1:
        listed = ", ".join(repr(name[:60]) for name in candidates)
        raise UsageError(f"Several columns hold lists: {listed}.", "Choose one with --item-column.")
    return candidates[0]
