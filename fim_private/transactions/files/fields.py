"""Split lines into fields. A line with quotes follows RFC 4180."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cache

import numpy as np
import polars as pl
from numpy.typing import NDArray

from fim_private.errors import InputError
from fim_private.transactions.files.text import Chunk, lines_of

QUOTE = '"'
MARK = "\x1f"
"""The unit separator of ASCII, which replaces separators outside quotes."""

HOW_TO_QUOTE = (
    "Close each quoted field on its line (write blanks for line breaks inside it, or save the table as Parquet or "
    "Excel), with nothing after it, and double the quotes inside."
)


def behind_header(header: Sequence[str], record: Sequence[str]) -> str:
    """Advice for a header without the separator at its end that this record has; empty if that is not so."""
    if len(record) != len(header) + 1 or record[-1].strip():
        return ""
    return "If each line ends in the separator, write it at the end of the header too. "


@cache
def _field_pattern(separator: str) -> re.Pattern[str]:
    """One field from its separator on: quoted, or plain, or (third group) the rest of a line that is neither.

    Blanks around a quoted field are allowed. The standard csv module is not used for two reasons: its limit on the
    length of a field is global to the process, and it reads past line ends if a quote is left open.
    """
    mark = re.escape(separator)
    blanks = "" if " " in separator else " *"
    plain = f"[^{mark}]*" if len(separator) == 1 else f"(?:(?!{mark}).)*"
    quoted = f'{blanks}"([^"]*+(?:""[^"]*+)*+)"{blanks}(?={mark}|\\Z)'
    return re.compile(f'(?:\\A|{mark})(?:{quoted}|(?!{blanks}")({plain})|(?={blanks}")(.+))', re.DOTALL)


def split_line(line: str, separator: str) -> list[str] | None:
    """The fields of one line; None if a quoted field has no closing quote, or goes on after it.

    A quote inside an unquoted field is an ordinary character.

    >>> split_line('5" nail;"bread; white"', ";")
    ['5" nail', 'bread; white']
    """
    if QUOTE not in line:
        return line.split(separator)
    found = _field_pattern(separator).findall(line)
    if found[-1][2]:
        return None
    return [quoted.replace('""', QUOTE) or plain for quoted, plain, _ in found]


def split_lines(
    lines: pl.Series, separator: str, *, name: str, numbers: NDArray[np.int64]
) -> tuple[pl.Series, NDArray[np.int64]]:
    """The fields of many lines, end to end, and the number of fields of each line.

    Args:
        lines: strings, length n.
        separator: one character or more.
        name: the file, for messages.
        numbers: int64, shape (n,): the 1-based number of each line, for messages.

    Errors:
        InputError: unbalanced quotes.
    """
    quoted = lines.str.contains(QUOTE, literal=True)
    plain = lines.filter(~quoted).str.split(separator)
    plain_widths = plain.list.len().to_numpy().astype(np.int64)
    if not quoted.any():
        return plain.explode(), plain_widths
    where = quoted.to_numpy()
    fields, widths = _split_quoted(lines.filter(quoted), separator, name=name, numbers=numbers[where])
    return _interleave(
        pl.concat([plain.explode(), fields]),
        np.concatenate([plain_widths, widths]),
        np.argsort(np.concatenate([np.flatnonzero(~where), np.flatnonzero(where)])),
    )


def split_chunk(
    chunk: Chunk, separator: str, *, name: str
) -> tuple[pl.Series, NDArray[np.int64], NDArray[np.int64], int]:
    """The fields of the lines that are not blank in a chunk of whole lines.

    Returns:
        The fields, end to end; for each line that is not blank its number of fields, and its 1-based number, int64; and
        the number of all lines.

    Errors:
        InputError: unbalanced quotes.
    """
    first, content = chunk
    lines = lines_of(content)
    filled = lines.str.strip_chars() != ""
    numbers = np.flatnonzero(filled.to_numpy()).astype(np.int64) + first + 1
    return *split_lines(lines.filter(filled), separator, name=name, numbers=numbers), numbers, len(lines)


def split_lists(cells: pl.Series, separator: str) -> tuple[pl.Series, NDArray[np.int64]]:
    r"""The items of cells that hold lists, end to end, and the number of items of each cell, at least 1.

    A list may stand in brackets, and its items then in quotes, as Python, R, JSON and PostgreSQL write it: with a
    backslash before a quote or a backslash of the name.

    Args:
        cells: strings; null or blank for no item, which becomes one blank item.
        separator: what separates the items of a list.

    >>> split_lists(pl.Series(["ale, bun", "['cod, raw', 'egg']", "{}", "fig", r'["5\", \\", "6"]']), ",")[0].to_list()
    ['ale', 'bun', 'cod, raw', 'egg', '', 'fig', '5", \\', '6']
    """
    stripped = cells.str.strip_chars().fill_null("")
    inside = stripped.str.extract(r"(?s)^\[(.*)\]$").fill_null(stripped.str.extract(r"(?s)^\{(.*)\}$"))
    in_brackets = inside.is_not_null()
    item = rf"""\s*'(?:[^'\\]|\\.)*'|\s*"(?:[^"\\]|\\.)*"|[^{re.escape(separator)}]+"""
    parts = inside.str.extract_all(item) if len(separator) == 1 else inside.str.split(separator)
    lists = parts.zip_with(in_brackets, stripped.str.split(separator))
    lists = lists.zip_with(lists.list.len() > 0, pl.Series([[""]]).new_from_index(0, len(lists)))
    lengths = lists.list.len().to_numpy().astype(np.int64)
    items = lists.explode().str.strip_chars()
    quoted = items.str.extract("(?s)^'(.*)'$").fill_null(items.str.extract('(?s)^"(.*)"$'))
    bare = quoted.str.replace_all(r"""\\(["'\\])""", "${1}").fill_null(items)
    return bare.zip_with(pl.Series(np.repeat(in_brackets.to_numpy(), lengths)), items), lengths


