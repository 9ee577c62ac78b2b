"""Parquet as a table of columns."""

from __future__ import annotations

import io
from dataclasses import dataclass

import polars as pl

from fim_private.errors import InputError
from fim_private.transactions.columnar import UNREADABLE
from fim_private.transactions.source import Content


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class ParquetTable:
    """A Parquet file. All its methods raise an InputError where it is damaged or cut short."""

    content: Content
    kind: str = "Parquet"

    @property
    def name(self) -> str:
        """Of the file."""
        return self.content.name

    def schema(self) -> pl.Schema:
        """Column names and types."""
        try:
            return pl.Schema(pl.read_parquet_schema(io.BytesIO(self.content.data)))
        except UNREADABLE:
            raise self._damaged() from None

    def columns(self, names: list[str], *, rows: int | None = None) -> list[pl.Series]:
        """Some columns, whole or their first rows."""
        try:
            frame = pl.read_parquet(io.BytesIO(self.content.data), columns=names, n_rows=rows)
        except UNREADABLE:
            raise self._damaged() from None
        return [frame[name] for name in names]

    def _damaged(self) -> InputError:
        return InputError(
            f"{self.name} starts as a Parquet file but cannot be read as one.",
            "Write it again with distinct column names, or save the table as CSV.",
        )
