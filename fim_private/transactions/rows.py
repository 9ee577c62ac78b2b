"""Compressed rows: building them from (row, code) pairs and taking some of them out."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from fim_private.transactions.dataset import Transactions


def compress(keys: NDArray[np.int64], width: int) -> tuple[NDArray[np.int64], NDArray[np.int32], NDArray[np.int64]]:
    """Pairs of a row and a code as offsets, codes increasing inside each row, and the rows that occur.

    Args:
        keys: int64, shape (p,), row * width + code, in any order, repeated or not. The array is overwritten.
        width: number of codes; width times the number of rows must stay under 2**63.

    Cost: sorting p 64-bit keys in place, and two arrays more of that size.
    """
    keys.sort()
    repeated = keys[1:] == keys[:-1]
    if repeated.any():
        keys = keys[np.append(True, ~repeated)]
    row_of = keys // max(width, 1)
    starts = np.flatnonzero(np.append(True, row_of[1:] != row_of[:-1])[: len(keys)]).astype(np.int64)
    filled = row_of[starts]
    row_of *= width
    keys -= row_of
    return np.append(starts, len(keys)), keys.astype(np.int32), filled


def without_gaps(codes: NDArray[np.int64] | None) -> NDArray[np.int64] | None:
    """The same grouping with codes from 0 on, all in use."""
    return None if codes is None else np.unique(codes, return_inverse=True)[1].astype(np.int64)


def owners(transactions: Transactions) -> NDArray[np.int64]:
    """The transaction that each item occurrence belongs to, int64, shape of `items`."""
    return np.repeat(np.arange(len(transactions), dtype=np.int64), transactions.lengths())


def keep_occurrences(
    transactions: Transactions, kept: NDArray[np.bool_]
) -> tuple[NDArray[np.int64], NDArray[np.int32], NDArray[np.int64] | None]:
    """Offsets, items and units after dropping item occurrences; a transaction left empty goes too.

    Args:
        transactions: with m item occurrences.
        kept: bool, shape (m,).
    """
    lengths = np.add.reduceat(kept, transactions.offsets[:-1], dtype=np.int64) if len(transactions) else kept[:0]
    left = lengths > 0
    offsets = np.concatenate([np.zeros(1, dtype=np.int64), np.cumsum(lengths[left], dtype=np.int64)])
    units = None if transactions.units is None else without_gaps(transactions.units[left])
    return offsets, transactions.items[kept], units
