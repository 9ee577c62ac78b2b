"""Where `auto` is behind another mechanism that needs no public list, and beside PrivBasis, which does.

    python -m benchmarks.field FOLDER FILE ...

Pairs, triples, and sizes 1 to 4 in one ranking; k = 10 to 200; epsilon 0.1 to 1; delta 1e-6. FOLDER keeps what is done,
so an interrupted run goes on where it stopped. The table lists the cells in which `auto` is behind by more than 0.03
and by more than two standard errors. The settings of look-first were chosen by such tables on five data sets
(groceries, store-7501, bms-webview-2, online-retail-sales-baskets and the one that ships), and checked on five others.
An hour for five files on two cores.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Iterator
from pathlib import Path

import polars as pl

from fim_private.comparison.exact_counts import count_all
from fim_private.comparison.run import run
from fim_private.comparison.settings import ALL_SIZES, Settings
from fim_private.mechanisms.registry import AUTO
from fim_private.privacy import NeighbouringRelation
from fim_private.transactions import read_transactions

SETTINGS = Settings(
    sizes=(2, 3),
    all_sizes=(1, 2, 3, 4),
    tops=(10, 50, 100, 200),
    epsilons=("0.1", "0.25", "0.5", "1"),
    delta="1e-6",
    trials=5,
    mechanisms=(AUTO, "items-first", "certified-domain", "limited-domain", "lmm"),
    universe_items=None,
    max_items=10,
    relation=NeighbouringRelation.ADD_REMOVE,
    unit_column=None,
    seed=2012,
)
BEHIND, ERRORS = 0.03, 2


def table_of(path: Path, folder: Path) -> pl.DataFrame:
    """Every run on one file."""
    name = path.name.split(".")[0]
    counts = count_all(name, read_transactions(path), SETTINGS, lambda what: print(what, file=sys.stderr))
    return run(SETTINGS, [counts], folder / name, fingerprint={"file": path.name}, processes=2)


def lost(table: pl.DataFrame) -> Iterator[str]:
    """The cells in which `auto` is behind, a line for each rival that is ahead."""
    cell = ["data", "size", "top", "epsilon"]
    averages = (
        table.filter(~pl.col("padded"))
        .group_by(*cell, "mechanism", maintain_order=True)
        .agg(pl.col("precision").mean(), variance=pl.col("precision").var() / pl.len())
    )
    ours = averages.filter(pl.col("mechanism") == AUTO).drop("mechanism")
    rivals = averages.filter(pl.col("mechanism") != AUTO)
    for row in rivals.join(ours, on=cell, suffix="_of_auto").iter_rows(named=True):
        behind = row["precision"] - row["precision_of_auto"]
        if behind > max(BEHIND, ERRORS * math.sqrt(row["variance"] + row["variance_of_auto"])):
            size = "1-4" if row["size"] == ALL_SIZES else row["size"]
            yield (
                f"{row['data']}  size {size}  k {row['top']}  epsilon {row['epsilon']}: "
                f"auto {row['precision_of_auto']:.2f}, {row['mechanism']} {row['precision']:.2f}"
            )


def main() -> None:
    """Run what is missing, and print the cells that are lost."""
    folder, *files = map(Path, sys.argv[1:])
    for file in files:
        table = table_of(file, folder)
        precision = table.filter((pl.col("mechanism") == AUTO) & ~pl.col("padded"))["precision"].mean()
        lines = list(lost(table))
        print(f"{file.name}: {len(lines)} lost; mean precision of auto {precision:.3f}", *lines, sep="\n  ", flush=True)


if __name__ == "__main__":
    main()
