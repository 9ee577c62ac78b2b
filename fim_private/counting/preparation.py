"""Transactions made ready for counting: items ranked by frequency, transactions sorted by rank and inverted."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from fim_private.counting.kernels import DROPPED, Lists, fill_lists, sum_over_lists
from fim_private.errors import InputError
from fim_private.transactions.dataset import Transactions


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class Index:
    """Where every item stands in which transaction. Its `repr` shows no data.

    Args:
        codes: int32, shape (items,): the item of each rank, in decreasing order of count, ties in order of codes.
        counts: int64, shape (items,): the number of transactions that hold it.
        lists: the transactions as ranks, increasing inside each, and one inverted list a rank.
        longest: an upper bound on the number of items of a transaction.
        width: the most items that stand before one item, over all its transactions together.
    """

    codes: NDArray[np.int32]
    counts: NDArray[np.int64]
    lists: Lists
    longest: int
    width: int

    def __repr__(self) -> str:
        return "Index(hidden)"


def prepare(transactions: Transactions, *, floor: int = 1) -> Index:
    """The index of all items that are in at least `floor` transactions.

    Cost: three sequential passes and one scattered one over the items; 16 bytes an item occurrence and 8 a transaction.

    Raises:
        InputError: there are 2^32 - 1 item occurrences or more. Below that, uint32 holds every position, and every
            count too, since no transaction is empty.
    """
    if len(transactions.items) >= DROPPED:
        raise InputError(
            "The data holds more item occurrences than 32-bit positions can address.",
            "Count a sample of the transactions, or bound their length with --max-items B.",
        )
    occurrences = np.bincount(transactions.items, minlength=len(transactions.vocabulary))
    order = np.argsort(-occurrences, kind="stable")
    codes = order[: np.count_nonzero(occurrences >= max(floor, 1))]
    rank = np.full(len(occurrences), DROPPED, np.uint32)
    rank[codes] = np.arange(len(codes), dtype=np.uint32)

    counts = occurrences[codes]
    end = np.cumsum(counts)
    begin = (end - counts).astype(np.uint32)
    flat, start, position = (np.empty(counts.sum(), np.uint32) for _ in range(3))
    ranks = np.arange(len(codes), dtype=np.uint32)
    lists = Lists(flat, start, position, ranks, begin, end.astype(np.uint32))
    fill_lists(transactions.offsets, transactions.items, rank, begin.copy(), lists)
    longest = int(transactions.lengths().max(initial=0))
    before = np.empty(len(codes))
    sum_over_lists(lists, np.arange(longest + 1, dtype=np.float64), before)
    return Index(
        codes=codes.astype(np.int32),
        counts=counts.astype(np.int64),
        lists=lists,
        longest=longest,
        width=int(before.max(initial=0)),
    )
