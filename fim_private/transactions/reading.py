"""Read transactions from a file or a frame in any format."""

from __future__ import annotations

from collections.abc import Generator, Sequence
from contextlib import closing
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import BinaryIO, cast

import polars as pl

from fim_private.errors import InputError, UsageError, check_texts
from fim_private.transactions.chosen_layout import LayoutOptions, columnar_layout, layout_of
from fim_private.transactions.columns.column_roles import Columns
from fim_private.transactions.columns.column_table import ColumnTable
from fim_private.transactions.columns.row_filter import COMPARED, Selection
from fim_private.transactions.columns.text_table import TextTable, text_table
from fim_private.transactions.dataset import Transactions, noting
from fim_private.transactions.files.source import Progress, Source, opened, refuse_foreign
from fim_private.transactions.files.text import Text
from fim_private.transactions.formats.basket import read_basket
from fim_private.transactions.formats.basket_units import read_basket_with_units
from fim_private.transactions.formats.detection import SEPARATORS
from fim_private.transactions.formats.doubt import OnDoubt, ask, refuse
from fim_private.transactions.formats.fimi import read_fimi
from fim_private.transactions.formats.item_doubts import full_transactions, item_names, items_of_one_row, single_items
from fim_private.transactions.formats.lists import read_lists
from fim_private.transactions.formats.long import read_long_columnar, read_long_text
from fim_private.transactions.formats.one_hot import read_one_hot_columnar, read_one_hot_text
from fim_private.transactions.layout import LINE_FORMATS, Layout, spoken
from fim_private.transactions.sources.database import query_table
from fim_private.transactions.sources.excel import is_workbook, sheet_table
from fim_private.transactions.sources.frames import SupportsArrow, frame_table
from fim_private.transactions.sources.parquet import ParquetTable, refuse_hostile
from fim_private.transactions.sources.several import files_named, filtered_table, joined, table_of

FEW = 20
NEARLY_ALL = 0.95
"""If there are at least `FEW` transactions, and more than this share has one item, the separator is wrong."""
SOME = 8
"""With at least this many transactions and items, it is rare that nearly every transaction holds every item."""
MANY_ROWS = 50
"""Orders of a shop have fewer rows on average. With more, a few huge transactions may hold nearly all items."""


