"""Precision at k of items-first over data sets, budgets, sizes and k, with the defaults and with other shares.

    python benchmarks/items_first_defaults.py FOLDER TABLE.parquet

FOLDER holds the public data sets (datasets/catalogue.toml says where they come from); those that are not there are left
out. One row per setting: data, size, top, epsilon, select, items_share (null: the defaults), pairs_share, trials,
precision (mean). Runs are seeded. Some ten minutes on two cores.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from dataclasses import replace
from fractions import Fraction
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from fim_private.counting import as_database, top_itemsets
from fim_private.mechanisms.items_first import calibrate
from fim_private.mechanisms.items_first_tuning import FOUND, Tuning
from fim_private.mechanisms.protocol import COUNTS, PEEL, Request
from fim_private.mining.items_first_steps import run
from fim_private.randomness import SeededRandomness
from fim_private.transactions.reading import read_transactions

DATA = (
    "retail.dat.gz",
    "online-retail-sales-baskets.csv.gz",
    "T10I4D100K.dat.gz",
    "bms-webview-2.dat.gz",
    "kosarak-head.dat.gz",
    "mushroom.dat.gz",
    "groceries.csv.gz",
    "store-7501.csv.gz",
    "foodmart.dat.gz",
)
DELTA = Fraction(1, 10**6)
TRIALS = 4
SHARES = (
    *(replace(FOUND, items_share=share) for share in (0.08, 0.15, 0.25, 0.35, 0.5)),
    *(replace(FOUND, items_share=0.25, pairs_share=share) for share in (0.3, 0.8)),
)


def settings() -> Iterator[tuple[int, int, str, str, Tuning]]:
    """Size, k, epsilon, way to select, tuning: the defaults everywhere, other shares for some."""
    for size, select in product((1, 2, 3), (PEEL, COUNTS)):
        for top, epsilon in product((1, 5, 20, 50, 200), ("0.1", "0.5", "1", "2")):
            yield size, top, epsilon, select, FOUND
        for top, epsilon, tuning in product((50,), ("0.1", "0.5", "2"), SHARES):
            if size > 1 and (select == COUNTS or tuning.pairs_share == FOUND.pairs_share):
                yield size, top, epsilon, select, tuning


def measure(path: Path) -> list[dict[str, Any]]:
    """All rows of one data set."""
    transactions = read_transactions(path)
    database = as_database(transactions)
    most_frequent = {size: top_itemsets(transactions, size, 2000).reveal_to_curator() for size in (1, 2, 3)}
    rows = []
    for size, top, epsilon, select, tuning in settings():
        itemsets, counts = most_frequent[size]
        truth = set(map(tuple, itemsets[counts >= counts[min(top, len(counts)) - 1]].tolist()))
        request = Request(top=top, epsilon=Fraction(epsilon), delta=DELTA, sizes=(size,), select=select)
        mechanism = calibrate(request, tuning).mechanism
        outcomes = (run(database, mechanism, SeededRandomness(trial)) for trial in range(TRIALS))
        hits = [min(top, sum(tuple(found) in truth for found in outcome.itemsets.tolist())) for outcome in outcomes]
        rows.append(
            {
                "data": path.name.split(".")[0],
                "size": size,
                "top": top,
                "epsilon": epsilon,
                "select": select,
                "items_share": None if tuning == FOUND else tuning.items_share,
                "pairs_share": tuning.pairs_share,
                "trials": TRIALS,
                "precision": float(np.mean(hits)) / top,
            }
        )
    return rows


def main() -> None:
    """Run them all and write the table."""
    folder, output = Path(sys.argv[1]), Path(sys.argv[2])
    paths = [folder / name for name in DATA if (folder / name).exists()]
    with ProcessPoolExecutor(2) as pool:
        rows = [row for part in pool.map(measure, paths) for row in part]
    pl.DataFrame(rows).write_parquet(output)


if __name__ == "__main__":
    main()
