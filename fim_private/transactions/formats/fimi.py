"""FIMI: one transaction per line, items separated by blanks."""

from __future__ import annotations

import numpy as np
import polars as pl
from numpy.typing import NDArray

from fim_private.transactions.dataset import Transactions
from fim_private.transactions.files.text import Text, lines_of
from fim_private.transactions.item_codes import Coder, Vocabulary
from fim_private.transactions.layout import Layout

SMALL = 1 << 19
"""In bytes. A smaller chunk is read without compiled code, which would take longer to load."""

TABLE = 1 << 24
"""A table holds the codes of numbers below this. Only the parts of it that are used take memory."""


def read_fimi(text: Text, layout: Layout) -> Transactions:
    """Read tokens separated by any white space; large chunks of nothing but whole numbers take a faster path."""
    coder = Coder()
    integers: _Integers | None = None
    for _, chunk in text.chunks():
        read = None
        if len(chunk) >= SMALL:
            integers = integers or _Integers(coder.vocabulary)
            read = integers.read(chunk)
        if read is None:
            tokens = lines_of(chunk).str.extract_all(r"\S+")
            lengths = tokens.list.len()
            coder.add(tokens.filter(lengths > 0).explode(), lengths.to_numpy().astype(np.int64))
        else:
            coder.add_coded(*read)
    return coder.finish(layout=layout)


class _Integers:
    """Reads whole numbers and codes them by a vocabulary."""

    def __init__(self, vocabulary: Vocabulary) -> None:
        self._vocabulary = vocabulary
        self._code_of = np.zeros(TABLE, dtype=np.int32)
        # Reused for every chunk.
        self._codes, self._lengths = (np.empty(0, dtype=np.int32) for _ in range(2))
        self._fresh, self._large = (np.empty(0, dtype=np.int64) for _ in range(2))

    def read(self, chunk: bytes) -> tuple[NDArray[np.int32], NDArray[np.int32]] | None:
        """The codes of all numbers, and how many numbers each line has; None if some token is not a canonical integer.

        A number with more than 18 digits or with leading zeros is not canonical: it is a name.
        """
        from fim_private.transactions.kernels import parse_integers  # noqa: PLC0415 - small files do without

        if len(self._lengths) <= len(chunk):
            self._codes, self._lengths = (np.empty(len(chunk) + 1, dtype=np.int32) for _ in range(2))
            self._fresh, self._large = (np.empty(len(chunk) // 2 + 1, dtype=np.int64) for _ in range(2))
        number, lines, names, larges = parse_integers(
            np.frombuffer(chunk, dtype=np.uint8),
            self._code_of,
            len(self._vocabulary),
            self._codes,
            self._lengths,
            self._fresh,
            self._large,
        )
        # If a later token is not a number, these names stay in the vocabulary: the chunk holds them in any case.
        self._vocabulary.add(_as_names(self._fresh[: names - len(self._vocabulary)]))
        if number < 0:
            return None
        codes = self._codes[:number].copy()
        if larges:
            distinct, place = np.unique(self._large[:larges], return_inverse=True)
            codes[codes < 0] = self._vocabulary.codes(_as_names(distinct))[place]
        return codes, self._lengths[:lines].copy()


def _as_names(numbers: NDArray[np.int64]) -> pl.Series:
    return pl.Series(numbers).cast(pl.String)
