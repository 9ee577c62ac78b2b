"""Counting beside its peers, on the same data in the same process: all pairs, and the first 1,000 triples.

    python benchmarks/counting.py [FILE]

FILE is a basket file, by default the data that ships. Every figure is the median of five runs after one that is not
counted; a ratio above 1 says how many times faster this project was than the peer in that run.
"""

from __future__ import annotations

import statistics
import sys
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
import polars as pl
from scipy.sparse import csr_matrix

from fim_private.counting import count_histogram, count_itemsets, top_itemsets
from fim_private.transactions import Transactions, read_transactions

SHIPPED = Path(__file__).parent.parent / "datasets" / "online-retail-customers.csv.gz"
RUNS = 5


def timed(work: Callable[[], object]) -> float:
    work()
    seconds = []
    for _ in range(RUNS):
        began = time.perf_counter()
        work()
        seconds.append(time.perf_counter() - began)
    return statistics.median(seconds)


def pairs_by_scipy(transactions: Transactions) -> int:
    shape = len(transactions), len(transactions.vocabulary)
    ones = np.ones(len(transactions.items), np.int32)
    matrix = csr_matrix((ones, transactions.items, transactions.offsets), shape=shape)
    together = (matrix.T @ matrix).tocoo()
    return int(np.count_nonzero(together.row < together.col))


def pairs_by_polars(transactions: Transactions) -> int:
    owner = np.repeat(np.arange(len(transactions), dtype=np.int32), transactions.lengths())
    frame = pl.LazyFrame({"transaction": owner, "item": transactions.items})
    pairs = (
        frame.join(frame, on="transaction", suffix="_2")
        .filter(pl.col("item") < pl.col("item_2"))
        .group_by("item", "item_2")
        .agg(pl.len())
    )
    return pairs.collect(engine="streaming").height


def main() -> None:
    path = Path(sys.argv[1]) if len(sys.argv) > 1 else SHIPPED
    transactions = read_transactions(path)
    everything = len(count_itemsets(transactions, 2))
    print(f"{path.name}: {len(transactions):,} transactions, {everything:,} occurring pairs\n")
    ours = timed(lambda: count_itemsets(transactions, 2))
    print(f"{'all pairs, sorted':42} {ours:8.3f} s")
    print(f"{'histogram of all pairs':42} {timed(lambda: count_histogram(transactions, 2)):8.3f} s")
    for name, peer in (("scipy X'X", pairs_by_scipy), ("polars self-join", pairs_by_polars)):
        if peer(transactions) != everything:
            sys.exit(f"{name} counts other pairs")
        seconds = timed(lambda peer=peer: peer(transactions))
        print(f"{f'all pairs, unsorted, {name}':42} {seconds:8.3f} s   ratio {seconds / ours:5.1f}")
    print(f"{'first 10,241 pairs':42} {timed(lambda: top_itemsets(transactions, 2, 10_241)):8.3f} s")
    print(f"{'first 1,000 triples':42} {timed(lambda: top_itemsets(transactions, 3, 1000)):8.3f} s")


if __name__ == "__main__":
    main()
