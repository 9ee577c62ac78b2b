"""Noisy counts for the chosen itemsets, measured through the door, and what follows from them at no cost."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import combinations

from fim_private.counting import TransactionDatabase
from fim_private.mining.consistency import consistent_counts
from fim_private.plan import Plan
from fim_private.randomness import Randomness
from fim_private.release import ReleasedItemset
from fim_private.release.door import measure_chosen
from fim_private.transactions.item_codes import name_order


def with_counts(
    itemsets: Sequence[ReleasedItemset],
    codes: Sequence[tuple[int, ...]],
    bounded: TransactionDatabase,
    plan: Plan,
    randomness: Randomness,
) -> tuple[tuple[ReleasedItemset, ...], tuple[ReleasedItemset, ...]]:
    """The itemsets with noisy counts, intervals, and supports if the number of transactions is public.

    Pairs by leverage also have the count that is expected by chance, from new counts of their items. The earlier counts
    decided what was picked. So of the picked pairs they expect too little: pairs of which noise took much away are
    picked first.

    If the plan says so, their subsets follow with the same. The chosen itemsets are public, and so are their subsets.

    An interval is around the count as drawn, cut off at 0. Consistency may later move the count, even out of its
    interval. Each interval by itself holds the true count of the bounded data with probability 95 %.

    Args:
        itemsets: the chosen itemsets.
        codes: their item codes, in the same order.
        bounded: the data that they were chosen from.
        plan: a plan that releases counts.
        randomness: where the bits come from.

    Returns:
        The chosen itemsets, and those of their subsets that are not among them; none unless these were planned.
    """
    noise = plan.counts
    if noise is None:
        raise AssertionError("no counts were planned")
    subsets = list(_subsets(codes, bounded)) if plan.question.counts_subsets else []
    every = [*codes, *(codes_of for _, codes_of in subsets)]
    noisy = measure_chosen(bounded, every, noise, randomness)
    shown = noisy if plan.question.raw_counts else consistent_counts(every, noisy)
    reach = noise.half_width
    further = [ReleasedItemset(rank=rank, items=items) for rank, (items, _) in enumerate(subsets, start=1)]
    counted = tuple(
        replace(
            itemset,
            count=count,
            count_low=max(0, drawn - reach),
            count_high=max(0, drawn + reach),
            support=plan.question.support(count),
        )
        for itemset, drawn, count in zip([*itemsets, *further], noisy.tolist(), shown.tolist(), strict=True)
    )
    chosen, rest = counted[: len(itemsets)], counted[len(itemsets) :]
    if plan.question.tells_leverage:
        single = {part.items: part.count for part in rest}
        chosen = tuple(
            replace(pair, expected=plan.question.expected(*(single[item,] or 0 for item in pair.items)))
            for pair in chosen
        )
    return chosen, rest


def _subsets(
    chosen: Sequence[tuple[int, ...]], bounded: TransactionDatabase
) -> Iterator[tuple[tuple[str, ...], tuple[int, ...]]]:
    """The subsets of the chosen itemsets that are not chosen themselves, each once: names in item order, and codes.

    Their order follows from that of the chosen itemsets and from names alone, all of which are public.
    """
    seen = set(chosen)
    for codes in chosen:
        names = {code: str(bounded.vocabulary[code]) for code in codes}
        in_order = sorted(codes, key=lambda code: name_order(names[code]))
        for size in range(len(codes) - 1, 0, -1):
            for part in combinations(in_order, size):
                if (increasing := tuple(sorted(part))) not in seen:
                    seen.add(increasing)
                    yield tuple(names[code] for code in part), increasing
