"""Tables of typed columns, whatever holds them: the schema, some columns, and any plain column as text."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import polars as pl

from fim_private.errors import InputError
from fim_private.transactions.quiet import nothing_printed

UNREADABLE = (pl.exceptions.PolarsError, pl.exceptions.PanicException, OSError, ValueError)
"""What Polars raises on what it cannot take; a panic is no ordinary exception."""


class ColumnTable(Protocol):
    """A table whose columns have names and types."""

    @property
    def name(self) -> str:
        """To show in messages."""

    @property
    def kind(self) -> str:
        """What holds it, in words: "Parquet", "frame"."""

    def schema(self) -> pl.Schema:
        """Column names and types.

        Errors:
            InputError: it cannot be read.
        """

    def columns(self, names: list[str], *, rows: int | None = None) -> list[pl.Series]:
        """Some columns, whole or their first rows.

        Errors:
            InputError: it cannot be read.
        """


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class FrameTable:
    """A frame in memory."""

    frame: pl.DataFrame
    name: str = "The data in memory"
    kind: str = "frame"

    def schema(self) -> pl.Schema:
        """Column names and types."""
        return self.frame.schema

    def columns(self, names: list[str], *, rows: int | None = None) -> list[pl.Series]:
        """Some columns, whole or their first rows."""
        return [self.frame[name].head(len(self.frame) if rows is None else rows) for name in names]


def as_text(values: pl.Series, option: str) -> pl.Series:
    """A plain column as strings: numbers, dates and categories become their text; NaN counts as missing.

    Errors:
        InputError: the column holds lists, structures or bytes that are no text.
    """
    if values.dtype.is_float():
        values = values.fill_nan(None)
    try:
        if not values.dtype.is_nested():
            with nothing_printed():
                return values.cast(pl.String)
    except UNREADABLE:
        pass
    raise InputError(
        f"The column for {option} is of type {values.dtype.base_type()}, which is not text or numbers.",
        "Choose another column, or save this one as text.",
    )
