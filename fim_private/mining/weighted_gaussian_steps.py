"""The steps of a weighted Gaussian histogram: find itemsets that stand out of the noise, then pick among them."""

from __future__ import annotations

from collections.abc import Callable

from fim_private.counting import HiddenCounts, TransactionDatabase
from fim_private.mechanisms.weighted_gaussian import WeightedGaussian
from fim_private.mining.outcome import Outcome
from fim_private.randomness import Randomness
from fim_private.release.door import find_itemsets, pick


def count_first(database: TransactionDatabase, mechanism: WeightedGaussian) -> HiddenCounts:
    """The weighted sums of all itemsets that occur.

    Raises:
        InputError: there is too much to count.
    """
    return database.weigh_itemsets(mechanism.sizes, mechanism.measurement.weights)


def run(
    database: TransactionDatabase,
    mechanism: WeightedGaussian,
    randomness: Randomness,
    *,
    counts: HiddenCounts | None = None,
    progress: Callable[[str], None] = lambda _phase: None,
) -> Outcome:
    """Find itemsets by the histogram. They are public from then on, so their exact counts decide the picks.

    Args:
        database: bounded transactions. If they have units, each unit has at most `mechanism.sensitivity` of them.
        mechanism: the mechanism with its parameters.
        randomness: where the bits come from.
        counts: from `count_first`, if that was called before.
        progress: called with the name of each phase as it begins.
    """
    sums = count_first(database, mechanism) if counts is None else counts
    progress("finding itemsets")
    found, _ = find_itemsets(sums, mechanism, randomness)
    progress("selecting")
    if not len(found):
        return Outcome(itemsets=found, counts=None)
    return Outcome(itemsets=pick(database.count_chosen(found), mechanism.picks(len(found)), randomness), counts=None)
