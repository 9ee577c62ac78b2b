"""Where `auto` is behind another mechanism that needs no public list, and beside PrivBasis, which does.

    python -m benchmarks.field [--delta 0] [--short] FOLDER FILE ...

Pairs, triples, and sizes 1 to 4 in one ranking; k = 10 to 200; epsilon 0.1 to 1; delta 1e-6, or 0. With `--short`
single items, triples, and sizes 1 to 3 in one ranking; k = 5 to 30. FOLDER keeps what is done, so an interrupted run
goes on where it stopped. Cells in which `auto` is behind by more than 0.03 are run again 40 times, because five runs
let some cells look lost by chance. The table lists those in which `auto` is behind by as much again, and by more than
two standard errors. A loss that five runs miss is not found. PrivBasis has a list of the items there, and `auto` has
none; the table says what `auto` does with that list. With delta 0 all have the list. The settings of look-first were
first chosen by such tables on five data sets (groceries, store-7501, bms-webview-2, online-retail-sales-baskets and the
one that ships). Since then nearly all of the public data sets that were tried have decided about one of them.
A quarter of an hour for five small files on two cores.
"""

from __future__ import annotations

import argparse
import sys
from dataclasses import fields, replace
from pathlib import Path

import polars as pl

from fim_private.comparison.exact_counts import count_all
from fim_private.comparison.run import run
from fim_private.comparison.settings import ALL_SIZES, Cell, Settings
from fim_private.comparison.store import Store, key_of
from fim_private.comparison.trials import run_cell
from fim_private.mechanisms.registry import AUTO
from fim_private.privacy import NeighbouringRelation
from fim_private.transactions.reading import read_transactions

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
PURE = replace(
    SETTINGS, delta="0", mechanisms=(AUTO, "items-first", "exponential", "permute-and-flip", "truncated-frequency")
)
"""Without a delta."""
SHORT = {"sizes": (1, 3), "all_sizes": (1, 2, 3), "tops": (5, 10, 20, 30)}
"""Short lists."""
AGAIN = {"trials": 40, "seed": 2013}
"""For the cells that look lost."""
BEHIND, ERRORS = 0.03, 2
CELL = [field.name for field in fields(Cell)]


def run_twice(path: Path, folder: Path, settings: Settings) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Every run on one file, and the further runs of the cells that look lost."""
    name = path.name.split(".")[0]
    counts = count_all(name, read_transactions(path), settings, lambda what: print(what, file=sys.stderr))
    fingerprint = {"file": path.name}
    table = run(settings, [counts], folder / name, fingerprint=fingerprint, processes=2)
    looking = behind(table, errors=0)[CELL]
    # `auto` runs with the list that its rival has, and without a list where delta allows that.
    ours = looking.with_columns(mechanism=pl.lit(AUTO))
    wanted = [looking, ours]
    if not settings.without_delta:
        wanted.append(ours.with_columns(universe_items=pl.lit(None, pl.Int64)))
    cells = [Cell(**row) for row in pl.concat(wanted).unique(maintain_order=True).to_dicts()]
    again = replace(settings, **AGAIN)
    store = Store(folder / name / "again", {**again.fingerprint(), **fingerprint})
    with store.locked():
        for cell in cells:
            if key_of(name, cell) not in store.finished:
                store.add(run_cell(cell, again, counts))
    return table, store.table([key_of(name, cell) for cell in cells])


def behind(table: pl.DataFrame, *, errors: int) -> pl.DataFrame:
    """The cells of rivals that are ahead of `auto` by more than `BEHIND` and by this many standard errors.

    `auto` has no list here, also where the rival has one, unless it ran with a list only. `of_listed` is its precision
    with that list, if it ran with both.
    """
    cell = ["data", "size", "top", "epsilon"]
    averages = (
        table.filter(~pl.col("padded"))
        .group_by("data", *CELL, maintain_order=True)
        .agg(pl.col("precision").mean(), variance=pl.col("precision").var() / pl.len())
    )
    ours = averages.filter(pl.col("mechanism") == AUTO)
    listed = pl.col("universe_items").is_not_null()
    without, with_list = ours.filter(~listed), ours.filter(listed)
    if without.is_empty():  # with delta 0 there is nothing else to compare with
        without, with_list = with_list, without
    open_ = without.select(*cell, of_auto="precision", variance_of_auto="variance")
    with_list = with_list.select(*cell, "universe_items", of_listed="precision")
    by, error = pl.col("precision") - pl.col("of_auto"), (pl.col("variance") + pl.col("variance_of_auto")).sqrt()
    rivals = averages.filter(pl.col("mechanism") != AUTO).join(open_, on=cell)
    ahead = rivals.filter((by > BEHIND) & (by > errors * error))
    return ahead.join(with_list, on=[*cell, "universe_items"], how="left", maintain_order="left")


def main() -> None:
    """Run what is missing, and print the cells that are lost."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--delta", choices=["0"])
    parser.add_argument("--short", action="store_true")
    parser.add_argument("folder", type=Path)
    parser.add_argument("files", type=Path, nargs="+")
    asked = parser.parse_args()
    settings = replace(PURE if asked.delta else SETTINGS, **(SHORT if asked.short else {}))
    sizes = f"{settings.all_sizes[0]}-{settings.all_sizes[-1]}"
    for file in asked.files:
        table, again = run_twice(file, asked.folder, settings)
        precision = table.filter((pl.col("mechanism") == AUTO) & ~pl.col("padded"))["precision"].mean()
        lost = behind(again, errors=ERRORS)
        print(f"{file.name}: {len(lost)} lost; mean precision of auto {precision:.3f}")
        for row in lost.iter_rows(named=True):
            size = sizes if row["size"] == ALL_SIZES else row["size"]
            listed = row["of_listed"]
            print(
                f"  size {size}  k {row['top']}  epsilon {row['epsilon']}: auto {row['of_auto']:.3f}, "
                f"{row['mechanism']} {row['precision']:.3f}"
                + ("" if listed is None else f" with a list (auto with that list {listed:.3f})"),
                flush=True,
            )


if __name__ == "__main__":
    main()
