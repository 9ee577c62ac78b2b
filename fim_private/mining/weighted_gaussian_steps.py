"""The steps of a weighted Gaussian histogram: find itemsets that stand out of the noise, then pick among them."""

from __future__ import annotations

from collections.abc import Callable

from fim_private.counting import HiddenCounts, TransactionDatabase
from fim_private.mechanisms.weighted_gaussian import WeightedGaussian
from fim_private.mining.outcome import Outcome
from fim_private.randomness import Randomness
from fim_private.release.door import find_itemsets, pick


def run(
    database: TransactionDatabase,
    mechanism: WeightedGaussian,
    sums: HiddenCounts,
    randomness: Randomness,
    progress: Callable[[str], None],
) -> Outcome:
    """Find itemsets by the histogram. They are public from then on, so their exact counts decide the picks.

    Args:
        database: bounded transactions. If they have units, each unit has at most `mechanism.sensitivity` of them.
        mechanism: the mechanism with its parameters.
        sums: the weighted sums of all itemsets that occur.
        randomness: where the bits come from.
        progress: called with the name of each phase as it begins.
    """
    progress("finding itemsets")
    found, _ = find_itemsets(sums, mechanism, randomness)
    progress("selecting")
    if not len(found):
        return Outcome(itemsets=found, counts=None)
    return Outcome(itemsets=pick(database.count_chosen(found), mechanism.picks(len(found)), randomness), counts=None)
