"""Restrict transactions to public items, or to transactions that hold some items, and read lists of item names."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import BinaryIO

import numpy as np
import polars as pl
from numpy.typing import NDArray

from fim_private.errors import InputError, UsageError
from fim_private.transactions.columns.column_names import ITEM_NAMES, plain
from fim_private.transactions.compressed_rows import recoded, runs_of, taken, without_gaps
from fim_private.transactions.dataset import Transactions, code_type, noting
from fim_private.transactions.files.source import opened
from fim_private.transactions.files.text import Text, lines_of
from fim_private.transactions.item_codes import in_name_order
from fim_private.transactions.strings import not_blank, positions_in

_QUOTED = r'^"((?:[^"]|"")*)"$'
"""A line that is one quoted field of a table."""

_PRICED = r"[,;\t] *[€$£]? *[0-9][0-9.,]* *[€$£]?$"
"""What a line ends with if a column of prices or other numbers follows the name."""

_HEADERS = {*ITEM_NAMES, "name", "names"}
"""What stands above a list of items, as `plain` makes it."""

SHOWN = 5
"""How many further lines with repeated names are shown."""


def restrict_to(transactions: Transactions, names: Sequence[str]) -> Transactions:
    """Make exactly these names the vocabulary; drop other items, and transactions left empty.

    What happens to one transaction does not depend on the others, so this costs no privacy. The result may have no
    transactions: that is no error, because with a public vocabulary the release must not depend on it.

    Names are stripped; repetitions and blanks are ignored.

    Errors:
        UsageError: there is no name that is not blank.
    """
    stripped = pl.Series(names, dtype=pl.String).str.strip_chars()
    vocabulary = in_name_order(stripped.filter(not_blank(stripped)).unique())
    if vocabulary.is_empty():
        raise UsageError("The list of public items is empty.", "Name at least one item.")
    new_code = positions_in(vocabulary, transactions.vocabulary).astype(np.int32)
    restricted = _recoded(transactions, new_code, vocabulary)
    return noting(restricted, empty=transactions.notes.empty + len(transactions) - len(restricted))


def read_item_names(source: str | Path | BinaryIO) -> list[str]:
    """The stripped names in a text file with one name per line; blank lines are ignored. The file may be gzip.

    Quotes around a whole line are no part of the name, and a doubled quote within them is one, as in a table.

    Errors:
        InputError: the file cannot be read, holds no name or one twice, begins with the name of a column, or holds a
            column of numbers.
    """
    with opened(source) as reading:
        text = Text(name=reading.name, blocks=reading.blocks())
        lines = pl.concat([lines_of(chunk) for _, chunk in text.chunks()]).str.strip_chars()
    within = lines.str.extract(_QUOTED).str.replace_all('""', '"', literal=True).str.strip_chars()
    lines = within.fill_null(lines)
    filled = lines.filter(lines != "")
    if filled.is_empty():
        raise InputError(f"{text.name} holds no name.", "Give one item name per line.")
    if len(filled) > 1 and not _HEADERS.isdisjoint(map(plain, re.split(r"[,;\t]", filled[0]))):
        raise InputError(
            f"{text.name} begins with {filled[0][:60]!r}, which looks like a header. It would count as an item.",
            "Give one item name per line, without a header or other columns. If it is an item, do not put it first.",
        )
    if len(filled) > 1 and within.is_null().all() and filled.str.contains(_PRICED).all():
        raise InputError(
            f"Each line of {text.name} ends with a number behind a separator, such as a price, as in "
            f"{filled[0][:60]!r}. It would be a part of the item's name.",
            "Give one item name per line, without other columns. If it is a part of the names, put each line in double "
            "quotes.",
        )
    if filled.n_unique() < len(filled):
        again = lines.is_duplicated() & (lines != "") & ~lines.is_first_distinct()
        first, *others = (again.arg_true() + 1).to_list()
        shown = ", ".join(map(str, others[:SHOWN])) + (f" and {len(others) - SHOWN:,} more" if others[SHOWN:] else "")
        so_do = f", and so {'do lines' if others[1:] else 'does line'} {shown}" if others else ""
        raise InputError(f"Line {first} of {text.name} repeats a name{so_do}.", "Give each item name once.")
    return filled.to_list()


def keep_items(transactions: Transactions, codes: NDArray[np.int32]) -> Transactions:
    """Keep only these items in the vocabulary, given in increasing order; drop transactions left empty.

    The new code of an item is its position among those that are kept.
    """
    return _recoded(transactions, places_among(codes, len(transactions.vocabulary)), transactions.vocabulary[codes])


def places_among(codes: NDArray[np.int32], width: int) -> NDArray[np.int32]:
    """The place of each code below `width` among these codes, or -1, int32, shape (width,)."""
    places = np.full(width, -1, np.int32)
    places[codes] = np.arange(len(codes), dtype=np.int32)
    return places


def without_items(vocabulary: pl.Series, names: Sequence[str]) -> NDArray[np.int32]:
    """The codes of all other items, increasing; names that are not in the vocabulary are ignored."""
    others = ~vocabulary.is_in(pl.Series(names, dtype=pl.String).implode())
    return np.flatnonzero(others.to_numpy()).astype(np.int32)


def containing(transactions: Transactions, names: Sequence[str]) -> Transactions:
    """Keep the transactions that hold all these items and more; remove these items from them and the vocabulary.

    What happens to one transaction does not depend on the others, so this costs no privacy. The result may have no
    transactions. If one of the names, each given once, is not in the vocabulary, it has none.
    """
    width = len(transactions.vocabulary)
    wanted = np.ones(width, np.int32)
    others = without_items(transactions.vocabulary, names)
    wanted[others] = 0
    held = [np.add.reduceat(wanted[items], np.cumsum(lengths) - lengths) for items, lengths in runs_of(transactions)]
    holders = np.flatnonzero(np.concatenate([np.empty(0, np.int32), *held]) == len(names))
    offsets, items = taken(transactions, holders)
    units = None if transactions.units is None else transactions.units[holders]
    return keep_items(replace(transactions, offsets=offsets, items=items, units=units), others)


def _recoded(transactions: Transactions, new_code: NDArray[np.int32], vocabulary: pl.Series) -> Transactions:
    """Give the transactions another vocabulary, without the items whose new code is -1."""
    room = np.empty(len(transactions.items), dtype=code_type(len(vocabulary)))
    offsets, items, filled = recoded(runs_of(transactions), new_code, items=room, row_count=len(transactions))
    return replace(
        transactions,
        offsets=offsets,
        items=items,
        vocabulary=vocabulary,
        units=None if transactions.units is None else without_gaps(transactions.units[filled]),
    )
