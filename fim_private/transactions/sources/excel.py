"""Sheets of Excel workbooks (.xlsx) as tables of columns of text.

The text of a cell depends on that cell alone, as Excel shows it in the format "General": 17850.0 is 17850. Dates are
written as in other tables. Macros and formulas are not run: a formula counts as the value that was saved with it.
"""

from __future__ import annotations

import importlib.util
import io
import json
import os
import zipfile
import zlib

import polars as pl

from fim_private.errors import InputError, UsageError
from fim_private.transactions.columns.column_table import UNREADABLE, FrameTable
from fim_private.transactions.files.limited_process import run_limited
from fim_private.transactions.files.silence import nothing_printed
from fim_private.transactions.files.source import MOST_TIMES, UNPACKED_FREELY, Content
from fim_private.transactions.sources import sheet_reading

KIND = "Excel"
LONGEST_NAME = 1000
"""The longest name of a sheet that is looked at, in characters. Excel allows 31."""
WORKBOOK, MACROS = "xl/workbook.xml", "vbaproject.bin"
MEGABYTE = 1 << 20

INSTALL = "Run pip install 'fim_private[excel]', or save the sheet as CSV."


def is_workbook(content: Content) -> bool:
    """Whether a ZIP archive is an Excel workbook; if it is damaged, whether its beginning looks like one."""
    try:
        with zipfile.ZipFile(io.BytesIO(content.data)) as archive:
            return WORKBOOK in archive.namelist()
    except (zipfile.BadZipFile, ValueError, NotImplementedError):
        return b"xl/" in content.data


def sheet_table(content: Content, sheet: str | None, skip_lines: int = 0) -> FrameTable:
    """A sheet of a workbook. Its first row that is not blank is the header; rows that are blank are left out.

    Args:
        content: the workbook.
        sheet: the name of the sheet, or its number from 1; None if there is only one.
        skip_lines: how many rows above the header to leave out, blank ones not counted.

    Errors:
        InputError: the workbook is damaged, holds macros, would fill the memory or has no such sheet; several sheets
            and none is named; a sheet without rows, or with two columns of one name.
        UsageError: the library that reads workbooks is missing.

    Cost: a third of a second, and the decoding, in another process.
    """
    if importlib.util.find_spec("fastexcel") is None:
        raise UsageError(f"{content.name} is an Excel workbook, and the library that reads them is missing.", INSTALL)
    unpacked = _unpacked(content)
    code, output = run_limited(
        sheet_reading.__file__,
        content.data,
        # As JSON: a process takes no argument with a NUL or half a character, and none that is too long.
        json.dumps((sheet or "")[:LONGEST_NAME]),
        # The libraries themselves, and cells with their text. A cell takes at least four bytes in the workbook.
        memory=(1 << 30) + (os.cpu_count() or 1) * (1 << 25) + len(content.data) + 16 * unpacked,
        seconds=60 + unpacked // MEGABYTE,
    )
    if code == sheet_reading.UNCLEAR:
        raise _unclear(content.name, sheet, int(output))
    if code:
        raise _unreadable(content.name)
    try:
        with nothing_printed():
            rows = pl.read_ipc(io.BytesIO(output), use_pyarrow=False)
            return FrameTable(frame=_table(content.name, rows, skip_lines), name=content.name, kind=KIND)
    except UNREADABLE:
        raise _unreadable(content.name) from None


def _unpacked(content: Content) -> int:
    """How many bytes the workbook unpacks to, as it says itself; the memory is limited by this number.

    Errors:
        InputError: it is damaged, holds macros, or says that it unpacks to too much.
    """
    try:
        with zipfile.ZipFile(io.BytesIO(content.data)) as archive:
            parts = archive.infolist()
    except (zipfile.BadZipFile, ValueError, NotImplementedError, zlib.error, OSError):
        raise _unreadable(content.name) from None
    if any(part.filename.lower().endswith(MACROS) for part in parts):
        raise InputError(f"{content.name} is a workbook with macros.", "Save it without macros, as .xlsx or CSV.")
    unpacked = sum(part.file_size for part in parts)
    if unpacked > max(UNPACKED_FREELY, MOST_TIMES * len(content.data)):
        raise InputError(
            f"{content.name} unpacks to more than {MOST_TIMES} times its size, as a file does that is made to fill the "
            "memory.",
            "If the workbook is meant to be so, save the sheet as CSV.",
        )
    return unpacked


def _table(name: str, rows: pl.DataFrame, skip_lines: int) -> pl.DataFrame:
    """The table below the header. Names of columns are stripped; blank columns without a name are left out."""
    rows = rows.with_columns(pl.all().str.strip_chars())
    rows = rows.filter(pl.any_horizontal(pl.all().fill_null("") != "")).slice(skip_lines)
    if rows.is_empty():
        raise InputError(f"{name} has nothing in this sheet.", "Check that the right --sheet was given.")
    header = [heading or "" for heading in rows.row(0)]
    named = [heading for heading in header if heading]
    if len(set(named)) < len(named):
        raise InputError(f"{name} has two columns of the same name.", "Rename one of them in the workbook.")
    columns: list[pl.Series] = []
    for place, heading in enumerate(header):
        column = rows.to_series(place).slice(1)
        if heading or (column.fill_null("") != "").any():
            # Names differ in a frame. Blanks around a name do not count, so these are still columns without a name.
            columns.append(_canonical(column).alias(heading or " " * place))
    return pl.DataFrame(columns)


def _canonical(cells: pl.Series) -> pl.Series:
    """Dates and times as `column_table.as_text` writes them: midnight is the date alone, without zeros at the end."""
    is_time = cells.str.contains(r"^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d(\.\d+)?$").fill_null(value=False)
    if not is_time.any():
        return cells
    short = cells.str.replace(r"(\.\d*?)0+$", "${1}").str.strip_suffix(".").str.strip_suffix(" 00:00:00")
    return short.zip_with(is_time, cells)


def _unclear(name: str, sheet: str | None, sheets: int) -> InputError:
    """The names of sheets are not shown: they may be names of customers or shops."""
    if sheet is None:
        return InputError(
            f"{name} has {sheets} sheets.", f"Choose one: --sheet NAME, or --sheet 1 to --sheet {sheets} by its place."
        )
    return InputError(
        f"{name} has no sheet {sheet[:LONGEST_NAME]!r} (--sheet).",
        f"Give the name of a sheet, or a number from 1 to {sheets}.",
    )


def _unreadable(name: str) -> InputError:
    return InputError(
        f"{name} is an Excel workbook that is damaged, or that needs far more memory than its size tells.",
        "Open it in Excel and save the sheet as CSV, or as a new .xlsx without anything else on the sheet.",
    )
