"""What looks odd in data whose format was guessed: a file may be read without error and still be read wrong.

A doubt looks at the first lines and at the names of all items. It is for the curator, as every refusal is, and shows no
data. A format that was typed settles all doubts: the data is then read as the format says.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain, groupby
from typing import NoReturn

import polars as pl

from fim_private.errors import InputError
from fim_private.transactions.columns.column_names import ITEM_NAMES, TRANSACTION_NAMES, UNIT_NAMES, plain
from fim_private.transactions.columns.column_roles import LongColumns, known_column
from fim_private.transactions.formats.cells import is_cell
from fim_private.transactions.layout import Layout, typed

Record = Sequence[str]
"""The stripped fields of a line."""

SOME = 5
"""Fewer lines show no pattern."""

MANY = 20
"""In this many lines, names that never meet are no accident."""

FEW_NEW = 0.01
"""The largest share of other lines that hold only names of their own, if such a first line is to be noticed."""

ENOUGH = 0.9
"""A share of lines that counts as all lines, so that a stray line hides nothing."""

NUMBER = re.compile(r"[-+]?[0-9]+([.,][0-9]+)*")
DAY = re.compile(r"[0-9]{4}[-/.][0-9]{1,2}[-/.][0-9]{1,2}|[0-9]{1,2}[-/.][0-9]{1,2}[-/.][0-9]{2,4}")
DATE = re.compile(rf"({DAY.pattern})([ T].*)?")
"""A day, perhaps with a time."""
BRACKETED = re.compile(r"\[.*\]|\{.*\}", re.DOTALL)
LIST_MARKS = (",", ";", "|")
OFTEN = 0.2
"""A mark in this share of cells, each of a transaction of its own, separates items."""

COMMENT = re.compile(r"\s*(#|%|//)[^0-9]")  # "#10 envelopes" may be an item
WORD = re.compile(r"(?<!\S)[^\s\d]+(?!\S)")
WORDS = re.compile(r"\D*")
NUMBERS = re.compile(r"[\d\s]*")
SPOILT = r"^[0-9]([.,][0-9]+)?E\+[0-9]+$"
"""A long number that a spreadsheet rounded, such as 5.36365E+08."""

UTILITIES = re.compile(r"\s*[0-9]+(\s+[0-9]+)*:[0-9.]+:[0-9.]+(\s+[0-9.]+)*\s*")


@dataclass(frozen=True)
class Way:
    """A way to settle a doubt.

    Args:
        said: what to do; with options, the words before them.
        options: what to give, by names with underscores. There are none if the file has to be changed, or if only the
            curator knows what to give.
    """

    said: str
    options: Mapping[str, str] = field(default_factory=dict)

    def __str__(self) -> str:
        return f"{self.said} {typed(self.options)}." if self.options else self.said


@dataclass(frozen=True, kw_only=True)
class Doubt:
    """Something that looks odd, and the options that settle it.

    Args:
        what: what looks odd, in one sentence that shows no data.
        instead: what to give if the data means something else than what was read.
        stays: what to give if it was read as it is meant.
    """

    what: str
    instead: Way
    stays: Way

    def __str__(self) -> str:
        return f"{self.what} {self.instead} {self.stays}"


OnDoubt = Callable[[Doubt], None]


def refuse(doubt: Doubt) -> NoReturn:
    """Raise the doubt as an error.

    Errors:
        InputError: always.
    """
    raise InputError(doubt.what, f"{doubt.instead} {doubt.stays}")


def ask(doubt: Doubt | None, on_doubt: OnDoubt) -> None:
    """Hand a doubt on, if there is one."""
    if doubt is not None:
        on_doubt(doubt)


def lines_of_blanks(name: str, lines: Sequence[str], layout: Layout) -> Doubt | None:
    """What is odd in the first lines of a text that was guessed to be FIMI."""
    stays = Way("If each line is a transaction with blanks between items, give", layout.guesses())
    if _is_comment(lines[0]):
        return _first_line(name, stays)
    records = [line.split() for line in lines]
    width = len(records[0])
    if width in (2, 3) and (_is_long(records) or (width == 3 and _is_long([record[1:] for record in records]))):
        return _long(name, width, stays)
    counted = _counted(records)
    if counted is not None:
        numbers = ",".join(map(str, range(1, counted + 1)))
        return Doubt(
            what=f"In {name} field {counted} of each line is the number of fields after it.",
            instead=Way("If the fields up to it are no items, give", {"separator": " ", "skip_columns": numbers}),
            stays=stays,
        )
    if len(lines) > SOME and WORDS.fullmatch(lines[0]) and all(map(NUMBERS.fullmatch, lines[1:])):
        return _first_line(name, stays)
    several = sum(len(line.split(None, 1)) > 1 for line in lines)
    if sum(WORD.search(line) is not None and len(line.split(None, 1)) > 1 for line in lines) > (1 - ENOUGH) * several:
        return Doubt(
            what=f"{name} holds words with blanks between them, which may be parts of one name.",
            instead=Way(
                "If each line is a single item or a name may hold blanks, give", {"format": "basket", "separator": ","}
            ),
            stays=stays,
        )
    return None


def baskets(name: str, lines: Sequence[str], records: Sequence[Record], layout: Layout) -> Doubt | None:
    """What is odd in the first lines of a text that was guessed to be basket CSV."""
    stays = Way("If each line is a transaction and each field an item, give", layout.guesses())
    if len(records) >= SOME and sum(_is_framed(record) for record in records) >= ENOUGH * len(records):
        return Doubt(
            what=f"Each line of {name} begins and ends with the separator, as a printed table does.",
            instead=_numbered(2, 3),
            stays=stays,
        )
    above = 1 if _is_comment(lines[0]) else _lines_above(records)
    if above:
        return _first_line(name, stays, above)
    records = [record for record in records if record]  # without its unit a line may hold nothing
    if not records:
        return None
    widths = {len(record) for record in records}
    mark = None if layout.item_separator is not None else _mark_in_last(records)
    if mark is not None:
        numbers = {"transaction_column": "1", "item_column": "2"} if widths == {2} else {}
        return _lists(name, {**numbers, "item_separator": mark}, stays)
    what = _leading_column(records)
    one_each = what is not None and widths == {2} and len({record[0] for record in records}) < len(records)
    if 1 not in widths and (_is_long(records) or one_each):
        return _long(name, len(records[0]), stays)
    return _first_fields(name, records, what, stays)


def _first_fields(name: str, records: Sequence[Record], what: str | None, stays: Way) -> Doubt | None:
    """What is odd about the fields that each line begins with, where `what` is known of the first alone."""
    if _has_colons(records):
        return Doubt(
            what=f"In {name} the first field of each line holds a colon, as between an id and the first item.",
            instead=Way("If so, write a separator in place of that colon, and leave the id out with --skip-columns 1."),
            stays=stays,
        )
    if what is None:
        return _number_columns(name, records, stays)
    return Doubt(
        what=f"In {name} the first field of each line {what}.",
        instead=Way("If it is no item, leave it out with", {"skip_columns": "1"}),
        stays=stays,
    )


@dataclass(frozen=True, kw_only=True)
class Sample:
    """The first rows of a long table.

    Args:
        name: of the file, for messages.
        header: the names of the columns.
        columns: the stripped cells of each column, of equal number; None for a column that holds no plain values.
        found: which columns say what.
    """

    name: str
    header: Sequence[str]
    columns: Sequence[Record | None]
    found: LongColumns

    def column(self, at: int) -> Record:
        """The cells of a column."""
        return self.columns[at] or ()


def one_hot_table(sample: Sample, layout: Layout) -> Doubt | None:
    """Whether a table that was guessed to be long, by names of columns, seems to have a column for each item."""
    found = sample.found
    others = [column for at, column in enumerate(sample.columns) if at not in found.all]
    flags = sum(bool(column) and all(map(is_cell, column or ())) for column in others)
    items = sample.column(found.item)
    if not items or not all(map(is_cell, items)) or flags < 2 or 2 * flags < len(others):
        return None
    (transaction,) = found.transaction
    return Doubt(
        what=f"In {sample.name} the item column holds only 0 and 1, as do others, so each column may be an item.",
        instead=Way("If so, give", {"format": "one-hot", "transaction_column": sample.header[transaction].strip()}),
        stays=Way("If that column names the items, give", layout.guesses()),
    )


def long_table(sample: Sample, layout: Layout, *, headerless: bool, known: bool) -> Doubt | None:
    """What is odd in the first rows of a long table whose format was guessed.

    Args:
        sample: the first rows.
        layout: of the table.
        headerless: whether the first row is no header.
        known: whether the transaction column was taken for its name alone.
    """
    found = sample.found
    stays = Way("If they are meant, give", layout.guesses())
    items, ids = sample.column(found.item), list(zip(*map(sample.column, found.transaction), strict=True))
    if headerless and items and all(map(_is_column_word, (items[0], *ids[0]))):
        return _first_line(sample.name, Way("If it is part of the data, give", layout.guesses()))
    identities = [at for at in found.all if at != found.item]
    for at in identities:
        doubt = spoilt(pl.Series(sample.column(at), dtype=pl.String), "transactions or units", stays)
        if doubt is not None:
            return doubt
    once = len(set(ids)) == len(ids)
    if known and len(ids) >= SOME and not once and all(DAY.fullmatch(cell) for (cell,) in ids):
        return Doubt(
            what=f"The transaction column of {sample.name} holds dates, so all rows of one day are one transaction.",
            instead=Way(
                "If another column tells transactions apart, name it with --transaction-column, or several, as in "
                "InvoiceNo,Date."
            ),
            stays=stays,
        )
    mark = _list_mark(items, once=once) if layout.item_separator is None else None
    if mark is not None:
        return _lists(
            sample.name,
            {"item_separator": mark},
            Way("If each cell is one item, give", layout.guesses()),
        )
    return None


def is_utility(lines: Sequence[str]) -> bool:
    """Whether the lines are transactions of SPMF with utilities: items, their sum, and the utility of each item."""
    return all(UTILITIES.fullmatch(line) for line in lines)


def item_names(layout: Layout, names: pl.Series) -> Doubt | None:
    """What is odd in the names of all items."""
    stays = Way("If they are meant, give", layout.guesses())
    if layout.format == "long" and not layout.headerless and layout.item_column in names:
        return Doubt(
            what="A row holds the name of the item column as an item, so a second header may stand among the rows.",
            instead=Way("If so, take that line out of the file."),
            stays=stays,
        )
    return spoilt(names, "names of items", stays)


def spoilt(names: pl.Series, what: str, stays: Way) -> Doubt | None:
    """Whether a spreadsheet rounded long numbers, so that different ones became the same."""
    if not names.str.contains(SPOILT).any():
        return None
    return Doubt(
        what=f"Some {what} are numbers as 1.23E+08, which a spreadsheet rounded: different ones may look the same.",
        instead=Way("If so, export the data again with that column as text."),
        stays=stays,
    )


def _first_line(name: str, stays: Way, lines: int = 1) -> Doubt:
    what = "The first line" if lines == 1 else f"The lines before line {lines + 1}"
    verb = "looks" if lines == 1 else "look"
    them = "it is" if lines == 1 else "they are"
    return Doubt(
        what=f"{what} of {name} {verb} unlike the rest, as a header, a title or a comment does.",
        instead=Way(f"If {them} no transaction, give", {"skip_lines": str(lines)}),
        stays=stays,
    )


def _long(name: str, width: int, stays: Way) -> Doubt:
    return Doubt(
        what=f"{name} looks like a table without a header: every line has {width} fields, and the first repeats.",
        instead=_numbered(1, width if width == 3 else 2),
        stays=stays,
    )


def _numbered(transactions: int, items: int) -> Way:
    return Way(
        "If each line is one item of a transaction, give the numbers of the columns, such as",
        {"transaction_column": str(transactions), "item_column": str(items)},
    )


def _lists(name: str, options: Mapping[str, str], stays: Way) -> Doubt:
    return Doubt(
        what=f"Cells of {name} look like lists of items.",
        instead=Way("If they are, give", options),
        stays=stays,
    )


def _mark_in_last(records: Sequence[Record]) -> str | None:
    """What separates the items of a list that fills each line, or follows the id of each line."""
    width = len(records[0])
    if width > 2 or sum(len(record) == width for record in records) < ENOUGH * len(records):
        return None
    once = width == 1 or len({record[0] for record in records}) == len(records)
    return _list_mark([record[-1] for record in records], once=once)


def _list_mark(cells: Sequence[str], *, once: bool) -> str | None:
    """What separates the items of cells that look like lists; None if they do not.

    Args:
        cells: of the items.
        once: whether each row is a transaction. Only then marks without brackets are a sign of lists.
    """
    filled = [cell for cell in cells if cell]
    if not filled:
        return None
    bracketed = sum(BRACKETED.fullmatch(cell) is not None for cell in filled) >= ENOUGH * len(filled)
    held = {mark: sum(mark in cell for cell in filled) for mark in LIST_MARKS}
    best = max(held, key=held.__getitem__)
    if bracketed:
        return best if held[best] else ","
    return best if once and len(filled) >= SOME and held[best] >= OFTEN * len(filled) else None


def _is_comment(line: str) -> bool:
    return COMMENT.match(line) is not None


def _lines_above(records: Sequence[Record]) -> int:
    """How many of the first lines seem to be a title or a header; 0 if they look like the rest."""
    if _is_title(records) or _is_header(records[0], records[1:]):
        return 1
    headers = (at for at, record in enumerate(records[1:10], 1) if _is_long_header(record, records[at + 1 :]))
    return next(headers, 0)


def _is_title(records: Sequence[Record]) -> bool:
    """Whether the first line has another number of fields than all others, which agree."""
    widths = {len(record) for record in records[1:]}
    return len(records) > SOME and len(widths) == 1 and len(records[0]) == 1 and widths != {1}


def _is_header(first: Record, others: Sequence[Record]) -> bool:
    """Whether the names of the first line occur nowhere else, and are words for columns, or such lines are rare."""
    names = {field for field in first if field}
    elsewhere = set(chain.from_iterable(others))
    if not names.isdisjoint(elsewhere) or any(NUMBER.fullmatch(name) for name in names):
        return False
    known = sum(_is_column_word(name) for name in names)
    if known and 2 * known >= len(names):
        return True
    if len(others) < MANY:
        return False
    seen: dict[str, int] = {}
    for record in others:
        for name in set(record):
            seen[name] = seen.get(name, 0) + 1
    new = sum(all(seen[name] == 1 for name in record if name) for record in others)
    return new <= FEW_NEW * len(others)


def numbered_words(header: Record) -> bool:
    """Whether a header repeats one word with numbers, as in "Item 1,Item 2": it stands above baskets."""
    shown = [plain(name) for name in header]
    words = [name.rstrip("0123456789") for name in shown if name[-1:].isdigit()]
    return len(words) > 1 and len(set(words)) == 1 and words[0] in ITEM_NAMES


def _is_column_word(name: str) -> bool:
    return plain(name).rstrip("0123456789") in {*TRANSACTION_NAMES, *ITEM_NAMES, *UNIT_NAMES}


def _is_long_header(header: Record, below: Sequence[Record]) -> bool:
    """Whether this line is the header of a long table below other lines."""
    columns = [known_column(header, names) for names in (TRANSACTION_NAMES, ITEM_NAMES)]
    return None not in columns and bool(below) and all(len(record) == len(header) for record in below)


def _is_long(records: Sequence[Record]) -> bool:
    """Whether the first fields repeat in runs, and the lines hardly do: each is one item of a transaction."""
    if len(records) < SOME or any(len(record) != len(records[0]) for record in records):
        return False
    firsts = [record[0] for record in records]
    runs, distinct = sum(1 for _ in groupby(firsts)), len(set(firsts))
    together = runs == distinct or (distinct >= MANY / 2 and not _meet(records))
    return distinct >= 2 and runs <= 0.75 * len(records) and together and _mostly_distinct(records)


def _mostly_distinct(records: Sequence[Record]) -> bool:
    return len(set(map(tuple, records))) >= ENOUGH * len(records)


def _leading_column(records: Sequence[Record]) -> str | None:
    """Why the first field of each line is hardly an item, as the end of a sentence; None if it may well be one."""
    if len(records) < SOME or sum(len(record) > 1 for record in records) < ENOUGH * len(records):
        return None
    firsts = [record[0] for record in records]
    rest = [field for record in records for field in record[1:] if field]
    if all(map(DATE.fullmatch, firsts)):
        return "is a date"
    if all(map(str.isdecimal, firsts)):
        if all(int(record[0]) == sum(field != "" for field in record[1:]) for record in records):
            return "is the number of its other fields"
        if not any(map(NUMBER.fullmatch, rest)):
            return "is a number, and the others are names"
    repeated = len(set(rest)) <= ENOUGH * len(rest)
    if len(records) >= MANY and len(set(firsts)) >= MANY / 2 and repeated and not _meet(records):
        return "occurs in no other place of a line, as an id or a customer does"
    return None


def _number_columns(name: str, records: Sequence[Record], stays: Way) -> Doubt | None:
    """What is odd if each line begins with several numbers, and names follow: an id and a customer, say."""
    width = min(map(len, records))
    columns = next((at for at in range(width) if not all(record[at].isdecimal() for record in records)), width)
    rest = chain.from_iterable(record[columns:] for record in records)
    if len(records) < SOME or columns < 2 or columns == width or any(map(NUMBER.fullmatch, rest)):
        return None
    numbers = ",".join(map(str, range(1, columns + 1)))
    return Doubt(
        what=f"In {name} the first {columns} fields of each line are numbers, and the others are names.",
        instead=Way("If they are no items, leave them out with", {"skip_columns": numbers}),
        stays=stays,
    )


def _counted(records: Sequence[Record]) -> int | None:
    """Which field of each line, the first, second or third, counts the fields after it; None if none does."""
    if len(records) < SOME or len(set(map(len, records))) == 1:
        return None
    places = (1, 2, 3)
    holds = (all(record[at - 1 : at] == [str(len(record) - at)] for record in records) for at in places)
    return next((at for at, held in zip(places, holds, strict=True) if held), None)


def _has_colons(records: Sequence[Record]) -> bool:
    """Whether nearly all first fields hold a colon within, and hardly any other field does."""
    rest = [field for record in records for field in record[1:]]
    firsts = sum(":" in field.rstrip(":") for record in records for field in record[:1])
    return (
        len(records) >= SOME and firsts >= ENOUGH * len(records) and sum(":" in field for field in rest) < firsts / 10
    )


def _is_framed(record: Record) -> bool:
    return len(record) > 2 and record[0] == record[-1] == "" and any(record)


def _meet(records: Sequence[Record]) -> bool:
    """Whether a name stands first in one line and later in another."""
    firsts = {record[0] for record in records}
    return not firsts.isdisjoint(chain.from_iterable(record[1:] for record in records))
