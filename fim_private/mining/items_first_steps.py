"""The steps of items-first. Noisy counts come through the door; post-processing of them decides what is counted next.

The itemsets to ask for are chosen from earlier noisy counts, never from the data.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from fim_private.counting import TransactionDatabase
from fim_private.mechanisms.items_first import MOST_CANDIDATES, ItemsFirst
from fim_private.mechanisms.measurement import Measurement
from fim_private.mining.likely_itemsets import joined_itemsets, likely_itemsets
from fim_private.mining.shrinkage import shrink
from fim_private.randomness import Randomness
from fim_private.release.door import discover, measure, pick

Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False, kw_only=True)
class Outcome:
    """What is released. Items are codes of the transactions' vocabulary.

    Args:
        itemsets: int32, shape (n, size), in decreasing order, items increasing in each row.
        counts: float64, shape (n,), estimates in transactions; None if itemsets were picked.
        found: int32, shape (items,): the found items, in decreasing order of noisy count.
        found_counts: float64, of the same shape: the noisy counts of the found items, in transactions.
    """

    itemsets: NDArray[np.int32]
    counts: Floats | None
    found: NDArray[np.int32]
    found_counts: Floats


def run(
    database: TransactionDatabase,
    mechanism: ItemsFirst,
    randomness: Randomness,
    *,
    min_count: int | None = None,
    progress: Callable[[str], None] = lambda _phase: None,
) -> Outcome:
    """Find the items, then the itemsets.

    Args:
        database: bounded transactions. If they have units, each unit has at most `mechanism.sensitivity` of them.
        mechanism: the mechanism with its parameters.
        randomness: where the bits come from.
        min_count: leave out itemsets whose estimated count is not above this.
        progress: called with the name of each phase as it begins.
    """
    progress("finding items")
    codes, units = _find(database, mechanism, randomness)
    item_counts = units / mechanism.discovery.measurement.resolution
    progress("counting")
    known = database.keep_items(codes)
    if mechanism.itemsets is None:
        counts = None
        candidates = _candidates(known, item_counts, mechanism, randomness)
        chosen = pick(known.count_chosen(candidates), mechanism.picks(len(candidates)), randomness)
    else:
        candidates = _candidates(known, item_counts, mechanism, randomness)
        estimate = _estimated(known, candidates, mechanism.itemsets, randomness)
        # Candidates are in decreasing order of expectation. That order is public, so it may decide between equals.
        best = np.argsort(-estimate, kind="stable")[: mechanism.top]
        if min_count is not None:
            best = best[estimate[best] > min_count]
        chosen, counts = candidates[best], estimate[best]
    by_count = np.argsort(-units, kind="stable")
    return Outcome(
        itemsets=codes[chosen],
        counts=counts,
        found=codes[by_count],
        found_counts=item_counts[by_count],
    )


def _find(
    database: TransactionDatabase, mechanism: ItemsFirst, randomness: Randomness
) -> tuple[NDArray[np.int32], NDArray[np.int64]]:
    """Item codes, increasing, and their noisy counts in units."""
    discovery = mechanism.discovery
    of_units = database.merge_units().cap_items(discovery.max_items, randomness.words)
    items = np.arange(len(database.vocabulary), dtype=np.int32)[:, np.newaxis]
    return discover(of_units.count_chosen(items, discovery.measurement.weights), discovery, randomness)


def _candidates(
    known: TransactionDatabase, item_counts: Floats, mechanism: ItemsFirst, randomness: Randomness
) -> NDArray[np.int32]:
    """The itemsets worth counting, in decreasing order of their expected counts."""
    if mechanism.pairs is None:
        return likely_itemsets(item_counts, mechanism.size, mechanism.candidates)
    pairs = likely_itemsets(item_counts, 2, MOST_CANDIDATES)
    estimate = _estimated(known, pairs, mechanism.pairs, randomness)
    best = np.argsort(-estimate, kind="stable")[: mechanism.joined]
    return joined_itemsets(pairs[best], estimate[best], item_counts, mechanism.size, mechanism.candidates)


def _estimated(
    known: TransactionDatabase, itemsets: NDArray[np.int32], measurement: Measurement, randomness: Randomness
) -> Floats:
    """Noisy counts in transactions, improved by the order in which the itemsets are expected."""
    units = measure(known.count_chosen(itemsets, measurement.weights), measurement, randomness)
    return shrink(units / measurement.resolution, measurement.deviation)
