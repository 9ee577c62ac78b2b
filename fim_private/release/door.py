"""The door: the only place where exact counts meet a mechanism, and the only way from counts to itemsets.

What passes is the list of itemsets a mechanism chose, or noisy counts of itemsets that are public. Ranks become
itemsets here; a rank that stands for an itemset that does not occur becomes one drawn uniformly from those of the
declared universe.
"""

from __future__ import annotations

import math
from bisect import bisect_right
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import accumulate

import numpy as np
from numpy.typing import NDArray

from fim_private.counting import ChosenCounts, HiddenCounts, TransactionDatabase
from fim_private.errors import InputError, UsageError
from fim_private.mechanisms.counts import CountNoise
from fim_private.mechanisms.discovery import Discovery
from fim_private.mechanisms.measurement import Measurement
from fim_private.mechanisms.protocol import Mechanism, WithGaps
from fim_private.plan import Plan
from fim_private.profile import CountProfile
from fim_private.randomness import Randomness
from fim_private.randomness.discrete_laplace import sample_discrete_laplace
from fim_private.randomness.uniform import uniform_below
from fim_private.release.record import UNLISTED

Itemset = tuple[str, ...]


@dataclass(frozen=True, kw_only=True)
class Passed:
    """What came through: an itemset, and its noisy lead over the runner-up where the mechanism gives it.

    Args:
        items: the names.
        codes: the items' codes in the vocabulary of the data; beyond its end for items that do not occur.
        lead: in transactions, rounded down.
    """

    items: Itemset
    codes: tuple[int, ...]
    lead: int | None = None


def pass_through(
    database: TransactionDatabase,
    counts: HiddenCounts,
    mechanism: Mechanism,
    plan: Plan,
    randomness: Randomness,
    *,
    sizes: Sequence[int] | None = None,
) -> tuple[Passed, ...]:
    """The itemsets that the plan's mechanism selects, in the order it picked them.

    Args:
        database: bounded as the plan says.
        counts: the counts of their itemsets, as deep as the mechanism looks.
        mechanism: the plan's.
        plan: the plan; what it costs is (`plan.guarantee`).
        randomness: where the bits come from.
        sizes: that the counts are of; None for all that the plan looks for.

    Raises:
        InputError: more itemsets occur than the declared universe has.
    """
    check_universe(database, plan)
    sizes = plan.question.remaining_sizes if sizes is None else sizes
    itemsets = plan.question.remaining_universe.itemsets(*sizes)
    profile = counts.profile(None if itemsets is None else itemsets - len(counts))
    ranks, leads = _select(mechanism, profile, randomness)
    occurring = [rank for rank in ranks if rank < profile.occurring]
    codes = iter(counts.itemsets_at(occurring).tolist())
    absent: set[tuple[int, ...]] = set()
    chosen: list[Passed] = []
    for rank, lead in zip(ranks, leads, strict=True):
        itemset = (
            tuple(code for code in next(codes) if code >= 0)
            if rank < profile.occurring
            else _absent(database, plan, sizes, absent, randomness)
        )
        chosen.append(Passed(items=tuple(_name(database, code) for code in itemset), lead=lead, codes=itemset))
    return tuple(chosen)


def check_unit(database: TransactionDatabase, plan: Plan) -> None:
    """Refuse data whose units were read from another column than the one that the plan promises to protect.

    Raises:
        UsageError: they were. Units that were given in memory have the name that the plan gives them.
    """
    layout = database.notes.layout
    read, promised = layout.unit_column, plan.unit.column
    if layout.kind == "memory" or promised is None:
        return
    if read is None or read.strip().casefold() != promised.strip().casefold():
        raise UsageError(
            f"The unit to protect is that of column {promised!r}, and the data was read "
            + ("without units." if read is None else f"with the units of column {read!r}."),
            "Give the same unit_column to read_transactions and to PrivacyUnit.",
        )


def check_universe(database: TransactionDatabase, plan: Plan) -> None:
    """Refuse data that holds more items than were declared; before a ledger is charged.

    Privacy: the refusal is not protected. Repeated with other numbers it tells how many items occur. Where only a
    number was declared, the number of items that occur is therefore taken as public, as their names are: no budget is
    spent on it, and nothing is promised for it. With a list of names (`--universe-file`) nothing is refused: other
    items were left out before.

    Raises:
        InputError: it does.
    """
    declared = plan.question.remaining_universe.items
    if declared is not None and declared < len(database.vocabulary):
        raise InputError(
            "The data holds more items than the declared universe.",
            "Correct --universe-items from public knowledge (how many items occur is taken as public, and this refusal "
            "tells of it), or give the items themselves with --universe-file.",
        )


