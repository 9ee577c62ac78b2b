"""The top itemsets of a data set, released privately: restrict, bound, count, and through the door."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import NoReturn

from fim_private.counting import HiddenCounts, SeveralSizes, TransactionDatabase, as_database
from fim_private.errors import UsageError
from fim_private.ledger import Ledger
from fim_private.mechanisms.items_first import ItemsFirst
from fim_private.mechanisms.protocol import Mechanism
from fim_private.mining import items_first
from fim_private.mining.counts import with_counts
from fim_private.plan import Plan, Universe, make_plan
from fim_private.privacy import Budget, NeighbouringRelation, Number, PrivacyUnit
from fim_private.randomness import Randomness, SecureRandomness, SeededRandomness
from fim_private.release import FoundItem, Release, ReleasedItemset
from fim_private.release.door import check_universe, pass_through
from fim_private.release.planned import plan_record, privacy_record
from fim_private.transactions import Transactions
from fim_private.version import __version__

Progress = Callable[[str], None]
Codes = tuple[int, ...]
"""An itemset, by its items' codes."""


def mine(
    transactions: Transactions | TransactionDatabase,
    *,
    size: int | Sequence[int],
    top: int | None = None,
    budget: Budget,
    unit: PrivacyUnit,
    relation: NeighbouringRelation = NeighbouringRelation.ADD_REMOVE,
    mechanism: str = "auto",
    universe: Universe | None = None,
    max_items: int | None = None,
    select: str | None = None,
    min_count: int | None = None,
    count_share: Number | None = None,
    raw_counts: bool = False,
    public_transactions: int | None = None,
    seed: int | None = None,
    ledger: Ledger | None = None,
) -> Release:
    """The `top` most frequent itemsets of one size, or of several, (epsilon, delta)-differentially private.

    Args:
        transactions: from `read_transactions`, or a database of another engine.
        size: items of each itemset, at least 1; several numbers for the top of all these sizes together.
        top: k, how many itemsets; the answer may be shorter. May be left out if `min_count` is given.
        budget: what the release may cost; everything in it together stays within.
        unit: what is protected; `PrivacyUnit()` is one transaction.
        relation: what neighbours are; add-remove or replace.
        mechanism: a name of the registry, or "auto".
        universe: the declared universe; None for an open one.
        max_items: keep a uniform random choice of at most so many items of each transaction. Costs no privacy.
        select: how items-first selects, "peel" or "counts"; None where the planner decides.
        min_count: release only itemsets whose noisy count exceeds this (items-first).
        count_share: of epsilon, what the counts of the chosen itemsets may cost; None releases no counts, but for those
            of items-first.
        raw_counts: release these counts as they were drawn, rather than made consistent.
        public_transactions: how many transactions there are (after bounding), taken as public: counts then come with
            supports.
        seed: makes the noise repeatable, and the release not private. For tests and teaching.
        ledger: is charged before any noise is drawn, and refuses what does not fit; not with a seed.

    Raises:
        UsageError: a number is out of range, or options contradict each other.
        InputError: the data does not fit what was declared, or the ledger cannot be used.
        BudgetError: the budget cannot pay for the mechanism, or the ledger not for the release.
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
        select=select,
        min_count=min_count,
        count_share=count_share,
        raw_counts=raw_counts,
        public_transactions=public_transactions,
    )
    if ledger is None:
        return mine_as_planned(transactions, plan, seed=seed)
    if seed is not None:
        refuse_seed()
    ledger.check(plan)
    release = mine_as_planned(transactions, plan, charge=partial(ledger.charge, plan))
    if release.id is not None:
        ledger.deliver(release.id)
    return release


def refuse_seed() -> NoReturn:
    """Say why seeded noise and a ledger exclude each other."""
    raise UsageError(
        "A seeded run is not private, and no ledger can answer for it.", "Leave out the seed, or the ledger."
    )


def mine_as_planned(
    transactions: Transactions | TransactionDatabase,
    plan: Plan,
    *,
    seed: int | None = None,
    command: str | None = None,
    charge: Callable[[], str] | None = None,
    progress: Progress = lambda _phase: None,
) -> Release:
    """What `mine` does, from a plan.

    Args:
        transactions: as read.
        plan: from `make_plan`.
        seed: as in `mine`.
        command: what was typed, for the record.
        charge: called once, after all that can fail without cost and before any noise is drawn; returns the id of the
            release in a ledger, or raises where that refuses. Whoever calls this tells the ledger of the delivery.
        progress: told the name of each phase as it begins.
    """
    if seed is not None and charge is not None:
        refuse_seed()
    randomness = SecureRandomness() if seed is None else SeededRandomness(seed)
    progress("bounding")
    bounded = bound(as_database(transactions), plan, randomness)
    if isinstance(plan.mechanism, ItemsFirst):
        name = charge() if charge else None
        itemsets, codes, found = _items_first(bounded, plan, plan.mechanism, randomness, progress)
    else:
        check_universe(bounded, plan)
        progress("counting")
        counts = count(bounded, plan.sizes, plan.mechanism)
        # Counts are hidden until the mechanism sees them, so whatever failed up to here has cost nothing.
        name = charge() if charge else None
        progress("selecting")
        itemsets, codes = _in_one_go(bounded, counts, plan, plan.mechanism, randomness)
        found = None
    if plan.counts is not None:
        progress("measuring counts")
        itemsets = with_counts(itemsets, codes, bounded, plan, randomness)
    return Release(
        itemsets=itemsets,
        mechanism=plan.mechanism_name,
        privacy=privacy_record(plan),
        plan=plan_record(plan),
        seeded=seed is not None,
        version=__version__,
        command=command,
        found=found,
        id=name,
    )


def _in_one_go(
    bounded: TransactionDatabase, counts: HiddenCounts, plan: Plan, mechanism: Mechanism, randomness: Randomness
) -> tuple[tuple[ReleasedItemset, ...], list[Codes]]:
    chosen = pass_through(bounded, counts, mechanism, plan, randomness)
    itemsets = tuple(
        ReleasedItemset(rank=rank, items=passed.items, lead=passed.lead) for rank, passed in enumerate(chosen, start=1)
    )
    return itemsets, [passed.codes for passed in chosen]


def _items_first(
    bounded: TransactionDatabase, plan: Plan, mechanism: ItemsFirst, randomness: Randomness, progress: Progress
) -> tuple[tuple[ReleasedItemset, ...], list[Codes], tuple[FoundItem, ...]]:
    outcome = items_first.run(bounded, mechanism, randomness, min_count=plan.min_count, progress=progress)
    names = bounded.vocabulary
    counts = [None] * len(outcome.itemsets) if outcome.counts is None else outcome.counts.tolist()
    itemsets = tuple(
        ReleasedItemset(
            rank=rank,
            items=tuple(names.gather(itemset).to_list()),
            count=None if estimate is None else max(0, round(estimate)),
        )
        for rank, (itemset, estimate) in enumerate(zip(outcome.itemsets, counts, strict=True), start=1)
    )
    found = tuple(
        FoundItem(item=name, count=round(units, 2))
        for name, units in zip(names.gather(outcome.found), outcome.found_counts.tolist(), strict=True)
    )
    return itemsets, [tuple(itemset) for itemset in outcome.itemsets.tolist()], found


def bound(database: TransactionDatabase, plan: Plan, randomness: Randomness) -> TransactionDatabase:
    """The transactions that are counted: of the declared items, per unit and per transaction no more than planned."""
    if plan.universe.names is not None:
        database = database.restrict_to(plan.universe.names)
    if plan.unit.column is not None:
        if not database.has_units:
            raise UsageError(
                "The privacy unit is a column, and the data was read without it.",
                "Name the column when reading: --unit-column, or unit_column=... in read_transactions.",
            )
        if plan.unit.max_transactions is None:
            database = database.merge_units()
        else:
            database = database.keep_transactions(plan.unit.max_transactions, randomness.words)
    if plan.max_items is not None:
        database = database.cap_items(plan.max_items, randomness.words)
    return database


def count(data: Transactions | TransactionDatabase, sizes: Sequence[int], mechanism: Mechanism) -> HiddenCounts:
    """As many of the largest counts, over all sizes together, as the mechanism looks at."""
    database, depth = as_database(data), mechanism.depth
    parts = [database.count_histogram(size) if depth is None else database.top_itemsets(size, depth) for size in sizes]
    return parts[0] if len(parts) == 1 else SeveralSizes(parts, depth)
