"""What the first lines of a file look like: a header, a comment, a list of items, one item of a long table, and so on.

Nothing here decides what a file is. `line_doubts` and `table_doubts` ask about what they see here, and `detection`
refuses by it.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import chain, groupby, pairwise

from fim_private.transactions.columns.column_names import ITEM_NAMES, TRANSACTION_NAMES, UNIT_NAMES, plain
from fim_private.transactions.columns.column_roles import known_column

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
DAY = re.compile(
    r"[0-9]{4}[-/.][0-9]{1,2}[-/.][0-9]{1,2}|[0-9]{1,2}[-/.][0-9]{1,2}[-/.][0-9]{2,4}|"
    r"(19|20)[0-9]{2}(0[1-9]|1[0-2])([0-2][0-9]|3[01])|[0-9]{1,2}[-. ]+[^\W\d_]{3,9}[-. ]+[0-9]{2,4}"
)
"""As in 2024-03-01, 1.3.2024, 20240301, 01-MAR-24 or 1. März 2024."""
DATE = re.compile(rf"({DAY.pattern})([ T].*)?")
"""A day, perhaps with a time."""
BRACKETED = re.compile(r"\[.*\]|\{.*\}", re.DOTALL)
LIST_MARKS = (",", ";", "|")
MORE_MARKS = (*LIST_MARKS, " / ", " + ", " & ")
"""Also those that only stand between items where no brackets show a list."""
LONG_NUMBER = 10
"""A number of this many digits counts no rows."""
OFTEN = 0.2
"""A mark in this share of cells, each of a transaction of its own, separates items."""

COMMENT = re.compile(r"\s*(#|%|//)[^0-9]")  # "#10 envelopes" may be an item
WORD = re.compile(r"(?<!\S)[^\s\d]+(?!\S)")
WORDS = re.compile(r"\D*")
NUMBERS = re.compile(r"[\d\s]*")

UTILITIES = re.compile(r"\s*[0-9]+(\s+[0-9]+)*:[0-9.]+:[0-9.]+(\s+[0-9.]+)*\s*")


def is_utility(lines: Sequence[str]) -> bool:
    """Whether the lines are transactions of SPMF with utilities: items, their sum, and the utility of each item."""
    return all(UTILITIES.fullmatch(line) for line in lines)


def is_comment(line: str) -> bool:
    """Whether the line begins as a comment does."""
    return COMMENT.match(line) is not None


def lines_above(records: Sequence[Record]) -> int:
    """How many of the first lines seem to be a title or a header; 0 if they look like the rest."""
    if _is_title(records) or _is_header(records[0], records[1:]) or _is_numbered(records[0], records[1:]):
        return 1
    headers = (at for at, record in enumerate(records[1:10], 1) if _is_long_header(record, records[at + 1 :]))
    return next(headers, 0)


def _is_title(records: Sequence[Record]) -> bool:
    """Whether the first line has another number of fields than all others, which agree."""
    widths = {len(record) for record in records[1:]}
    return len(records) > SOME and len(widths) == 1 and len(records[0]) == 1 and widths != {1}


def _is_numbered(first: Record, others: Sequence[Record]) -> bool:
    """Whether the first line numbers the columns above names, as a program writes them: "0,1,2", or ",0,1,2"."""
    begins = int(list(first[:1]) == [""])  # the numbers of the lines then stand below
    numbers = list(first[begins:])
    below = [field for record in others for field in record[begins:] if field]
    counted = any(numbers == [str(start + at) for at in range(len(numbers))] for start in (0, 1))
    return len(numbers) > 1 and counted and len(others) >= SOME and not any(map(NUMBER.fullmatch, below))


def stands_again(records: Sequence[Record]) -> bool:
    """Whether the first line is a header of words for columns, and stands among the other lines too."""
    first = list(records[0])
    others = [record for record in records[1:] if list(record) != first]
    return 0 < len(others) < len(records) - 1 and _stand_apart(first, others) and _are_words_for_columns(first)


def _is_header(first: Record, others: Sequence[Record]) -> bool:
    """Whether the names of the first line occur nowhere else, and are words for columns, or such lines are rare."""
    if not _stand_apart(first, others):
        return False
    if _are_words_for_columns(first):
        return True
    if len(others) < MANY:
        return False
    seen: dict[str, int] = {}
    for record in others:
        for name in set(record):
            seen[name] = seen.get(name, 0) + 1
    new = sum(all(seen[name] == 1 for name in record if name) for record in others)
    return new <= FEW_NEW * len(others)


def _stand_apart(first: Record, others: Sequence[Record]) -> bool:
    """Whether no name of the first line is a number or occurs elsewhere."""
    names = {field for field in first if field}
    return names.isdisjoint(chain.from_iterable(others)) and not any(map(NUMBER.fullmatch, names))


def _are_words_for_columns(first: Record) -> bool:
    """Whether at least half of the names are well-known names of columns."""
    names = {field for field in first if field}
    return 0 < len(names) <= 2 * sum(map(is_column_word, names))


def numbered_words(header: Record) -> bool:
    """Whether a header repeats one word with numbers, as in "Item 1,Item 2": it stands above baskets."""
    shown = [plain(name) for name in header]
    words = [name.rstrip("0123456789") for name in shown if name[-1:].isdigit()]
    return len(words) > 1 and len(set(words)) == 1 and words[0] in ITEM_NAMES


def is_column_word(name: str) -> bool:
    """Whether this is a well-known name of a column, perhaps with a number."""
    return plain(name).rstrip("0123456789") in {*TRANSACTION_NAMES, *ITEM_NAMES, *UNIT_NAMES}


def is_word_above_numbers(column: Sequence[str]) -> bool:
    """Whether the first of these cells is a word, and all others that are filled are numbers."""
    below = [cell for cell in column[1:] if cell]
    return len(below) >= SOME and column[0] != "" and all(map(NUMBER.fullmatch, below)) and not NUMBER.match(column[0])


def _is_long_header(header: Record, below: Sequence[Record]) -> bool:
    """Whether this line is the header of a long table below other lines."""
    columns = [known_column(header, names) for names in (TRANSACTION_NAMES, ITEM_NAMES)]
    return None not in columns and bool(below) and all(len(record) == len(header) for record in below)


def is_long(records: Sequence[Record]) -> bool:
    """Whether the first fields repeat in runs, and the lines hardly do: each is one item of a transaction."""
    if len(records) < SOME or any(len(record) != len(records[0]) for record in records):
        return False
    firsts = [record[0] for record in records]
    runs, distinct = sum(1 for _ in groupby(firsts)), len(set(firsts))
    together = runs == distinct or (distinct >= MANY / 2 and not _meet(records))
    differ = len(set(map(tuple, records))) >= ENOUGH * len(records)
    return distinct >= 2 and runs <= 0.75 * len(records) and together and differ


def _meet(records: Sequence[Record]) -> bool:
    """Whether a name stands first in one line and later in another."""
    firsts = {record[0] for record in records}
    return not firsts.isdisjoint(chain.from_iterable(record[1:] for record in records))


def leading_column(records: Sequence[Record]) -> str | None:
    """Why the first field of each line is hardly an item, as the end of a sentence; None if it may well be one."""
    if len(records) < SOME or sum(len(record) > 1 for record in records) < ENOUGH * len(records):
        return None
    firsts = [record[0] for record in records]
    rest = [field for record in records for field in record[1:] if field]
    if all(map(DATE.fullmatch, firsts)):
        return "is a date"
    if all(map(NUMBER.fullmatch, firsts)):
        if all(record[0] == str(sum(field != "" for field in record[1:])) for record in records):
            return "is the number of its other fields"
        if not any(map(NUMBER.fullmatch, rest)):
            return "is a number, and the others are names"
    repeated = len(set(rest)) <= ENOUGH * len(rest)
    if len(records) >= MANY and len(set(firsts)) >= MANY / 2 and repeated and not _meet(records):
        return "occurs in no other place of a line, as an id or a customer does"
    return None


def line_numbers(records: Sequence[Record]) -> str | None:
    """What `leading_column` says if the first fields count the lines, as in 1, 2, 3 or 100, 101, 102, with few gaps."""
    firsts = [record[0] for record in records]
    if len(records) < SOME or not all(map(str.isdecimal, firsts)):
        return None
    steps = [int(later) - int(number) for number, later in pairwise(firsts)]
    return "numbers the lines" if steps.count(1) >= ENOUGH * len(steps) else None


def numbers_rows(ids: Sequence[tuple[str, ...]], items: Record) -> bool:
    """Whether the items only number the rows of each transaction, in equal steps, as in 1, 2, 3 or 10, 20, 30."""
    if not items or not all(item.isdecimal() and len(item) < LONG_NUMBER for item in items):
        return False
    rows: dict[tuple[str, ...], list[int]] = {}
    for transaction, item in zip(ids, items, strict=True):
        rows.setdefault(transaction, []).append(int(item))
    several = [numbers for numbers in rows.values() if len(numbers) > 1]
    counted = sum(numbers == [int(items[0]) * place for place in range(1, len(numbers) + 1)] for numbers in several)
    return len(several) >= SOME and counted >= ENOUGH * len(several)


def counted_field(records: Sequence[Record]) -> int | None:
    """Which field of each line, the first, second or third, counts the fields after it; None if none does."""
    if len(records) < SOME or len(set(map(len, records))) == 1:
        return None
    places = (1, 2, 3)
    holds = (all(record[at - 1 : at] == [str(len(record) - at)] for record in records) for at in places)
    return next((at for at, held in zip(places, holds, strict=True) if held), None)


def has_colons(records: Sequence[Record]) -> bool:
    """Whether nearly all first fields hold a colon within, and hardly any other field does."""
    rest = [field for record in records for field in record[1:]]
    firsts = sum(":" in field.rstrip(":") for record in records for field in record[:1])
    return (
        len(records) >= SOME and firsts >= ENOUGH * len(records) and sum(":" in field for field in rest) < firsts / 10
    )


def alternates(records: Sequence[Record]) -> bool:
    """Whether nearly all lines hold a number after each name, or before it."""
    lines = [[NUMBER.fullmatch(field) is not None for field in record if field] for record in records]
    pairs = [(set(line[::2]), set(line[1::2])) for line in lines if len(line) % 2 == 0]
    return len(lines) >= SOME and any(
        pairs.count(({first}, {not first})) >= ENOUGH * len(lines) for first in (False, True)
    )


def is_framed(record: Record) -> bool:
    """Whether the line begins and ends with the separator."""
    return len(record) > 2 and record[0] == record[-1] == "" and any(record)


def mark_in_last(records: Sequence[Record]) -> str | None:
    """What separates the items of a list that fills each line, or follows the id of each line."""
    width = len(records[0])
    if width > 2 or sum(len(record) == width for record in records) < ENOUGH * len(records):
        return None
    once = width == 1 or len({record[0] for record in records}) == len(records)
    return list_mark([record[-1] for record in records], once=once)


def list_mark(cells: Sequence[str], *, once: bool) -> str | None:
    """What separates the items of cells that look like lists; None if they do not.

    `once` says whether each row is a transaction. Only then marks without brackets are a sign of lists.
    """
    filled = [cell for cell in cells if cell]
    if not filled:
        return None
    bracketed = sum(BRACKETED.fullmatch(cell) is not None for cell in filled) >= ENOUGH * len(filled)
    marks = LIST_MARKS if bracketed else (" ",) if all(map(NUMBERS.fullmatch, filled)) else MORE_MARKS
    held = {mark: sum(mark in cell for cell in filled) for mark in marks}
    best = max(held, key=held.__getitem__)
    if bracketed:
        return best if held[best] else ","
    return best if once and len(filled) >= SOME and held[best] >= OFTEN * len(filled) else None
