"""Parquet in: the schema, some columns, and any plain column as text."""

from __future__ import annotations

import io
import os
from collections.abc import Iterator
from contextlib import contextmanager
from threading import Lock

import polars as pl

from fim_private.errors import InputError
from fim_private.transactions.source import Content

UNREADABLE = (pl.exceptions.PolarsError, pl.exceptions.PanicException, OSError, ValueError)
"""What Polars raises on a file that is not what it says; a panic is no ordinary exception."""

ROWS_FREELY = 1 << 24
MOST_ROWS = 100
"""So many rows a Parquet file may have whatever its size, and then so many for each byte: ids alone take more."""

_ONE_AT_A_TIME = Lock()


@contextmanager
def _reading(content: Content) -> Iterator[None]:
    """Failures in our words."""
    try:
        with _nothing_printed():
            yield
    except UNREADABLE:
        raise _damaged(content) from None


@contextmanager
def _nothing_printed() -> Iterator[None]:
    """Whatever Polars has to say of a file, it may quote it, and it prints itself where it panics.

    Meanwhile nothing is printed to the standard error of the process, by any thread.
    """
    with _ONE_AT_A_TIME:
        try:
            kept = os.dup(2)
        except OSError:  # it is closed
            yield
            return
        nothing = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nothing, 2)
        os.close(nothing)
        try:
            yield
        finally:
            os.dup2(kept, 2)
            os.close(kept)


def refuse_too_many_rows(content: Content) -> None:
    """Refuse a file of a few bytes that says it holds more rows than the memory.

    Errors:
        InputError: so it does, or it is damaged or cut short.
    """
    with _reading(content):
        rows = int(pl.scan_parquet(io.BytesIO(content.data)).select(pl.len()).collect().item())
    if rows > max(ROWS_FREELY, MOST_ROWS * len(content.data)):
        raise InputError(
            f"{content.name} holds more rows than a Parquet file of its size can: it would fill the memory.",
            "If it is meant, save the table as CSV.",
        )


def parquet_schema(content: Content) -> pl.Schema:
    """Column names and types.

    Errors:
        InputError: the file is damaged or cut short.
    """
    with _reading(content):
        return pl.Schema(pl.read_parquet_schema(io.BytesIO(content.data)))


def parquet_columns(content: Content, names: list[str], *, rows: int | None = None) -> list[pl.Series]:
    """Some columns, whole or their first rows.

    Errors:
        InputError: the file is damaged or cut short.
    """
    with _reading(content):
        frame = pl.read_parquet(io.BytesIO(content.data), columns=names, n_rows=rows)
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
            with _nothing_printed():
                return values.cast(pl.String)
    except UNREADABLE:
        pass
    raise InputError(
        f"The column for {option} is of type {values.dtype.base_type()}, which is not text or numbers.",
        "Choose another column, or save this one as text.",
    )
