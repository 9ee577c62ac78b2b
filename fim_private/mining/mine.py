"""Release the top itemsets of a data set privately: restrict, bound and count, then ask the door."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import NoReturn, Unpack

from fim_private.counting import HiddenCounts, TransactionDatabase, as_database
from fim_private.errors import FimPrivateError, UsageError, check_kinds
from fim_private.ledger import Ledger
from fim_private.mining.count_measurement import with_counts
from fim_private.mining.rehearsal import rehearse
from fim_private.mining.searches import Progress, count_all, select_all
from fim_private.plan import Plan, QuestionArguments, make_plan, spelled_out
from fim_private.plan.record import plan_record
from fim_private.privacy import Together
from fim_private.randomness import Randomness, SecureRandomness, SeededRandomness
from fim_private.release import Release, ReleasedItemset
from fim_private.release.admission import check_unit
from fim_private.release.terms import privacy_record
from fim_private.transactions.dataset import MOST_NARROW, Transactions
from fim_private.transactions.layout import Layout
from fim_private.transactions.restriction import without_items
from fim_private.version import __version__


@spelled_out
def mine(
    transactions: Transactions | TransactionDatabase,
    *,
    size: int | Sequence[int],
    seed: int | None = None,
    ledger: Ledger | None = None,
    **asked: Unpack[QuestionArguments],
) -> Release:
    """The `top` most frequent itemsets of one size, or of several, (epsilon, delta)-differentially private.

    Args:
        transactions: from `read_transactions`, or a database of another engine.
        size: items per itemset, at least 1; several numbers for the top of all these sizes together.
        seed: makes the noise repeatable, so the release is not private. For tests and teaching.
        ledger: charged before any noise is drawn; refuses a release that does not fit. Not with a seed.
        asked: the other arguments of `fim_private.plan.Question`. `budget=` and `unit=` are required, and `top=` or
            `min_count=`.

    Raises:
        UsageError: a number is out of range, or options contradict each other.
        InputError: the data does not fit what was declared, or the ledger cannot be used.
        BudgetError: the budget cannot pay for the mechanism, or the ledger cannot pay for the release.

    Warns:
        RuntimeWarning: the ledger could not note the delivery; its history shows the release as charged.
    """
    plan = make_plan(size=size, **asked)
    if ledger is None:
        return mine_as_planned(transactions, plan, seed=seed)
    check_kinds(ledger=(ledger, Ledger))
    if seed is not None:
        refuse_seed()
    ledger.check(plan)
    release = mine_as_planned(transactions, plan, charge=lambda layout: ledger.charge(plan, layout=layout))
    if release.id is not None:
        try:
            ledger.deliver(release.id)
        except FimPrivateError as error:
            # The release is paid for, so it must reach the caller even if warnings are turned into errors.
            with suppress(RuntimeWarning):
                warnings.warn(str(error), RuntimeWarning, stacklevel=2)
    return release


def refuse_seed() -> NoReturn:
    """Raise the error for a seed together with a ledger."""
    raise UsageError(
        "A seeded run is not private, so it cannot be charged to a ledger.", "Leave out the seed, or the ledger."
    )


def mine_as_planned(
    transactions: Transactions | TransactionDatabase,
    plan: Plan,
    *,
    seed: int | None = None,
    command: str | None = None,
    charge: Callable[[Layout], str] | None = None,
    guessed: Sequence[str] = (),
    progress: Progress = lambda _phase: None,
) -> Release:
    """Do what `mine` does, from a plan.

    Args:
        transactions: as read.
        plan: from `make_plan`.
        seed: as in `mine`.
        command: what was typed, for the record.
        charge: called once with the layout of the data, after all steps that can fail without cost and before any noise
            is drawn. It returns the id of the release in a ledger, or raises if the ledger refuses. The caller of
            `mine_as_planned` tells the ledger of the delivery.
        guessed: in a replay, the parts of the layout that the earlier release guessed.
        progress: called with the name of each phase as it begins.
    """
    if seed is not None and charge is not None:
        refuse_seed()
    randomness = SecureRandomness() if seed is None else SeededRandomness(seed)
    database = as_database(transactions)
    check_unit(database, plan)
    layout = database.notes.layout.guessed_before(guessed)
    counted = prepare(database, plan, randomness, progress)
    if charge is not None:
        rehearse(plan, many_items=len(database.vocabulary) > MOST_NARROW)
    # Counts are hidden until the mechanism sees them, so a failure up to here costs nothing.
    name = charge(layout) if charge else None
    return draw(counted, plan, randomness, layout=layout, command=command, name=name, progress=progress)


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class Counted:
    """The data of one run, ready for its mechanism: bounded transactions, and their counts from `count_all`."""

    bounded: TransactionDatabase
    counts: Sequence[HiddenCounts | None]


def prepare(
    database: TransactionDatabase, plan: Plan, randomness: Randomness, progress: Progress = lambda _phase: None
) -> Counted:
    """Bound and count: everything that can fail without cost.

    Raises:
        UsageError: the data was read without the unit column.
        InputError: the data does not fit what was declared, or there is too much to count.
    """
    progress("bounding")
    bounded = bound(database, plan, randomness)
    return Counted(bounded=bounded, counts=count_all(bounded, plan, progress))


def draw(
    counted: Counted,
    plan: Plan,
    randomness: Randomness,
    *,
    layout: Layout,
    command: str | None = None,
    name: str | None = None,
    progress: Progress = lambda _phase: None,
) -> Release:
    """Draw all noise, and make the release from data prepared by the same plan.

    Args:
        counted: from `prepare`.
        plan: the plan.
        randomness: the source of random bits.
        layout: how the data was read.
        command: what was typed, for the record.
        name: the id of the release in a ledger.
        progress: called with the name of each phase as it begins.
    """
    chosen = select_all(counted.bounded, plan, counted.counts, randomness, progress)
    itemsets = chosen.itemsets
    subsets: tuple[ReleasedItemset, ...] = ()
    if plan.counts is not None:
        progress("measuring counts")
        itemsets, subsets = with_counts(itemsets, chosen.codes, counted.bounded, plan, randomness)
    return Release(
        itemsets=itemsets,
        mechanism=plan.mechanism_name,
        privacy=privacy_record(plan, layout),
        plan=plan_record(plan),
        seeded=randomness.seed is not None,
        version=__version__,
        command=command,
        found=chosen.found,
        subsets=subsets,
        id=name,
    )


def bound(database: TransactionDatabase, plan: Plan, randomness: Randomness) -> TransactionDatabase:
    """The transactions to count: declared items only, and at most as much per unit and per transaction as planned.

    With constraints, only transactions that hold all required items stay, without these items and the excluded ones.
    This comes after merging the transactions of a unit, but before choosing among them, so that the choice is among
    those that matter. Where units are counted by basket, it is done to each basket. `constraints.py` shows why one unit
    still changes counts by no more than without constraints.
    """
    if plan.universe.names is not None:
        database = database.restrict_to(plan.universe.names)
    if plan.constraints.exclude:
        database = database.keep_items(without_items(database.vocabulary, plan.constraints.exclude))
    if plan.question.together is Together.BASKET:
        database = database.count_units()
    elif plan.question.together is Together.UNIT:
        database = database.merge_units()
    if plan.constraints.must_contain:
        database = database.containing(plan.constraints.must_contain)
    if plan.unit.max_transactions is not None:
        database = database.keep_transactions(plan.unit.max_transactions, randomness.words)
    if plan.max_items is not None:
        database = database.cap_items(plan.max_items, randomness.words)
    return database
