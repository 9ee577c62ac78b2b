"""Basket CSV: one transaction per line, separated names, lines of any length, quotes as in RFC 4180."""

from __future__ import annotations

import numpy as np
import polars as pl

from fim_private.transactions.dataset import Transactions
from fim_private.transactions.files.fields import split_chunk, split_lists
from fim_private.transactions.files.text import Text
from fim_private.transactions.item_codes import Coder
from fim_private.transactions.layout import Layout


def read_basket(text: Text, layout: Layout) -> Transactions:
    """Read lines of names, separated by commas if the layout has no separator, without the columns it leaves out.

    Errors:
        InputError: a line has unbalanced quotes.
    """
    coder = Coder()
    skipped = [int(number) - 1 for number in (layout.skip_columns or "").split(",") if number]
    for chunk in text.chunks():
        fields, widths, numbers, lines = split_chunk(chunk, layout.separator or ",", name=text.name)
        if skipped:
            place = np.arange(len(fields)) - np.repeat(np.cumsum(widths) - widths, widths)
            wanted = ~np.isin(place, skipped)
            fields, widths = fields.filter(pl.Series(wanted)), np.add.reduceat(wanted, np.cumsum(widths) - widths)
        if layout.item_separator is not None:
            fields, items = split_lists(fields, layout.item_separator)
            line = np.repeat(np.arange(len(widths)), widths)
            widths = np.bincount(line, weights=items, minlength=len(widths)).astype(np.int64)
        # A blank line is an empty transaction, not one with a blank item.
        lengths = np.zeros(lines, dtype=np.int64)
        lengths[numbers - chunk[0] - 1] = widths
        coder.add(fields, lengths)
    return coder.finish(layout=layout)
