"""Run a mechanism that counts step by step."""

from __future__ import annotations

from collections.abc import Callable

from fim_private.counting import HiddenCounts, TransactionDatabase, largest_counts
from fim_private.mechanisms.certified_domain import CertifiedDomain
from fim_private.mechanisms.items_first import ItemsFirst
from fim_private.mechanisms.lifted_exponential import LiftedExponential
from fim_private.mechanisms.look_first import LookFirst
from fim_private.mechanisms.privbasis import PrivBasis
from fim_private.mechanisms.protocol import Costed, Stepwise
from fim_private.mechanisms.weighted_gaussian import WeightedGaussian
from fim_private.mining import items_first_steps, privbasis_steps
from fim_private.mining.outcome import Outcome
from fim_private.randomness import Randomness
from fim_private.release.admission import check_list
from fim_private.release.door import find_itemsets, look_at_count, look_at_support, pick, pick_listed
from fim_private.transactions.item_codes import increasing


def count_first(database: TransactionDatabase, mechanism: Stepwise) -> HiddenCounts | None:
    """What can be counted before anything is charged; None if every count follows from released numbers.

    Raises:
        InputError: there is too much to count.
    """
    match mechanism:
        case ItemsFirst() | LookFirst() | PrivBasis() if mechanism.depth:
            return largest_counts(database, mechanism.sizes, mechanism.depth)
        case WeightedGaussian():
            return database.weigh_itemsets(mechanism.sizes, mechanism.measurement.weights)
    return None


def check_work(database: TransactionDatabase, mechanism: Stepwise) -> None:
    """Refuse before the charge what would be too much to count after it, unless `count_first` counts as much.

    The itemsets of the tokens are counted later. Those of all items are about as much work.

    Raises:
        InputError: there is too much to count.
    """
    if isinstance(mechanism, ItemsFirst | LookFirst):
        way = mechanism.items if isinstance(mechanism, LookFirst) else mechanism
        if way.held_at_most > mechanism.depth:
            database.top_itemsets(way.size, way.held_at_most, ties=False)


def run(
    database: TransactionDatabase,
    mechanism: Stepwise,
    randomness: Randomness,
    *,
    counts: HiddenCounts | None = None,
    progress: Callable[[str], None] = lambda _phase: None,
) -> Outcome:
    """All steps of the mechanism.

    Args:
        database: bounded transactions. If they have units, each unit has at most `mechanism.sensitivity` of them.
        mechanism: the mechanism with its parameters.
        randomness: where the bits come from.
        counts: from `count_first`, if that was called before.
        progress: called with the name of each phase as it begins.

    Raises:
        AssertionError: the names of the items are a public list, and the data's vocabulary is not that list.
    """
    check_list(database, mechanism)
    first = count_first(database, mechanism) if counts is None else counts
    way: Costed = mechanism
    looked = None
    match mechanism:
        case ItemsFirst():
            looked = items_first_steps.look_first(database, mechanism, randomness)
            way = mechanism.given_lengths(looked[1])
            if way.count_look is not None:
                if first is None:
                    raise AssertionError("nothing was counted to look at")
                way = way.going_on(look_at_count(first, way.count_look, randomness), looked[1])
        case LookFirst() if first is not None:
            looked = items_first_steps.look_first(database, mechanism.items, randomness)
            way = mechanism.way(look_at_support(first, mechanism, randomness), looked[1])
    match way:
        case ItemsFirst():
            return items_first_steps.run(database, way, randomness, looked=looked, progress=progress)
        case PrivBasis() if first is not None:
            outcome = privbasis_steps.run(database, way, first, randomness, progress)
            # By name it is as published. A look leads to it where data is dense, and there this makes counts better.
            return outcome if way is mechanism else outcome.consistent
        case WeightedGaussian() if first is not None:
            progress("finding itemsets")
            found = find_itemsets(first, way, randomness)
            progress("selecting")
            if len(found):
                # What is found is public from then on, so exact counts decide the picks.
                found = pick(database.count_chosen(found), way.picks(len(found)), randomness)
            return Outcome(itemsets=found)
        case LiftedExponential() if first is not None:
            progress("selecting")
            return Outcome(itemsets=increasing(pick_listed(database, first, mechanism.sizes, way, randomness)))
        case CertifiedDomain() if first is not None:
            progress("selecting")
            return Outcome(itemsets=increasing(pick(first, way, randomness)))
    raise AssertionError("nobody knows the steps of this mechanism")
