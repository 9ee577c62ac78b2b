"""Turn item names into codes, in an order that depends on the names alone, and build transactions from them."""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Iterable, Sequence
from contextlib import suppress
from types import NoneType

import numpy as np
import polars as pl
from numpy.typing import NDArray

from fim_private.errors import InputError, UsageError
from fim_private.transactions.compressed_rows import Run, sorted_rows, without_gaps
from fim_private.transactions.dataset import ReadingNotes, Transactions, code_type
from fim_private.transactions.layout import IN_MEMORY, Layout
from fim_private.transactions.strings import alike, group_codes, identities, not_blank, positions_in
from fim_private.transactions.units import nobody_of

CANONICAL_INTEGER = "^(0|[1-9][0-9]{0,17})$"
"""Up to 18 digits, which fit in 64 bits. 007 and 7 are different names."""

PADDING = -1
"""Fills the places after the last item of an itemset that is smaller than others in the same array."""

RUN = 1 << 24
"""Small runs are joined when they hold more codes and lengths than this."""


def increasing(itemsets: NDArray[np.int32]) -> NDArray[np.int32]:
    """The itemsets with the items of each row in increasing order, and padding after them.

    >>> increasing(np.array([[4, PADDING, 2]], np.int32)).tolist()
    [[2, 4, -1]]
    """
    return np.sort(itemsets.astype(np.int32, copy=False).view(np.uint32), axis=1).view(np.int32)


def one_item_each(codes: int) -> NDArray[np.int32]:
    """The itemsets of one item for the codes from 0 on, int32, shape (codes, 1)."""
    return np.arange(codes, dtype=np.int32)[:, np.newaxis]


def padded(itemsets: Sequence[Sequence[int]]) -> NDArray[np.int32]:
    """Itemsets of several sizes as one array, int32, shape (itemsets, largest size).

    >>> padded([(4, 7), (2,)]).tolist()
    [[4, 7], [2, -1]]
    """
    found = np.full((len(itemsets), max(map(len, itemsets), default=0)), PADDING, np.int32)
    for row, itemset in zip(found, itemsets, strict=True):
        row[: len(itemset)] = itemset
    return found


def name_order(name: str) -> tuple[int, int, str]:
    """The sort key of an item name: whole numbers first, by value, then all other names by code point.

    This order breaks ties between itemsets. The key depends on the name alone: if the rest of the data decided which
    of two items comes first, a broken tie would leak data.

    >>> sorted(["b", "10", "9", "010"], key=name_order)
    ['9', '10', '010', 'b']
    """
    if re.fullmatch(CANONICAL_INTEGER[1:-1], name):
        return 0, int(name), ""
    return 1, 0, name


def in_name_order(names: pl.Series) -> pl.Series:
    """Distinct names sorted by `name_order`, as a series called "item"."""
    whole = names.str.contains(CANONICAL_INTEGER)
    numbers = names.filter(whole).cast(pl.Int64).sort().cast(pl.String)
    # Polars compares strings byte by byte, which in UTF-8 is the order of code points.
    return pl.concat([numbers, names.filter(~whole).sort()]).rename("item")


class Vocabulary:
    """The names met so far, with provisional codes of at most 31 bits in order of appearance.

    The final codes depend on all names, so they are known only at the end of the data.
    """

    def __init__(self) -> None:
        self._code_of: dict[str, int] = {}
        self._parts: list[pl.Series] = []
        self._size = 0

    def __len__(self) -> int:
        """How many codes there are."""
        return self._size

    def codes(self, names: pl.Series) -> NDArray[np.int32]:
        """The codes of names that are stripped and not blank, int32 of the same length; new names get new codes."""
        distinct = names.unique()
        code_of, size = self._code_of, self._size
        codes = np.empty(len(distinct), dtype=np.int32)
        fresh: list[str] = []
        for place, name in enumerate(distinct.to_list()):
            code = code_of.get(name)
            if code is None:
                code = code_of[name] = size + len(fresh)
                fresh.append(name)
            codes[place] = code
        self.add(pl.Series(fresh, dtype=pl.String))
        return codes[positions_in(distinct, names)]

    def add(self, names: pl.Series) -> None:
        """Give new codes to stripped names, in their order. A name may get several; `finish` makes them one."""
        if len(names):
            self._parts.append(names)
            self._size += len(names)

    def finish(self) -> tuple[pl.Series, NDArray[np.int32]]:
        """The names in name order, and the final code of each provisional one, int32, shape (codes,)."""
        names = pl.concat([pl.Series([], dtype=pl.String), *self._parts])
        vocabulary = in_name_order(names.unique())
        return vocabulary, positions_in(vocabulary, names).astype(np.int32)


