"""Lines into fields: plain splitting where a line has no quote, RFC 4180 where it has one."""

from __future__ import annotations

import re
from functools import cache

import numpy as np
import polars as pl
from numpy.typing import NDArray

from fim_private.errors import InputError

QUOTE = '"'


@cache
def _field_pattern(separator: str) -> re.Pattern[str]:
    """One field from its separator on: quoted, or plain, or (third group) the rest of a line that is neither.

    Blanks around a quoted field are let pass. The standard csv module is not used because its limit on the
    length of a field is a global of the process, and because it reads on over line ends when a quote is left
    open.
    """
    mark = re.escape(separator)
    blanks = "" if " " in separator else " *"
    plain = f"[^{mark}]*" if len(separator) == 1 else f"(?:(?!{mark}).)*"
    quoted = f'{blanks}"([^"]*+(?:""[^"]*+)*+)"{blanks}(?={mark}|\\Z)'
    return re.compile(f'(?:\\A|{mark})(?:{quoted}|(?!{blanks}")({plain})|(?={blanks}")(.+))', re.DOTALL)


def split_line(line: str, separator: str) -> list[str] | None:
    """The fields of one line; None if a quoted field does not end, or goes on after its closing quote.

    A quote inside an unquoted field stands for itself.

    >>> split_line('5" nail;"bread; white"', ";")
    ['5" nail', 'bread; white']
    """
    if QUOTE not in line:
        return line.split(separator)
    found = _field_pattern(separator).findall(line)
    if found[-1][2]:
        return None
    return [quoted.replace('""', QUOTE) or plain for quoted, plain, _ in found]


def is_open(line: str, separator: str) -> bool:
    """Whether the line ends inside a quoted field."""
    rest = _field_pattern(separator).findall(line)[-1][2] if QUOTE in line else ""
    return re.fullmatch(' *"[^"]*+(?:""[^"]*+)*+', rest) is not None


def split_lines(
    lines: pl.Series, separator: str, *, name: str, numbers: NDArray[np.int64]
) -> tuple[pl.Series, NDArray[np.int64]]:
    """The fields of many lines, end to end, and the number of fields of each line.

    Args:
        lines: strings, length n.
        separator: one character or more.
        name: of the file, for messages.
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
    fields: list[str] = []
    widths: list[int] = []
    for line, number in zip(lines.filter(quoted), numbers[where], strict=True):
        split = split_line(line, separator)
        if split is None:
            raise InputError(
                f"Line {number} of {name} has unbalanced quotes.",
                "Close each quoted field on its line, with nothing after it, and double the quotes inside.",
            )
        fields += split
        widths.append(len(split))
    return _interleave(
        pl.concat([plain.explode(), pl.Series(fields, dtype=pl.String)]),
        np.concatenate([plain_widths, np.asarray(widths, dtype=np.int64)]),
        np.argsort(np.concatenate([np.flatnonzero(~where), np.flatnonzero(where)])),
    )


def _interleave(
    fields: pl.Series, widths: NDArray[np.int64], order: NDArray[np.int64]
) -> tuple[pl.Series, NDArray[np.int64]]:
    """The fields and widths of lines put into another order."""
    starts = np.cumsum(widths) - widths
    ordered = widths[order]
    new_starts = np.cumsum(ordered) - ordered
    return fields.gather(np.repeat(starts[order] - new_starts, ordered) + np.arange(len(fields))), ordered
