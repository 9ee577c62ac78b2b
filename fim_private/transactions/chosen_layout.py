"""Which layout a file is read with: what the options say, and for the rest a guess from the first lines or rows."""

from __future__ import annotations

import codecs
import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

from fim_private.errors import InputError, UsageError, check_texts, did_you_mean
from fim_private.transactions.columns.column_roles import Columns, skipped_columns, tab_if_typed
from fim_private.transactions.columns.column_table import ColumnTable
from fim_private.transactions.columns.row_filter import RowFilter
from fim_private.transactions.files.text import Text
from fim_private.transactions.formats.detection import (
    ask_about_columns,
    ask_about_others,
    detect_columnar,
    detect_text,
    like_first,
)
from fim_private.transactions.formats.doubt import OnDoubt, refuse
from fim_private.transactions.layout import FORMATS, LINE_FORMATS, Layout
from fim_private.transactions.sources.excel import KIND as EXCEL
from fim_private.transactions.sources.several import JoinedText

SAID_SEPARATOR = re.compile(r'\s*"?sep=([^"\s]|\t)"?[\s,;]*', re.IGNORECASE)


@dataclass(frozen=True, kw_only=True)
class LayoutOptions:
    """What the caller said of the layout.

    Args:
        format: a name of `FORMATS`.
        separator: what separates the fields of delimited text; None if not said.
        encoding: the encoding of text.
        columns: what was said about columns and lines.
    """

    format: str
    separator: str | None
    encoding: str
    columns: Columns

    @classmethod
    def of(
        cls,
        *,
        format: str,  # noqa: A002 - the option is called so everywhere
        separator: str | None,
        encoding: str,
        where: str | None,
        skip_columns: str | None,
        item_separator: str | None,
        **others: Any,
    ) -> LayoutOptions:
        r"""What the options of a reader say, some of which are texts: a condition, numbers, and perhaps `\t` for a tab.

        Errors:
            UsageError: an option has another type or cannot be read, or options do not go together.
        """
        names = {f"{role}_column": others.get(role) for role in ("transaction", "item", "unit")}
        check_texts(**names, where=where, skip_columns=skip_columns, item_separator=item_separator)
        columns = Columns(
            where=None if where is None else RowFilter.of(where),
            skip_columns=skipped_columns(skip_columns),
            item_separator=tab_if_typed(item_separator),
            **others,
        )
        separator = tab_if_typed(separator)
        _check_options(format, separator, columns)
        return cls(format=format, separator=separator, encoding=encoding, columns=columns)


def _check_options(format_name: str, separator: str | None, columns: Columns) -> None:
    """Refuse options that make no sense, before anything is read."""
    if format_name not in FORMATS:
        raise UsageError(
            f"There is no format {format_name!r}.",
            f"{did_you_mean(str(format_name), FORMATS)}Choose one of {', '.join(FORMATS)}.",
        )
    check_texts(separator=separator)
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
    if columns.item_separator is not None and (
        format_name in ("fimi", "one-hot", "lists") or not columns.item_separator
    ):
        raise UsageError(
            "--item-separator is for cells that hold several items, in the formats basket and long, and is not empty.",
            "Leave it out, or give --format basket or long.",
        )
    if columns.skip_columns and format_name not in ("auto", "basket", "one-hot"):
        raise UsageError(
            f"--skip-columns is for the formats basket and one-hot, not for {format_name}.",
            "Leave it out. In other tables, name the columns that you want.",
        )
    if columns.skip_columns and format_name != "one-hot" and replace(columns, unit=None).named:
        raise UsageError(
            "--skip-columns is for one-hot tables, and for lines of baskets, which have no other columns to choose "
            "from.",
            "Leave out --skip-columns, or else --where, --transaction-column and --item-column. For a one-hot table, "
            "give --format one-hot.",
        )
    if not isinstance(columns.skip_lines, int | None):
        raise UsageError("The number of lines to leave out is no whole number.", "Give --skip-lines 1, for example.")
    if columns.skip_lines is not None and columns.skip_lines < 0:
        raise UsageError("A negative number of lines cannot be left out.", "Give --skip-lines 1, for example.")
    if columns.drop_rows_without_unit and columns.unit is None:
        raise UsageError("Rows without a unit can only be dropped if there are units.", "Give --unit-column.")


