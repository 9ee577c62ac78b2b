"""A delimited text with a header: every record has as many fields as the header."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import chain

import numpy as np
import polars as pl
from numpy.typing import NDArray

from fim_private.errors import InputError
from fim_private.transactions.fields import is_open, split_line, split_lines
from fim_private.transactions.text import Chunk, Text, lines_of

MOST_BREAKS = 100
"""Line breaks in one record at most, so that an open quote cannot make reading slow."""

OPEN = -1
"""In place of the end of a record: not in this data."""


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class TextTable:
    """A header and the text below it.

    Args:
        name: of the file, for messages.
        below: what stands below the header, once, with line breaks inside quoted fields made blanks.
        separator: between fields.
        header: column names, stripped.
    """

    name: str
    below: Iterator[Chunk]
    separator: str
    header: list[str]

    def blocks(self) -> Iterator[tuple[pl.Series, NDArray[np.int64]]]:
        """The fields below the header, once, in runs of whole records, with the number of the line of each record.

        Yields:
            the fields end to end, strings, length r times the number of columns; the line numbers, int64,
            shape (r,).

        Errors:
            InputError: a record has more or fewer fields than the header, or unbalanced quotes.
        """
        width = len(self.header)
        for first, chunk in self.below:
            lines = lines_of(chunk)
            filled = lines.str.strip_chars() != ""
            numbers = np.flatnonzero(filled.to_numpy()).astype(np.int64) + first + 1
            fields, widths = split_lines(lines.filter(filled), self.separator, name=self.name, numbers=numbers)
            odd = np.flatnonzero(widths != width)
            if len(odd):
                raise InputError(
                    f"Line {numbers[odd[0]]} of {self.name} differs from the header in its number of fields.",
                    "Quote fields that hold the separator, give the right --separator, or use --format basket.",
                )
            yield fields, numbers


def text_table(text: Text, separator: str) -> TextTable:
    """The table in a text whose first line that is not blank is a header.

    Errors:
        InputError: the header has unbalanced quotes.
    """
    chunks = _records(text.chunks(), separator)
    # A text that is all blank is refused at its end, so there is such a line.
    first, chunk = next((first, chunk) for first, chunk in chunks if chunk.strip())
    start = chunk.rfind(b"\n", 0, len(chunk) - len(chunk.lstrip())) + 1
    line, _, below = chunk[start:].partition(b"\n")
    header = split_line(line.decode(), separator)
    if header is None:
        raise InputError(
            f"The header of {text.name} has unbalanced quotes.",
            "Close each quote, and double those inside a field.",
        )
    rest = (first + chunk.count(b"\n", 0, start) + 1, below)
    return TextTable(
        name=text.name, below=chain([rest], chunks), separator=separator, header=[name.strip() for name in header]
    )


def _records(chunks: Iterator[Chunk], separator: str) -> Iterator[Chunk]:
    """The same lines with broken fields joined (`join_broken_fields`), wherever the chunks were cut."""
    held: Chunk | None = None
    for first, chunk in chunks:
        line, data = (first, chunk) if held is None else (held[0], held[1] + b"\n" + chunk)
        joined, end = _joined(data, separator, final=False)
        # Up to here the records are whole; what comes after may go on in the next chunk.
        held = (line + data.count(b"\n", 0, end), data[end:]) if end < len(data) else None
        if end:
            yield line, joined.removesuffix(b"\n") if held else joined
    if held is not None:
        yield held[0], join_broken_fields(held[1], separator)


def join_broken_fields(data: bytes, separator: str) -> bytes:
    """The text with line breaks inside quoted fields made blanks, and blank lines added after them.

    So lines keep their numbers. A quote that is never closed is left alone, to be refused with its line number.
    """
    return _joined(data, separator, final=True)[0]


def _joined(data: bytes, separator: str, *, final: bool) -> tuple[bytes, int]:
    """Whole lines with broken fields joined, up to a record that lines after the data may still close.

    Args:
        data: whole lines.
        separator: between fields.
        final: whether there are no more lines.

    Returns:
        the lines; where in the data that record starts, or the length of the data.
    """
    parts: list[bytes] = []
    done = 0
    for start in _odd_lines(data):
        if start < done:
            continue
        end = _record_end(data, start, separator)
        if end == OPEN and not final:
            return b"".join([*parts, data[done:start]]), start
        if end not in (None, OPEN):
            record = data[start:end]
            parts += [data[done:start], record.replace(b"\n", b" "), b"\n" * record.count(b"\n")]
            done = end
    return (b"".join([*parts, data[done:]]) if parts else data), len(data)


def _odd_lines(data: bytes) -> Iterator[int]:
    """Where lines start that hold an odd number of quotes, as a line must that ends inside a quoted field.

    (A stray quote before the open one makes the number even; such a line is refused later on, not misread.)
    """
    if b'"' in data:
        codes = np.frombuffer(data, dtype=np.uint8)
        line_ends = np.append(np.flatnonzero(codes == ord("\n")), len(codes))
        quotes = np.searchsorted(np.flatnonzero(codes == ord('"')), line_ends)
        starts = np.append(0, line_ends[:-1] + 1)
        yield from starts[np.diff(quotes, prepend=0) % 2 == 1].tolist()


def _record_end(data: bytes, start: int, separator: str) -> int | None:
    """Where the record that starts here ends, if that is not at the end of its first line; `OPEN` if data is short."""
    end = data.find(b"\n", start)
    for _ in range(MOST_BREAKS):
        if not is_open(data[start : len(data) if end < 0 else end].decode(), separator):
            return None
        if end < 0:
            return OPEN
        end = data.find(b"\n", end + 1)
        stop = len(data) if end < 0 else end
        if split_line(data[start:stop].decode(), separator) is not None:
            return stop
    return None
