"""Reading transactions from a file of any of the formats: the one entry to this layer."""

from __future__ import annotations

from pathlib import Path
from typing import BinaryIO, cast

from fim_private.errors import InputError, UsageError, did_you_mean
from fim_private.transactions.basket import read_basket
from fim_private.transactions.columnar import ColumnTable
from fim_private.transactions.columns import Columns
from fim_private.transactions.dataset import Transactions
from fim_private.transactions.detect import Layout, detect_columnar, detect_text, separator_of
from fim_private.transactions.fimi import read_fimi
from fim_private.transactions.frames import SupportsArrow, frame_table
from fim_private.transactions.lists import read_lists
from fim_private.transactions.long import read_long_columnar, read_long_text
from fim_private.transactions.one_hot import read_one_hot_columnar, read_one_hot_text
from fim_private.transactions.parquet import ParquetTable
from fim_private.transactions.source import Progress, opened
from fim_private.transactions.table import text_table
from fim_private.transactions.text import Text

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
            "long" (one item a row), "lists" (no text: a list a row), "one-hot" (a column an item), or "auto".
        separator: of delimited text, found by itself among comma, semicolon, tab and pipe. Giving it also
            says that many transactions of a single item are meant.
        encoding: of text.
        transaction_column: long tables: which transaction a row belongs to. One-hot tables and lists: a
            column of ids to leave aside.
        item_column: long tables: the item. Lists: the column of lists.
        unit_column: whose transaction it is, for protecting a person rather than a transaction.
        drop_rows_without_unit: leave rows without a unit out and count them, instead of refusing the file.
        progress: told now and then what share of the file's bytes was read, from 0 to 1; of a path alone.

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
    transactions, layout = _read(source, format, separator, encoding, columns, progress=progress)
    if not len(transactions):
        raise InputError("No item was found in the data.", "Check the format, the columns and the separator.")
    if layout is not None and layout.format in LINE_FORMATS and separator is None:
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
) -> tuple[Transactions, Layout | None]:
    """The transactions, and the layout if they were read from text."""
    if not isinstance(source, str | Path) and (table := frame_table(source)) is not None:
        return read_columnar(table, format_name, separator, columns), None
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
                return read_columnar(parquet, format_name, separator, columns), None
            blocks = iter([content.data])
        text = Text(name=reading.name, blocks=blocks, encoding=encoding)
        layout = layout_of(text, format_name, separator, columns)
        return read_text(text, layout, columns), layout


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


def read_columnar(table: ColumnTable, format_name: str, separator: str | None, columns: Columns) -> Transactions:
    """The transactions of a Parquet file or a frame; none at all is no error."""
    chosen = columnar_layout(table, format_name, separator, columns)
    if chosen == "long":
        return read_long_columnar(table, columns)
    if chosen == "lists":
        return read_lists(table, columns)
    return read_one_hot_columnar(table, columns)


def columnar_layout(table: ColumnTable, format_name: str, separator: str | None, columns: Columns) -> str:
    """The format of a table of columns: lists, long or one-hot.

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
    return detect_columnar(table, columns) if format_name == "auto" else format_name


def layout_of(text: Text, format_name: str, separator: str | None, columns: Columns) -> Layout:
    """The layout of a text, from its first lines.

    Errors:
        InputError: signs of more than one format, or none of a separator where one is needed.
    """
    if format_name == "lists":
        raise InputError(f"{text.name} is a text, but lists are read from Parquet only.", "Use --format basket.")
    if format_name == "auto":
        return detect_text(text, separator=separator, columns=columns)
    if format_name != "fimi" and separator is None:
        separator = separator_of(text, required=format_name != "basket")
    return Layout(format=format_name, separator=separator)


def read_text(text: Text, layout: Layout, columns: Columns) -> Transactions:
    """The transactions of a text; none at all is no error."""
    if layout.separator is None:
        return read_fimi(text)
    if layout.format == "basket":
        return read_basket(text, layout.separator)
    table = text_table(text, layout.separator)
    if layout.format == "long":
        return read_long_text(table, columns)
    return read_one_hot_text(table, columns)


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
