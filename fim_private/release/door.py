"""The door: the only place where exact counts meet a mechanism, and the only way from counts to itemsets.

What passes is the list of itemsets a mechanism chose. Its ranks become names here; a rank that stands for an itemset
that does not occur becomes one drawn uniformly from those of the declared universe.
"""

from __future__ import annotations

from fim_private.counting import HiddenCounts, occurs
from fim_private.errors import InputError
from fim_private.plan import Plan
from fim_private.randomness import Randomness
from fim_private.randomness.uniform import uniform_below
from fim_private.transactions import Transactions

UNLISTED = "(an item that does not occur)"
"""What stands for an item of a universe whose number was declared and whose names were not."""

Itemset = tuple[str, ...]


def pass_through(
    transactions: Transactions, counts: HiddenCounts, plan: Plan, randomness: Randomness
) -> tuple[Itemset, ...]:
    """The itemsets that the plan's mechanism selects, in the order it picked them.

    Args:
        transactions: bounded as the plan says.
        counts: the counts of their itemsets, as deep as the mechanism looks.
        plan: the plan; what it costs is (`plan.guarantee`).
        randomness: where the bits come from.

    Raises:
        InputError: more itemsets occur than the declared universe has.
    """
    if plan.universe.items is not None and plan.universe.items < len(transactions.vocabulary):
        raise InputError(
            "The data holds more items than the declared universe.",
            "Correct --universe-items, or give the items themselves with --universe-file.",
        )
    itemsets = plan.universe.itemsets(plan.size)
    profile = counts.profile(None if itemsets is None else itemsets - len(counts))
    ranks = plan.mechanism.select(profile, randomness)
    occurring = [rank for rank in ranks if rank < profile.occurring]
    codes = iter(counts.itemsets_at(occurring).tolist())
    absent: set[tuple[int, ...]] = set()
    chosen: list[Itemset] = []
    for rank in ranks:
        itemset = next(codes) if rank < profile.occurring else _absent(transactions, plan, absent, randomness)
        chosen.append(tuple(_name(transactions, code) for code in itemset))
    return tuple(chosen)


def _absent(
    transactions: Transactions, plan: Plan, drawn: set[tuple[int, ...]], randomness: Randomness
) -> tuple[int, ...]:
    """A uniform itemset of the declared universe that does not occur and was not drawn before (by rejection)."""
    items = plan.universe.items
    if items is None:
        raise AssertionError("an open universe has no itemsets that do not occur")
    while True:
        itemset = _uniform_itemset(items, plan.size, randomness)
        if itemset not in drawn and not occurs(transactions, itemset):
            drawn.add(itemset)
            return itemset


def _uniform_itemset(items: int, size: int, randomness: Randomness) -> tuple[int, ...]:
    """`size` different codes below `items`, every set alike (Floyd's algorithm)."""
    chosen: set[int] = set()
    for last in range(items - size, items):
        code = uniform_below(last + 1, randomness)
        chosen.add(last if code in chosen else code)
    return tuple(sorted(chosen))


def _name(transactions: Transactions, code: int) -> str:
    return str(transactions.vocabulary[code]) if code < len(transactions.vocabulary) else UNLISTED
