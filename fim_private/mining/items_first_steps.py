"""The steps of items-first. Noisy counts come through the door; post-processing of them decides what is counted next.

The itemsets to ask for are chosen from earlier noisy counts, never from the data.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from fim_private.counting import Tokens, TransactionDatabase
from fim_private.mechanisms.items_first import MOST_CANDIDATES, ItemsFirst, LaterSteps
from fim_private.mechanisms.measurement import Measurement
from fim_private.mining.likely_itemsets import joined_itemsets, likely_itemsets
from fim_private.mining.shrinkage import shrink
from fim_private.randomness import Randomness
from fim_private.release.door import certify, discover, look, measure, pick

Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False, kw_only=True)
class Outcome:
    """What is released. Items are codes of the transactions' vocabulary.

    Args:
        itemsets: int32, shape (n, size), in decreasing order, items increasing in each row.
        counts: float64, shape (n,), estimates in transactions; None if itemsets were picked.
        found: int32, shape (items,): the items of these itemsets, in decreasing order of noisy count.
        found_counts: float64, of the same shape: the noisy counts of these items, in transactions.
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
    """Find the items, then the itemsets, without names; then name as many as the certificate allows.

    Args:
        database: bounded transactions. If they have units, each unit has at most `mechanism.sensitivity` of them.
        mechanism: the mechanism with its parameters.
        randomness: where the bits come from.
        min_count: leave out itemsets whose estimated count is not above this.
        progress: called with the name of each phase as it begins.
    """
    progress("finding items")
    tokens, units, lengths = discover(database, mechanism, randomness)
    item_counts = mechanism.items.expected(units)
    held = look(tokens, mechanism.few, mechanism, randomness)
    steps = mechanism.later(item_counts, lengths, held)
    item_counts = item_counts[: steps.tokens]
    progress("counting")
    candidates = _candidates(tokens, item_counts, mechanism, steps, randomness)
    if steps.pick_epsilon is not None:
        counts = None
        favour = mechanism.favour(steps.pick_epsilon, np.log(item_counts)[candidates].sum(axis=1))
        picks = mechanism.picks(steps.pick_epsilon, len(candidates))
        chosen = pick(tokens.count_chosen(candidates).plus(favour), picks, randomness)
    if steps.itemsets is not None:
        estimate = _estimated(tokens, candidates, steps.itemsets, randomness)
        # Candidates are in decreasing order of expectation. That order is public, so it may decide between equals.
        best = np.argsort(-estimate, kind="stable")[: mechanism.top]
        if min_count is not None:
            best = best[estimate[best] > min_count]
        chosen, counts = candidates[best], estimate[best]
    # The itemsets of the likeliest items are certified first. Those that are named keep their order.
    by_support = np.argsort(-item_counts[chosen].min(axis=1), kind="stable")
    codes = certify(tokens, chosen[by_support], steps.certificate, randomness)
    named = np.sort(by_support[: len(codes)])
    itemsets = codes[np.argsort(by_support[: len(codes)], kind="stable")]
    found, first = np.unique(chosen[named], return_index=True)
    return Outcome(
        itemsets=np.sort(itemsets, axis=1),
        counts=None if counts is None else counts[named],
        # Tokens are in decreasing order of their noisy counts.
        found=itemsets.ravel()[first],
        found_counts=units[found] / mechanism.items.measurement.resolution,
    )


def _candidates(
    tokens: Tokens, item_counts: Floats, mechanism: ItemsFirst, steps: LaterSteps, randomness: Randomness
) -> NDArray[np.int32]:
    """The itemsets worth counting, in decreasing order of their expected counts."""
    if steps.pairs is None:
        return likely_itemsets(item_counts, mechanism.size, steps.candidates)
    pairs = likely_itemsets(item_counts, 2, MOST_CANDIDATES)
    estimate = _estimated(tokens, pairs, steps.pairs, randomness)
    best = np.argsort(-estimate, kind="stable")[: mechanism.joined]
    return joined_itemsets(pairs[best], estimate[best], item_counts, mechanism.size, steps.candidates)


def _estimated(tokens: Tokens, itemsets: NDArray[np.int32], measurement: Measurement, randomness: Randomness) -> Floats:
    """Noisy counts in transactions, improved by the order in which the itemsets are expected."""
    units = measure(tokens.count_chosen(itemsets, measurement.weights), measurement, randomness)
    return shrink(units / measurement.resolution, measurement.deviation)
