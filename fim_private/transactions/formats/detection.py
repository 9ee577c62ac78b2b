"""Detect the format of a file from its first lines or its schema; refuse the file if the format is not clear.

The result is a guess from the data, and the layout says so.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from dataclasses import replace

from fim_private.errors import FimPrivateError, InputError
from fim_private.transactions.columns.column_names import ITEM_NAMES, TRANSACTION_NAMES
from fim_private.transactions.columns.column_roles import Columns, known_column, long_columns
from fim_private.transactions.columns.column_table import ColumnTable, looked_at
from fim_private.transactions.files.fields import HOW_TO_QUOTE, QUOTE, behind_header, split_line
from fim_private.transactions.files.text import Text
from fim_private.transactions.formats.basket_units import is_place
from fim_private.transactions.formats.cells import is_cell
from fim_private.transactions.formats.doubt import OnDoubt, ask
from fim_private.transactions.formats.line_doubts import baskets, lines_of_blanks
from fim_private.transactions.formats.lists import list_columns
from fim_private.transactions.formats.one_hot import cells_of
from fim_private.transactions.formats.signs import ENOUGH, NUMBER, NUMBERS, OFTEN, is_utility, numbered_words
from fim_private.transactions.formats.table_doubts import Sample, long_table, one_hot_table, other_columns
from fim_private.transactions.layout import Layout, typed
from fim_private.transactions.sources.excel import KIND as EXCEL

SEPARATORS = (",", ";", "\t", "|")
SAMPLE_LINES = 2000
SAMPLE_BYTES = 4 << 20
SAMPLE_ROWS = 1000
TABLE_LINES = 20
"""This many lines with the same number of fields are no accident."""

FEW_COLUMNS = 4
MOST_COLUMNS = 0.6
"""Each column is an item if at least this number of columns, and this share of them, hold quantities."""

BEHIND = "\t+(?=[,;|]|$)"
"""Tabs behind a field, which some programs write so that a spreadsheet shows every digit of a number."""

DECIMAL_COMMA = r"(?<=\d),(?=\d)"

RARE = 0.05
"""A separator in a smaller share of lines than this may be part of a name."""

NOT_READ = {
    EXCEL: " The first row of a sheet has to name the columns: give --skip-lines N if N rows of titles stand above it.",
    "frame": " The index of a pandas frame is not read: reset_index() makes it a column.",
}
"""By the kind of a table, why its columns may be other ones than they seem."""

MARKUP = {"{": "JSON", "[": "JSON or a Python list", "<": "HTML or XML"}


def detect_text(
    text: Text, *, separator: str | None, columns: Columns, obeyed: Sequence[str] = (), on_doubt: OnDoubt
) -> Layout:
    """The layout of a text in `auto` mode.

    Args:
        text: only its first lines are looked at; reading still starts with them.
        separator: as the user gave it; None to guess it too.
        columns: what the user said about columns. Naming one means that there is a header.
        obeyed: the parts of the layout that a first line such as `sep=;` said. They count as guessed.
        on_doubt: called with what looks odd about the layout that is returned.

    Errors:
        InputError: markup, a table whose columns are not well known, or signs of more than one format.
    """
    sample = text.head(SAMPLE_LINES, SAMPLE_BYTES)
    _refuse_markup(text.name, sample)
    _refuse_spmf(text.name, sample)
    guessed = ("format", *obeyed) if separator is not None else ("format", "separator")
    if separator is not None:
        _refuse_unheld(text.name, sample, separator)
    else:
        separator = find_separator(sample)
        if columns.named:
            separator = separator or (" " if columns.numbered else _no_separator(text.name))
        elif columns.skip_columns:
            separator = separator or ","
        elif separator is None:
            if 2 * sum(line.lstrip().startswith(QUOTE) for line in sample) <= len(sample):
                return _fimi(text.name, sample, columns, on_doubt)
            separator = ","
        elif separator == "\t" and all(map(NUMBERS.fullmatch, sample)) and not _ids_and_lists(sample):
            return _fimi(text.name, sample, columns, on_doubt)
        elif _share(separator, sample) < RARE or _mostly_blanks(separator, sample):
            raise InputError(
                f"{text.name} may be items separated by blanks or by another character: few lines hold one.",
                "Give --format fimi, or --format basket with --separator.",
            )
    format_name = _delimited_format(text.name, sample, separator, columns)
    layout = Layout(
        format=format_name,
        separator=separator,
        skip_lines=columns.skip_lines,
        item_separator=columns.item_separator,
        guessed=guessed,
    )
    if format_name == "long":
        _ask_about_rows(text.name, _records(sample[: SAMPLE_ROWS + 1], separator), columns, layout, on_doubt)
    if format_name == "one-hot":
        header, *body = _records(sample[: SAMPLE_ROWS + 1], separator)
        at = _items_at(header, columns)
        odd = [place for place, column in zip(at, _columns_at(body, at), strict=True) if not all(map(is_cell, column))]
        layout = ask_about_others(text.name, odd, columns, layout, on_doubt)
    if format_name == "basket":
        others = {*columns.skip_columns, *([int(columns.unit)] if columns.unit and is_place(columns.unit) else [])}
        ask(baskets(text.name, sample, _records(sample[:SAMPLE_ROWS], separator, others), layout), on_doubt)
    return layout


def like_first(layout: Layout, columns: Columns, other: Text) -> Text:
    """The text of another file, whose first lines must look like the layout that was guessed from the first file.

    Errors:
        InputError: they look like another one, so its lines would be read as what they are not.
    """
    other.head(SAMPLE_LINES, SAMPLE_BYTES)  # a file that cannot be read says so itself
    try:
        found = detect_text(other, separator=layout.separator, columns=columns, on_doubt=lambda _doubt: None).format
    except InputError:
        found = None
    if found != layout.format:
        raise InputError(
            f"{other.name} looks unlike the first file, which is read as {layout.describe()}.",
            f"Give files of the same layout. If they are, give {typed(layout.guesses())}.",
        )
    return other


def _refuse_unheld(name: str, sample: Sequence[str], separator: str) -> None:
    """Refuse a separator that no line holds, or a comma that only numbers hold, if another is in nearly all lines."""
    held = any(separator in line for line in _bare(sample))
    bare = [re.sub(DECIMAL_COMMA, "", line) for line in _bare(sample)] if separator == "," else _bare(sample)
    other = None if any(separator in line for line in bare) else find_separator(bare)
    if other is None or _share(other, bare) < ENOUGH or (held and len({line.count(other) for line in bare}) > 1):
        return
    shown = r"\t" if other == "\t" else other
    where = "only between digits, as in 2,50" if held else "in none"
    raise InputError(
        f"{name} holds '{shown}' in nearly all lines, and the separator to read it with {where}.",
        f"Give --separator '{shown}'. If the other one is right, give --format basket too.",
    )


def _fimi(name: str, sample: Sequence[str], columns: Columns, on_doubt: OnDoubt) -> Layout:
    layout = Layout(format="fimi", skip_lines=columns.skip_lines, guessed=("format",))
    ask(lines_of_blanks(name, sample, layout), on_doubt)
    return layout


def _ask_about_rows(name: str, records: list[list[str]], columns: Columns, layout: Layout, on_doubt: OnDoubt) -> None:
    """Ask about the first rows of a text that is a long table. What cannot be read is left to the reader to refuse."""
    header = [str(number) for number in range(1, len(records[0]) + 1)] if columns.numbered else records.pop(0)
    whole = [record for record in records if len(record) == len(header)]
    if whole:
        ask_about_table(name, list(zip(header, zip(*whole, strict=True), strict=True)), columns, layout, on_doubt)


def ask_about_columns(table: ColumnTable, columns: Columns, layout: Layout, on_doubt: OnDoubt) -> None:
    """Ask about the first rows of a long table of columns, as `ask_about_table` does."""
    header = list(table.schema())
    first = map(looked_at, table.columns(header, rows=SAMPLE_ROWS))
    cells = [None if column is None else column.fill_null("").str.strip_chars().to_list() for column in first]
    ask_about_table(table.name, list(zip(header, cells, strict=True)), columns, layout, on_doubt)


def ask_about_table(
    name: str,
    cells: Sequence[tuple[str, Sequence[str] | None]],
    columns: Columns,
    layout: Layout,
    on_doubt: OnDoubt,
) -> None:
    """Ask about the first rows of a long table whose format was guessed.

    The cells of each column follow its name, and are stripped; None stands for a column of other values.
    """
    try:
        found = long_columns([header for header, _ in cells], columns)
    except FimPrivateError:  # the reader refuses it too, and says more
        return
    if any(cells[at][1] is None for at in found.all):
        return
    sample = Sample(name=name, header=[head for head, _ in cells], columns=[column for _, column in cells], found=found)
    if columns.transaction is None and columns.item is None:
        ask(one_hot_table(sample, layout), on_doubt)
    ask(long_table(sample, layout, headerless=columns.numbered, known=columns.transaction is None), on_doubt)


def ask_about_others(name: str, odd: Sequence[int], columns: Columns, layout: Layout, on_doubt: OnDoubt) -> Layout:
    """The layout of a one-hot table without the columns at these places, which are asked about."""
    if not odd:
        return layout
    skipped = ",".join(map(str, sorted({*columns.skip_columns, *(at + 1 for at in odd)})))
    layout = replace(layout, skip_columns=skipped, guessed=(*layout.guessed, "skip_columns"))
    ask(other_columns(name, [at + 1 for at in odd], layout), on_doubt)
    return layout


def _items_at(header: Sequence[str], columns: Columns) -> list[int]:
    """The places of the columns that were neither named nor left out."""
    return [at for at, n in enumerate(header) if not _is_named(n, columns) and at + 1 not in columns.skip_columns]


def _records(sample: Sequence[str], separator: str, others: Collection[int] = ()) -> list[list[str]]:
    """The fields of each line except those with these numbers, without lines whose quotes are broken."""
    records = (split_line(line, separator) for line in sample)
    return [
        [field.strip() for number, field in enumerate(record, 1) if number not in others]
        for record in records
        if record is not None
    ]


def find_separator(sample: Sequence[str]) -> str | None:
    """Which of `SEPARATORS` most lines hold outside quotes; None if no line holds any."""
    bare = _without_tabs_behind(_bare(sample, QUOTE))

    def weight(mark: str) -> tuple[int, bool, int]:
        counts = [line.count(mark) for line in bare]
        return len(counts) - counts.count(0), len(set(counts)) == 1, sum(counts)

    best = max(SEPARATORS, key=weight)
    return best if weight(best)[0] else None


def detect_columnar(table: ColumnTable, columns: Columns) -> tuple[str, list[int]]:
    """The format of a table of columns in `auto` mode: lists, long or one-hot with its `_odd_columns`.

    Errors:
        InputError: it is not clear which of them it is.
    """
    schema = table.schema()
    lists = list_columns(schema)
    if columns.item is not None:
        wanted = columns.item.strip().casefold()
        return "lists" if wanted in [name.strip().casefold() for name in lists] else "long", []
    if lists:
        return "lists", []
    header = list(schema)
    if known_column(header, ITEM_NAMES) is not None and (
        columns.transaction is not None or known_column(header, TRANSACTION_NAMES) is not None
    ):
        return "long", []
    items = _items_at(header, columns)
    if items and not any(schema[header[at]].is_nested() for at in items):
        odd = _odd_columns(table, header, items)
        if len(odd) <= (1 - MOST_COLUMNS) * len(items):
            return "one-hot", odd
    raise InputError(
        f"{table.name} is a table without lists, well-known columns or one-hot cells.",
        "Give --transaction-column and --item-column for one item per row, also --item-separator if a cell holds a "
        "list of items; or --format one-hot. If each row is a transaction and each cell an item, save the table as "
        f"CSV.{NOT_READ.get(table.kind, '')}",
    )


def _odd_columns(table: ColumnTable, header: Sequence[str], at: Sequence[int]) -> list[int]:
    """Which of the columns at these places do not only hold yes and no."""
    cells = table.columns([header[place] for place in at], rows=SAMPLE_ROWS)
    return [place for place, column in zip(at, cells, strict=True) if cells_of(column)[1] is not None]


def _refuse_markup(name: str, sample: Sequence[str]) -> None:
    if any(line[:9].casefold() == "@relation" for line in sample):
        raise InputError(
            f"{name} looks like a file of Weka (ARFF).",
            "Save it as CSV, with the names of its columns in the first line.",
        )
    start = sample[0].lstrip()[0]
    kind, reader = MARKUP.get(start), {"{": "read_ndjson", "[": "read_json"}.get(start)
    if kind is not None:
        by_polars = "" if reader is None else f" (in Python, polars.{reader}(...).write_parquet(...) does)"
        raise InputError(
            f"{name} looks like {kind}.",
            f"Save it as CSV or Parquet{by_polars}, or write one transaction per line with commas between items. If it "
            "is written so, give --format basket. "
            r"If each line is a list in brackets, give --format basket --separator '\t' --item-separator , (and \u00e9 "
            "stays as it is written).",
        )


def _refuse_spmf(name: str, sample: Sequence[str]) -> None:
    """Refuse two formats of the library SPMF: item names above the data, and sequences with their end marks -1, -2."""
    if sample[0].startswith(("@CONVERTED_FROM_TEXT", "@ITEM=")):
        raise InputError(
            f"{name} looks like an SPMF database that begins with the names of its items.",
            "Delete the lines that begin with @; items are then numbers. --format fimi reads those lines as items.",
        )
    if is_utility(sample):
        raise InputError(
            f"{name} looks like SPMF transactions with utilities, where only the numbers before the colon are items.",
            "Write one transaction per line without utilities. --format fimi reads them as items.",
        )
    if all(line.split()[-1:] in (["-2"], []) for line in sample):
        raise InputError(
            f"{name} looks like SPMF sequences, where -1 and -2 mark ends and are not items.",
            "Write one transaction per line without them. --format fimi reads them as items.",
        )


def _no_separator(name: str) -> str:
    raise InputError(
        f"No separator was found in the first lines of {name}, so it has no columns to name.",
        "Give it with --separator, or leave the options for columns out.",
    )


def _bare(sample: Sequence[str], instead: str = "") -> list[str]:
    return [re.sub(f"{QUOTE}[^{QUOTE}]*{QUOTE}", instead, line) if QUOTE in line else line for line in sample]


def _without_tabs_behind(sample: list[str]) -> list[str]:
    """The lines without tabs behind fields, if all tabs are such and another separator is there."""
    bare = [re.sub(BEHIND, "", line) for line in sample]
    tabs_separate = any("\t" in line for line in bare) or not any(mark in line for line in bare for mark in ",;|")
    return sample if tabs_separate else bare


def _share(mark: str, sample: Sequence[str]) -> float:
    return sum(mark in line for line in _bare(sample)) / len(sample)


def _mostly_blanks(mark: str, sample: Sequence[str]) -> bool:
    """Whether most lines do without the separator, and most of those hold blanks: it may be part of names."""
    without = [line for line in _bare(sample) if mark not in line]
    return 2 * len(without) > len(sample) and 2 * sum(" " in line.strip() for line in without) > len(without)


def _ids_and_lists(sample: Sequence[str]) -> bool:
    """Whether each line of numbers is an id, a tab, and often a list with blanks."""
    return all(line.count("\t") == 1 for line in sample) and _share(" ", sample) >= OFTEN


def _delimited_format(name: str, sample: Sequence[str], separator: str, columns: Columns) -> str:
    header = _fields(name, sample[0], separator)
    body: list[list[str]] = []
    # Most baskets differ in length within the first few lines, so reading can stop there.
    for line in sample[1:] if len(header) >= 2 else ():
        body.append(_fields(name, line, separator))
        if len(body[-1]) != len(header):
            break
    rectangular = len(header) >= 2 and all(len(record) == len(header) for record in body[-1:])
    at = _items_at(header, columns)
    names, cells = [header[place] for place in at], _columns_at(body, at) if rectangular else []
    if columns.skip_columns:
        return "one-hot" if _is_one_hot(names, cells) else "basket"
    if columns.named:
        return _format_with_columns(name, header, columns, separator, names=names, cells=cells)
    if known_column(header, TRANSACTION_NAMES) is not None and known_column(header, ITEM_NAMES) is not None:
        if rectangular:
            return "long"
        above = str((columns.skip_lines or 0) + 1)
        baskets_below = _given("basket", separator, skip_lines=above, skip_columns="1")
        raise InputError(
            f"{name} starts with the header of a long table, but its lines differ in number of fields.",
            f"{behind_header(header, body[-1])}Delete lines that are no rows, such as comments and totals, and quote "
            "fields that hold the separator. If each line holds an id and the items of a transaction, give "
            f"{baskets_below}.",
        )
    if _is_one_hot(names, cells):
        return "one-hot"
    if rectangular and _looks_nearly_one_hot(header, body):
        raise _nearly_one_hot(name, separator)
    rectangular = rectangular and not numbered_words(header)
    if rectangular and _repeats_known_name(header):
        raise InputError(
            f"{name} has two columns of the same name.",
            f"If one of them is needed, rename it in the first line. {_table_or_baskets(separator)}",
        )
    if known_column(header, (*TRANSACTION_NAMES, *ITEM_NAMES)) is not None and rectangular:
        raise InputError(
            f"{name} starts with a well-known column name, but not with one for transactions and one for items.",
            _table_or_baskets(separator),
        )
    if rectangular and _looks_like_table(header, body):
        raise InputError(f"{name} looks like a table with a header.", _table_or_baskets(separator))
    return "basket"


def _repeats_known_name(header: list[str]) -> bool:
    """Whether one name stands above two columns, and some other is a well-known name of a transaction."""
    return len(set(header)) < len(header) and known_column(header, TRANSACTION_NAMES) is not None


def _format_with_columns(
    name: str, header: list[str], columns: Columns, separator: str, *, names: list[str], cells: list[list[str]]
) -> str:
    by_place = is_place(columns.unit) and columns.unit not in header
    if by_place and not columns.numbered and not replace(columns, unit=None).named:
        return "basket"
    if columns.item is None and cells:
        known = known_column(header, ITEM_NAMES) is not None
        if _looks_one_hot(names, cells) if known else _is_one_hot(names, cells):
            return "one-hot"
        if not known and _looks_nearly_one_hot(names, [*zip(*cells, strict=True)]):
            raise _nearly_one_hot(name, separator)
    return "long"


def _table_or_baskets(separator: str) -> str:
    """What to give for a table of unknown columns.

    Without --format long: that would settle every doubt, such as lists in cells.
    """
    return (
        "If one column names the transaction, or several together as in customer,date, and another its item or items, "
        "give --transaction-column and --item-column. If each column is an item, give "
        f"{_given('one-hot', separator)}. If each line is a transaction and each field an item, give "
        f"{_given('basket', separator)}. Add --skip-lines 1 if the first line is a header, and --skip-columns for "
        "fields that are not items. If the columns are properties, first name them in each field, as in sex=f,age=30."
    )


def _given(format_name: str, separator: str, **more: str) -> str:
    """Options as they are typed. The separator is one of them: without it a typed format would mean commas."""
    return typed({"format": format_name, "separator": r"\t" if separator == "\t" else separator, **more})


def _nearly_one_hot(name: str, separator: str) -> InputError:
    return InputError(
        f"{name} looks like a one-hot table, but some columns or cells hold other words.",
        f"Give {_given('one-hot', separator)}. Leave out columns that are not items, as in --skip-columns 1,2 "
        "(customers may still be given by --unit-column). If other cells hold quantities, first replace those above 1 "
        "by 1.",
    )


def _fields(name: str, line: str, separator: str) -> list[str]:
    fields = split_line(line, separator)
    if fields is None:  # no format with a separator allows this
        raise InputError(f"One of the first lines of {name} has unbalanced quotes.", HOW_TO_QUOTE)
    return [field.strip() for field in fields]


def _is_named(field: str, columns: Columns) -> bool:
    filtered = () if columns.where is None else columns.where.columns
    named = [name.strip().casefold() for name in (columns.transaction, columns.unit, *filtered) if name is not None]
    return field.strip().casefold() in named


def _columns_at(body: Sequence[Sequence[str]], at: Sequence[int]) -> list[list[str]]:
    return [[record[place] for record in body] for place in at]


def _is_one_hot(header: list[str], columns: list[list[str]]) -> bool:
    """Whether most columns that hold anything look like a one-hot table, whatever the others are."""
    held = [pair for pair in zip(header, columns, strict=False) if any(pair[1])]
    flags = [pair for pair in held if all(map(is_cell, pair[1]))]
    return len(flags) >= MOST_COLUMNS * len(held) and _looks_one_hot([n for n, _ in flags], [c for _, c in flags])


def _looks_one_hot(header: list[str], body: Sequence[Sequence[str]]) -> bool:
    """Whether every cell means yes or no, below distinct names that are not words for yes or no themselves.

    Names may be numbers such as 1. Then there must be more columns than words in the cells, so that some words repeat:
    such lines are not baskets.
    """
    words = {field for record in body for field in record} - {""}
    if not words or not all(is_cell(word) for word in words) or len(set(header)) < len(header) or "" in header:
        return False
    return not any(is_cell(field) for field in header) or len(header) > len(words)


def _looks_nearly_one_hot(header: list[str], body: Sequence[Sequence[str]]) -> bool:
    """Whether a column for each item is likely, though some cells say more than yes or no."""
    return _mostly_cells(header, body) or _holds_quantities(header, body)


def _mostly_cells(header: list[str], body: Sequence[Sequence[str]]) -> bool:
    """Whether most fields mean yes or no, and no field of the first line does."""
    fields = [field for record in body for field in record]
    cells = sum(is_cell(field) and field != "" for field in fields)
    return not any(is_cell(field) and field for field in header) and cells > 0.6 * len(fields)


def _holds_quantities(header: list[str], body: Sequence[Sequence[str]]) -> bool:
    """Whether most columns hold numbers or nothing, mostly nothing and with gaps, as a pivot table of quantities does.

    Baskets of numbers that are filled up with blanks have no gaps before a number.
    """
    # Some items may be named by numbers. A line of numbers alone is no header.
    numbers = sum(NUMBER.fullmatch(name) is not None for name in header)
    if len(header) < FEW_COLUMNS or len(body) + 1 < TABLE_LINES or 2 * numbers > len(header):
        return False
    columns = list(zip(*body, strict=True))
    sparse = [column for column in columns if "" in column and all(not f or NUMBER.fullmatch(f) for f in column)]
    filled = sum(field != "" for column in sparse for field in column)
    gaps = sum("" in record[: max(at for at, field in enumerate(record) if field)] for record in body if any(record))
    return (
        len(sparse) >= MOST_COLUMNS * len(header) and 0 < filled < len(body) * len(sparse) / 2 and 2 * gaps > len(body)
    )


def _looks_like_table(header: list[str], body: list[list[str]]) -> bool:
    """Whether the first line is a header: its words are new, and below no field is empty or some column is numeric."""
    if len(body) + 1 < TABLE_LINES or any(not field or NUMBER.fullmatch(field) for field in header):
        return False
    fields = {field for record in body for field in record}
    if not fields.isdisjoint(header):
        return False
    numeric = any(all(not field or NUMBER.fullmatch(field) for field in column) for column in zip(*body, strict=True))
    return "" not in fields or numeric
