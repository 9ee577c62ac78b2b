"""Run every step after the charge beforehand, on made-up baskets, so that no release is paid for and then lost.

Loops are compiled and modules loaded at first use. If that fails (memory, a full disk), it fails before anything is
charged, and for reasons that do not depend on the data.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from dataclasses import replace

import polars as pl

from fim_private.counting import LocalDatabase, TransactionDatabase
from fim_private.errors import FimPrivateError
from fim_private.mechanisms.protocol import Stepwise
from fim_private.mining import stepwise
from fim_private.mining.count_measurement import with_counts
from fim_private.mining.searches import count_all
from fim_private.plan import Plan
from fim_private.randomness import SeededRandomness
from fim_private.release import ReleasedItemset
from fim_private.transactions.dataset import MOST_NARROW, code_type
from fim_private.transactions.item_codes import transactions_from_lists


def rehearse(plan: Plan, *, many_items: bool = False) -> None:
    """Count, select and measure as the plan does, on made-up baskets, and throw the result away.

    `many_items` says whether the data has more than `MOST_NARROW` items, for which loops are compiled anew.
    """
    randomness = SeededRandomness(0)
    for made_up in _made_up(max(plan.sizes), many_items=many_items):
        database = made_up.count_units() if plan.question.counts_units else made_up.merge_units()
        # Made-up baskets may not fit what was declared for the true data.
        with suppress(FimPrivateError):
            count_all(database, plan, lambda _phase: None)
        for _, search in plan.selections:
            if isinstance(search, Stepwise):
                for almost_without_noise in search.loud(len(database.vocabulary)):
                    stepwise.run(database, almost_without_noise, randomness)
        if plan.counts is not None:
            # Count each size by itself too: itemsets of several sizes are counted in another way.
            sizes = [size for size in plan.question.remaining_sizes if size]
            for together in (*([size] for size in sizes), sizes[: plan.counts.top]):
                names = [tuple(database.vocabulary[:size]) for size in together]
                itemsets = [ReleasedItemset(rank=rank, items=items) for rank, items in enumerate(names, start=1)]
                with_counts(itemsets, [tuple(range(size)) for size in together], database, plan, randomness)


def _made_up(size: int, *, many_items: bool) -> Iterator[TransactionDatabase]:
    """A small database, and a database large enough for the compiled sort; units have up to two baskets."""
    items = [f"item {number}" for number in range(size + 4)]
    for times in (10, 1000):
        baskets = [items[at % 3 :] for at in range(3 * times)]
        made_up = transactions_from_lists(baskets, [2 * at // 3 for at in range(len(baskets))])
        if many_items:
            more = pl.Series([f"no item {number}" for number in range(MOST_NARROW)])
            vocabulary = pl.concat([made_up.vocabulary, more])
            made_up = replace(made_up, items=made_up.items.astype(code_type(len(vocabulary))), vocabulary=vocabulary)
        yield LocalDatabase(made_up)
