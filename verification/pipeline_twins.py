"""Broken pipelines: honest mechanisms, put together with a mistake that no law of a mechanism shows.

Each is made of the package's own public steps. Its plan claims what the honest pipeline would keep.
"""

from __future__ import annotations

import statistics
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from fim_private.constraints import NOTHING, Constraints
from fim_private.counting import LocalDatabase, largest_counts
from fim_private.mechanisms.items_first import ItemsFirst
from fim_private.mining.mine import mine_as_planned
from fim_private.plan import Plan, Universe
from fim_private.privacy import PrivacyUnit
from fim_private.randomness import SecureRandomness, SeededRandomness
from fim_private.release import FoundItem, Release, ReleasedItemset
from fim_private.release.door import pass_through
from fim_private.transactions.dataset import Transactions
from fim_private.transactions.item_codes import transactions_from_lists
from verification.pipeline import (
    NAMES,
    UNIT_COLUMN,
    Case,
    Pipeline,
    Progress,
    baskets_of,
    of_counts,
    parameters,
    planned,
    sample,
)
from verification.sampling import Sampled

SEED = 1
_A_AND_B = Universe(names=("a", "b"))


@dataclass(frozen=True, kw_only=True)
class PipelineTwin:
    """A mistake, the neighbours that show it, and the pipeline that makes it."""

    mistake: str
    case: Case
    pipeline: Pipeline


def twins() -> tuple[PipelineTwin, ...]:
    """All of them."""
    return (
        _counted_before_bounded("merged", PrivacyUnit(column=UNIT_COLUMN), 6),
        _counted_before_bounded("capped", PrivacyUnit(column=UNIT_COLUMN, max_transactions=2), 8),
        _cap_from_the_data(),
        _universe_from_the_data(),
        _constraint_ignored(),
        _default_seed(),
        _noise_used_again(),
        _order_of_the_file(),
    )


def audit_twins(progress: Progress, *, runs: int) -> tuple[Sampled, ...]:
    """Each twin sampled as the honest pipelines are; `holds` should be False of all.

    Args:
        progress: told the name of each as it begins.
        runs: of either side of each.
    """
    results = []
    for twin in twins():
        progress(twin.case.name)
        results.append(sample(twin.case, runs, mistake=twin.mistake, pipeline=twin.pipeline))
    return tuple(results)


def _first_is(name: str) -> Callable[[Release], bool]:
    return lambda release: bool(release.itemsets) and release.itemsets[0].items == (name,)


def _release(plan: Plan, transactions: Transactions, **changes: Any) -> Release:
    """What is released as planned, but for another question to the data than the plan's mechanism is for."""
    return mine_as_planned(transactions, replace(plan, question=replace(plan.question, **changes)))


def _counted_before_bounded(how: str, unit: PrivacyUnit, baskets: int) -> PipelineTwin:
    plan = planned("limited-domain", unit=unit)
    lead = 6 * unit.sensitivity

    def pipeline(transactions: Transactions) -> Release:
        randomness = SecureRandomness()
        database = LocalDatabase(transactions)
        counts = largest_counts(database, plan.sizes, plan.mechanism.depth)  # type: ignore[union-attr]
        passed = pass_through(database, counts, plan.mechanism, plan, randomness)  # type: ignore[arg-type]
        chosen = tuple(ReleasedItemset(rank=rank, items=one.items) for rank, one in enumerate(passed, start=1))
        return replace(_EMPTY, itemsets=chosen)

    # Every basket of the unit is counted, which is what the event is chosen for.
    case = replace(
        of_counts(plan, (lead,), (lead + baskets,)), name=f"counted before units are {how}", more=[["a"]] * baskets
    )
    return PipelineTwin(
        mistake=f"baskets are counted, and a unit has {baskets}, where the plan counts on {unit.sensitivity}",
        case=case,
        pipeline=pipeline,
    )


def _cap_from_the_data() -> PipelineTwin:
    plan = planned("exponential", universe=Universe(names=("a", "b", "x")))

    def pipeline(transactions: Transactions) -> Release:
        median = int(statistics.median_low(transactions.lengths().tolist()))
        return _release(plan, transactions, max_items=median)

    return PipelineTwin(
        mistake="max_items is the median length of the baskets, so one basket changes what is kept of all",
        case=Case(
            name="cap on items taken from the data",
            plan=plan,
            units=[[["x"]]] * 50 + [[["a", "b"]]] * 50,
            more=[["a", "b"]],
            seen=lambda release: not _first_is("x")(release),
        ),
        pipeline=pipeline,
    )


