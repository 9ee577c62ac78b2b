"""A delimited text with a header: each line is a record with as many fields as the header.

RFC 4180 allows line ends inside quoted fields; here they are refused. Otherwise one open quote would swallow the lines
of other transactions.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from itertools import chain

import numpy as np
import polars as pl
from numpy.typing import NDArray

from fim_private.errors import InputError
from fim_private.transactions.columns.column_roles import Columns
from fim_private.transactions.columns.row_filter import Selection
from fim_private.transactions.files.fields import HOW_TO_QUOTE, behind_header, split_chunk, split_line
from fim_private.transactions.files.text import Chunk, Text, only_blanks


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class TextTable:
    """A header and the text below it.

    Args:
        name: the name for messages.
        below: the lines below the header; can be read once.
        separator: what separates fields.
        header: column names, stripped.
        selection: which rows to keep; None for all.
    """

    name: str
    below: Iterator[Chunk]
    separator: str
    header: list[str]
    selection: Selection | None = None

    def blocks(self) -> Iterator[tuple[pl.Series, NDArray[np.int64]]]:
        """The fields below the header, in runs of whole lines, with the number of each line; can be read once.

        Yields:
            the fields of r lines end to end, strings, length r times the number of columns; the line numbers, int64,
            shape (r,).

        Errors:
            InputError: a line has more or fewer fields than the header, or unbalanced quotes.
        """
        width = len(self.header)
        for chunk in self.below:
            fields, widths, numbers, _ = split_chunk(chunk, self.separator, name=self.name)
            odd = np.flatnonzero(widths != width)
            if len(odd):
                begin = int(widths[: odd[0]].sum())
                first = fields[begin : begin + int(widths[odd[0]])].to_list()
                raise InputError(
                    f"Line {numbers[odd[0]]} of {self.name} differs from the header in its number of fields.",
                    f"{behind_header(self.header, first)}Delete lines that are no rows, such as comments and totals, "
                    "quote fields that hold the separator, or give the right --separator.",
                )
            if self.selection is not None:
                kept = self.selection.kept(partial(fields.gather_every, width)).to_numpy()
                fields, numbers = fields.filter(pl.Series(np.repeat(kept, width))), numbers[kept]
            yield fields, numbers


def text_table(text: Text, separator: str, columns: Columns | None = None, *, headerless: bool = False) -> TextTable:
    """The table in a text, with the rows that `columns` selects. The first line that is not blank is the header.

    Without a header the columns are called by their numbers, from 1 on.

    Errors:
        InputError: every line is blank, or the header has unbalanced quotes, or has not the columns of a filter.
    """
    chunks = text.chunks()
    found = next(((first, chunk) for first, chunk in chunks if chunk.decode().strip()), None)
    if found is None:
        raise only_blanks(text.name)
    first, chunk = found
    start = chunk.rfind(b"\n", 0, len(chunk) - len(chunk.decode().lstrip().encode())) + 1
    line, _, below = chunk[start:].partition(b"\n")
    header = split_line(line.decode(), separator)
    if header is None:
        raise InputError(f"The header of {text.name} has unbalanced quotes.", HOW_TO_QUOTE)
    header = [name.strip() for name in header]
    line_number = first + chunk.count(b"\n", 0, start)
    if headerless:
        rest, header = (line_number, chunk[start:]), [str(number) for number in range(1, len(header) + 1)]
    else:
        rest = (line_number + 1, below)
    return TextTable(
        name=text.name,
        below=chain([rest], chunks),
        separator=separator,
        header=header,
        selection=None if columns is None else columns.selection(header),
    )