def discover(
    counts: ChosenCounts, discovery: Discovery, randomness: Randomness
) -> tuple[NDArray[np.int32], NDArray[np.int64]]:
    """The items found and their noisy counts, in units.

    Args:
        counts: of single items, weighted as the discovery says.
        discovery: which costs its measurement's loss, and fails as it says.
        randomness: where the bits come from.

    Returns:
        Item codes, increasing, int32, and int64, of the same shape.
    """
    places, noisy = discovery.find(counts.vector(), randomness)
    return counts.given[places, 0], noisy


def measure(counts: ChosenCounts, measurement: Measurement, randomness: Randomness) -> NDArray[np.int64]:
    """Noisy counts, in units, of itemsets that are public, in their order.

    Args:
        counts: weighted as the measurement says.
        measurement: which costs its loss.
        randomness: where the bits come from.
    """
    return measurement.add_noise(counts.vector(), randomness)


def measure_chosen(
    database: TransactionDatabase,
    itemsets: Sequence[tuple[int, ...]],
    noise: CountNoise,
    randomness: Randomness,
) -> NDArray[np.int64]:
    """Noisy counts of itemsets that were chosen before, int64, in their order.

    Args:
        database: bounded as the plan says.
        itemsets: item codes, increasing; at most as many itemsets as the noise was planned for, each once. Codes beyond
            the vocabulary are items that do not occur: their itemsets count 0, and get noise like all others.
        noise: which costs its loss.
        randomness: where the bits come from.
    """
    if len(itemsets) > noise.top:
        raise AssertionError("more itemsets are to be counted than the noise was planned for")
    counts = np.zeros(len(itemsets), np.int64)
    by_size: dict[int, list[int]] = {}
    for place, itemset in enumerate(itemsets):
        if max(itemset) < len(database.vocabulary):
            by_size.setdefault(len(itemset), []).append(place)
    for places in by_size.values():
        counts[places] = database.count_chosen(np.array([itemsets[place] for place in places], np.int32)).vector()
    return noise.add_noise(counts, randomness)


def noisy_total(counts: Iterable[ChosenCounts], scale: Fraction, randomness: Randomness) -> int:
    """The sum of the counts of itemsets that are public, with discrete Laplace noise.

    Args:
        counts: of transactions of which one is all that a privacy unit has, so it changes the sum by the number of
            itemsets at most; one each for itemsets of a size.
        scale: of the noise; that number over it is the epsilon that this costs (PureDP).
        randomness: where the bits come from.
    """
    return sum(int(part.vector().sum()) for part in counts) + sample_discrete_laplace(scale, randomness)


def pick(counts: ChosenCounts, mechanism: Mechanism, randomness: Randomness) -> NDArray[np.int32]:
    """The itemsets a mechanism picks from those that are public, int32, shape (picks, size), in the order picked."""
    return counts.itemsets_at(mechanism.select(counts.profile(), randomness))


def _select(
    mechanism: Mechanism, profile: CountProfile, randomness: Randomness
) -> tuple[tuple[int, ...], tuple[int | None, ...]]:
    if isinstance(mechanism, WithGaps) and mechanism.gaps:
        return mechanism.select_with_gaps(profile, randomness)
    ranks = mechanism.select(profile, randomness)
    return ranks, (None,) * len(ranks)


def _absent(
    database: TransactionDatabase, plan: Plan, sizes: Sequence[int], drawn: set[tuple[int, ...]], randomness: Randomness
) -> tuple[int, ...]:
    """A uniform itemset of the declared universe that does not occur and was not drawn before (by rejection)."""
    items = plan.question.remaining_universe.items
    if items is None:
        raise AssertionError("an open universe has no itemsets that do not occur")
    while True:
        itemset = _uniform_itemset(items, _uniform_size(items, sizes, randomness), randomness)
        if itemset not in drawn and not database.occurs(itemset):
            drawn.add(itemset)
            return itemset


def _uniform_size(items: int, sizes: Sequence[int], randomness: Randomness) -> int:
    """The size of a uniform itemset of these sizes."""
    if len(sizes) == 1:
        return sizes[0]
    numbers = [math.comb(items, size) for size in sizes]
    return sizes[bisect_right(list(accumulate(numbers)), uniform_below(sum(numbers), randomness))]


def _uniform_itemset(items: int, size: int, randomness: Randomness) -> tuple[int, ...]:
    """`size` different codes below `items`, every set alike (Floyd's algorithm)."""
    chosen: set[int] = set()
    for last in range(items - size, items):
        code = uniform_below(last + 1, randomness)
        chosen.add(last if code in chosen else code)
    return tuple(sorted(chosen))


def _name(database: TransactionDatabase, code: int) -> str:
    return str(database.vocabulary[code]) if code < len(database.vocabulary) else UNLISTED
