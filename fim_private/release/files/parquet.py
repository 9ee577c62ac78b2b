"""Parquet: the columns of `Release.to_polars`, and the whole release as JSON in the metadata under "fim_private"."""

from __future__ import annotations

import io
from pathlib import Path

import polars as pl

from fim_private.errors import InputError
from fim_private.release.files.format import Format, Itemsets, itemsets_of
from fim_private.release.release import Release
from fim_private.transactions.columns.column_table import UNREADABLE
from fim_private.transactions.files.source import Content
from fim_private.transactions.sources.parquet import refuse_hostile

KEY = "fim_private"
NAME = "This Parquet file"


def _write(release: Release, path: Path) -> None:
    release.to_polars().write_parquet(path, metadata={KEY: release.to_json()})


def read_release(data: bytes) -> Release:
    """The whole release.

    Raises:
        InputError: the file is damaged, would fill the memory, or another program saved it without the release.
    """
    refuse_hostile(Content(name=NAME, data=data))
    try:
        text = pl.read_parquet_metadata(io.BytesIO(data)).get(KEY)
    except UNREADABLE:
        raise InputError(f"{NAME} cannot be read.", "Write it again.") from None
    if text is None:
        raise InputError(f"{NAME} has no release in its metadata.", "Give the file as `fim-private mine -o` wrote it.")
    return Release.from_json(text)


def _read(data: bytes) -> Itemsets:
    """The itemsets from the columns. Other programs keep these, even if they drop the metadata."""
    try:
        refuse_hostile(Content(name=NAME, data=data))
        return itemsets_of(pl.read_parquet(io.BytesIO(data)).to_dicts())
    except (*UNREADABLE, InputError):
        raise ValueError("not Parquet") from None


FORMAT = Format(name="Parquet", ending=".parquet", write=_write, read=_read)
