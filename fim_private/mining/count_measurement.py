"""Noisy counts for the chosen itemsets, measured through the door, and what follows from them at no cost."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from fim_private.counting import TransactionDatabase
from fim_private.mining.consistency import consistent_counts
from fim_private.plan import Plan
from fim_private.randomness import Randomness
from fim_private.release import ReleasedItemset
from fim_private.release.door import measure_chosen


def with_counts(
    itemsets: Sequence[ReleasedItemset],
    codes: Sequence[tuple[int, ...]],
    bounded: TransactionDatabase,
    plan: Plan,
    randomness: Randomness,
) -> tuple[ReleasedItemset, ...]:
    """The itemsets with noisy counts, intervals, and supports if the number of transactions is public.

    An interval is around the count as drawn, cut off at 0. Consistency may later move the count, even out of its
    interval. Each interval by itself holds the true count of the bounded data with probability 95 %.

    Args:
        itemsets: the chosen itemsets.
        codes: their item codes, in the same order.
        bounded: the data that they were chosen from.
        plan: a plan that releases counts.
        randomness: where the bits come from.
    """
    noise = plan.counts
    if noise is None:
        raise AssertionError("no counts were planned")
    noisy = measure_chosen(bounded, codes, noise, randomness)
    shown = noisy if plan.question.raw_counts else consistent_counts(codes, noisy)
    reach, transactions = noise.half_width, plan.question.public_transactions
    return tuple(
        replace(
            itemset,
            count=count,
            count_low=max(0, drawn - reach),
            count_high=max(0, drawn + reach),
            support=None if transactions is None else min(1.0, count / transactions),
        )
        for itemset, drawn, count in zip(itemsets, noisy.tolist(), shown.tolist(), strict=True)
    )
