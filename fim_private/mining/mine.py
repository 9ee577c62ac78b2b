"""The top itemsets of a data set, released privately: restrict, bound, count, and through the door."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import fields, is_dataclass
from fractions import Fraction
from typing import Any

from fim_private.counting import HiddenCounts, count_histogram, top_itemsets
from fim_private.errors import UsageError
from fim_private.plan import Plan, Universe, make_plan
from fim_private.privacy import Budget, NeighbouringRelation, PrivacyUnit
from fim_private.randomness import Randomness, SecureRandomness, SeededRandomness
from fim_private.release import Release, ReleasedItemset
from fim_private.release.door import pass_through
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
        mechanism: a name of the registry.
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
        itemsets=tuple(ReleasedItemset(rank=rank, items=items) for rank, items in enumerate(chosen, start=1)),
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


def privacy_record(plan: Plan) -> dict[str, Any]:
    """The promise, for the release's record."""
    record: dict[str, Any] = {
        "epsilon": float(plan.budget.epsilon),
        "delta": float(plan.budget.delta),
        "neighbours": str(plan.relation),
        "unit": plan.unit.describe(),
        "proved": {
            "epsilon": float(plan.guarantee.epsilon),
            "delta": float(plan.guarantee.delta),
            "composition": plan.guarantee.composition,
        },
    }
    if plan.universe.items is not None and plan.universe.names is None:
        record["taken_as_public"] = "the names of the items that occur"
    return record


def plan_record(plan: Plan) -> dict[str, Any]:
    """The plan's public parameters, exact fractions as text."""
    return {
        "size": plan.size,
        "top": plan.top,
        "mechanism": plan.mechanism_name,
        "unit_column": plan.unit.column,
        "max_transactions": plan.unit.max_transactions,
        "max_items": plan.max_items,
        "universe_items": plan.universe.items,
        "sensitivity": plan.unit.sensitivity,
        "parameters": _parameters(plan.mechanism),
        "spending": [
            {"what": line.what, "epsilon": float(line.epsilon), "times": line.times} for line in plan.mechanism.spending
        ],
        "failure_probability": float(plan.mechanism.failure),
        "margin": {"counts": plan.mechanism.margin.counts, "words": plan.mechanism.margin.words},
    }


def _parameters(value: object) -> Any:
    if is_dataclass(value) and not isinstance(value, type):
        return {field.name: _parameters(getattr(value, field.name)) for field in fields(value)}
    return str(value) if isinstance(value, Fraction) else value
