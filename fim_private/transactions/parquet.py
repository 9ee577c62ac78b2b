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
from fim_private.transactions.column_table import CELLS_AT_ONCE, UNREADABLE, unnamed
from fim_private.transactions.parquet_footer import extent
from fim_private.transactions.parquet_trial import Limits, Verdict, tried
from fim_private.transactions.silence import nothing_printed
from fim_private.transactions.source import MOST_TIMES, UNPACKED_FREELY, Content
from fim_private.transactions.values import MOST_DIGITS

VALUES_FREELY = 1 << 24
MOST_VALUES = 100
"""So many rows, and so many values of a column (items inside lists count), a Parquet file may have whatever its size,
and then so many for each byte: ids alone take more."""

CELLS_FREELY = 1 << 26
MOST_CELLS = 1000
"""The same for the values of all columns together: wide one-hot tables are nearly all zeros."""

DEEPEST = 32
"""Lists and structures inside each other. A column of lists needs four."""

MEGABYTE = 1 << 20


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class ParquetTable:
    """A Parquet file. All its methods raise an InputError where it is damaged or cut short."""

    content: Content
    kind: str = "Parquet"

    @property
    def name(self) -> str:
        """Of the file."""
        return self.content.name

    def refuse_hostile(self) -> None:
        """Refuse a file that would fill the memory, take for ever or end the process, before any of it is used.

        What the file says of itself is believed where it asks for too much. As it may lie, it is then unpacked in a
        process of its own, with no more memory and time than what it says can need.

        Errors:
            InputError: it holds more than a file of its size can; or it cannot be decoded.
        """
        refuse_hostile(self.content)

    def schema(self) -> pl.Schema:
        """Column names and types."""
        with self._reading():
            return pl.Schema(pl.read_parquet_schema(io.BytesIO(self.content.data)))

    def columns(self, names: list[str], *, rows: int | None = None) -> list[pl.Series]:
        """Some columns, whole or their first rows."""
        with self._reading():
            # By exact names: Polars otherwise takes a name such as ^a.*$ for a pattern.
            chosen = self._lazy.select(cs.by_name(*names))
            return unnamed((chosen if rows is None else chosen.head(rows)).collect(), names)

    @cached_property
    def _lazy(self) -> pl.LazyFrame:
        """The table, whose footer is read once."""
        return pl.scan_parquet(io.BytesIO(self.content.data))

    @contextmanager
    def _reading(self) -> Iterator[None]:
        """Failures in our words."""
        try:
            with nothing_printed():
                yield
        except UNREADABLE:
            raise _unreadable(self.name) from None


def refuse_hostile(content: Content) -> None:
    """Refuse a Parquet file as `ParquetTable.refuse_hostile` does."""
    size = len(content.data)
    try:
        said = extent(content.data)
    except ValueError:
        raise _unreadable(content.name) from None
    if said.depth > DEEPEST:
        raise InputError(f"{content.name} has lists inside lists, too many to be a table.", "Save the table as CSV.")
    if said.digits > MOST_DIGITS:
        raise InputError(
            f"{content.name} has a column of decimal numbers of up to {said.digits} digits; {MOST_DIGITS} can be read.",
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
        # What libraries take by themselves; pages, packed and unpacked; columns as they are put together.
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
        f"{name} holds more than a Parquet file of its size can: it would fill the memory.",
        "If it is meant, save the table as CSV.",
    )


def _unreadable(name: str) -> InputError:
    return InputError(
        f"{name} starts as a Parquet file but cannot be read as one.",
        "Write it again with distinct column names, or save the table as CSV.",
    )
