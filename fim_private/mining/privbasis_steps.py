"""The steps of PrivBasis. Picks and noisy counts come through the door; the bases follow from them."""

from __future__ import annotations

from collections.abc import Callable
from itertools import combinations

import numpy as np

from fim_private.counting import HiddenCounts, TransactionDatabase
from fim_private.mechanisms.privbasis import PrivBasis
from fim_private.mining.bases import bases_of
from fim_private.mining.outcome import Outcome
from fim_private.mining.subset_counts import subset_counts
from fim_private.randomness import Randomness
from fim_private.release.door import check_list, measure_bins, pick, pick_number


def run(
    database: TransactionDatabase,
    mechanism: PrivBasis,
    counts: HiddenCounts,
    randomness: Randomness,
    progress: Callable[[str], None],
) -> Outcome:
    """Choose the number of items, then items and pairs; then count all subsets of bases that cover these.

    Args:
        database: bounded transactions over the public list. If they have units, each unit has at most
            `mechanism.sensitivity` of them.
        mechanism: the mechanism with its parameters.
        counts: the largest counts over all sizes together, which the first step looks at.
        randomness: where the bits come from.
        progress: called with the name of each phase as it begins.
    """
    check_list(database, mechanism)
    progress("finding items")
    number = pick_number(database.top_itemsets(1, mechanism.most_items), counts, mechanism, randomness)
    item_picks, pair_picks = mechanism.picks(number)
    every = np.arange(len(database.vocabulary), dtype=np.int32)[:, np.newaxis]
    items = pick(database.count_chosen(every), item_picks, randomness)[:, 0]
    pairs = np.zeros((0, 2), np.int32)
    if pair_picks is not None:
        progress("finding pairs")
        all_pairs = np.array(list(combinations(np.sort(items).tolist(), 2)), np.int32)
        pairs = pick(database.count_chosen(all_pairs), pair_picks, randomness)
    progress("counting")
    bases = bases_of(items, pairs, most=mechanism.most, power=mechanism.variance_power)
    bins = measure_bins(database.count_bins(bases), mechanism.bins(len(bases)), randomness)
    itemsets, estimates = subset_counts(bases, bins, mechanism.sizes)
    best = np.argsort(-estimates, kind="stable")[: mechanism.top]
    return Outcome(itemsets=itemsets[best], counts=estimates[best])
