"""Parquet files as tables of columns."""

from __future__ import annotations

import io
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

import polars as pl

from fim_private.errors import InputError
from fim_private.transactions.columnar import UNREADABLE
from fim_private.transactions.decoding import decodes
from fim_private.transactions.quiet import nothing_printed
from fim_private.transactions.source import Content

ROWS_FREELY = 1 << 24
MOST_ROWS = 100
"""So many rows a Parquet file may have whatever its size, and then so many for each byte: ids alone take more."""


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
        """Refuse a file that would fill the memory or end the process, before any of it is used.

        Errors:
            InputError: it says that it holds more rows than a file of its size can; or it cannot be decoded.
        """
        with self._reading():
            rows = int(pl.scan_parquet(io.BytesIO(self.content.data)).select(pl.len()).collect().item())
        if rows > max(ROWS_FREELY, MOST_ROWS * len(self.content.data)):
            raise InputError(
                f"{self.name} holds more rows than a Parquet file of its size can: it would fill the memory.",
                "If it is meant, save the table as CSV.",
            )
        if not decodes(self.content.data):
            raise self._unreadable()

    def schema(self) -> pl.Schema:
        """Column names and types."""
        with self._reading():
            return pl.Schema(pl.read_parquet_schema(io.BytesIO(self.content.data)))

    def columns(self, names: list[str], *, rows: int | None = None) -> list[pl.Series]:
        """Some columns, whole or their first rows."""
        with self._reading():
            frame = pl.read_parquet(io.BytesIO(self.content.data), columns=names, n_rows=rows)
            return [frame[name] for name in names]

    @contextmanager
    def _reading(self) -> Iterator[None]:
        """Failures in our words."""
        try:
            with nothing_printed():
                yield
        except UNREADABLE:
            raise self._unreadable() from None

    def _unreadable(self) -> InputError:
        return InputError(
            f"{self.name} starts as a Parquet file but cannot be read as one.",
            "Write it again with distinct column names, or save the table as CSV.",
        )
