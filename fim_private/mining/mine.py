"""The top itemsets of a data set, released privately: restrict, bound, count, and through the door."""

from __future__ import annotations

from collections.abc import Callable

from fim_private.counting import HiddenCounts, count_histogram, top_itemsets
from fim_private.errors import UsageError
from fim_private.plan import Plan, Universe, make_plan
from fim_private.privacy import Budget, NeighbouringRelation, PrivacyUnit
from fim_private.randomness import Randomness, SecureRandomness, SeededRandomness
from fim_private.release import Release, ReleasedItemset
from fim_private.release.door import pass_through
from fim_private.release.planned import plan_record, privacy_record
from fim_private.transactions import Transactions, cap_items, keep_transactions, merge_units, restrict_to
from fim_private.version import __version__

Progress = Callable[[str], None]


def mine(
    transactions: Transactions,
    *,
    size: int,
    top: int,
    budget: Budget,
    unit: PrivacyUnit,
    relation: NeighbouringRelation = NeighbouringRelation.ADD_REMOVE,
    mechanism: str = "lmm",
    universe: Universe | None = None,
    max_items: int | None = None,
    seed: int | None = None,
) -> Release:
    """The `top` most frequent itemsets of one size, (epsilon, delta)-differentially private.

    Args:
        transactions: from `read_transactions`.
        size: items of each itemset, at least 1.
        top: k, how many itemsets; the answer may be shorter.
        budget: what the release may cost; everything in it together stays within.
        unit: what is protected; `PrivacyUnit()` is one transaction.
        relation: what neighbours are; add-remove or replace.
        mechanism: a name of the registry, or "auto".
        universe: the declared universe; None for an open one.
        max_items: keep a uniform random choice of at most so many items of each transaction. Costs no privacy.
        seed: makes the noise repeatable, and the release not private. For tests and teaching.

    Raises:
        UsageError: a number is out of range, or options contradict each other.
        InputError: the data does not fit what was declared.
        BudgetError: the budget cannot pay for the mechanism.
    """
    plan = make_plan(
        size=size,
        top=top,
        budget=budget,
        unit=unit,
        relation=relation,
        mechanism=mechanism,
        universe=universe,
        max_items=max_items,
    )
    return mine_as_planned(transactions, plan, seed=seed)


def mine_as_planned(
    transactions: Transactions,
    plan: Plan,
    *,
    seed: int | None = None,
    command: str | None = None,
    progress: Progress = lambda _phase: None,
) -> Release:
    """What `mine` does, from a plan.

    Args:
        transactions: as read.
        plan: from `make_plan`.
        seed: as in `mine`.
        command: what was typed, for the record.
        progress: told the name of each phase as it begins.
    """
    randomness = SecureRandomness() if seed is None else SeededRandomness(seed)
    progress("bounding")
    bounded = bound(transactions, plan, randomness)
    progress("counting")
    counts = count(bounded, plan)
    progress("selecting")
    chosen = pass_through(bounded, counts, plan, randomness)
    return Release(
        itemsets=tuple(
            ReleasedItemset(rank=rank, items=passed.items, lead=passed.lead)
            for rank, passed in enumerate(chosen, start=1)
        ),
        mechanism=plan.mechanism_name,
        privacy=privacy_record(plan),
        plan=plan_record(plan),
        seeded=seed is not None,
        version=__version__,
        command=command,
    )


def bound(transactions: Transactions, plan: Plan, randomness: Randomness) -> Transactions:
    """The transactions that are counted: of the declared items, per unit and per transaction no more than planned."""
    if plan.universe.names is not None:
        transactions = restrict_to(transactions, list(plan.universe.names))
    if plan.unit.column is not None:
        if transactions.units is None:
            raise UsageError(
                "The privacy unit is a column, and the data was read without it.",
                "Name the column when reading: --unit-column, or unit_column=... in read_transactions.",
            )
        if plan.unit.max_transactions is None:
            transactions = merge_units(transactions)
        else:
            transactions = keep_transactions(transactions, plan.unit.max_transactions, randomness.words)
    if plan.max_items is not None:
        transactions = cap_items(transactions, plan.max_items, randomness.words)
    return transactions


def count(transactions: Transactions, plan: Plan) -> HiddenCounts:
    """As many of the largest counts as the plan's mechanism looks at."""
    depth = plan.mechanism.depth
    if depth is None:
        return count_histogram(transactions, plan.size)
    return top_itemsets(transactions, plan.size, depth)
