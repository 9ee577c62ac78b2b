"""Parquet in: the schema, some columns, and any plain column as text."""

from __future__ import annotations

import io

import polars as pl

from fim_private.errors import InputError
from fim_private.transactions.source import Content

UNREADABLE = (pl.exceptions.PolarsError, pl.exceptions.PanicException, OSError, ValueError)
"""What Polars raises on a file that is not what it says; a panic is no ordinary exception."""


def parquet_schema(content: Content) -> pl.Schema:
    """Column names and types.

    Errors:
        InputError: the file is damaged or cut short.
    """
    try:
        return pl.Schema(pl.read_parquet_schema(io.BytesIO(content.data)))
    except UNREADABLE:
        raise _damaged(content) from None


def parquet_columns(content: Content, names: list[str], *, rows: int | None = None) -> list[pl.Series]:
    """Some columns, whole or their first rows.

    Errors:
        InputError: the file is damaged or cut short.
    """
    try:
        frame = pl.read_parquet(io.BytesIO(content.data), columns=names, n_rows=rows)
    except UNREADABLE:
        raise _damaged(content) from None
    return [frame[name] for name in names]


def _damaged(content: Content) -> InputError:
    return InputError(
        f"{content.name} starts as a Parquet file but cannot be read as one.",
        "Write it again with distinct column names, or save the table as CSV.",
    )


def as_text(values: pl.Series, option: str) -> pl.Series:
    """A plain column as strings: numbers, dates and categories become their text; NaN counts as missing.

    Errors:
        InputError: the column holds lists, structures or bytes that are no text.
    """
    if values.dtype.is_float():
        values = values.fill_nan(None)
    try:
        if not values.dtype.is_nested():
            return values.cast(pl.String)
    except UNREADABLE:
        pass
    raise InputError(
        f"The column for {option} is of type {values.dtype.base_type()}, which is not text or numbers.",
        "Choose another column, or save this one as text.",
    )