class Coder:
    """Collects item names run by run, and builds transactions from them.

    Each run is turned into codes at once, so strings do not pile up in memory: it takes 2 or 4 bytes per occurrence,
    and up to as many more during `finish`. An empty transaction takes one byte. A caller that does not use `add` adds
    the number of blank names to `blanks` itself.
    """

    def __init__(self) -> None:
        self.vocabulary = Vocabulary()
        self._runs: deque[Run] = deque()
        self._small_runs: list[Run] = []
        self._small = 0
        self._occurrences = 0
        self._filled = bytearray()
        self.blanks = 0

    def add(self, names: pl.Series, lengths: NDArray[np.int64]) -> None:
        """Add transactions by the names of their items. Names are stripped; nulls and blanks are dropped and counted.

        Args:
            names: strings, length p, one transaction after the other.
            lengths: int64, shape (t,): how many names each transaction has; their sum is p.
        """
        stripped = names.str.strip_chars()
        filled = not_blank(stripped)
        if not filled.all():
            owner = np.repeat(np.arange(len(lengths)), lengths)
            lengths = np.bincount(owner[filled.to_numpy()], minlength=len(lengths))
            stripped = stripped.filter(filled)
            self.blanks += len(filled) - len(stripped)
        self.add_coded(self.vocabulary.codes(stripped), lengths)

    def add_coded(self, codes: NDArray[np.int32], lengths: NDArray[np.integer]) -> None:
        """Add transactions in codes of `vocabulary`; codes are int32, shape (p,), and may be overwritten later."""
        filled = lengths > 0
        self._filled += filled.tobytes()
        self._small_runs.append((codes, lengths[filled].astype(np.int32)))
        self._occurrences += len(codes)
        self._small += len(codes) + len(lengths)
        if self._small > RUN:
            self._join()

    def add_pairs(self, codes: NDArray[np.int32], rows: NDArray[np.int64], row_count: int) -> None:
        """Add transactions as pairs of a code of `vocabulary` and a transaction, in any order.

        Args:
            codes: int32, shape (p,).
            rows: int64, shape (p,): the transaction of each pair, below `row_count`; overwritten.
            row_count: the number of transactions.

        Cost: sorting p 64-bit numbers, unless the rows are in order already.
        """
        lengths = np.bincount(rows, minlength=row_count)
        if (rows[1:] < rows[:-1]).any():
            width = len(self.vocabulary)
            rows *= width
            rows += codes
            rows.sort()
            rows %= width
            codes = rows.astype(np.int32)
        self.add_coded(codes, lengths)

    def _join(self) -> None:
        # Freed small arrays leave holes in memory; large ones go back to the operating system.
        codes, lengths = zip(*self._small_runs, strict=True)
        narrow = code_type(len(self.vocabulary))
        self._runs.append((np.concatenate(codes, dtype=narrow, casting="unsafe"), np.concatenate(lengths)))
        self._small_runs.clear()
        self._small = 0

    def finish(
        self,
        *,
        layout: Layout,
        units: NDArray[np.int64] | None = None,
        unit_names: pl.Series | None = None,
        rows_without_unit: int = 0,
    ) -> Transactions:
        """The transactions, with repetitions merged and empty transactions left out. The coder is empty afterwards.

        Args:
            layout: how the data is laid out.
            units: int64, the privacy unit of each transaction added, codes from 0 on.
            unit_names: the name of each code, for the notes.
            rows_without_unit: rows the reader dropped, for the notes.
        """
        if self._runs and self._small_runs:
            self._join()  # one type of codes, so that loops are compiled once
        self._runs.extend(self._small_runs)
        self._small_runs.clear()
        vocabulary, new_code = self.vocabulary.finish()
        offsets, items, _ = sorted_rows(self._runs, new_code)
        filled = np.frombuffer(self._filled, dtype=bool)
        return Transactions(
            offsets=offsets,
            items=items,
            vocabulary=vocabulary,
            units=None if units is None else without_gaps(units[filled]),
            notes=ReadingNotes(
                layout=layout,
                blanks=self.blanks,
                duplicates=self._occurrences - len(items),
                empty=len(filled) - len(offsets) + 1,
                rows_without_unit=rows_without_unit,
                nobody=() if units is None or unit_names is None else nobody_of(unit_names, units[filled]),
                alike_units=0 if unit_names is None else alike(unit_names),
            ),
        )


