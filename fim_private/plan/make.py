"""From what is asked to concrete parameters, without data: what `fim-private plan` prints is what `mine` does."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from functools import partial

from fim_private.constraints import NOTHING, Constraints
from fim_private.errors import UsageError, check_kinds
from fim_private.mechanisms.items_first import COUNTS
from fim_private.mechanisms.registry import AUTO, REGISTRY, find
from fim_private.plan.calibrated import plan_with
from fim_private.plan.choice import choose
from fim_private.plan.plan import Plan
from fim_private.plan.universe import Universe
from fim_private.privacy import Budget, NeighbouringRelation, Number, PrivacyUnit, exact, whole

LARGEST_SIZE = 20
LARGEST_TOP = 10_000
MOST_ABOVE = 1_000
"""So many itemsets above a least count at most, unless it is said otherwise."""
MOST_ITEMSETS = 10**300
COUNTING = next(row.name for row in REGISTRY.values() if row.reads_counts)
"""The mechanism that --select and --min-count stand for, where none is named."""


def make_plan(
    *,
    size: int | Sequence[int],
    top: int | None = None,
    budget: Budget,
    unit: PrivacyUnit,
    relation: NeighbouringRelation = NeighbouringRelation.ADD_REMOVE,
    universe: Universe | None = None,
    constraints: Constraints | None = None,
    max_items: int | None = None,
    mechanism: str = AUTO,
    select: str | None = None,
    min_count: int | None = None,
    count_share: Number | None = None,
    raw_counts: bool = False,
    public_transactions: int | None = None,
    per_size: bool = False,
) -> Plan:
    """The plan for a release.

    Args:
        size: number of items of each itemset; several numbers for the top of all these sizes together.
        top: k, how many itemsets; with `min_count` it may be left out, and is 1,000 then.
        budget: what the release may cost.
        unit: the privacy unit.
        relation: the neighbouring relation.
        universe: the declared universe; None for an open one.
        constraints: what itemsets must and must not contain; None for nothing.
        max_items: how many of the remaining items of a transaction are kept; None for all.
        mechanism: a name of the registry, or "auto" for the one that needs the smallest lead over the bulk.
        select: how items-first selects, "peel" or "counts"; None where the planner decides.
        min_count: release only itemsets whose noisy count exceeds this; needs a mechanism that counts.
        count_share: of epsilon, what the chosen itemsets' counts may cost, between 0 and 1; None releases none.
        raw_counts: release the counts as they were drawn, rather than made consistent.
        public_transactions: how many transactions there are (after bounding), which is taken as public: counts then
            come with supports.
        per_size: find the top of each size rather than that of all sizes together, from the one budget.

    Raises:
        UsageError: a number is out of range, or options contradict each other.
        BudgetError: the budget cannot pay for the mechanism, or the counts.
    """
    universe, constraints = universe or Universe(), constraints or NOTHING
    check_kinds(
        budget=(budget, Budget),
        unit=(unit, PrivacyUnit),
        universe=(universe, Universe),
        constraints=(constraints, Constraints),
        mechanism=(mechanism, str),
    )
    relation = NeighbouringRelation.of(relation)
    sizes = _sizes(size)
    if min_count is not None:
        min_count = whole(min_count, 1, 10**12, "The least count")
        select = select or COUNTS
    if select is not None and mechanism == AUTO:
        mechanism = COUNTING
    if (select or min_count is not None) and not find(mechanism).reads_counts:
        raise UsageError(
            f"The mechanism {mechanism} has no way to select by noisy counts.",
            f"--select and --min-count go with --mechanism {COUNTING}.",
        )
    if min_count is not None and select != COUNTS:
        raise UsageError("A least count needs noisy counts.", f"Leave out --select, or give --select {COUNTS}.")
    if top is None:
        if min_count is None:
            raise UsageError("It was not said how many itemsets to find.", "Give --top, or --min-count.")
        top = MOST_ABOVE
    top = whole(top, 1, LARGEST_TOP, "The number of itemsets")
    remaining = tuple(map(constraints.remaining_size, sizes))
    if max_items is not None:
        max_items = whole(max_items, max(remaining), 10**6, "The number of items to keep of a transaction")
    share = _count_share(count_share, raw_counts=raw_counts, public_transactions=public_transactions)
    if public_transactions is not None:
        public_transactions = whole(public_transactions, 1, 10**12, "The public number of transactions")
    remaining_universe = universe.without(constraints)
    searches = tuple((size,) for size in remaining) if per_size else (remaining,)
    itemsets = remaining_universe.itemsets(*remaining)
    if itemsets is not None and itemsets > MOST_ITEMSETS:
        raise UsageError(
            "The declared universe has more than 1e300 itemsets of this size, too many to calculate with.",
            "Declare fewer items, or ask for a smaller --size.",
        )
    numbers = [number for search in searches if (number := remaining_universe.itemsets(*search)) is not None]
    if 0 in numbers:
        raise UsageError(
            "The declared universe has too few items for an itemset of this size.",
            "Ask for a smaller --size, or declare more items.",
        )
    if any(number < top for number in numbers):
        raise UsageError(
            "The declared universe has fewer itemsets of this size than are asked for.",
            "Ask for fewer with --top, or declare more items.",
        )

    planned = partial(
        plan_with,
        sizes=sizes,
        searches=searches,
        top=top,
        budget=budget,
        unit=unit,
        relation=relation,
        universe=universe,
        constraints=constraints,
        max_items=max_items,
        select=select,
        min_count=min_count,
        count_share=share,
        raw_counts=raw_counts,
        public_transactions=public_transactions,
    )
    return choose(planned, universe, max_items, searches) if mechanism == AUTO else planned(find(mechanism))


def plan_again(plan: Plan, *, budget: Budget, top: int) -> Plan:
    """The plan that the same question would get with another budget or top.

    Raises:
        UsageError: as `make_plan`.
        BudgetError: likewise.
    """
    return make_plan(
        size=plan.sizes,
        top=top,
        budget=budget,
        unit=plan.unit,
        relation=plan.relation,
        universe=plan.universe,
        constraints=plan.constraints,
        max_items=plan.max_items,
        mechanism=plan.asked_mechanism,
        select=plan.asked_select,
        min_count=plan.min_count,
        count_share=plan.count_share,
        raw_counts=plan.raw_counts,
        public_transactions=plan.public_transactions,
        per_size=plan.per_size,
    )


def _count_share(share: Number | None, *, raw_counts: bool, public_transactions: int | None) -> Fraction | None:
    """The share, exact; refuses what is said of counts where none are released."""
    if share is None:
        if raw_counts or public_transactions is not None:
            raise UsageError(
                "No counts are released to be left raw, or divided by the number of transactions.",
                "Add --release-counts (count_share=... in Python).",
            )
        return None
    part = exact(share, "the share of the counts")
    if not 0 < part < 1:
        raise UsageError("The share of the counts is out of range.", "Choose it between 0 and 1, such as 0.3.")
    return part


def _sizes(size: int | Sequence[int]) -> tuple[int, ...]:
    """The sizes in increasing order, each once."""
    given = tuple(size) if isinstance(size, Sequence) else (size,)
    if not given:
        raise UsageError("No itemset size was given.", "Give at least one.")
    return tuple(sorted({whole(each, 1, LARGEST_SIZE, "The itemset size") for each in given}))
