"""Reading transactions from a file of any of the formats: the one entry to this layer."""

from __future__ import annotations

import codecs
from dataclasses import replace
from pathlib import Path
from typing import BinaryIO, cast

from fim_private.errors import InputError, UsageError, did_you_mean
from fim_private.transactions.column_roles import Columns
from fim_private.transactions.column_table import ColumnTable
from fim_private.transactions.dataset import Transactions
from fim_private.transactions.detection import SEPARATORS, detect_columnar, detect_text
from fim_private.transactions.formats.basket import read_basket
from fim_private.transactions.formats.fimi import read_fimi
from fim_private.transactions.formats.lists import read_lists
from fim_private.transactions.formats.long import read_long_columnar, read_long_text
from fim_private.transactions.formats.one_hot import read_one_hot_columnar, read_one_hot_text
from fim_private.transactions.frames import SupportsArrow, frame_table
from fim_private.transactions.layout import Layout, spoken
from fim_private.transactions.parquet import ParquetTable
from fim_private.transactions.source import Progress, opened
from fim_private.transactions.text import Text
from fim_private.transactions.text_table import TextTable, text_table

FORMATS = ("auto", "fimi", "basket", "long", "lists", "one-hot")
LINE_FORMATS = ("fimi", "basket")

FEW = 20
NEARLY_ALL = 0.95
"""With at least so many transactions, more than this share of single items means a wrong separator."""


def read_transactions(
    source: str | Path | BinaryIO | SupportsArrow,
    *,
    format: str = "auto",  # noqa: A002 - the option is called so everywhere
    separator: str | None = None,
    encoding: str = "utf-8",
    transaction_column: str | None = None,
    item_column: str | None = None,
    unit_column: str | None = None,
    drop_rows_without_unit: bool = False,
    progress: Progress | None = None,
) -> Transactions:
    r"""Read a file or a frame of transactions; what was read and what was dropped stands in the `notes` of the result.

    Args:
        source: a path, "-" for standard input, or an open binary file; gzip is undone. Or a frame of Polars or pandas,
            an Arrow table, or what else hands over Arrow data: long, lists or one-hot.
        format: "fimi" (items between blanks), "basket" (names between separators, one transaction a line),
            "long" (one item a row), "lists" (no text: a list a row), "one-hot" (a column an item), or "auto", which
            guesses from the first lines or rows.
        separator: of delimited text: a comma unless given; "auto" guesses among comma, semicolon, tab and pipe. Giving
            it also says that many transactions of a single item are meant.
        encoding: of text.
        transaction_column: long tables: which transaction a row belongs to. One-hot tables and lists: a
            column of ids to leave aside.
        item_column: long tables: the item. Lists: the column of lists.
        unit_column: whose transaction it is, for protecting a person rather than a transaction.
        drop_rows_without_unit: leave rows without a unit out and count them, instead of refusing the file.
        progress: told now and then what share of the file's bytes was read, from 0 to 1; of a path alone.

    Privacy: how a transaction is read depends on the layout (`notes.layout`) and on nothing of the others. What of the
    layout is not given here is guessed from the data, and then public: see `Layout`. A refusal may depend on all
    transactions; it is for whoever holds the data.

    Errors:
        InputError: the file cannot be read, or is not what the call says it is. No message holds data.
        UsageError: options that do not go together.

    Cost: text is read in one pass, some mebibytes at a time. Lines of transactions take 4 bytes for each occurrence of
    an item, as much again on the way, 8 for each transaction, and the names. Tables whose rows are not in the order of
    their transactions are sorted, which takes 16 bytes more for each occurrence. Parquet is loaded whole. Never
    transactions times items.
    """
    columns = Columns(
        transaction=transaction_column,
        item=item_column,
        unit=unit_column,
        drop_rows_without_unit=drop_rows_without_unit,
    )
    separator = "\t" if separator == r"\t" else separator
    check_options(format, separator, columns)
    transactions = _read(source, format, separator, encoding, columns, progress=progress)
    if not len(transactions):
        raise InputError("No item was found in the data.", "Check the format, the columns and the separator.")
    if transactions.notes.layout.format in LINE_FORMATS and separator is None:
        refuse_single_items(int((transactions.lengths() == 1).sum()), len(transactions))
    return transactions


def _read(
    source: str | Path | BinaryIO | SupportsArrow,
    format_name: str,
    separator: str | None,
    encoding: str,
    columns: Columns,
    *,
    progress: Progress | None,
) -> Transactions:
    if not isinstance(source, str | Path) and (table := frame_table(source)) is not None:
        return read_columnar(table, columnar_layout(table, format_name, separator, columns), columns)
    if not isinstance(source, str | Path) and not hasattr(source, "read"):
        raise UsageError(
            "Transactions cannot be read from this kind of value.",
            "Give a path, an open file or a frame; for Python lists there is transactions_from_lists.",
        )
    with opened(cast(str | Path | BinaryIO, source), progress) as reading:
        blocks = reading.blocks()
        if reading.may_be_parquet:
            content = reading.content()
            if content.is_parquet:
                parquet = ParquetTable(content=content)
                parquet.refuse_hostile()
                return read_columnar(parquet, columnar_layout(parquet, format_name, separator, columns), columns)
            blocks = iter([content.data])
        text = Text(name=reading.name, blocks=blocks, encoding=encoding)
        return read_text(text, layout_of(text, format_name, separator, encoding, columns), columns)


