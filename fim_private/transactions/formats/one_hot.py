"""One-hot tables, as text or columns: one column per item, and cells that mean yes or no."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import polars as pl
from numpy.typing import NDArray

from fim_private.errors import InputError, UsageError
from fim_private.transactions.columns.column_roles import Columns, unnamed_unit
from fim_private.transactions.columns.column_table import CELLS_AT_ONCE, ColumnTable, as_text
from fim_private.transactions.columns.text_table import TextTable
from fim_private.transactions.dataset import Transactions, noting
from fim_private.transactions.formats.basket import skipped_by
from fim_private.transactions.formats.cells import not_a_cell, present_cells, present_numbers
from fim_private.transactions.formats.row_units import row_units
from fim_private.transactions.item_codes import Coder
from fim_private.transactions.layout import Layout


def read_one_hot_text(table: TextTable, layout: Layout, columns: Columns) -> Transactions:
    """Read a delimited one-hot table. Columns named for transactions, units or a filter are not items.

    Errors:
        InputError: a cell means neither yes nor no, or a column has no name or the name of another column.
        UsageError: an item column was named.
    """
    width = len(table.header)
    roles = _Roles(table.header, columns, layout)
    items, is_item = roles.items, roles.is_item
    special: dict[int, list[pl.Series]] = {at: [] for at in roles.named if at is not None}
    rows: list[NDArray[np.int64]] = []
    codes: list[NDArray[np.int64]] = []
    row_count = 0
    for fields, numbers in table.blocks():
        for at, parts in special.items():
            parts.append(fields.gather_every(width, offset=at))
        cells = fields.filter(pl.Series(np.tile(is_item, len(numbers)))) if not is_item.all() else fields
        present, bad = present_cells(cells)
        if bad is not None:
            column = int(np.flatnonzero(is_item)[bad % len(items)]) + 1
            raise not_a_cell(f"Line {numbers[bad // len(items)]}, column {column}", str(cells[bad]), column, layout)
        where = np.flatnonzero(present)
        rows.append(where // len(items) + row_count)
        codes.append(where % len(items))
        row_count += len(numbers)
    values = {at: pl.concat(parts) for at, parts in special.items()}
    return roles.assemble(rows, codes, row_count, [None if at is None else values[at] for at in roles.named])


def read_one_hot_columnar(table: ColumnTable, layout: Layout, columns: Columns) -> Transactions:
    """Read a one-hot table of columns: booleans, zeros and ones, or words. Errors as for `read_one_hot_text`."""
    header = list(table.schema())
    roles = _Roles(header, columns, layout)
    item_columns = [header[at] for at in np.flatnonzero(roles.is_item)]
    rows: list[NDArray[np.int64]] = []
    codes: list[NDArray[np.int64]] = []
    row_count = len(table.columns(item_columns[:1])[0])
    at_once = max(1, CELLS_AT_ONCE // max(1, row_count))
    for start in range(0, len(item_columns), at_once):
        block = table.columns(item_columns[start : start + at_once])
        for code, column in enumerate(block, start):
            present, bad = cells_of(column)
            if bad is not None:
                at = int(np.flatnonzero(roles.is_item)[code]) + 1
                raise not_a_cell(f"Column {at}", str(as_text(column, "an item")[bad]), at, layout)
            where = np.flatnonzero(present).astype(np.int64)
            rows.append(where)
            codes.append(np.full(len(where), code, dtype=np.int64))
    options = ("--transaction-column", "--unit-column")
    named = [
        None if at is None else as_text(table.columns([header[at]])[0], option)
        for at, option in zip(roles.named, options, strict=True)
    ]
    return roles.assemble(rows, codes, row_count, named)


def cells_of(column: pl.Series) -> tuple[NDArray[np.bool_], int | None]:
    """Which cells of a typed column mean yes, and the position of the first that means neither yes nor no."""
    if column.dtype == pl.Boolean or column.dtype.is_integer() or column.dtype.is_float():
        return present_numbers(column)
    return present_cells(as_text(column, "an item"))


class _Roles:
    """Which columns of a one-hot table are items, and which were named for transactions and units, in this order."""

    def __init__(self, header: list[str], columns: Columns, layout: Layout) -> None:
        if columns.item is not None:
            raise UsageError("A one-hot table has no item column: each column is an item.", "Leave --item-column out.")
        self._header, self._columns, self._layout = header, columns, layout
        self.named = columns.of_rows(header)
        self.is_item = _are_items(header, columns, layout, *self.named)
        self.items = _item_names(header, self.is_item, layout)

    def assemble(
        self,
        rows: list[NDArray[np.int64]],
        codes: list[NDArray[np.int64]],
        row_count: int,
        named: Sequence[pl.Series | None],
    ) -> Transactions:
        """The transactions.

        Args:
            rows: the row of each cell that means yes, in parts.
            codes: its item, a place in `items`.
            row_count: the number of rows.
            named: the cells of the columns that were named.
        """
        row_of, code_of = np.concatenate(rows), np.concatenate(codes)
        row = row_units(row_count, transaction=named[0], unit=named[1], columns=self._columns)
        if not row.kept.all():
            new_number = np.cumsum(row.kept, dtype=np.int64) - 1
            kept = row.kept[row_of]
            row_of, code_of = new_number[row_of[kept]], code_of[kept]
        occurs = np.zeros(len(self.items), dtype=bool)
        occurs[code_of] = True
        coder = Coder()
        coder.vocabulary.add(self.items.filter(pl.Series(occurs)))
        coder.add_pairs((np.cumsum(occurs, dtype=np.int32) - np.int32(1))[code_of], row_of, int(row.kept.sum()))
        transaction, unit = (None if at is None else self._header[at] for at in self.named)
        found = coder.finish(
            layout=self._layout.naming(self._columns, transaction=transaction, unit=unit),
            units=row.units,
            unit_names=row.names,
            rows_without_unit=int((~row.kept).sum()),
        )
        unused = None if unit is not None else unnamed_unit(self._header, np.flatnonzero(self.is_item))
        return noting(found, unused_unit=unused)


def _are_items(header: Sequence[str], columns: Columns, layout: Layout, *named: int | None) -> NDArray[np.bool_]:
    """Which columns are items: those that are not named for transactions or units, in a filter, or left out."""
    selection = columns.selection(header)
    others = [*named, *(selection.positions.values() if selection else ()), *skipped_by(layout)]
    if max(skipped_by(layout), default=0) >= len(header):
        raise InputError(f"The table has only {len(header)} columns.", "Correct the numbers of --skip-columns.")
    are_items = np.ones(len(header), dtype=bool)
    are_items[[at for at in others if at is not None]] = False
    return are_items


def _item_names(header: Sequence[str], is_item: NDArray[np.bool_], layout: Layout) -> pl.Series:
    names = [name.strip() for name, wanted in zip(header, is_item, strict=True) if wanted]
    numbers = (np.flatnonzero(is_item) + 1).tolist()
    if not names:
        raise InputError("No column is left for items.", "Give a table with a column for each item.")
    nameless = [number for number, name in zip(numbers, names, strict=True) if not name]
    if nameless:
        others = ",".join(map(str, (*(at + 1 for at in skipped_by(layout)), *nameless)))
        raise InputError(
            "A column of the one-hot table has no name.",
            f"Name it after its item. If it holds row numbers or transaction ids, give --skip-columns {others}.",
        )
    places: dict[str, int] = {}
    for place, name in zip(numbers, names, strict=True):
        if (first := places.setdefault(name, place)) != place:
            raise InputError(
                f"Columns {first} and {place} of the one-hot table have the same name (blanks around it do not count).",
                "Rename one of them, or join them into one column.",
            )
    return pl.Series("item", names, dtype=pl.String)
