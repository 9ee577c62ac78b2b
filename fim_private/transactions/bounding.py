"""Bound what one privacy unit adds: the last step before counting (docs/mathematics.md#bounding)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from fim_private.errors import UsageError
from fim_private.transactions.compressed_rows import AT_ONCE, recoded, taken, without_gaps
from fim_private.transactions.dataset import Transactions
from fim_private.transactions.row_kernels import keep_common, keep_smallest

Words = Callable[[int], NDArray[np.uint64]]
"""Returns the given number of independent uniform 64-bit words."""


def merge_units(transactions: Transactions) -> Transactions:
    """Merge the transactions of each unit into one, which holds the union of their items; `units` is then None.

    Privacy: the union of one unit does not depend on any other unit. So adding or removing a unit adds or removes one
    transaction and changes each count by at most 1.
    """
    if transactions.units is None:
        return transactions
    order = np.argsort(transactions.units, kind="stable")
    offsets, items = taken(transactions, order)
    of_units = np.append(0, np.cumsum(np.bincount(transactions.units), dtype=np.int64))
    lengths = np.diff(offsets[of_units]).astype(np.int32)
    same = np.arange(len(transactions.vocabulary), dtype=np.int32)
    offsets, items, _ = recoded([(items, lengths)], same, items=items, row_count=len(lengths))
    return replace(transactions, offsets=offsets, items=items, units=None, counts_units=False)


def count_units(transactions: Transactions) -> Transactions:
    """Count each itemset once per unit that holds it in at least one of its transactions (`counts_units`).

    Without `units` each transaction is a unit, and they are returned unchanged.

    Privacy: whether a unit holds an itemset in one of its transactions does not depend on any other unit. So adding or
    removing a unit changes each count by at most 1, and all counts in one direction
    (docs/mathematics.md#units-together-in-one-transaction).
    """
    units = transactions.units
    if units is None:
        return transactions
    if np.all(units[1:] >= units[:-1]):
        return replace(transactions, counts_units=True)
    order = np.argsort(units, kind="stable")
    offsets, items = taken(transactions, order)
    return replace(transactions, offsets=offsets, items=items, units=units[order], counts_units=True)


def keep_transactions(transactions: Transactions, most: int, words: Words) -> Transactions:
    """Keep at most `most` transactions of each unit, chosen uniformly at random and independently for each unit.

    Counts are of transactions afterwards.

    Privacy: the unit's own words alone decide which of its transactions stay. Give the other units the same words with
    and without this unit: the two results differ by at most `most` transactions of this unit, so each count changes by
    at most `most`. This holds for any choice made unit by unit; the uniform choice favours no transaction.

    Args:
        transactions: returned unchanged if `units` is None, because each transaction is then a unit.
        most: at least 1.
        words: uniform 64-bit words; one is drawn for each transaction.
    """
    _at_least_one(most, "transactions per unit")
    if transactions.units is None:
        return transactions
    kept = np.flatnonzero(_choose(transactions.units, most, words))
    if len(kept) == len(transactions):
        return replace(transactions, counts_units=False) if transactions.counts_units else transactions
    offsets, items = taken(transactions, kept)
    units = without_gaps(transactions.units[kept])
    return replace(transactions, offsets=offsets, items=items, units=units, counts_units=False)


def cap_items(transactions: Transactions, most: int, words: Words) -> Transactions:
    """Keep at most `most` items of each transaction, chosen uniformly at random.

    If units are counted, keep at most `most` of the different items of each unit, and drop its other items from all its
    transactions. With or without units, what counts as 1 then holds at most C(most, r) itemsets of size r, which bounds
    the work and helps mechanisms that charge for them.

    Privacy: the cut of a transaction, or of a unit, depends on its own words and on no other. So the result of one unit
    still depends on that unit alone, and every sensitivity stays as it was.

    Args:
        transactions: the data.
        most: at least 1.
        words: uniform 64-bit words; one is drawn for each item of a transaction, or of a unit, that has too many.
    """
    _at_least_one(most, "items per transaction")
    if transactions.counts_units:
        return _cap_units(transactions, most, words)
    lengths = transactions.lengths()
    words_before = np.append(0, np.cumsum(np.where(lengths > most, lengths, 0)))
    if not words_before[-1]:
        return transactions
    offsets = np.append(0, np.cumsum(np.minimum(lengths, most)))
    items = np.empty(int(offsets[-1]), dtype=transactions.items.dtype)
    # In parts, so that the words for all occurrences are never in memory at once.
    cuts = np.searchsorted(words_before, np.arange(AT_ONCE, int(words_before[-1]), AT_ONCE))
    for first, end in pairwise([0, *cuts.tolist(), len(transactions)]):
        part = slice(first, end + 1)
        drawn = words(int(words_before[end] - words_before[first]))
        keep_smallest(transactions.offsets[part], transactions.items, drawn, offsets[part], items)
    return replace(transactions, offsets=offsets, items=items)


def _cap_units(transactions: Transactions, most: int, words: Words) -> Transactions:
    """Keep of each unit what `cap_items` keeps of all its transactions merged."""
    first, merged = transactions.first_of_units(), merge_units(transactions)
    kept = cap_items(merged, most, words)
    if first is None or len(kept.items) == len(merged.items):
        return transactions
    items, lengths = np.empty_like(transactions.items), np.empty(len(transactions), np.int64)
    keep_common(transactions.offsets, transactions.items, first, kept.offsets, kept.items, items, lengths)
    filled = lengths > 0
    offsets = np.append(0, np.cumsum(lengths[filled]))
    return replace(
        transactions,
        offsets=offsets,
        items=items[: offsets[-1]].copy(),
        # No unit is left without items, so there is no gap.
        units=None if transactions.units is None else transactions.units[filled],
    )


def _at_least_one(most: int, of: str) -> None:
    if most < 1:
        raise UsageError(f"At most {most} {of} are to be kept, which leaves nothing.", "Give at least 1.")


def _choose(owner: NDArray[np.int64], most: int, words: Words) -> NDArray[np.bool_]:
    """Mark `most` random places of each owner, those with the smallest words; all places of an owner with fewer."""
    order = np.lexsort((words(len(owner)), owner))
    ordered = owner[order]
    starts = np.flatnonzero(np.diff(ordered, prepend=-1))
    rank = np.arange(len(ordered)) - np.repeat(starts, np.diff(np.append(starts, len(ordered))))
    chosen = np.zeros(len(owner), dtype=bool)
    chosen[order[rank < most]] = True
    return chosen
