"""A delimited text with a header: every record has as many fields as the header."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import polars as pl
from numpy.typing import NDArray

from fim_private.errors import InputError
from fim_private.transactions.fields import is_open, split_line, split_lines
from fim_private.transactions.text import Text, lines_of

MOST_BREAKS = 100
"""Line breaks in one record at most, so that an open quote cannot make reading slow."""


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class TextTable:
    """A header and the text below it.

    Args:
        text: what stands below the header, with line breaks inside quoted fields made blanks.
        first_line: the 0-based number of its first line in the file.
        separator: between fields.
        header: column names, stripped.
    """

    text: Text
    first_line: int
    separator: str
    header: list[str]

    def blocks(self) -> Iterator[tuple[pl.Series, NDArray[np.int64]]]:
        """The fields below the header, in runs of whole records, with the number of the line of each record.

        Yields:
            the fields end to end, strings, length r times the number of columns; the line numbers, int64,
            shape (r,).

        Errors:
            InputError: a record has more or fewer fields than the header, or unbalanced quotes.
        """
        width = len(self.header)
        for first, chunk in self.text.chunks():
            lines = lines_of(chunk)
            filled = lines.str.strip_chars() != ""
            numbers = np.flatnonzero(filled.to_numpy()).astype(np.int64) + self.first_line + first + 1
            fields, widths = split_lines(lines.filter(filled), self.separator, name=self.text.name, numbers=numbers)
            odd = np.flatnonzero(widths != width)
            if len(odd):
                raise InputError(
                    f"Line {numbers[odd[0]]} of {self.text.name} differs from the header in its number of fields.",
                    "Quote fields that hold the separator, give the right --separator, or use --format basket.",
                )
            yield fields, numbers

    def columns(self, positions: list[int]) -> list[pl.Series]:
        """Some columns as stripped strings, each of the length of the table."""
        parts = [
            [fields.gather_every(len(self.header), offset=position).str.strip_chars() for position in positions]
            for fields, _ in self.blocks()
        ]
        return [pl.concat(list(column)) for column in zip(*parts, strict=True)]


def text_table(text: Text, separator: str) -> TextTable:
    """The table in a text whose first line that is not blank is a header.

    Errors:
        InputError: the header has unbalanced quotes.
    """
    data = join_broken_fields(text.data, separator)
    start = data.rfind(b"\n", 0, len(data) - len(data.lstrip())) + 1
    end = data.find(b"\n", start)
    end = len(data) if end < 0 else end
    header = split_line(data[start:end].decode(), separator)
    if header is None:
        raise InputError(
            f"The header of {text.name} has unbalanced quotes.",
            "Close each quote, and double those inside a field.",
        )
    below = Text(name=text.name, data=data[end + 1 :])
    first_line = data.count(b"\n", 0, end) + 1
    return TextTable(text=below, first_line=first_line, separator=separator, header=[name.strip() for name in header])


def join_broken_fields(data: bytes, separator: str) -> bytes:
    """The text with line breaks inside quoted fields made blanks, and blank lines added after them.

    So lines keep their numbers. A quote that is never closed is left alone, to be refused with its line number.
    """
    parts: list[bytes] = []
    done = 0
    for start in _odd_lines(data):
        if start < done:
            continue
        end = _record_end(data, start, separator)
        if end is not None:
            record = data[start:end]
            parts += [data[done:start], record.replace(b"\n", b" "), b"\n" * record.count(b"\n")]
            done = end
    return b"".join([*parts, data[done:]]) if parts else data


def _odd_lines(data: bytes) -> Iterator[int]:
    """Where lines start that hold an odd number of quotes, as a line must that ends inside a quoted field.

    (A stray quote before the open one makes the number even; such a line is refused later on, not misread.)
    """
    at = 0
    for _, chunk in Text(name="", data=data).chunks():
        if b'"' in chunk:
            codes = np.frombuffer(chunk, dtype=np.uint8)
            line_ends = np.append(np.flatnonzero(codes == ord("\n")), len(codes))
            quotes = np.searchsorted(np.flatnonzero(codes == ord('"')), line_ends)
            starts = np.append(0, line_ends[:-1] + 1)
            yield from (at + starts[np.diff(quotes, prepend=0) % 2 == 1]).tolist()
        at += len(chunk) + 1


def _record_end(data: bytes, start: int, separator: str) -> int | None:
    """Where the record that starts here ends, if that is not at the end of its first line."""
    end = data.find(b"\n", start)
    for _ in range(MOST_BREAKS):
        if end < 0 or not is_open(data[start:end].decode(), separator):
            return None
        end = data.find(b"\n", end + 1)
        stop = len(data) if end < 0 else end
        if split_line(data[start:stop].decode(), separator) is not None:
            return stop
    return None
