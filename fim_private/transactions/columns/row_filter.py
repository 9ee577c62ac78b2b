"""Keep the rows of a table for which a condition holds, one by one, before transactions and units are formed.

Privacy: whether a row is kept depends on its own cells and on the condition, which is part of the public layout. So two
data sets that differ in the rows of one unit still differ in the rows of this unit alone after filtering, and a filter
costs nothing (docs/mathematics.md#row-filters). The condition is evaluated on the text of cells: the type of a column,
which all its cells decide together, plays no part.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import numpy as np
import polars as pl

from fim_private.transactions.columns.column_table import ColumnTable, as_text
from fim_private.transactions.columns.where_text import condition_of

OPTION = "--where"
COMPARED = (
    "Numbers are written 1.5, not 1,5, and dates 2025-12-31 or 2025-12-31 08:30, not 31.12.2025. Compare times with a "
    "time zone, such as +01:00, by LIKE '2025-12%'"
)

Cells = Callable[[str], pl.Series]
"""Gives the cells of a column, by the name that the condition has for it: strings."""


@dataclass(frozen=True, kw_only=True)
class RowFilter:
    """A condition on rows.

    Args:
        text: the condition as it was typed.
        condition: what it says (see `condition_of`).
        columns: the columns that it names, each once.
    """

    text: str
    condition: pl.Expr = field(compare=False)
    columns: list[str]

    @classmethod
    def of(cls, text: str) -> RowFilter:
        """The filter that a text says.

        Errors:
            UsageError: the text says no condition (`where_text`).
        """
        condition, columns = condition_of(text)
        return cls(text=text.strip(), condition=condition, columns=columns)

    def holds(self, cells: Cells) -> pl.Series:
        """Whether the condition holds for each row: booleans, and null where a cell is blank or no number or date.

        As in SQL, `null OR true` is true, `null AND false` is false, and the opposite of null is null.
        """
        read = (cells(name).str.strip_chars() for name in self.columns)
        frame = pl.DataFrame({str(at): column.set(column == "", None) for at, column in enumerate(read)})
        return frame.select(self.condition).to_series()


@dataclass(eq=False, kw_only=True)
class Selection:
    """A filter for the tables of one header. It notes how many rows it left out.

    Args:
        rows: the filter.
        positions: where in the header the columns of the filter are.
        left_out: the number of rows that were left out.
        undecided: how many of them were left out because the condition was null.
    """

    rows: RowFilter
    positions: dict[str, int]
    left_out: int = field(default=0, init=False)
    undecided: int = field(default=0, init=False)

    def kept(self, column: Callable[[int], pl.Series]) -> pl.Series:
        """Which rows are kept, without nulls; `column` gives the cells at a position of the header, as strings."""
        holds = self.rows.holds(lambda name: column(self.positions[name]))
        kept = holds.fill_null(value=False)
        self.left_out += len(kept) - int(kept.sum())
        self.undecided += holds.null_count()
        return kept


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class FilteredTable:
    """The rows of a table of columns that a filter keeps."""

    table: ColumnTable
    kept: pl.Series

    @property
    def name(self) -> str:
        """The name for messages."""
        return self.table.name

    @property
    def kind(self) -> str:
        """What holds the table."""
        return self.table.kind

    def schema(self) -> pl.Schema:
        """Column names and types."""
        return self.table.schema()

    def columns(self, names: list[str], *, rows: int | None = None) -> list[pl.Series]:
        """The named columns, whole or their first `rows` rows."""
        reach = None
        if rows is not None:
            places = np.flatnonzero(self.kept.to_numpy())
            reach = int(places[rows - 1]) + 1 if 0 < rows <= len(places) else len(self.kept)
        kept = self.kept if reach is None else self.kept.head(reach)
        return [column.filter(kept) for column in self.table.columns(names, rows=reach)]


def filtered(table: ColumnTable, selection: Selection, header: Sequence[str]) -> FilteredTable:
    """The rows of a table that a selection keeps.

    Errors:
        InputError: a column of the condition holds no plain values (see `as_text`), or the table cannot be read.
    """
    kept = selection.kept(lambda at: as_text(table.columns([header[at]])[0], OPTION))
    return FilteredTable(table=table, kept=kept)