def check_options(format_name: str, separator: str | None, columns: Columns) -> None:
    """Refuse what cannot be meant, before anything is read.

    Errors:
        UsageError: an unknown format, or options that do not go together.
    """
    if format_name not in FORMATS:
        raise UsageError(
            f"There is no format {format_name!r}.",
            f"{did_you_mean(format_name, FORMATS)}Choose one of {', '.join(FORMATS)}.",
        )
    if separator is not None and (not separator or set(separator) & set('"\r\n')):
        raise UsageError(
            "The separator is empty, or holds a quote or a line end.",
            "Give another character, such as a comma.",
        )
    if format_name in LINE_FORMATS:
        columns.refuse_for(format_name)
    if format_name == "fimi" and separator is not None:
        raise UsageError(
            "FIMI items are separated by blanks, whatever --separator says.",
            "Leave --separator out, or use --format basket.",
        )
    if columns.drop_rows_without_unit and columns.unit is None:
        raise UsageError("Rows without a unit can only be dropped if there are units.", "Give --unit-column.")


def read_columnar(table: ColumnTable, layout: Layout, columns: Columns) -> Transactions:
    """The transactions of a Parquet file or a frame; none at all is no error."""
    if layout.format == "long":
        return read_long_columnar(table, layout, columns)
    if layout.format == "lists":
        return read_lists(table, layout, columns)
    return read_one_hot_columnar(table, layout, columns)


def columnar_layout(table: ColumnTable, format_name: str, separator: str | None, columns: Columns) -> Layout:
    """The layout of a table of columns, lists, long or one-hot, without the names of columns that readers add.

    Errors:
        InputError: it is none of them for sure.
        UsageError: a separator was given.
    """
    if separator is not None:
        raise UsageError(f"{table.name} is a {table.kind} table and has no separator.", "Leave --separator out.")
    if format_name in LINE_FORMATS:
        raise InputError(
            f"{table.name} is a {table.kind} table, not lines of text.",
            "Leave --format out, or choose long, lists or one-hot.",
        )
    if format_name == "auto":
        return Layout(format=detect_columnar(table, columns), kind=table.kind, guessed=("format",))
    return Layout(format=format_name, kind=table.kind)


def layout_of(text: Text, format_name: str, separator: str | None, encoding: str, columns: Columns) -> Layout:
    """The layout of a text, without the names of columns that readers add: as typed; of "auto", from its first lines.

    Errors:
        InputError: signs of more than one format.
    """
    if format_name == "lists":
        raise InputError(f"{text.name} is a text, but lists are read from Parquet only.", "Use --format basket.")
    if format_name == "auto":
        layout = detect_text(text, separator=separator, columns=columns)
    else:
        layout = Layout(format=format_name, separator=None if format_name == "fimi" else separator or ",")
    return replace(layout, encoding=codecs.lookup(encoding).name)


def read_text(text: Text, layout: Layout, columns: Columns) -> Transactions:
    """The transactions of a text; none at all is no error."""
    if layout.separator is None:
        return read_fimi(text, layout)
    if layout.format == "basket":
        return read_basket(text, layout)
    text.head(1, 1)  # which refuses a text of blanks, of whatever kind
    table = text_table(text, layout.separator)
    _refuse_one_column(table, layout)
    if layout.format == "long":
        return read_long_text(table, layout, columns)
    return read_one_hot_text(table, layout, columns)


def _refuse_one_column(table: TextTable, layout: Layout) -> None:
    """Refuse a header that the separator does not divide, though it has to be divided or another mark does it."""
    if len(table.header) == 1 and (layout.format == "long" or any(mark in table.header[0] for mark in SEPARATORS)):
        raise InputError(
            f"The header of {table.name} is a single column if columns are separated by {spoken(table.separator)}.",
            "Give the right --separator.",
        )


def refuse_single_items(single: int, transactions: int) -> None:
    """Refuse lines nearly all of which hold one item.

    Args:
        single: the number of transactions of one item.
        transactions: the number of all.

    Errors:
        InputError: so it is.
    """
    if transactions >= FEW and single > NEARLY_ALL * transactions:
        raise InputError(
            "Nearly every line holds one item, which means a wrong separator or a long table.",
            "Give the right --separator or --format; --format basket with --separator insists on them.",
        )
