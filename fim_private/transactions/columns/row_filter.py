"""Keep the rows of a table for which a condition holds, one by one, before transactions and units are formed.

Privacy: whether a row is kept depends on its own cells and on the condition, which is part of the public layout. So two
data sets that differ in the rows of one unit still differ in the rows of this unit alone after filtering, and a filter
costs nothing (docs/mathematics.md#row-filters). The condition is evaluated on the text of cells: the type of a column,
which all its cells decide together, plays no part.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import reduce
from operator import and_, eq, ge, gt, le, lt, ne, or_
from typing import Any

import numpy as np
import polars as pl

from fim_private.transactions.columns.column_table import ColumnTable, as_text
from fim_private.transactions.columns.where_text import (
    DATE,
    TRUTHS,
    All,
    Comparison,
    Condition,
    IsNull,
    Like,
    Negation,
    Some,
    condition_of,
    names_in,
)

NUMBER = r"^[+-]?([0-9]+(\.[0-9]*)?|\.[0-9]+)([eE][+-]?[0-9]+)?$"
SPECIAL = set("\\.+*?()|[]{}^$")
OPTION = "--where"
COMPARED = "Numbers are written 1.5 and dates 2025-12-31, not 1,5 and 31.12.2025"

COMPARE: dict[str, Callable[[pl.Series, Any], pl.Series]] = {
    "=": eq, "<>": ne, "<": lt, "<=": le, ">": gt, ">=": ge,
}  # fmt: skip

Cells = Callable[[str], pl.Series]
"""Gives the cells of a column, by the name that the condition has for it: strings."""


@dataclass(frozen=True, kw_only=True)
class RowFilter:
    """A condition on rows.

    Args:
        text: the condition as it was typed.
        condition: what it says.
    """

    text: str
    condition: Condition

    @classmethod
    def of(cls, text: str) -> RowFilter:
        """The filter that a text says.

        Errors:
            UsageError: the text says no condition (`where_text`).
        """
        return cls(text=text.strip(), condition=condition_of(text))

    @property
    def columns(self) -> list[str]:
        """The columns that the condition names, each once."""
        return list(dict.fromkeys(names_in(self.condition)))

    def holds(self, cells: Cells) -> pl.Series:
        """Whether the condition holds for each row: booleans, and null where a cell is blank or no number or date.

        As in SQL, `null OR true` is true, `null AND false` is false, and the opposite of null is null.
        """
        return _holds(self.condition, _Columns(cells))


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
        """Which rows are kept, without nulls.

        Args:
            column: gives the cells of the column at a position of the header, as strings.
        """
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
        # Of several files, the first rows are those of the first file, perhaps fewer.
        return [column.filter(kept.head(len(column))) for column in self.table.columns(names, rows=reach)]


def filtered(table: ColumnTable, selection: Selection, header: Sequence[str]) -> FilteredTable:
    """The rows of a table that a selection keeps.

    Errors:
        InputError: a column of the condition holds no plain values (see `as_text`), or the table cannot be read.
    """
    kept = selection.kept(lambda at: as_text(table.columns([header[at]])[0], OPTION))
    return FilteredTable(table=table, kept=kept)


class _Columns:
    """The cells of columns, each read once: as text, as numbers, and as dates. Blank cells are null."""

    def __init__(self, cells: Cells) -> None:
        self._cells = cells
        self._read: dict[tuple[str, str], pl.Series] = {}

    def text(self, name: str) -> pl.Series:
        return self._once("text", name, lambda: _filled(self._cells(name).str.strip_chars()))

    def numbers(self, name: str) -> pl.Series:
        return self._once("numbers", name, lambda: _as_numbers(self.text(name)))

    def times(self, name: str) -> pl.Series:
        return self._once("times", name, lambda: _as_times(self.text(name)))

    def _once(self, how: str, name: str, read: Callable[[], pl.Series]) -> pl.Series:
        if (how, name) not in self._read:
            self._read[how, name] = read()
        return self._read[how, name]


def _holds(condition: Condition, columns: _Columns) -> pl.Series:
    match condition:
        case All(parts):
            return reduce(and_, (_holds(part, columns) for part in parts))
        case Some(parts):
            return reduce(or_, (_holds(part, columns) for part in parts))
        case Negation(inner):
            return ~_holds(inner, columns)
        case IsNull(column):
            return columns.text(column).is_null()
        case Like(column, pattern):
            return columns.text(column).str.contains(_regex(pattern))
        case Comparison():
            return _compared(condition, columns)


def _compared(said: Comparison, columns: _Columns) -> pl.Series:
    compare = COMPARE[said.sign]
    if isinstance(said.value, float):
        return compare(columns.numbers(said.column), said.value)
    if said.sign in ("=", "<>"):
        cells = columns.text(said.column)
        if said.value.lower() in TRUTHS:  # typed columns hold true, and pandas and R write True and TRUE
            return compare(cells.str.to_lowercase(), said.value.lower())
        return compare(cells, said.value)
    return compare(columns.times(said.column), _as_times(pl.Series([said.value]))[0])


def _filled(cells: pl.Series) -> pl.Series:
    return cells.set(cells == "", None)


def _as_numbers(cells: pl.Series) -> pl.Series:
    return cells.set(~cells.str.contains(NUMBER), None).cast(pl.Float64, strict=False)


def _as_times(cells: pl.Series) -> pl.Series:
    """Dates and times in one form, whose order as text is their order in time; null for other texts."""
    pattern = f"^(?:{DATE.pattern})$"
    date, minute, second = (cells.str.extract(pattern, group) for group in (1, 2, 3))
    fraction = second.fill_null("00").str.replace(r"(\.[0-9]*?)0+$", "${1}").str.strip_suffix(".")
    return date + " " + minute.fill_null("00:00") + ":" + fraction


def _regex(pattern: str) -> str:
    parts = {"%": ".*", "_": "."}
    escaped = (parts.get(mark) or (f"\\{mark}" if mark in SPECIAL else mark) for mark in pattern)
    return f"(?s)^{''.join(escaped)}$"