def read_transactions(
    source: str | Path | BinaryIO | SupportsArrow | Sequence[str | Path],
    *,
    format: str = "auto",  # noqa: A002 - the option is called so everywhere
    separator: str | None = None,
    encoding: str = "utf-8",
    transaction_column: str | None = None,
    item_column: str | None = None,
    unit_column: str | None = None,
    drop_rows_without_unit: bool = False,
    sheet: str | int | None = None,
    where: str | None = None,
    query: str | None = None,
    skip_lines: int | None = None,
    skip_columns: str | None = None,
    item_separator: str | None = None,
    progress: Progress | None = None,
    on_doubt: OnDoubt = refuse,
) -> Transactions:
    r"""Read a file or a frame of transactions. The `notes` of the result say what was dropped.

    Args:
        source: a path, "-" for standard input, or an open binary file, possibly packed with gzip: text, Parquet or an
            Excel workbook (.xlsx). Or a glob, or a list of paths and globs, of files with the same layout, which are
            read as one. Or a Polars or pandas frame, an Arrow table, or another object with Arrow data, in format
            "long", "lists" or "one-hot".
        format: "fimi" (items separated by blanks), "basket" (names with separators, one transaction per line), "long"
            (one item per row), "lists" (not for text: one list per row), "one-hot" (one column per item), or "auto",
            which guesses from the first lines or rows.
        separator: what separates the fields of delimited text. The default is a comma; "auto" guesses among comma,
            semicolon, tab and pipe. If given, the file may consist of single items.
        encoding: the encoding of text.
        transaction_column: in long tables, the column that says which transaction a row belongs to, or several such
            columns with commas between them. In one-hot tables and lists, a column of ids to ignore. A long text
            without a header has its columns by number, from "1" on.
        item_column: in long tables, the column of items. In format "lists", the column of lists.
        unit_column: the column that says whose transaction it is, for protecting a person rather than a transaction.
            In format "basket", its number from 1, or its name in the first line.
        drop_rows_without_unit: leave out and count rows without a unit, instead of refusing the file.
        sheet: in a workbook of several sheets, the name of the sheet to read, or its number from 1.
        where: read only the rows of a table for which this condition holds, such as "Quantity > 0 AND InvoiceNo NOT
            LIKE 'C%'": SQL in which each row is decided by itself (`where_text`). In one-hot tables the columns that it
            names are no items.
        query: read the rows that this SELECT gives; `source` is then a database: postgresql://..., or the path of an
            SQLite or DuckDB file. Each row, and whether it is there, has to depend on one unit alone, because what the
            database computes over several rows is outside the promise.
        skip_lines: how many lines at the beginning of a text or an Excel sheet to leave out, blank ones not counted. If
            this is None and "auto" finds a first line such as `sep=;` in a text, it obeys that line and leaves it out.
        skip_columns: in "basket" and "one-hot", the numbers of fields that are no items, from 1 on, as in "1" or "1,3".
        item_separator: what separates the items in cells that hold lists, in "long" and "basket". A list may stand in
            brackets, and its items in quotes, as Python and R write it. Without this, a cell is one item.
        progress: called now and then with the share of the file's bytes that was read, from 0 to 1; for a path only.
        on_doubt: called with each `Doubt` about data whose format "auto" guessed. By default, a doubt is an error.

    Privacy: how a transaction is read depends on the layout (`notes.layout`) and not on other transactions. Parts of
    the layout that are not given are guessed from the data, and then public: see `Layout`. A refusal may depend on all
    transactions; only whoever holds the data should see it.

    Errors:
        InputError: the file cannot be read, or is not what the call says it is. No message holds data.
        UsageError: options do not go together.

    Cost: text is read in one pass, some mebibytes at a time. Memory is 4 bytes per occurrence of an item, up to 4 more
    while reading, 8 per transaction, and the names; never transactions times items. Tables whose rows are not grouped
    by transaction are sorted, for 16 more bytes per occurrence. Parquet and workbooks are loaded whole.
    """
    options = LayoutOptions.of(
        format=format,
        separator=separator,
        encoding=encoding,
        transaction=transaction_column,
        item=item_column,
        unit=unit_column,
        drop_rows_without_unit=drop_rows_without_unit,
        where=where,
        skip_lines=skip_lines,
        skip_columns=skip_columns,
        item_separator=item_separator,
    )
    check_texts(query=query)
    sheet = None if sheet is None else str(sheet).strip()
    transactions = _read(source, options, sheet=sheet, query=query, progress=progress, on_doubt=on_doubt)
    if not len(transactions):
        raise no_item(options.columns, undecided=transactions.notes.rows_undecided > 0)
    layout, single = transactions.notes.layout, int((transactions.lengths() == 1).sum())
    if layout.format in LINE_FORMATS and options.separator is None:
        refuse_single_items(single, len(transactions))
    elif transactions.units is None:
        ask_about_single_items(layout, single, len(transactions), on_doubt)
    elif seems_single(layout, single, len(transactions)):
        transactions = noting(transactions, single_items=True)
    ask_about_occurrences(layout, len(transactions.items), len(transactions), len(transactions.vocabulary), on_doubt)
    ask_about_names(layout, transactions.vocabulary, on_doubt)
    return transactions


def column_names(source: str | Path | Sequence[str | Path], layout: Layout) -> list[str]:
    """The columns that can name the unit: those of a table by their names, the fields of basket CSV by their numbers.

    The files were read before, as `read_transactions` takes them.

    Errors:
        InputError: the first file cannot be read any more.
    """
    if layout.query is not None:
        return list(query_table(_one_path(source), layout.query).schema())
    skip_lines = layout.skip_lines or 0
    with closing(_opened(_sources(source), layout.encoding or "utf-8", layout.sheet, skip_lines, None)) as files:
        found = next(files)
        if not isinstance(found, Text):
            return list(found.schema())
        found.skip(skip_lines)
        if layout.separator is None:
            return []
        numbered = layout.format == "basket" or layout.headerless
        return text_table(found, layout.separator, headerless=numbered).header


