"""Try whether Polars can decode a Parquet file, in a separate process with limited memory and time.

If the header of a page asks for an absurd amount of memory, Polars ends the process instead of raising.
"""

from __future__ import annotations

import io
import sys
from dataclasses import astuple, dataclass
from enum import IntEnum

import polars as pl
import polars.selectors as cs


class Verdict(IntEnum):
    """The outcome of a trial, which is also the exit code of its process."""

    GOOD = 0
    UNREADABLE = 1
    TOO_MUCH = 70


@dataclass(frozen=True)
class Limits:
    """The most that a file may hold and a trial may use.

    Args:
        values: values of one column; items inside lists count one by one.
        text: bytes of text in one column; equal texts count each time.
        columns: columns decoded at once.
        memory: bytes that the trial may allocate, on systems that can limit it.
        seconds: how long the trial may last.
    """

    values: int
    text: int
    columns: int
    memory: int
    seconds: int


def tried(data: bytes, limits: Limits) -> Verdict:
    """Whether every column of this Parquet file can be decoded.

    Cost: a quarter of a second, and the decoding.
    """
    # Not for the trial itself, which imports nothing of this package.
    from fim_private.transactions.files.limited_process import TOOK_TOO_LONG, run_limited  # noqa: PLC0415

    code, _ = run_limited(__file__, data, *astuple(limits), memory=limits.memory, seconds=limits.seconds)
    if code == TOOK_TOO_LONG:
        return Verdict.TOO_MUCH
    return Verdict(code) if code in set(Verdict) else Verdict.UNREADABLE


def _decode(data: bytes, limits: Limits) -> Verdict:
    table = pl.scan_parquet(io.BytesIO(data))
    names = table.collect_schema().names()
    for start in range(0, len(names), limits.columns):
        frame = table.select(cs.by_name(*names[start : start + limits.columns])).collect()
        if any(_holds_too_much(column, limits) for column in frame):
            return Verdict.TOO_MUCH
    return Verdict.GOOD


def _holds_too_much(column: pl.Series, limits: Limits) -> bool:
    """Whether a column has more values or more text than allowed. Equal texts, even if stored once, count each time."""
    while isinstance(column.dtype, pl.List | pl.Array):
        column = column.explode()
        if len(column) > limits.values:
            return True
    if column.dtype in (pl.Categorical, pl.Enum):
        column = column.cast(pl.String)
    if column.dtype == pl.Binary:
        return int(column.bin.size().sum()) > limits.text
    return column.dtype == pl.String and int(column.str.len_bytes().sum()) > limits.text


if __name__ == "__main__":
    sys.exit(_decode(sys.stdin.buffer.read(), Limits(*map(int, sys.argv[1:]))))