def _split_quoted(
    lines: pl.Series, separator: str, *, name: str, numbers: NDArray[np.int64]
) -> tuple[pl.Series, NDArray[np.int64]]:
    """Split lines that hold quotes, as `split_lines` does."""
    at_once = _split_between_quotes(lines, separator)
    if at_once is not None:
        return at_once
    fields: list[str] = []
    widths = np.empty(len(lines), dtype=np.int64)
    for place, (line, number) in enumerate(zip(lines, numbers, strict=True)):
        split = split_line(line, separator)
        if split is None:
            raise InputError(f"Line {number} of {name} has unbalanced quotes.", HOW_TO_QUOTE)
        fields += split
        widths[place] = len(split)
    return pl.Series(fields, dtype=pl.String), widths


def _split_between_quotes(lines: pl.Series, separator: str) -> tuple[pl.Series, NDArray[np.int64]] | None:
    """Split lines in which every field is unquoted or properly quoted; None if a field is neither.

    In such lines a separator divides fields if an even number of quotes stands before it.
    """
    if len(separator) > 1 or not separator.isascii():
        return None
    text = "\n".join(lines.to_list()).encode()
    if MARK.encode() in text:
        return None
    data = np.frombuffer(bytearray(text), dtype=np.uint8)
    # 32 bits may wrap around: only odd or even matters.
    quotes_before = np.cumsum(data == ord(QUOTE), dtype=np.uint32)
    data[(data == ord(separator)) & (quotes_before & 1 == 0)] = ord(MARK)
    split = pl.Series(data.tobytes().decode().split("\n")).str.split(MARK)
    fields = split.explode()
    blanks = "" if separator == " " else " *"
    inner = fields.str.extract(f'^{blanks}"((?:[^"]|"")*)"{blanks}$')
    # This also finds a quote that is left open, even though it spoils the lines after it.
    if (fields.str.contains(QUOTE, literal=True) & inner.is_null()).any():
        return None
    unquoted = inner.str.replace_all('""', QUOTE, literal=True).fill_null(fields)
    return unquoted, split.list.len().to_numpy().astype(np.int64)


def _interleave(
    fields: pl.Series, widths: NDArray[np.int64], order: NDArray[np.int64]
) -> tuple[pl.Series, NDArray[np.int64]]:
    """Put the fields and widths of lines into another order."""
    starts = np.cumsum(widths) - widths
    ordered = widths[order]
    new_starts = np.cumsum(ordered) - ordered
    return fields.gather(np.repeat(starts[order] - new_starts, ordered) + np.arange(len(fields))), ordered
