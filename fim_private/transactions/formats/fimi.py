"""FIMI: one transaction per line, items separated by blanks."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import polars as pl
from numpy.typing import NDArray

from fim_private.transactions.dataset import Transactions
from fim_private.transactions.files.text import SMALL, Chunk, Text, lines_of
from fim_private.transactions.in_order import in_order
from fim_private.transactions.item_codes import Coder, Vocabulary
from fim_private.transactions.layout import Layout
from fim_private.transactions.text_kernels import parse_integers

TABLE = 1 << 24
"""A table holds the codes of numbers below this. Only the parts of it that are used take memory."""


def read_fimi(text: Text, layout: Layout) -> Transactions:
    """Read tokens separated by any white space; large chunks of nothing but whole numbers take a faster path."""
    coder = Coder()
    codes_of = _CodesOfNumbers(coder.vocabulary)

    def parse(chunk: Chunk) -> _Names | _Numbers:
        numbers = _numbers(chunk[1], codes_of.table) if len(chunk[1]) >= SMALL else None
        return _names(chunk[1]) if numbers is None else numbers

    for read in in_order(parse, text.chunks()):
        if isinstance(read, _Names):
            coder.add(*read)
        else:
            read.codes[read.codes < 0] = codes_of.unknown(read.unknown)
            coder.add_coded(read.codes, read.lengths)
    return coder.finish(layout=layout)


class _Names(NamedTuple):
    """The names in a chunk, and how many names each line has, without lines that have none."""

    names: pl.Series
    lengths: NDArray[np.int64]


class _Numbers(NamedTuple):
    """The numbers in a chunk.

    Args:
        codes: the code of each number, or -1 for a number that had no code yet.
        lengths: how many numbers each line has.
        unknown: the numbers that had no code yet.
    """

    codes: NDArray[np.int32]
    lengths: NDArray[np.int32]
    unknown: NDArray[np.int64]


def _names(chunk: bytes) -> _Names:
    tokens = lines_of(chunk).str.extract_all(r"\S+")
    lengths = tokens.list.len()
    return _Names(tokens.filter(lengths > 0).explode(), lengths.to_numpy().astype(np.int64))


def _numbers(chunk: bytes, table: NDArray[np.int32]) -> _Numbers | None:
    """The numbers in a chunk; None if some token is not a canonical integer.

    A number with more than 18 digits or with leading zeros is not canonical: it is a name.
    """
    data = np.frombuffer(chunk, dtype=np.uint8)
    codes, lengths = np.empty(len(data) // 2 + 1, np.int32), np.empty(len(data) + 1, np.int32)
    unknown = np.empty(len(codes), np.int64)
    number, lines, unknowns = parse_integers(data, table, codes, lengths, unknown)
    return None if number < 0 else _Numbers(codes[:number].copy(), lengths[:lines].copy(), unknown[:unknowns].copy())


class _CodesOfNumbers:
    """The codes that a vocabulary gives to whole numbers.

    The table has the code of each small number plus one, or 0 for a number without a code. Threads read it while it is
    filled: they see a code or none.
    """

    def __init__(self, vocabulary: Vocabulary) -> None:
        self._vocabulary = vocabulary
        self.table = np.zeros(TABLE, dtype=np.int32)

    def unknown(self, numbers: NDArray[np.int64]) -> NDArray[np.int32]:
        """The codes of numbers that had none when they were parsed; those that still have none get new codes."""
        codes = np.empty(len(numbers), np.int32)
        small = numbers < TABLE
        within = numbers[small]
        fresh = np.unique(within[self.table[within] == 0])
        self.table[fresh] = np.arange(1, len(fresh) + 1) + len(self._vocabulary)
        self._vocabulary.add(_as_names(fresh))
        codes[small] = self.table[within] - 1
        large, place = np.unique(numbers[~small], return_inverse=True)
        codes[~small] = self._vocabulary.codes(_as_names(large))[place]
        return codes


def _as_names(numbers: NDArray[np.int64]) -> pl.Series:
    return pl.Series(numbers).cast(pl.String)
