"""A table of the names met so far, which finds the codes of names in bytes without making strings of them."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import polars as pl
from numpy.typing import NDArray

from fim_private.transactions.item_codes import Vocabulary
from fim_private.transactions.text_kernels import ODD, add_names, find_names, split_names

_FIRST = {"names": 1 << 15, "letters": 1 << 20}
"""The room in the first table."""


class Names(NamedTuple):
    """The names in a chunk of lines.

    Args:
        content: the chunk.
        codes: int32: the code of each name, or -1 for one that was unknown.
        lengths: int32: how many names each line has.
        begins: uint32: where each unknown name begins in the chunk.
        stops: uint32: where it ends.
        keys: uint64: its key in the table.
        blanks: how many blank names were left out.
    """

    content: bytes
    codes: NDArray[np.int32]
    lengths: NDArray[np.int32]
    begins: NDArray[np.uint32]
    stops: NDArray[np.uint32]
    keys: NDArray[np.uint64]
    blanks: int


class _Table(NamedTuple):
    """See the kernels `find_names` and `add_names`."""

    slots: NDArray[np.uint64]
    ends: NDArray[np.int64]
    letters: NDArray[np.uint8]


class KnownNames:
    """The codes that a vocabulary gives to names in bytes. Threads may parse while one thread learns new ones."""

    def __init__(self, vocabulary: Vocabulary) -> None:
        self._vocabulary = vocabulary
        self._code_of: dict[bytes, int] = {}
        self._table = _empty_table(**_FIRST)
        self._keys, self._codes = np.zeros(0, np.uint64), np.zeros(0, np.int32)

    def parse(self, content: bytes, separator: str) -> Names | None:
        """The names in lines, with a separator of one ASCII character; None if a line has to be looked at closely."""
        data = np.frombuffer(content, np.uint8)
        # What is not filled takes no memory.
        begins, stops = (np.empty(len(data) // 2 + 2, np.uint32) for _ in range(2))
        lengths = np.empty(len(data) + 1, np.int32)
        number, lines, blanks = split_names(data, ord(separator), begins, stops, lengths)
        if number < 0:
            return None
        begins, stops = begins[:number], stops[:number]
        codes, keys = np.empty(number, np.int32), np.empty(number, np.uint64)
        find_names(data, begins, stops, *self._table, codes, keys)
        unknown = codes == -1
        return Names(content, codes, lengths[:lines].copy(), begins[unknown], stops[unknown], keys[unknown], blanks)

    def coded(self, names: Names) -> NDArray[np.int32] | None:
        """The codes of all names; unknown ones get new codes. None if a name has to be looked at closely."""
        places = zip(names.begins.tolist(), names.stops.tolist(), strict=True)
        spelled = [names.content[begin:stop] for begin, stop in places]
        key_of = dict(zip(spelled, names.keys.tolist(), strict=True))
        fresh = [name for name in key_of if name not in self._code_of]
        if fresh:
            self._add(fresh, np.array([key_of[name] for name in fresh], np.uint64))
        names.codes[names.codes == -1] = np.array([self._code_of[name] for name in spelled], np.int32)
        return None if (names.codes == ODD).any() else names.codes

    def _add(self, fresh: list[bytes], keys: NDArray[np.uint64]) -> None:
        names = pl.Series([name.decode() for name in fresh])
        plain = (names == names.str.strip_chars()).to_numpy()
        codes = np.full(len(fresh), ODD, np.int32)
        codes[plain] = np.arange(plain.sum()) + len(self._vocabulary)
        self._vocabulary.add(names.filter(pl.Series(plain)))
        self._code_of.update(zip(fresh, codes.tolist(), strict=True))
        self._make_room(len(fresh), sum(map(len, fresh)))
        slots, ends, letters = self._table
        filled, now = len(self._codes), len(self._codes) + len(fresh)
        more = np.cumsum([ends[filled], *map(len, fresh)])
        letters[more[0] : more[-1]] = np.frombuffer(b"".join(fresh), np.uint8)
        ends[filled : now + 1] = more
        add_names(keys, codes, filled, slots, ends)
        self._keys, self._codes = np.append(self._keys, keys), np.append(self._codes, codes)

    def _make_room(self, names: int, letters: int) -> None:
        """Make a larger table if there is no room for more names. Threads go on to read the one they have."""
        _, ends, old = self._table
        used = ends[: len(self._codes) + 1]
        names, letters = names + len(used), letters + int(used[-1])
        if names > len(ends) or letters > len(old):
            table = _empty_table(names=max(2 * len(ends), names), letters=max(2 * len(old), letters))
            table.ends[: len(used)] = used
            table.letters[: used[-1]] = old[: used[-1]]
            add_names(self._keys, self._codes, 0, table.slots, table.ends)
            self._table = table


def _empty_table(*, names: int, letters: int) -> _Table:
    slots = 1 << (2 * names).bit_length()
    return _Table(np.zeros(2 * slots, np.uint64), np.zeros(names + 1, np.int64), np.zeros(letters, np.uint8))
