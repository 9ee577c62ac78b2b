"""Parquet files as tables of columns."""

from __future__ import annotations

import io
import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property

import polars as pl
import polars.selectors as cs

from fim_private.errors import InputError
from fim_private.transactions.columns.column_table import CELLS_AT_ONCE, UNREADABLE, unnamed
from fim_private.transactions.columns.values import MOST_DIGITS
from fim_private.transactions.files.silence import nothing_printed
from fim_private.transactions.files.source import MOST_TIMES, UNPACKED_FREELY, Content
from fim_private.transactions.sources.parquet_footer import extent
from fim_private.transactions.sources.parquet_trial import Limits, Verdict, tried

VALUES_FREELY = 1 << 24
MOST_VALUES = 100
"""A Parquet file may have `VALUES_FREELY` rows and values per column, or `MOST_VALUES` per byte if that is more.

Items inside lists count as values. Ids alone take more space than this.
"""

CELLS_FREELY = 1 << 26
MOST_CELLS = 1000
"""The same limits for the values of all columns together: wide one-hot tables are nearly all zeros."""

DEEPEST = 32
"""At most this many lists and structures inside each other. A column of lists needs four."""

MEGABYTE = 1 << 20


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class ParquetTable:
    """A Parquet file. All methods raise an InputError if the file is damaged or cut short."""

    content: Content
    kind: str = "Parquet"

    @property
    def name(self) -> str:
        """The name of the file, for messages."""
        return self.content.name

    def schema(self) -> pl.Schema:
        """Column names and types."""
        with self._reading():
            return pl.Schema(pl.read_parquet_schema(io.BytesIO(self.content.data)))

    def columns(self, names: list[str], *, rows: int | None = None) -> list[pl.Series]:
        """The named columns, whole or their first `rows` rows."""
        with self._reading():
            # By exact names: Polars otherwise takes a name such as ^a.*$ for a pattern.
            chosen = self._lazy.select(cs.by_name(*names))
            return unnamed((chosen if rows is None else chosen.head(rows)).collect(), names)

    @cached_property
    def _lazy(self) -> pl.LazyFrame:
        """The table, cached so that its footer is read once."""
        return pl.scan_parquet(io.BytesIO(self.content.data))

    @contextmanager
    def _reading(self) -> Iterator[None]:
        """Turn failures of Polars into our own errors, which show no data."""
        try:
            with nothing_printed():
                yield
        except UNREADABLE:
            raise _unreadable(self.name) from None


def refuse_hostile(content: Content) -> None:
    """Refuse a Parquet file that would fill the memory, take for ever or end the process, before any of it is used.

    First comes the footer: a file that claims too much is refused. As the footer may lie, a separate process then
    decodes the file, with no more memory and time than the claimed amounts can need.

    Errors:
        InputError: the file holds more than a file of its size should, or it cannot be decoded.
    """
    size = len(content.data)
    try:
        said = extent(content.data)
    except ValueError:
        raise _unreadable(content.name) from None
    if said.depth > DEEPEST:
        raise InputError(f"{content.name} has too many lists inside lists to be a table.", "Save the table as CSV.")
    if said.digits > MOST_DIGITS:
        raise InputError(
            f"{content.name} has decimal numbers of up to {said.digits} digits; at most {MOST_DIGITS} can be read.",
            "Save that column as text or as whole numbers, or leave it out.",
        )
    most_values, most_bytes = max(VALUES_FREELY, MOST_VALUES * size), max(UNPACKED_FREELY, MOST_TIMES * size)
    if (
        max(said.rows, said.values) > most_values
        or said.cells > max(CELLS_FREELY, MOST_CELLS * size)
        or said.unpacked > most_bytes
    ):
        raise _too_much(content.name)
    at_once = min(said.cells, max(said.values, CELLS_AT_ONCE))
    limits = Limits(
        values=most_values,
        text=most_bytes,
        columns=max(1, CELLS_AT_ONCE // max(1, said.values)),
        # The libraries themselves, the packed and unpacked pages, and the columns built from them.
        memory=(1 << 30) + (os.cpu_count() or 1) * (1 << 25) + 4 * (size + said.unpacked) + 64 * at_once,
        seconds=60 + size // MEGABYTE,
    )
    match tried(content.data, limits):
        case Verdict.TOO_MUCH:
            raise _too_much(content.name)
        case Verdict.UNREADABLE:
            raise _unreadable(content.name)


def _too_much(name: str) -> InputError:
    return InputError(
        f"{name} holds more than a Parquet file of its size should: it would fill the memory.",
        "If the file is meant to be so, save the table as CSV.",
    )


def _unreadable(name: str) -> InputError:
    return InputError(
        f"{name} starts as a Parquet file but cannot be read as one.",
        "Write it again with distinct column names, or save the table as CSV.",
    )
