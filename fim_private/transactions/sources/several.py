"""Several files read as one: which files they are, and their lines or rows one after the other.

All files have the same layout. Lines and rows are joined before transactions and units are formed. So rows with the
same transaction id are one transaction, and those with the same unit are one unit, in whatever files they are.
"""

from __future__ import annotations

import glob
import os
import shlex
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import cast

import numpy as np
import polars as pl
from numpy.typing import NDArray

from fim_private.errors import InputError, UsageError
from fim_private.transactions.columns.column_roles import Columns
from fim_private.transactions.columns.column_table import ColumnTable
from fim_private.transactions.columns.row_filter import Selection, filtered
from fim_private.transactions.columns.text_table import TextTable, text_table
from fim_private.transactions.files.source import is_address, shown
from fim_private.transactions.files.text import Chunk, Text

WILD = "*?["
STANDARD_INPUT = "-"


def files_named(sources: Sequence[str | Path]) -> list[str]:
    """The files that paths and globs name, those of a glob in the order of their names.

    Errors:
        InputError: a glob names no file, or a folder is named.
        UsageError: no file is named, or one is named twice: its baskets would count twice.
    """
    files: list[str] = []
    for source in map(str, sources):
        # A file may have such a character in its name.
        is_glob = not is_address(source) and any(mark in source for mark in WILD) and not os.path.lexists(source)
        found = sorted(glob.glob(source, recursive=True)) if is_glob else [source]  # noqa: PTH207 - of any folder
        if not found:
            raise InputError(f"There is no file {shown(source)}.", "Check the folder and the pattern.")
        files += found
    if not files:
        raise UsageError("No file is named.", "Name at least one.")
    seen: set[object] = set()
    for file in files:
        _refuse_folder(file)
        if (identity := _identity(file)) in seen:
            raise UsageError(
                f"{file} is named twice: each of its baskets would count twice, and be protected half as well.",
                "Name each file once. Links to a file are the same file.",
            )
        seen.add(identity)
    return files


def _refuse_folder(file: str) -> None:
    """Refuse a folder, with a pattern that names files in it. A name that may hold a password is refused later."""
    if file != STANDARD_INPUT and os.path.isdir(file) and shown(file) == file:  # noqa: PTH112 - no error for long names
        pattern = shlex.quote(f"{glob.escape(file).rstrip('/')}/*.csv")
        raise InputError(
            f"{file} is a folder.", f"Give the paths of its files, or a pattern in quotes, such as {pattern}."
        )


def _identity(file: str) -> object:
    if file == STANDARD_INPUT:
        return file
    try:
        found = os.stat(file)  # noqa: PTH116 - no error for names too long
    except (OSError, ValueError):  # it is refused where it is opened
        return os.path.abspath(file)  # noqa: PTH100
    return found.st_dev, found.st_ino


class JoinedText(Text):
    """The lines of several texts. `name` is that of the text whose lines are being read, for messages.

    Args:
        first: its first lines show the layout of all.
        others: can be read once.
    """

    def __init__(self, first: Text, others: Iterator[Text]) -> None:
        self.name = first.name
        self.first = first
        self.others = others

    def chunks(self) -> Iterator[Chunk]:
        """All lines, in chunks; their numbers begin anew in each text. Can be read once."""
        yield from self.first.chunks()
        for text in self.others:
            self.name = text.name
            yield from text.chunks()

    def skip(self, lines: int) -> None:
        """Leave out the first lines of each text (see `Text.skip`)."""
        self.first.skip(lines)
        self.others = map(partial(_without, lines), self.others)

    def head(self, lines: int, size: int) -> list[str]:
        """The first lines of the first text (see `Text.head`)."""
        return self.first.head(lines, size)


def _without(lines: int, text: Text) -> Text:
    text.skip(lines)
    return text


def table_of(text: Text, separator: str, columns: Columns, *, headerless: bool = False) -> TextTable:
    """The table in a text, or in several that are joined. Arguments and errors as for `text_table`."""
    if not isinstance(text, JoinedText):
        return text_table(text, separator, columns, headerless=headerless)
    first = text_table(text.first, separator, columns, headerless=headerless)
    return JoinedTextTable(
        name=first.name,
        below=first.below,
        separator=separator,
        header=first.header,
        selection=first.selection,
        others=(text_table(other, separator, headerless=headerless) for other in text.others),
    )


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class JoinedTextTable(TextTable):
    """The lines below the headers of several texts; `others` are the tables after the first one."""

    others: Iterator[TextTable]

    def blocks(self) -> Iterator[tuple[pl.Series, NDArray[np.int64]]]:
        """The fields of all tables (see `TextTable.blocks`).

        Errors:
            InputError: as there, or a header differs from the first.
        """
        yield from super().blocks()
        for table in self.others:
            if table.header != self.header:
                raise other_columns(table.name)
            # One selection for all, because it notes what it leaves out.
            yield from replace(table, selection=self.selection).blocks()


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class JoinedTable:
    """The rows of several tables of columns with the same columns, in any order."""

    tables: Sequence[ColumnTable]

    @property
    def name(self) -> str:
        """The name of the first table, for messages."""
        return self.tables[0].name

    @property
    def kind(self) -> str:
        """What holds the tables."""
        return self.tables[0].kind

    def schema(self) -> pl.Schema:
        """Column names and types.

        Errors:
            InputError: a table has other columns than the first, or columns of other types.
        """
        schema = self.tables[0].schema()
        for table in self.tables[1:]:
            if dict(table.schema()) != dict(schema):
                raise other_columns(table.name)
        return schema

    def columns(self, names: list[str], *, rows: int | None = None) -> list[pl.Series]:
        """The named columns, whole or their first `rows` rows."""
        if rows is not None:
            return self.tables[0].columns(names, rows=rows)
        parts = [table.columns(names) for table in self.tables]
        return [pl.concat(column) for column in zip(*parts, strict=True)]


def filtered_table(table: ColumnTable, selection: Selection, header: Sequence[str]) -> ColumnTable:
    """The rows of a table that a selection keeps: see `filtered`. Several files stay several."""
    if isinstance(table, JoinedTable):
        return replace(table, tables=[filtered(one, selection, header) for one in table.tables])
    return filtered(table, selection, header)


def other_columns(name: str) -> InputError:
    """The error for a file with other columns than the first."""
    return InputError(
        f"{name} does not have the same columns as the first file: names, their case, their order or types differ.",
        "Give files of the same columns.",
    )


def joined(files: Iterator[Text | ColumnTable]) -> Text | ColumnTable:
    """All files as one. Texts are opened one after the other, when the one before has been read.

    Errors (for texts while reading):
        InputError: the files are of different kinds.
    """
    first = next(files)
    others = map(partial(_like, first), files)
    if isinstance(first, Text):
        return JoinedText(first, cast(Iterator[Text], others))
    return JoinedTable(tables=[first, *cast(Iterator[ColumnTable], others)])


def _like(first: Text | ColumnTable, other: Text | ColumnTable) -> Text | ColumnTable:
    if _kind(other) != _kind(first):
        raise InputError(
            f"{other.name} is {_kind(other)}, and the first file is {_kind(first)}.", "Give files of one kind."
        )
    return other


def _kind(file: Text | ColumnTable) -> str:
    return "text" if isinstance(file, Text) else file.kind
