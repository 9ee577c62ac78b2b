"""One cell's trials: select, look the ranks up in the exact counts, measure."""

from __future__ import annotations

import hashlib
import time
from dataclasses import asdict
from typing import Any

from fim_private.comparison.exact_counts import ExactCounts
from fim_private.comparison.measures import Truth
from fim_private.comparison.settings import Cell, Settings
from fim_private.mechanisms.registry import REGISTRY
from fim_private.profile import CountProfile
from fim_private.randomness import SeededRandomness

Row = dict[str, Any]


def run_cell(cell: Cell, settings: Settings, counts: ExactCounts) -> list[Row]:
    """One row a trial: what was run, what came of it, and how long the selection took.

    Args:
        cell: what to run.
        settings: of the comparison.
        counts: of the data set.
    """
    mechanism = cell.plan(settings).mechanism
    truth = Truth.of(counts.in_universe(cell.size, None), cell.top)
    capped = counts.capped[cell.size] if REGISTRY[cell.mechanism].needs_cap else ()
    rows = []
    for trial in range(settings.trials):
        cap = capped[trial % len(capped)] if capped else None
        profile = cap.capped_profile if cap else counts.in_universe(cell.size, cell.universe_items)
        seed = seed_of(settings.seed, counts.name, cell, trial)
        begun = time.perf_counter()
        ranks = mechanism.select(profile, SeededRandomness(seed))
        seconds = time.perf_counter() - begun
        named = [cap.true_count(rank) for rank in ranks] if cap else [_count(profile, rank) for rank in ranks]
        rows.append(
            {
                "data": counts.name,
                **asdict(cell),
                "trial": trial,
                **asdict(truth.measure(named)),
                "seconds": seconds,
            }
        )
    return rows


def _count(profile: CountProfile, rank: int) -> int:
    return profile.count(rank + 1) if rank < profile.occurring else 0


def seed_of(seed: int, data: str, cell: Cell, trial: int) -> int:
    """The seed of one trial: it depends on what is run, not on the order in which it is."""
    words = repr((seed, data, *asdict(cell).values(), trial))
    return int.from_bytes(hashlib.sha256(words.encode()).digest()[:16])
