"""The exact counts that trials use. They are revealed to the curator and never released."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from fim_private.comparison.settings import ALL_SIZES, Settings, chooses_from_all, ranked_tops
from fim_private.counting import count_histogram, top_itemsets
from fim_private.mechanisms.certified_domain import candidates_of
from fim_private.mechanisms.limited_domain import CANDIDATES_PER_PICK
from fim_private.mechanisms.registry import find
from fim_private.profile import CountProfile
from fim_private.randomness import SeededRandomness
from fim_private.transactions.bounding import cap_items, count_units, merge_units
from fim_private.transactions.dataset import Transactions

CAPS = 10
"""How many random caps of the transactions are counted. A mechanism that needs a cap uses them in turn."""


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class CappedCounts:
    """The counts of transactions after capping, which keeps a random choice of items.

    Args:
        capped_profile: the counts of the capped transactions.
        true_counts: for the first ranks of that profile, the itemset's count before capping. None if the itemset is
            not among the most frequent.
    """

    capped_profile: CountProfile
    true_counts: tuple[int | None, ...]

    def true_count(self, rank: int) -> int | None:
        """The count, before capping, of the itemset of this rank."""
        return self.true_counts[rank] if rank < len(self.true_counts) else None


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class ExactCounts:
    """Everything that trials need to know about one data set.

    Args:
        name: the name of the data set.
        transactions: how many transactions there are, or units if these are counted.
        items: how many items occur.
        profiles: by size, the complete counts in an open universe.
        together: the sizes that are ranked together; empty if none are.
        all_sizes: their counts, the largest as deep as mechanisms look, or all; None if not asked for.
        capped: by size, the capped counts. Empty if no mechanism needs capped transactions.
        baskets: the transactions, for mechanisms that choose what to count. They count units if the settings do.
        most_frequent: by size, the true counts of the most frequent itemsets, as item codes. Empty if every mechanism
            sees counts only.
    """

    name: str
    transactions: int
    items: int
    profiles: dict[int, CountProfile]
    together: tuple[int, ...]
    all_sizes: CountProfile | None
    capped: dict[int, tuple[CappedCounts, ...]]
    baskets: Transactions
    most_frequent: dict[int, dict[tuple[int, ...], int]]

    def in_universe(self, size: int, universe_items: int | None) -> CountProfile:
        """The counts of one size, in an open universe or in a universe of `universe_items` items.

        Where those of all sizes together are not complete, they are given in an open universe.
        """
        found, sizes = (self.all_sizes, self.together) if size == ALL_SIZES else (self.profiles[size], (size,))
        if found is None:
            raise AssertionError("several sizes were not counted together")
        if universe_items is None or not found.complete:
            return found
        zeros = sum(math.comb(universe_items, each) for each in sizes) - found.occurring
        return CountProfile(levels=found.levels, multiplicities=found.multiplicities, zeros=zeros)


def count_all(
    name: str, transactions: Transactions, settings: Settings, progress: Callable[[str], None]
) -> ExactCounts:
    """Count every size, and the capped transactions where a mechanism needs them."""
    if settings.unit_column is not None:
        transactions = count_units(transactions) if settings.counts_units else merge_units(transactions)
    of_units = transactions.first_of_units()
    profiles = {}
    for size in settings.sizes:
        progress(f"counting itemsets of size {size} of {name}")
        profiles[size] = all_counts(transactions, size)
    places = 20 * max(settings.tops + settings.long_tops)
    most_frequent: dict[int, dict[tuple[int, ...], int]] = {}
    if not all(find(mechanism).sees_counts_only for mechanism in settings.mechanisms):
        most_frequent = {size: by_itemset(transactions, size, places) for size in settings.sizes}
    all_sizes = None
    if settings.all_sizes:
        progress(f"counting itemsets of all sizes of {name}")
        longest = max(ranked_tops(settings))
        depth = max(CANDIDATES_PER_PICK * longest, candidates_of(longest, settings.all_sizes)) + 1
        all_sizes = (
            all_counts(transactions, *settings.all_sizes)
            if chooses_from_all(settings, len(transactions.vocabulary))
            else _together(transactions, settings.all_sizes, depth)
        )
        most_frequent[ALL_SIZES] = {
            itemset: count
            for size in settings.all_sizes
            for itemset, count in by_itemset(transactions, size, places).items()
        }
    capped: dict[int, tuple[CappedCounts, ...]] = {}
    if any(find(mechanism).needs_cap for mechanism in settings.mechanisms):
        randomness = SeededRandomness(settings.seed)
        progress(f"capping the transactions of {name}")
        caps = [
            cap_items(transactions, settings.max_items, randomness.words) for _ in range(min(CAPS, settings.trials))
        ]
        for size in settings.sizes:
            capped[size] = tuple(_capped(cap, size, places, most_frequent[size]) for cap in caps)
    return ExactCounts(
        name=name,
        transactions=len(transactions) if of_units is None else len(of_units) - 1,
        items=len(transactions.vocabulary),
        profiles=profiles,
        together=settings.all_sizes,
        all_sizes=all_sizes,
        capped=capped,
        baskets=transactions,
        most_frequent=most_frequent,
    )


def all_counts(transactions: Transactions, *sizes: int) -> CountProfile:
    """The complete counts of these sizes together."""
    found = Counter[int]()
    for size in sizes:
        levels, multiplicities = count_histogram(transactions, size).reveal_to_curator()
        found.update(dict(zip(levels.tolist(), multiplicities.tolist(), strict=True)))
    together = sorted(found.items(), reverse=True)
    return CountProfile(levels=[level for level, _ in together], multiplicities=[number for _, number in together])


def _together(transactions: Transactions, sizes: Sequence[int], depth: int) -> CountProfile:
    """The largest counts over several sizes together."""
    parts = [top_itemsets(transactions, size, depth).reveal_to_curator()[1] for size in sizes]
    levels, multiplicities = np.unique(np.sort(np.concatenate(parts))[-depth:], return_counts=True)
    return CountProfile(
        levels=levels[::-1].tolist(),
        multiplicities=multiplicities[::-1].tolist(),
        complete=sum(map(len, parts)) < depth,
    )


def by_itemset(transactions: Transactions, size: int, places: int) -> dict[tuple[int, ...], int]:
    """The counts of the most frequent itemsets of one size, in order."""
    itemsets, counts = top_itemsets(transactions, size, places).reveal_to_curator()
    return dict(zip(map(tuple, itemsets.tolist()), counts.tolist(), strict=True))


def _capped(
    transactions: Transactions, size: int, places: int, most_frequent: dict[tuple[int, ...], int]
) -> CappedCounts:
    itemsets, _ = top_itemsets(transactions, size, places).reveal_to_curator()
    return CappedCounts(
        capped_profile=all_counts(transactions, size),
        true_counts=tuple(most_frequent.get(tuple(itemset)) for itemset in itemsets.tolist()),
    )