def transactions_from_lists(
    lists: Iterable[Iterable[str | int | None]], units: Iterable[str | int] | None = None
) -> Transactions:
    """Transactions from Python lists of item names. A whole number becomes its text, and None counts as a blank.

    Args:
        lists: one iterable of names per transaction. Names are stripped, and repetitions are merged.
        units: the privacy unit of each transaction, as text or whole numbers. Text is stripped, and
            equal whole numbers are one unit, as in files.

    Errors:
        UsageError: `lists` is a frame, a transaction is a single string or no list, an item is neither text nor a whole
            number (or has more digits than Python writes), or `units` is no list or differs in length. No transactions
            at all are not an error: the neighbour of a small data set may be empty.
        InputError: a unit is missing or blank, or neither text nor a whole number.

    >>> len(transactions_from_lists([["milk", "bread"], ["milk"], []]))
    2
    """
    names: list[str | int | None] = []
    lengths: list[int] = []
    if not isinstance(lists, Iterable) or isinstance(lists, pl.DataFrame):  # whose columns would be transactions
        raise UsageError(
            "These are no lists.", "Give a list of names for each transaction. read_transactions takes frames."
        )
    for transaction in lists:
        if isinstance(transaction, str | bytes):
            raise UsageError("A transaction is a single string.", "Give a list of names for each transaction.")
        if not isinstance(transaction, Iterable):
            raise UsageError("A transaction is no list.", "Give a list of names for each transaction.")
        before = len(names)
        names.extend(transaction)
        lengths.append(len(names) - before)
    if not set(map(type, names)) <= {str, NoneType}:
        names = list(map(_name, names))
    unit_codes, unit_names = (None, None) if units is None else _unit_codes(units, len(lengths))
    try:
        series = pl.Series(names, dtype=pl.String)
    except UnicodeEncodeError:
        raise UsageError(
            "An item holds half a character (a surrogate), which is not text.", "Decode the items again, or replace it."
        ) from None
    coder = Coder()
    coder.add(series, np.asarray(lengths, dtype=np.int64))
    return coder.finish(layout=IN_MEMORY, units=unit_codes, unit_names=unit_names)


def _name(item: str | int | None) -> str | None:
    if item is None or isinstance(item, str):
        return item
    text = _whole_text(item)
    if text is None:
        raise UsageError("An item is neither text nor a whole number.", "Turn the items into strings first.")
    return text


def _whole_text(value: object) -> str | None:
    try:
        return str(int(value)) if isinstance(value, int | np.integer) and not isinstance(value, bool) else None
    except ValueError:  # more digits than Python writes
        return None


def _unit_codes(units: Iterable[str | int], expected: int) -> tuple[NDArray[np.int64], pl.Series]:
    if not isinstance(units, Iterable):
        raise UsageError("The units are no list.", "Give one unit for each transaction.")
    # Other values for "missing" (NaN, NaT, NA) are refused: they would count as a unit, and protect nobody.
    names = [unit.strip() if isinstance(unit, str) else _whole_text(unit) for unit in units]
    if len(names) != expected or isinstance(units, str):
        raise UsageError("units and transactions differ in number.", "Give one unit for each transaction.")
    if all(names):
        with suppress(UnicodeEncodeError):  # half a character (a surrogate) is no text
            return group_codes(identities(pl.Series(names, dtype=pl.String)))
    raise InputError(
        "The unit of a transaction is missing, or neither text nor a whole number.",
        "Leave such transactions out, or name their unit.",
    )
