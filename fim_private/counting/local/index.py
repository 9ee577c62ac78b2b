"""Prepare transactions for counting: rank items by frequency, sort transactions by rank, and build inverted lists."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from fim_private.compilation import compiled
from fim_private.counting.hidden_counts import Hidden
from fim_private.counting.local.instructions import AHEAD
from fim_private.counting.local.work import THREADS
from fim_private.errors import InputError
from fim_private.transactions.dataset import MOST_NARROW, Transactions
from fim_private.transactions.in_order import mapping
from fim_private.transactions.row_kernels import SHORT, sort_distinct

U32 = NDArray[np.uint32]
Ranks = NDArray[np.uint16] | NDArray[np.uint32]

MOST_OCCURRENCES = 2**32 - 1
DROPPED = np.uint32(0xFFFFFFFF)
"""The rank of an item that is not counted."""

_WORTH_A_THREAD = 2**18
"""With fewer item occurrences, the work is done before a second thread starts."""


class Lists(NamedTuple):
    """Inverted lists over a flat array of transactions; uint32, except `flat`, which is the array of an index.

    In a workspace, each array has a leading axis more.

    List x belongs to item `member[x]`. Its entries k in `begin[x]..end[x]` are the occurrences of the item: the
    transaction starts at `flat[start[k]]` and the item is at `flat[position[k]]`. `start` ends with `AHEAD` entries of
    padding. `count[x]` is the number of transactions, or of units, that hold the item. If units are counted, `unit[k]`
    is the unit of each entry, and equal units are neighbours in every list; otherwise `unit` is empty.
    """

    flat: Ranks
    start: U32
    position: U32
    unit: U32
    member: U32
    begin: U32
    end: U32
    count: U32


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class Index(Hidden):
    """Transactions as ranks. Its `repr` shows no data.

    uint32 holds every position and every count: `index` refuses 2^32 - 1 item occurrences, and no transaction is empty.

    Args:
        codes: int32, shape (items,): the item of each rank, in decreasing order of count, ties in order of codes.
        counts: int64, shape (items,): the number of transactions, or of units, that hold the item of each rank.
        occurrences: int64, shape (items,): the number of transactions that hold the item of each rank.
        flat: the transactions end to end, ranks increasing inside each, so the rarest item comes last; uint16 if the
            vocabulary has at most `MOST_NARROW` items, otherwise uint32.
        offsets: uint32, shape (n + 1,): where each transaction begins in `flat`.
        units: uint32, shape (n,): if units are counted, the unit of each transaction, never decreasing; else empty.
    """

    codes: NDArray[np.int32]
    counts: NDArray[np.int64]
    occurrences: NDArray[np.int64]
    flat: Ranks
    offsets: U32
    units: U32

    @property
    def items(self) -> int:
        """The number of items ranked."""
        return len(self.codes)

    @property
    def counts_units(self) -> bool:
        """Whether units are counted rather than transactions."""
        return len(self.units) > 0

    def cuts(self, parts: int) -> list[int]:
        """Where to cut the transactions into parts of about equal number. No unit that is counted is cut in two."""
        return [_unit_start(self.units, part * (len(self.offsets) - 1) // parts) for part in range(parts + 1)]

    def longest(self) -> int:
        """The number of items of the longest transaction."""
        return int(np.diff(self.offsets).max(initial=0))

    def lists(self, first: int, end: int) -> Lists:
        """The inverted lists of ranks `first` to `end`, 8 bytes per occurrence (12 with units). All others are empty.

        Items before an item in its transactions are more frequent, so no list needs those of rarer items.
        """
        occurrences, counts = np.zeros(self.items, np.int64), np.zeros(self.items, np.uint32)
        occurrences[first:end] = self.occurrences[first:end]
        counts[first:end] = self.counts[first:end]
        ends = np.cumsum(occurrences)
        room = int(occurrences.sum()) + AHEAD
        lists = Lists(
            flat=self.flat,
            start=np.zeros(room, np.uint32),
            position=np.empty(room, np.uint32),
            unit=np.empty(room if self.counts_units else 0, np.uint32),
            member=np.arange(self.items, dtype=np.uint32),
            begin=(ends - occurrences).astype(np.uint32),
            end=ends.astype(np.uint32),
            count=counts,
        )
        invert(self.offsets, self.units, np.uint32(first), np.uint32(end), lists.begin.copy(), lists)
        return lists


def index(transactions: Transactions, *, floor: int = 1) -> Index:
    """The index of all items that are in at least `floor` transactions, or units if these are counted.

    Cost: sequential passes over the items by all threads; 2 bytes per item occurrence (4 if there are more than
    `MOST_NARROW` items) and 4 per transaction (8 with units).

    Raises:
        InputError: there are 2^32 - 1 item occurrences or more.
    """
    if len(transactions.items) >= MOST_OCCURRENCES:
        raise InputError(
            "The data holds more item occurrences than 32-bit positions can address.",
            "Count a sample of the transactions, or bound their length with --max-items B.",
        )
    units = np.zeros(0, np.uint32)
    if transactions.units is not None and transactions.counts_units:
        units = transactions.units.astype(np.uint32)
    parts = list(_parts(transactions, units))
    items = transactions.items
    with mapping(len(parts)) as each:
        width = len(transactions.vocabulary)
        by_part = [np.zeros(width, np.int64) for _ in parts]
        of_units = [np.zeros(width if len(units) else 0, np.int64) for _ in parts]

        def add(part: tuple[int, int], held: NDArray[np.int64], counts: NDArray[np.int64]) -> None:
            if len(units):
                _add_unit_counts(transactions.offsets, items, units, part[0], part[1], held, counts)
            else:
                _add_item_counts(items[_occurrences(transactions, part)], held)

        list(each(add, parts, by_part, of_units))
        occurrences = np.sum(by_part, axis=0)
        counts = np.sum(of_units, axis=0) if len(units) else occurrences
        order = np.argsort(-counts, kind="stable")
        codes = order[: np.count_nonzero(counts >= max(floor, 1))]
        rank = np.full(width, DROPPED, np.uint32)
        rank[codes] = np.arange(len(codes), dtype=np.uint32)
        kept = [int(of_part[codes].sum()) for of_part in by_part]
        flat = np.empty(sum(kept), np.uint16 if width <= MOST_NARROW else np.uint32)
        offsets = np.zeros(len(transactions) + 1, np.uint32)
        begins = np.cumsum([0, *kept]).tolist()

        def rank_part(number: int) -> None:
            room = np.empty(SHORT, flat.dtype)
            rank_transactions(transactions.offsets, items, *parts[number], rank, begins[number], flat, offsets, room)

        list(each(rank_part, range(len(parts))))
    return Index(
        codes=codes.astype(np.int32),
        counts=counts[codes],
        occurrences=occurrences[codes],
        flat=flat,
        offsets=offsets,
        units=units,
    )


def _parts(transactions: Transactions, units: U32) -> Iterator[tuple[int, int]]:
    """(first, end) of the transactions of each thread, with about as many items in each part."""
    occurrences = len(transactions.items)
    if occurrences < _WORTH_A_THREAD:
        return iter([(0, len(transactions))])
    shares = np.searchsorted(transactions.offsets, occurrences * np.arange(1, THREADS) // THREADS).tolist()
    return pairwise([0, *(_unit_start(units, share) for share in shares), len(transactions)])


def _unit_start(units: U32, transaction: int) -> int:
    """The first transaction of the unit of this one; the same transaction if units are not counted, or at the end."""
    return int(np.searchsorted(units, units[transaction])) if transaction < len(units) else transaction


def _occurrences(transactions: Transactions, part: tuple[int, int]) -> slice:
    return slice(*transactions.offsets[list(part)].tolist())


@compiled
def _add_item_counts(items: NDArray[np.int32], counts: NDArray[np.int64]) -> None:
    """Add to the count of each code how often it is in `items`."""
    for place in range(np.uint64(len(items))):
        counts[np.uint64(items[place])] += 1


@compiled
def _add_unit_counts(
    offsets: NDArray[np.int64],
    items: NDArray[np.int32],
    units: U32,
    first: int,
    end: int,
    held: NDArray[np.int64],
    counts: NDArray[np.int64],
) -> None:
    """Add for each code how many of the transactions `first` to `end`, and how many of their units, hold it."""
    last = np.zeros(len(counts), np.uint32)
    transaction = first
    while transaction < end:
        unit, begin = units[transaction], transaction
        while transaction < end and units[transaction] == unit:
            transaction += 1
        # One loop per unit, not per transaction: the processor guesses the end of a long loop wrong less often.
        for place in range(np.uint64(offsets[begin]), np.uint64(offsets[transaction])):
            code = np.uint64(items[place])
            held[code] += 1
            counts[code] += np.int64(last[code] != unit + np.uint32(1))
            last[code] = unit + np.uint32(1)


@compiled
def rank_transactions(
    offsets: NDArray[np.int64],
    items: NDArray[np.int32],
    first: int,
    end: int,
    rank: U32,
    begin: int,
    flat: Ranks,
    ranked_offsets: U32,
    room: Ranks,
) -> None:
    """Write the sorted ranks of transactions `first` to `end` into `flat` from `begin` on, and where each ends."""
    filled = np.uint64(begin)
    for transaction in range(first, end):
        start = filled
        for place in range(np.uint64(offsets[transaction]), np.uint64(offsets[transaction + 1])):
            item = rank[np.uint64(items[place])]
            if item != DROPPED:
                flat[filled] = item
                filled += np.uint64(1)
        sort_distinct(flat, np.int64(start), np.int64(filled), room)
        ranked_offsets[transaction + 1] = filled


@compiled
def invert(offsets: U32, units: U32, first: np.uint32, end: np.uint32, grow: U32, lists: Lists) -> None:
    """Write `start`, `position` and `unit` of the lists of items `first` to `end`; `grow` says where each begins."""
    counts_units = len(units) > 0
    for transaction in range(len(offsets) - 1):
        start = offsets[transaction]
        place = np.uint64(offsets[transaction + 1])
        # From the rarest item on, so that the many items before `first` are never read.
        while place > np.uint64(start):
            place -= np.uint64(1)
            item = lists.flat[place]
            if item < first:
                break
            if item < end:
                entry = np.uint64(grow[item])
                grow[item] = entry + np.uint64(1)
                lists.start[entry] = start
                lists.position[entry] = place
                if counts_units:
                    lists.unit[entry] = units[transaction]
