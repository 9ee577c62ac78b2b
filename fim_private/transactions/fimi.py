"""FIMI: one transaction a line, items separated by blanks."""

from __future__ import annotations

import numpy as np

from fim_private.transactions.dataset import Transactions
from fim_private.transactions.encode import Coder
from fim_private.transactions.text import Text, lines_of

READ_AS = "FIMI: items separated by blanks, one transaction a line"
INTEGER_BYTES = b"0123456789 \t\n\v\f"


def read_fimi(text: Text) -> Transactions:
    """Read tokens separated by white space of any kind; a file of whole numbers alone takes a faster path."""
    return (_read_integers(text) if _is_digits(text) else None) or _read_tokens(text)


def _is_digits(text: Text) -> bool:
    return all(not chunk.translate(None, INTEGER_BYTES) for _, chunk in text.chunks())


def _read_tokens(text: Text) -> Transactions:
    coder = Coder()
    row_count = 0
    for first, chunk in text.chunks():
        tokens = lines_of(chunk).str.extract_all(r"\S+")
        lengths = tokens.list.len()
        rows = np.repeat(np.arange(first, first + len(tokens), dtype=np.int64), lengths.to_numpy())
        coder.add(tokens.filter(lengths > 0).explode(), rows)
        row_count = first + len(tokens)
    return coder.finish(row_count=row_count, read_as=READ_AS)


def _read_integers(text: Text) -> Transactions | None:
    """The same for digits and blanks; None if a number has leading zeros or over 18 digits."""
    coder = Coder()
    row_count = 0
    for first, chunk in text.chunks():
        data = np.frombuffer(chunk, dtype=np.uint8)
        is_digit = np.concatenate([[False], data >= ord("0"), [False]])
        edges = np.flatnonzero(is_digit[1:] != is_digit[:-1])
        starts, lengths = edges[::2], edges[1::2] - edges[::2]
        if ((lengths > 18) | ((lengths > 1) & (data[starts] == ord("0")))).any():
            return None
        line_ends = np.flatnonzero(data == ord("\n"))
        if len(starts):
            values = np.fromstring(chunk.decode(), dtype=np.int64, sep=" ")
            coder.add_integers(values, np.searchsorted(line_ends, starts).astype(np.int64) + first)
        row_count = first + len(line_ends) + 1
    return coder.finish(row_count=row_count, read_as=READ_AS)
