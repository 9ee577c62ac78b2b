"""What it costs to count units that hold an itemset in one of several transactions, beside counting transactions.

    python -m benchmarks.units [--baskets N]

The baskets are made up. A customer has four on average, and half of the items bought are among the customer's twenty
favourites, so the same pairs come again. Printed are the best times of five, in milliseconds, and their ratio. Merged
units are another question and stand there for comparison.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace

import numpy as np
import polars as pl

from fim_private.counting import count_chosen, count_histogram, top_itemsets
from fim_private.transactions import Transactions, count_units, merge_units

ITEMS, LENGTH, BASKETS_EACH, FAVOURITES = 5_000, 10, 4, 20
REPEATS, TOP, CHOSEN = 5, 1_000, 2_000

Job = Callable[[Transactions], object]


def made_up(baskets: int, *, items: int = ITEMS, seed: int = 0) -> Transactions:
    """Baskets with the customers they belong to.

    Args:
        baskets: how many there are.
        items: the number of different items; how often they are bought follows Zipf's law.
        seed: decides all of it.
    """
    generator = np.random.default_rng(seed)  # noqa: TID251 - made-up data, no noise
    owners = np.sort(generator.integers(0, max(1, baskets // BASKETS_EACH), baskets))
    _, units = np.unique(owners, return_inverse=True)
    lengths = 1 + generator.poisson(LENGTH - 1, baskets)
    weights = 1 / np.arange(1, items + 1) ** 0.9
    weights /= weights.sum()
    favourites = generator.choice(items, (units.max() + 1, FAVOURITES), p=weights)
    total = int(lengths.sum())
    usual = favourites[np.repeat(units, lengths), generator.integers(0, FAVOURITES, total)]
    bought = np.where(generator.random(total) < 0.5, usual, generator.choice(items, total, p=weights))
    basket, item = np.divmod(np.unique(np.repeat(np.arange(baskets), lengths) * items + bought), items)
    return Transactions(
        offsets=np.append(0, np.cumsum(np.bincount(basket, minlength=baskets))),
        items=item.astype(np.int32),
        vocabulary=pl.Series([f"i{number:05d}" for number in range(items)]),
        units=units.astype(np.int64),
    )


def jobs(transactions: Transactions) -> Iterator[tuple[str, Job]]:
    """What is timed, by name."""
    for size in (1, 2, 3):
        yield f"top {TOP:,}, size {size}", lambda data, size=size: top_itemsets(data, size, TOP)
        yield f"histogram, size {size}", lambda data, size=size: count_histogram(data, size)
        chosen = top_itemsets(transactions, size, CHOSEN).reveal_to_curator()[0]
        yield f"{len(chosen):,} given, size {size}", lambda data, chosen=chosen: count_chosen(data, chosen)


def milliseconds(job: Job, data: Sequence[Transactions]) -> list[float]:
    """The best time with each of the data, after a run that compiles. They take turns, so that all share the noise."""
    best = [float("inf")] * len(data)
    for each in data:
        job(each)
    for _ in range(REPEATS):
        for number, each in enumerate(data):
            began = time.perf_counter()
            job(each)
            best[number] = min(best[number], 1000 * (time.perf_counter() - began))
    return best


def table(owned: Transactions) -> str:
    """The times as a table in Markdown."""
    data = replace(owned, units=None), count_units(owned), merge_units(owned)
    lines = ["| | transactions | units by basket | ratio | units merged |", "|---|--:|--:|--:|--:|"]
    for name, job in jobs(data[0]):
        single, together, merged = milliseconds(job, data)
        lines.append(f"| {name} | {single:,.1f} | {together:,.1f} | {together / single:.2f} | {merged:,.1f} |")
    return "\n".join(lines)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--baskets", type=int, default=2_000_000)
    print(table(made_up(parser.parse_args().baskets)))