def _constraint_ignored() -> PipelineTwin:
    constraints = Constraints(must_contain=["m"])
    plan = planned("limited-domain", size=2, constraints=constraints)

    def pipeline(transactions: Transactions) -> Release:
        occurs = transactions.vocabulary.is_in(list(constraints.must_contain)).any()
        return _release(plan, transactions, constraints=constraints if occurs else NOTHING)

    return PipelineTwin(
        mistake="where no basket holds the item that itemsets must contain, all itemsets are searched instead of none",
        case=Case(
            name="constraint ignored where its item does not occur",
            plan=plan,
            units=[[["a", "b"]]] * 60,
            more=[["a", "m"]],
            seen=lambda release: not release.itemsets,
        ),
        pipeline=pipeline,
    )


def _universe_from_the_data() -> PipelineTwin:
    plan = planned("exponential", delta="0", universe=_A_AND_B)

    def pipeline(transactions: Transactions) -> Release:
        occurring = Universe(names=tuple(transactions.vocabulary.to_list()))
        return _release(plan, transactions, universe=occurring)

    return PipelineTwin(
        mistake="the list of items is made from the file that is mined",
        case=Case(name="universe taken from the data", plan=plan, units=[[["a"]]], more=[["b"]], seen=_first_is("b")),
        pipeline=pipeline,
    )


def _default_seed() -> PipelineTwin:
    plan = planned("exponential", delta="0", universe=_A_AND_B)

    def names_b(less: int) -> bool:
        baskets = [basket for [basket] in baskets_of((20, less))]
        return _first_is("b")(mine_as_planned(transactions_from_lists(baskets), plan, seed=SEED))

    # With the noise known, the answer turns from a to b at one count: there the two neighbours are told for certain.
    turn = next(less for less in range(60) if names_b(less))
    return PipelineTwin(
        mistake="the noise is the same in each release, and whoever has the program has it",
        case=Case(
            name="one seed for every release",
            plan=plan,
            units=baskets_of((20, turn - 1)),
            more=[["b"]],
            seen=_first_is("b"),
        ),
        pipeline=lambda transactions: mine_as_planned(transactions, plan, seed=SEED),
    )


def _noise_used_again() -> PipelineTwin:
    plan = planned("items-first", top=8, select="counts")
    # The itemsets get less noise in truth. With as much as the items have, the mistake alone is what shows.
    items = itemsets = parameters(plan, ItemsFirst).items.measurement

    def pipeline(transactions: Transactions) -> Release:
        baskets = np.split(transactions.items, transactions.offsets[1:-1])
        seed = SecureRandomness().bits(128)
        # Items are weighted by all that a basket holds, itemsets by the four that are asked for.
        of_items, of_itemsets = np.zeros(4, np.int64), np.zeros(4, np.int64)
        for basket in baskets:
            asked = basket[basket < 4]
            of_items[asked] += items.weights[len(basket)]
            of_itemsets[asked] += itemsets.weights[len(asked)]
        first = items.add_noise(of_items, SeededRandomness(seed))
        second = itemsets.add_noise(of_itemsets, SeededRandomness(seed))
        return replace(
            _EMPTY,
            itemsets=tuple(
                ReleasedItemset(rank=place + 1, items=(NAMES[place],), count=int(value))
                for place, value in enumerate(second.tolist())
            ),
            found=tuple(FoundItem(item=NAMES[place], count=float(value)) for place, value in enumerate(first.tolist())),
        )

    return PipelineTwin(
        mistake="the noise of the items' counts is added to the itemsets' counts as well: their difference is exact",
        case=Case(
            name="noise used again",
            plan=plan,
            units=[[NAMES[:4]]] * 40,
            more=[NAMES[:8]],
            seen=lambda release: release.itemsets[0].count != (release.found or ())[0].count,
        ),
        pipeline=pipeline,
    )


def _order_of_the_file() -> PipelineTwin:
    plan = planned("exponential", delta="0", top=2, universe=_A_AND_B)

    def pipeline(transactions: Transactions) -> Release:
        release = _release(plan, transactions)
        first = list(dict.fromkeys(transactions.vocabulary.gather(transactions.items).to_list()))
        return replace(release, itemsets=tuple(sorted(release.itemsets, key=lambda one: first.index(one.items[0]))))

    return PipelineTwin(
        mistake="the picks are listed as their items are met in the file, and the first line is somebody's",
        case=Case(
            name="listed in the order of the file",
            plan=plan,
            units=[[["a"]], [["b"]]] * 10,
            more=[["b"]],
            seen=_first_is("b"),
        ),
        pipeline=pipeline,
    )


_EMPTY = Release(itemsets=(), mechanism="broken", privacy={}, plan={}, seeded=False, version="")
