"""Basket CSV: one transaction per line, separated names, lines of any length, quotes as in RFC 4180."""

from __future__ import annotations

from itertools import chain, islice

import numpy as np
import polars as pl
from numpy.typing import NDArray

from fim_private.transactions.dataset import Transactions
from fim_private.transactions.files.fields import split_chunk, split_lists
from fim_private.transactions.files.text import SMALL, Chunk, Text
from fim_private.transactions.in_order import in_order
from fim_private.transactions.item_codes import Coder
from fim_private.transactions.known_names import KnownNames, Names
from fim_private.transactions.layout import Layout


def read_basket(text: Text, layout: Layout) -> Transactions:
    """Read lines of names, separated by commas if the layout has no separator, without the columns it leaves out.

    Large chunks of names that need no closer look take a faster path.

    Errors:
        InputError: a line has unbalanced quotes.
    """
    coder, separator = Coder(), layout.separator or ","
    known = KnownNames(coder.vocabulary)
    simple = len(separator) == 1 and separator.isascii() and not layout.skip_columns and layout.item_separator is None

    def parse(chunk: Chunk) -> tuple[Chunk, Names | None]:
        return chunk, known.parse(chunk[1], separator) if simple and len(chunk[1]) >= SMALL else None

    chunks = text.chunks()
    # The names of the first chunk are known before other threads begin.
    for chunk, names in chain(map(parse, islice(chunks, 1)), in_order(parse, chunks)):
        codes = None if names is None else known.coded(names)
        if names is None or codes is None:
            coder.add(*_fields(chunk, separator, layout, name=text.name))
        else:
            coder.blanks += names.blanks
            coder.add_coded(codes, names.lengths)
    return coder.finish(layout=layout)


def _fields(chunk: Chunk, separator: str, layout: Layout, *, name: str) -> tuple[pl.Series, NDArray[np.int64]]:
    """The fields of a chunk, end to end, and how many each line has."""
    fields, widths, numbers, lines = split_chunk(chunk, separator, name=name)
    fields, widths = items_of(fields, widths, layout)
    # A blank line is an empty transaction, not one with a blank item.
    lengths = np.zeros(lines, dtype=np.int64)
    lengths[numbers - chunk[0] - 1] = widths
    return fields, lengths


def skipped_by(layout: Layout) -> list[int]:
    """The places, from 0, of the fields that the layout leaves out."""
    return [int(number) - 1 for number in (layout.skip_columns or "").split(",") if number]


def items_of(
    fields: pl.Series, widths: NDArray[np.int64], layout: Layout, *, unit: int | None = None
) -> tuple[pl.Series, NDArray[np.int64]]:
    """The items among the fields of lines, end to end, and how many each line has.

    Args:
        fields: of all lines, end to end.
        widths: how many fields each line has, at least 1.
        layout: says which fields are left out, and what separates the items of a list in a field.
        unit: which field names the unit, counted from 0. None if no field does.
    """
    others = [*skipped_by(layout), *([] if unit is None else [unit])]
    if others and len(fields):
        place = np.arange(len(fields)) - np.repeat(np.cumsum(widths) - widths, widths)
        wanted = ~np.isin(place, others)
        fields, widths = fields.filter(pl.Series(wanted)), np.add.reduceat(wanted, np.cumsum(widths) - widths)
    if layout.item_separator is not None:
        fields, items = split_lists(fields, layout.item_separator)
        line = np.repeat(np.arange(len(widths)), widths)
        widths = np.bincount(line, weights=items, minlength=len(widths)).astype(np.int64)
    return fields, widths
