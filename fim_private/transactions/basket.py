"""Basket CSV: one transaction a line, names between separators, ragged lines, quotes as in RFC 4180."""

from __future__ import annotations

import numpy as np

from fim_private.transactions.dataset import Transactions
from fim_private.transactions.encode import Coder
from fim_private.transactions.fields import split_lines
from fim_private.transactions.text import Text, lines_of

SPOKEN = {",": "commas", ";": "semicolons", "\t": "tabs", "|": "pipes", " ": "blanks"}


def spoken(separator: str) -> str:
    """The separator in words."""
    return SPOKEN.get(separator, repr(separator))


def read_basket(text: Text, separator: str) -> Transactions:
    """Read ragged lines of names.

    Errors:
        InputError: unbalanced quotes, with the number of the line.
    """
    coder = Coder()
    for first, chunk in text.chunks():
        lines = lines_of(chunk)
        # A blank line is an empty transaction, not one with a blank item.
        filled = lines.str.strip_chars() != ""
        where = np.flatnonzero(filled.to_numpy())
        fields, widths = split_lines(lines.filter(filled), separator, name=text.name, numbers=where + first + 1)
        lengths = np.zeros(len(lines), dtype=np.int64)
        lengths[where] = widths
        coder.add(fields, lengths)
    return coder.finish(read_as=f"basket CSV, separated by {spoken(separator)}")
