"""The trials of one cell. Each selects itemsets, looks up their exact counts, and measures the list."""

from __future__ import annotations

import hashlib
import time
from collections.abc import Callable
from dataclasses import asdict, replace
from typing import Any

import polars as pl

from fim_private.comparison.exact_counts import ExactCounts
from fim_private.comparison.measures import Truth
from fim_private.comparison.settings import Cell, Settings
from fim_private.counting import LocalDatabase
from fim_private.mechanisms.protocol import Mechanism, Stepwise
from fim_private.mechanisms.registry import find
from fim_private.mining import stepwise
from fim_private.randomness import Randomness, SeededRandomness
from fim_private.transactions.dataset import Transactions

Row = dict[str, Any]


def run_cell(cell: Cell, settings: Settings, counts: ExactCounts, *, trials: int | None = None) -> list[Row]:
    """One row per trial: what was run, how good the list was, and how long the selection took."""
    plan = cell.plan(settings)
    truth = Truth.of(counts.in_universe(cell.size, None), cell.top)
    select = _selection(plan.search, cell, counts)
    rows = []
    for trial in range(settings.trials if trials is None else trials):
        randomness = SeededRandomness(seed_of(settings.seed, counts.name, cell, trial))
        begun = time.perf_counter()
        named, released = select(trial, randomness)
        seconds = time.perf_counter() - begun
        rows.append(
            {
                "data": counts.name,
                **asdict(cell),
                "ran": plan.mechanism_name,
                "trial": trial,
                **asdict(truth.measure(named, released)),
                "seconds": seconds,
            }
        )
    return rows


def _selection(
    mechanism: Mechanism | Stepwise, cell: Cell, counts: ExactCounts
) -> Callable[[int, Randomness], tuple[list[int | None], list[float] | None]]:
    """What one trial does: the true count of each named itemset, None if not among the most frequent; released counts.

    The counts are None where the mechanism does not give any.
    """
    if isinstance(mechanism, Stepwise):
        database = _with_names(counts.baskets, mechanism.public_names or 0)
        first = stepwise.count_first(database, mechanism)
        frequent = counts.most_frequent[cell.size]

        def run_steps(_trial: int, randomness: Randomness) -> tuple[list[int | None], list[float] | None]:
            outcome = stepwise.run(database, mechanism, randomness, counts=first)
            released = None if outcome.counts is None else outcome.counts.tolist()
            return [frequent.get(itemset) for itemset in outcome.codes], released

        return run_steps
    if find(cell.mechanism).needs_cap:
        capped = counts.capped[cell.size]

        def select_capped(trial: int, randomness: Randomness) -> tuple[list[int | None], None]:
            cap = capped[trial % len(capped)]
            return [cap.true_count(rank) for rank in mechanism.select(cap.capped_profile, randomness)], None

        return select_capped
    profile = counts.in_universe(cell.size, cell.universe_items)

    def select(_trial: int, randomness: Randomness) -> tuple[list[int | None], None]:
        return [profile.count(rank + 1) for rank in mechanism.select(profile, randomness)], None

    return select


def _with_names(baskets: Transactions, names: int) -> LocalDatabase:
    """The baskets with made-up names of items that nobody has, so that the vocabulary has at least this many names."""
    more = pl.int_range(max(0, names - len(baskets.vocabulary)), eager=True).cast(pl.String)
    return LocalDatabase(replace(baskets, vocabulary=pl.concat([baskets.vocabulary, "no item " + more])))


def seed_of(seed: int, data: str, cell: Cell, trial: int) -> int:
    """The seed of one trial. It depends on what is run, not on the order of the runs."""
    words = repr((seed, data, *asdict(cell).values(), trial))
    return int.from_bytes(hashlib.sha256(words.encode()).digest()[:16])