def columnar_layout(table: ColumnTable, options: LayoutOptions, *, on_doubt: OnDoubt = refuse) -> Layout:
    """The layout of a table of columns, without the column names, which readers add.

    Errors:
        InputError: the format is not clear, or is one of lines of text.
        UsageError: a separator was given.
    """
    columns = options.columns
    if options.separator is not None:
        raise UsageError(f"{table.name} is a table ({table.kind}) and has no separator.", "Leave --separator out.")
    if columns.skip_lines and table.kind != EXCEL:
        raise UsageError(
            f"{table.name} is a table ({table.kind}): only lines of text and of Excel sheets are left out by number.",
            "Leave --skip-lines out. Delete lines above the names of the columns in the file.",
        )
    if options.format in LINE_FORMATS:
        raise InputError(
            f"{table.name} is a table ({table.kind}), not lines of text.",
            "Leave --format out, or choose long, lists or one-hot.",
        )
    guessed = () if options.format != "auto" else ("format",)
    found, odd = detect_columnar(table, columns) if guessed else (options.format, [])
    _refuse_lists_in(found, columns)
    if columns.skip_columns and found != "one-hot":
        raise UsageError(
            f"{table.name} is a table ({table.kind}), but not a one-hot table, whose columns are left out by number.",
            "Leave --skip-columns out, or give --format one-hot.",
        )
    layout = Layout(
        format=found,
        kind=table.kind,
        skip_columns=_numbers(columns.skip_columns),
        item_separator=columns.item_separator,
        guessed=guessed,
    )
    if guessed and found == "long":
        ask_about_columns(table, columns, layout, on_doubt)
    return ask_about_others(table.name, odd, columns, layout, on_doubt)


def _numbers(columns: Sequence[int]) -> str | None:
    return ",".join(map(str, columns)) or None


def _refuse_lists_in(found: str, columns: Columns) -> None:
    """Refuse to split cells of a format that holds no lists in cells."""
    if columns.item_separator is not None and found not in ("long", "basket"):
        raise UsageError(f"In the format {found} no cell is split into items.", "Leave --item-separator out.")


def layout_of(text: Text, options: LayoutOptions, *, on_doubt: OnDoubt = refuse) -> Layout:
    """The layout of a text, without the column names, which readers add; for "auto", guessed from the first lines.

    The lines that are left out are gone from the text afterwards.

    Errors:
        InputError: the format is not clear, or is "lists".
        UsageError: cells were to be split in a format that holds no lists in cells.
    """
    format_name, separator, columns = options.format, options.separator, options.columns
    if format_name == "lists":
        raise InputError(f"{text.name} is a text, but lists can only be read from Parquet.", "Use --format basket.")
    skipped, said = columns.skip_lines or 0, None
    if columns.skip_lines is None and format_name != "fimi":
        said = said_separator(text, format_name)
        skipped = int(said is not None)
    if said is not None and isinstance(text, JoinedText):
        raise InputError(
            f"The first line of {text.name} names a separator, and the other files may begin with an item there.",
            "If each file has such a line, give --skip-lines 1 and the --separator.",
        )
    if skipped:
        text.skip(skipped)
    if format_name == "auto":
        columns = replace(columns, skip_lines=skipped or None)
        obeyed = () if said is None else ("skip_lines",) if separator else ("separator", "skip_lines")
        layout = detect_text(text, separator=separator or said, columns=columns, obeyed=obeyed, on_doubt=on_doubt)
        _refuse_lists_in(layout.format, columns)
        if isinstance(text, JoinedText) and layout.format in LINE_FORMATS:  # the headers of tables are compared
            text.others = map(partial(like_first, layout, columns), text.others)
    else:
        layout = Layout(format=format_name, separator=None if format_name == "fimi" else separator or ",")
    return replace(
        layout,
        encoding=codecs.lookup(options.encoding).name,
        skip_lines=skipped or None,
        skip_columns=layout.skip_columns or _numbers(columns.skip_columns),
        item_separator=columns.item_separator,
    )


def said_separator(text: Text, format_name: str) -> str | None:
    """The separator in a first line such as `sep=;`, as spreadsheets write it; None if there is no such line.

    Errors:
        InputError: there is one, and the format was typed: what was typed does not depend on a line of the data.
    """
    found = SAID_SEPARATOR.fullmatch(text.head(1, 1)[0])
    if found is not None and format_name != "auto":
        raise InputError(
            f"The first line of {text.name} names a separator, as spreadsheets write it.",
            "Give --skip-lines 1 and the --separator. If the line is part of the data, give --skip-lines 0.",
        )
    return None if found is None else found[1]
