"""What looks odd in data whose format was guessed: a file may be read without error and still be read wrong.

A doubt looks at the first lines and at the names of all items. It is for the curator, as every refusal is, and shows no
data. A format that was typed settles all doubts: the data is then read as the format says.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain
from typing import NoReturn

import polars as pl

from fim_private.errors import InputError
from fim_private.transactions.columns.column_names import TRANSACTION_NAMES, plain
from fim_private.transactions.columns.column_roles import LongColumns
from fim_private.transactions.files.text import ENCODINGS
from fim_private.transactions.formats.cells import is_cell
from fim_private.transactions.formats.signs import (
    DAY,
    ENOUGH,
    MANY,
    NUMBER,
    NUMBERS,
    SOME,
    WORD,
    WORDS,
    Record,
    alternates,
    counted_field,
    has_colons,
    is_column_word,
    is_comment,
    is_framed,
    is_long,
    leading_column,
    line_numbers,
    lines_above,
    list_mark,
    mark_in_last,
    numbers_rows,
    stands_again,
)
from fim_private.transactions.layout import Layout, typed

SPOILT = r"^[0-9]([.,][0-9]+)?E\+[0-9]+$"
"""A long number that a spreadsheet rounded, such as 5.36365E+08."""

NO_ITEM = (
    *("nan", "nat", "null", "none", "n/a", "#n/a", "<na>", "undefined", "(blank)", "-", "--", "---"),
    *("na", "nil", "?", "unknown", r"\n", "#nv", "#n/d", "#value!", "#wert!", "#ref!", "#bezug!", "#name?"),
)
"""Names that programs write where there is no item, in lower case."""

TOTALS = (
    *("total", "totals", "subtotal", "sub-total", "grand total", "summe", "zwischensumme", "gesamt", "sous-total"),
    *("gesamtsumme", "gesamtbetrag", "endsumme", "total general", "total général", "suma"),
)
"""What stands in place of an item in rows of sums, in lower case."""

PAYMENTS = (
    *("cash", "visa", "mastercard", "maestro", "american express", "amex", "paypal", "change", "rounding"),
    *("bargeld", "ec-karte", "ec-cash", "girocard", "kartenzahlung", "rückgeld", "wechselgeld", "rundung"),
    *("espèces", "carte bancaire", "chèque", "rendu monnaie", "arrondi", "efectivo", "tarjeta", "cambio", "redondeo"),
)
"""What stands in place of an item in rows of payments, in lower case."""

AFTER_TOTAL = "(:| eur| €| usd| ttc)+$"

AMOUNT = r"^[0-9]+ ?[x×*] ?|^[0-9]+ |( [x×*]|[:=]) ?[0-9]+$| ?\([0-9]+\)$| [€$£]? ?[0-9]+[.,][0-9]{2} ?[€$£]?$"
"""How many were bought, before or after a name, or at what price: 2 x Brot, Brot x2, Brot:2, Brot (2), Brot 1.99."""

WIDE = 4
"""Baskets of fewer items may all be of one size."""

CONTROL = "[\u0080-\u009f]|\\pL[„”‚…†‡‰™]\\pL"
"""What no name holds: texts of Windows or East Asia have it for letters if read as latin-1, of DOS if as cp1252."""


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
        what: what looks odd, without any data.
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
    comments = _comments(lines)
    if comments:
        return _first_lines(name, stays, comments, layout)
    records = [line.split() for line in lines]
    width = len(records[0])
    if width in (2, 3) and (is_long(records) or (width == 3 and is_long([record[1:] for record in records]))):
        return _long(name, width, stays)
    counted = counted_field(records)
    if counted is not None:
        numbers = ",".join(map(str, range(1, counted + 1)))
        return Doubt(
            what=f"In {name} field {counted} of each line is the number of fields after it.",
            instead=Way("If the fields up to it are not items, give", {"separator": " ", "skip_columns": numbers}),
            stays=stays,
        )
    if len(lines) > SOME and WORDS.fullmatch(lines[0]) and all(map(NUMBERS.fullmatch, lines[1:])):
        return _first_lines(name, stays, 1, layout)
    several = sum(len(line.split(None, 1)) > 1 for line in lines)
    if sum(WORD.search(line) is not None and len(line.split(None, 1)) > 1 for line in lines) > (1 - ENOUGH) * several:
        return Doubt(
            what=f"{name} holds words with blanks between them, which may be parts of one name.",
            instead=Way(
                "If each line is a single item or a name may hold blanks, give", {"format": "basket", "separator": ","}
            ),
            stays=stays,
        )
    what = leading_column(records) or line_numbers(records)
    separator = r"\t" if all("\t" in line for line in lines) else " "
    return None if what is None else _first_field(name, what, {"format": "basket", "separator": separator}, stays)


def baskets(name: str, lines: Sequence[str], records: Sequence[Record], layout: Layout) -> Doubt | None:
    """What is odd in the first lines of a text that was guessed to be basket CSV."""
    stays = Way("If each line is a transaction and each field an item, give", layout.guesses())
    framed = sum(is_framed(record) for record in records)
    if len(records) >= SOME and framed >= ENOUGH * len(records):
        return Doubt(
            what=f"Lines of {name} begin and end with the separator, as those of a printed table do.",
            instead=_numbered(2, 3)
            if framed == len(records)
            else Way("If it is one, first delete the lines that do not, such as lines of dashes."),
            stays=stays,
        )
    above = _above(name, lines, records, layout, stays)
    if above is not None:
        return above
    records = [record for record in records if record]  # without its unit a line may hold nothing
    if not records:
        return None
    widths = {len(record) for record in records}
    mark = None if layout.item_separator is not None else mark_in_last(records)
    if mark is not None:
        numbers = {"transaction_column": "1", "item_column": "2"} if widths == {2} else {}
        return _lists(name, {**numbers, "item_separator": mark}, stays)
    what = leading_column(records)
    one_each = what is not None and widths == {2} and len({record[0] for record in records}) < len(records)
    if 1 not in widths and (is_long(records) or one_each):
        return _long(name, len(records[0]), stays)
    return (
        _first_fields(name, records, what, stays)
        or _last_fields(name, records, stays)
        or _alternating(name, records, stays)
        or _same_width(name, records, stays)
    )


def _above(name: str, lines: Sequence[str], records: Sequence[Record], layout: Layout, stays: Way) -> Doubt | None:
    """What is odd about the first lines above baskets."""
    if stands_again(records):
        return Doubt(
            what=f"The first line of {name} looks like a header, and stands again among the other lines.",
            instead=Way("If so, take these lines out of the file."),
            stays=stays,
        )
    above = _comments(lines) or lines_above(records)
    return _first_lines(name, stays, above, layout) if above else None


def _first_fields(name: str, records: Sequence[Record], what: str | None, stays: Way) -> Doubt | None:
    """What is odd about the fields that each line begins with, where `what` is known of the first alone."""
    if has_colons(records):
        return Doubt(
            what=f"In {name} the first field of each line holds a colon, as between an id and the first item.",
            instead=Way("If so, write a separator in place of that colon, and leave the id out with --skip-columns 1."),
            stays=stays,
        )
    doubt = _number_columns(name, records, stays) if what is None else None
    what = what or line_numbers(records)
    return _first_field(name, what, {}, stays) if doubt is None and what is not None else doubt


def _first_field(name: str, what: str, options: Mapping[str, str], stays: Way) -> Doubt:
    """What is odd about the first field of each line; with options to read it as a field."""
    return Doubt(
        what=f"In {name} the first field of each line {what}.",
        instead=Way(
            f"If it is a customer to be protected, give {typed({**options, 'unit_column': '1'})}. If it is not an "
            "item, leave it out with",
            {**options, "skip_columns": "1"},
        ),
        stays=stays,
    )


def _last_fields(name: str, records: Sequence[Record], stays: Way) -> Doubt | None:
    """What is odd about the fields that each line ends with, without the blanks that fill up short lines."""
    backwards = [[field for field in record if field][::-1] for record in records if any(record)]
    what = leading_column(backwards) or line_numbers(backwards)
    if what is None:
        return None
    return Doubt(
        what=f"In {name} the last field of each line {what}.",
        instead=Way(
            "If it is not an item, take it out of the file; or write it first, and give --skip-columns 1, or "
            "--unit-column 1 if it is a customer to be protected."
        ),
        stays=stays,
    )


def _alternating(name: str, records: Sequence[Record], stays: Way) -> Doubt | None:
    """Whether names and numbers take turns."""
    if not alternates(records):
        return None
    return Doubt(
        what=f"In {name} names and numbers take turns, as items and their quantities or prices do.",
        instead=Way("If the numbers are no items, take them out of the file."),
        stays=stays,
    )


def _same_width(name: str, records: Sequence[Record], stays: Way) -> Doubt | None:
    """Whether many different lines all have as many fields as the first, and none is blank."""
    width = len(records[0])
    distinct = set(map(tuple, records))
    if len(distinct) < MANY or width < WIDE or any(len(record) != width or "" in record for record in distinct):
        return None
    return Doubt(
        what=f"In {name} every line has {width} fields, as in a table without a header.",
        instead=Way(
            "If the fields are properties, name them in each, as in sex=f,age=30. If each line is one item of a "
            "transaction, give the numbers of the columns, such as",
            {"transaction_column": "1", "item_column": "2"},
        ),
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


def other_columns(name: str, numbers: Sequence[int], layout: Layout) -> Doubt:
    """What is odd in a one-hot table, some of whose columns hold other words."""
    listed = ", ".join(map(str, numbers))
    return Doubt(
        what=f"{name} looks like a one-hot table, but these columns hold other words than yes and no: {listed}. "
        "All others count as items, also a property such as a sex or a weekend as 0 and 1.",
        instead=Way(
            "If each row names one item, give --transaction-column and --item-column. If these are items with "
            "quantities, first replace those above 1 by 1."
        ),
        stays=Way(
            "If they are not items but ids, totals or customers (who may still be given by --unit-column), leave "
            "them out with",
            layout.guesses(),
        ),
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
    if headerless and items and all(map(is_column_word, (items[0], *ids[0]))):
        return _first_lines(sample.name, Way("If it is part of the data, give", layout.guesses()), 1, layout)
    identities = [at for at in found.all if at != found.item]
    for at in identities:
        doubt = spoilt(pl.Series(sample.column(at), dtype=pl.String), "transactions or units", stays)
        if doubt is not None:
            return doubt
    # Answers of a survey may share the second in which they were given.
    once = len(set(ids)) >= ENOUGH * len(ids)
    mark = list_mark(items, once=once) if layout.item_separator is None else None
    return _odd_columns(sample, ids, stays, layout, known=known) or (
        None
        if mark is None
        else _lists(
            sample.name,
            {"item_separator": mark},
            Way("If each cell is one item, give", layout.guesses()),
        )
    )


def _odd_columns(
    sample: Sample, ids: Sequence[tuple[str, ...]], stays: Way, layout: Layout, *, known: bool
) -> Doubt | None:
    """What is odd in the transaction, item and unit columns beside each other."""
    found = sample.found
    items = sample.column(found.item)
    if known and len(ids) >= SOME and len(set(ids)) < len(ids) and all(DAY.fullmatch(cell) for (cell,) in ids):
        return Doubt(
            what=f"The transaction column of {sample.name} holds dates, so all rows of one day are one transaction.",
            instead=Way(
                "If another column tells transactions apart, name it with --transaction-column, or several, as in "
                "InvoiceNo,Date."
            ),
            stays=stays,
        )
    finer = _finer_column(sample, len(set(ids))) if known else None
    if finer is not None:
        taken, other = (sample.header[at].strip() for at in (found.transaction[0], finer))
        return Doubt(
            what=f"In {sample.name} the column {other!r} holds more different values than {taken!r}, which was taken "
            "for the transactions.",
            instead=Way("If it tells transactions apart, give", {"transaction_column": other}),
            stays=Way("If not, give", layout.guesses()),
        )
    if numbers_rows(ids, items):
        return Doubt(
            what=f"The item column of {sample.name} only numbers the rows of each transaction, as in 10, 20, 30.",
            instead=Way("If so, name the column of items with --item-column."),
            stays=stays,
        )
    units = None if found.unit is None else sample.column(found.unit)
    if units is not None and any(
        item and not unit and not any(names) for item, unit, names in zip(items, units, ids, strict=True)
    ):
        return Doubt(
            what=f"In {sample.name} some rows name an item, but no transaction and no unit, as below a merged cell or "
            "where only the first row of an order has its number.",
            instead=Way("If so, write both into the other rows too."),
            stays=Way("If these rows belong to nobody, give", layout.guesses()),
        )
    if units is not None and _partly_named(ids, units):
        return Doubt(
            what=f"In {sample.name} some rows of a transaction name its unit and others name none, as where only the "
            "first row of an order names the customer.",
            instead=Way("If so, write the unit into the other rows too."),
            stays=Way("If the other rows belong to nobody, give", layout.guesses()),
        )
    return None


def _finer_column(sample: Sample, transactions: int) -> int | None:
    """Another column with a usual name of transactions and clearly more values: "order" may be a place in a session."""
    others = (
        at for at, name in enumerate(sample.header) if at not in sample.found.all and plain(name) in TRANSACTION_NAMES
    )
    return next((at for at in others if transactions < ENOUGH * len(set(filter(None, sample.column(at))))), None)


def _partly_named(ids: Sequence[tuple[str, ...]], units: Record) -> bool:
    """Whether a transaction has a row with a unit and one without."""
    with_unit = {transaction for transaction, unit in zip(ids, units, strict=True) if unit}
    return any(not unit and transaction in with_unit for transaction, unit in zip(ids, units, strict=True))


def single_items(layout: Layout) -> Doubt:
    """What is odd if nearly every transaction holds one item."""
    return Doubt(
        what="Nearly every transaction holds one item, so hardly any items were bought together.",
        instead=Way(
            "If another column says which rows belong together, such as a receipt, give --transaction-column. If "
            "another one names the items, give --item-column."
        ),
        stays=Way("If single items are meant, give", layout.guesses()),
    )


def full_transactions(layout: Layout) -> Doubt:
    """What is odd if nearly every transaction holds nearly every item."""
    return Doubt(
        what="Nearly every transaction holds nearly every item, as where rows with a 0 name what was not bought.",
        instead=Way(
            "If so, leave these rows out, as in --where 'Quantity > 0'. If another column tells transactions apart, "
            "give --transaction-column."
        ),
        stays=Way("If they are meant, give", layout.guesses()),
    )


def items_of_one_row(layout: Layout) -> Doubt:
    """What is odd if nearly every item is in one transaction alone."""
    return Doubt(
        what="Nearly every item is in one transaction alone, as where the item column numbers the rows of all orders.",
        instead=Way("If so, name the column of items with --item-column."),
        stays=Way("If not, give", layout.guesses()),
    )


def item_names(layout: Layout, names: pl.Series) -> Doubt | None:
    """What is odd in the names of all items."""
    stays = Way("If they are meant, give", layout.guesses())
    if layout.format == "long" and not layout.headerless and layout.item_column in names:
        return Doubt(
            what="A row holds the name of the item column as an item, so a second header may stand among the rows.",
            instead=Way("If so, take that line out of the file."),
            stays=stays,
        )
    return (
        spoilt(names, "names of items", stays)
        or _no_names(names, NO_ITEM, "NaN, NULL, None, N/A or -, or otherwise as programs write a blank cell", stays)
        or _no_names(names, TOTALS, "Total or Subtotal, as rows of sums are", stays)
        or _no_names(names, PAYMENTS, "Cash, Visa or change, as rows of payments are", stays)
        or _amounts(names, stays)
        or _mangled(names, layout, stays)
    )


def _no_names(names: pl.Series, words: Sequence[str], called: str, stays: Way) -> Doubt | None:
    """Whether one of these words, which seldom is an item, is the name of one."""
    if not names.str.to_lowercase().str.replace(AFTER_TOTAL, "").is_in(words).any():
        return None
    return Doubt(
        what=f"An item is called {called}.",
        instead=Way("If it stands for no item, leave these cells blank."),
        stays=Way("If it is an item, or --exclude names it, give", stays.options),
    )


def _amounts(names: pl.Series, stays: Way) -> Doubt | None:
    """Whether half of the names say how many were bought or at what price, so that one item has several names."""
    bought = names.filter(names.str.contains(AMOUNT)).str.replace(AMOUNT, "")
    if len(bought) < max(SOME, len(names) / 2) or 2 * bought.n_unique() > len(bought) or (bought == "").any():
        return None
    return Doubt(
        what="Names of items say how many were bought or at what price, as in 2 x Brot or Brot 1.99, so one item has "
        "several names.",
        instead=Way("If so, take the amounts or prices out of these names."),
        stays=stays,
    )


def _mangled(names: pl.Series, layout: Layout, stays: Way) -> Doubt | None:
    """Whether names seem to be text of another encoding than the one that was given."""
    if layout.encoding in (None, "utf-8"):
        return None
    foreign = [name for name in names.to_list() if not name.isascii()]
    if not names.str.contains(CONTROL).any() and not (foreign and all(_was_utf_8(name, layout) for name in foreign)):
        return None
    return Doubt(
        what=f"Names of items hold letters that no word has, as a text that is not in {layout.encoding} does.",
        instead=Way(f"If so, give the right one with --encoding, such as {ENCODINGS}."),
        stays=stays,
    )


def _was_utf_8(name: str, layout: Layout) -> bool:
    """Whether the bytes of this name are UTF-8 too, which is no accident where all names are."""
    try:
        name.encode(layout.encoding or "utf-8").decode()
    except UnicodeError:
        return False
    return True


def spoilt(names: pl.Series, what: str, stays: Way) -> Doubt | None:
    """Whether a spreadsheet rounded long numbers, so that different ones became the same."""
    if not names.str.contains(SPOILT).any():
        return None
    return Doubt(
        what=f"Some {what} are numbers as 1.23E+08, which a spreadsheet rounded: different ones may look the same.",
        instead=Way("If so, export the data again with that column as text."),
        stays=stays,
    )


def _comments(lines: Sequence[str]) -> int:
    """How many lines at the beginning are comments; 0 if all lines are."""
    return next((at for at, line in enumerate(lines) if not is_comment(line)), 0)


def _first_lines(name: str, stays: Way, lines: int, layout: Layout) -> Doubt:
    """What to ask if the first lines look odd, beside those that are left out already."""
    left_out = layout.skip_lines or 0
    what, looks, they = (
        ("The first line", "looks", "it is") if lines == 1 else (f"The first {lines} lines", "look", "they are")
    )
    after = " after those left out" if left_out else ""
    return Doubt(
        what=f"{what} of {name}{after} {looks} unlike the rest, as a header, a title or a comment does.",
        instead=Way(f"If {they} no transaction, give", {"skip_lines": str(left_out + lines)}),
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


def _number_columns(name: str, records: Sequence[Record], stays: Way) -> Doubt | None:
    """What is odd if each line begins with several numbers, and names follow: an id and perhaps a customer, say."""
    width = min(map(len, records))
    numbers = [all(record[at].isdecimal() or (at and not record[at]) for record in records) for at in range(width)]
    columns = next((at for at in range(width) if not numbers[at]), width)
    rest = chain.from_iterable(record[columns:] for record in records)
    if len(records) < SOME or columns < 2 or columns == width or any(map(NUMBER.fullmatch, rest)):
        return None
    left_out = ",".join(map(str, range(1, columns + 1)))
    return Doubt(
        what=f"In {name} the first {columns} fields of each line are numbers, and the others are names.",
        instead=Way("If they are not items, leave them out with", {"skip_columns": left_out}),
        stays=stays,
    )
