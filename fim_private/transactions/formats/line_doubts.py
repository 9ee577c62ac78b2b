"""What looks odd in the first lines of a text whose format was guessed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import chain

from fim_private.transactions.formats.doubt import Doubt, Way
from fim_private.transactions.formats.signs import (
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
    is_comment,
    is_framed,
    is_long,
    leading_column,
    line_numbers,
    lines_above,
    mark_in_last,
    stands_again,
)
from fim_private.transactions.layout import Layout, typed

WIDE = 4
"""Baskets of fewer items may all be of one size."""


def lines_of_blanks(name: str, lines: Sequence[str], layout: Layout) -> Doubt | None:
    """What is odd in the first lines of a text that was guessed to be FIMI."""
    stays = Way("If each line is a transaction with blanks between items, give", layout.guesses())
    comments = _comments(lines)
    if comments:
        return first_lines(name, stays, comments, layout)
    records = [line.split() for line in lines]
    width, tabs = len(records[0]), all("\t" in line for line in lines)
    if (width in (2, 3) or tabs) and (is_long(records) or (width == 3 and is_long([record[1:] for record in records]))):
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
        return first_lines(name, stays, 1, layout)
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
    tabular = _same_width(name, records, stays) if tabs else None
    options = {"format": "basket", "separator": r"\t" if tabs else " "}
    return tabular if what is None else _first_field(name, what, options, stays)


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
        return lists_of_items(name, {**numbers, "item_separator": mark}, stays)
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
    return first_lines(name, stays, above, layout) if above else None


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
    """Whether many different lines all have as many fields as the first, none is blank, and few name a property."""
    width = len(records[0])
    distinct = set(map(tuple, records))
    if len(distinct) < MANY or width < WIDE or any(len(record) != width or "" in record for record in distinct):
        return None
    if sum("=" in field for record in distinct for field in record) >= ENOUGH * len(distinct) * width:
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


def _comments(lines: Sequence[str]) -> int:
    """How many lines at the beginning are comments; 0 if all lines are."""
    return next((at for at, line in enumerate(lines) if not is_comment(line)), 0)


def first_lines(name: str, stays: Way, lines: int, layout: Layout) -> Doubt:
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


def lists_of_items(name: str, options: Mapping[str, str], stays: Way) -> Doubt:
    """What to ask if cells look like lists of items."""
    return Doubt(
        what=f"Cells of {name} look like lists of items.",
        instead=Way("If they are, give", options),
        stays=stays,
    )