def _read(
    source: str | Path | BinaryIO | SupportsArrow | Sequence[str | Path],
    options: LayoutOptions,
    *,
    sheet: str | None,
    query: str | None,
    progress: Progress | None,
    on_doubt: OnDoubt,
) -> Transactions:
    columns = options.columns
    if query is not None:
        answer = query_table(_one_path(source), query)
        _refuse_sheet(answer.name, sheet)
        layout = columnar_layout(answer, options, on_doubt=on_doubt)
        return read_columnar(answer, replace(layout, query=query), columns, on_doubt)
    if not isinstance(source, str | Path) and (table := frame_table(source)) is not None:
        _refuse_sheet(table.name, sheet)
        layout = columnar_layout(table, options, on_doubt=on_doubt)
        return read_columnar(table, layout, columns, on_doubt)
    sources = _sources(source)
    with closing(_opened(sources, options.encoding, sheet, columns.skip_lines or 0, progress)) as files:
        found = joined(files) if len(sources) > 1 else next(files)
        if isinstance(found, Text):
            layout = layout_of(found, options, on_doubt=on_doubt)
            transactions = read_text(found, layout, columns, on_doubt)
        else:
            layout = columnar_layout(found, options, on_doubt=on_doubt)
            layout = replace(layout, sheet=sheet, skip_lines=columns.skip_lines or None)
            transactions = read_columnar(found, layout, columns, on_doubt)
    return noting(transactions, files=len(sources))


def _one_path(source: object) -> str:
    named = source[0] if isinstance(source, list | tuple) and len(source) == 1 else source
    if isinstance(named, str | Path):
        return str(named)
    raise UsageError("A query is for one database.", "Give its address or path, or leave --query out.")


def _sources(source: object) -> Sequence[str | BinaryIO]:
    """The files that are meant."""
    if isinstance(source, str | Path):
        return files_named([source])
    if isinstance(source, list | tuple) and all(isinstance(one, str | Path) for one in source):
        return files_named(source)
    if hasattr(source, "read"):
        return [cast(BinaryIO, source)]
    raise UsageError(
        "Transactions cannot be read from this kind of value.",
        "Give a path, a list of paths, an open file or a frame; for Python lists there is transactions_from_lists.",
    )


def _opened(
    sources: Sequence[str | BinaryIO], encoding: str, sheet: str | None, skip_lines: int, progress: Progress | None
) -> Generator[Text | ColumnTable]:
    """What is in each file. A file is open until the next one is asked for."""
    for number, source in enumerate(sources):
        share = None if progress is None else partial(_share, progress, number, len(sources))
        with opened(source, share, archives=True) as reading:
            yield _found(reading, encoding, sheet, skip_lines)


def _share(progress: Progress, number: int, files: int, share: float) -> None:
    progress((number + share) / files)


def _found(reading: Source, encoding: str, sheet: str | None, skip_lines: int) -> Text | ColumnTable:
    if reading.is_archive:
        content = reading.content()
        if not is_workbook(content):
            refuse_foreign(content.name, content.data)
        return sheet_table(content, sheet, skip_lines)
    _refuse_sheet(reading.name, sheet)
    blocks = reading.blocks()
    if reading.may_be_parquet:
        content = reading.content()
        if content.is_parquet:
            refuse_hostile(content)
            return ParquetTable(content=content)
        blocks = iter([content.data])
    return Text(name=reading.name, blocks=blocks, encoding=encoding)


def _refuse_sheet(name: str, sheet: str | None) -> None:
    if sheet is not None:
        raise UsageError(f"{name} is not an Excel workbook, so it has no sheets.", "Leave --sheet out.")


def no_item(columns: Columns, *, undecided: bool = False) -> InputError:
    """The error for data without any item; `undecided` if --where could not compare some cells."""
    where = "" if columns.where is None else ", and whether any row meets --where"
    if undecided:
        where += f". Some cells were blank, or no number or date where one is needed. {COMPARED}"
    return InputError(
        "No item was found in the data.",
        f"Check the format, the columns, the separator and whether anything follows the header{where}.",
    )


