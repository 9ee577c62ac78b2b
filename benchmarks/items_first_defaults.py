"""How the defaults of items-first were chosen: precision at k over data sets, budgets, sizes and k, share by share.

    python benchmarks/items_first_defaults.py FOLDER reports/items-first-defaults.parquet

FOLDER holds the public data sets (datasets/catalogue.toml says where they come from); those that are not there are left
out. One row a setting: data, size, top, epsilon, select, items_share, pairs_share, trials, precision (mean). Runs are
seeded. Some 20 minutes on two cores.
"""

from __future__ import annotations

import sys
from concurrent.futures import ProcessPoolExecutor
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from fim_private.counting import top_itemsets
from fim_private.mechanisms.items_first import COUNTS, PEEL, Tuning, calibrate
from fim_private.mechanisms.protocol import Request
from fim_private.mining.items_first import run
from fim_private.randomness import SeededRandomness
from fim_private.transactions import read_transactions

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
TRIALS = 3
ITEMS_SHARES = (0.15, 0.25, 0.35, 0.5)
PAIRS_SHARES = (0.3, 0.45, 0.6)
"""Of what the items leave."""


def measure(path: Path) -> list[dict[str, Any]]:
    """All rows of one data set."""
    transactions = read_transactions(path)
    rows = []
    for size in (1, 2, 3):
        itemsets, counts = top_itemsets(transactions, size, 2000).reveal_to_curator()
        for top in (10, 50, 200):
            least = counts[min(top, len(counts)) - 1]
            truth = set(map(tuple, itemsets[counts >= least].tolist()))
            for epsilon in ("0.1", "0.5", "1", "2"):
                for select in (PEEL, COUNTS):
                    for items_share in ITEMS_SHARES:
                        for pairs_share in PAIRS_SHARES if select == COUNTS and size > 1 else (0.0,):
                            tuning = Tuning(items_share=items_share, pairs_share=pairs_share * (1 - items_share))
                            request = Request(top=top, epsilon=Fraction(epsilon), delta=DELTA, size=size, select=select)
                            mechanism = calibrate(request, tuning).mechanism
                            hits = [
                                min(top, sum(tuple(found) in truth for found in outcome.itemsets.tolist()))
                                for outcome in (
                                    run(transactions, mechanism, SeededRandomness(trial)) for trial in range(TRIALS)
                                )
                            ]
                            rows.append(
                                {
                                    "data": path.name.split(".")[0],
                                    "size": size,
                                    "top": top,
                                    "epsilon": epsilon,
                                    "select": select,
                                    "items_share": items_share,
                                    "pairs_share": pairs_share,
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