def read_columnar(table: ColumnTable, layout: Layout, columns: Columns, on_doubt: OnDoubt = refuse) -> Transactions:
    """The transactions of a Parquet file, a workbook or a frame, perhaps none."""
    header = list(table.schema())
    selection = columns.selection(header)
    if selection is None:
        return _read_columnar(table, layout, columns, on_doubt)
    return _noted(_read_columnar(filtered_table(table, selection, header), layout, columns, on_doubt), selection)


def _noted(transactions: Transactions, selection: Selection) -> Transactions:
    """The same transactions, whose notes say what a filter left out."""
    return noting(transactions, rows_left_out=selection.left_out, rows_undecided=selection.undecided)


def _read_columnar(table: ColumnTable, layout: Layout, columns: Columns, on_doubt: OnDoubt) -> Transactions:
    if layout.format == "long":
        return read_long_columnar(table, layout, columns, on_doubt)
    if layout.format == "lists":
        return read_lists(table, layout, columns)
    return read_one_hot_columnar(table, layout, columns)


def read_text(text: Text, layout: Layout, columns: Columns, on_doubt: OnDoubt = refuse) -> Transactions:
    """The transactions of a text, perhaps none."""
    if layout.separator is None:
        return read_fimi(text, layout)
    if layout.format == "basket":
        return read_basket(text, layout) if columns.unit is None else read_basket_with_units(text, layout, columns)
    text.head(1, 1)  # refuses a text of nothing but blanks
    headerless = layout.format == "long" and columns.numbered
    table = table_of(text, layout.separator, columns, headerless=headerless)
    _refuse_one_column(table, layout)
    if layout.format == "long":
        transactions = read_long_text(table, layout, columns, on_doubt)
    else:
        transactions = read_one_hot_text(table, layout, columns)
    return transactions if table.selection is None else _noted(transactions, table.selection)


def _refuse_one_column(table: TextTable, layout: Layout) -> None:
    """Refuse a header of one column if the format needs more, or if another separator would divide it."""
    if len(table.header) == 1 and (layout.format == "long" or any(mark in table.header[0] for mark in SEPARATORS)):
        raise InputError(
            f"The header of {table.name} is a single column if columns are separated by {spoken(table.separator)}.",
            "Give the right --separator, or --skip-lines 1 if this line is a title or a comment.",
        )


def ask_about_names(layout: Layout, names: pl.Series, on_doubt: OnDoubt) -> None:
    """Ask about odd names of items, if the format was guessed."""
    if "format" in layout.guessed:
        ask(item_names(layout, names), on_doubt)


def ask_about_single_items(layout: Layout, single: int, transactions: int, on_doubt: OnDoubt) -> None:
    """Ask about a long table in which nearly every transaction holds one item, if the format was guessed."""
    if seems_single(layout, single, transactions):
        ask(single_items(layout), on_doubt)


def seems_single(layout: Layout, single: int, transactions: int) -> bool:
    """Whether nearly every transaction of a long table holds one item, and the format was guessed."""
    return layout.format == "long" and "format" in layout.guessed and _nearly_all(single, transactions)


def ask_about_occurrences(layout: Layout, occurrences: int, transactions: int, items: int, on_doubt: OnDoubt) -> None:
    """Ask about a long table in which nearly all items are in nearly all transactions or in one, if it was guessed."""
    if layout.format != "long" or "format" not in layout.guessed:
        return
    if min(transactions, items) >= SOME and occurrences > NEARLY_ALL * transactions * items:
        ask(full_transactions(layout), on_doubt)
    if transactions >= FEW and NEARLY_ALL * occurrences < items < MANY_ROWS * transactions:
        ask(items_of_one_row(layout), on_doubt)


def _nearly_all(single: int, transactions: int) -> bool:
    return transactions >= FEW and single > NEARLY_ALL * transactions


def refuse_single_items(single: int, transactions: int) -> None:
    """Refuse data in which nearly every line holds one item.

    Errors:
        InputError: nearly every line holds one item.
    """
    if _nearly_all(single, transactions):
        raise InputError(
            "Nearly every line holds one item, which means a wrong separator or a long table.",
            "Give the right --separator or --format. If single items are meant, give --format basket and --separator, "
            "and --skip-lines 1 if the first line is a header.",
        )
