"""Find exactly the first m itemsets of all partitions together, from lists of the most frequent in each.

Three rounds, after Partition (Savasere, Omiecinski, Navathe 1995) and the three-phase threshold algorithm TPUT (Cao,
Wang 2004):

1. Every partition lists its own first m. The sums of what is listed bound counts from below, so the m-th largest of
   them, tau, is at most the m-th largest count. (If fewer than m are listed in all, no partition has m itemsets, so
   each lists all it has, and the sums are the counts.)
2. No wanted itemset contains an item with a count below tau, so these items are dropped. Of the rest, partition p with
   n_p of the n transactions lists the itemsets that it counts at least f_p = max(1, ceil(tau n_p / n)) times.

   *No itemset of count tau or more is missed.* If no partition listed it, it counts at most ceil(tau n_p / n) - 1 <
   tau n_p / n in every partition that holds a transaction, and nothing elsewhere; the sum over p is below tau. This
   holds for any shares n_p that add up to n. So it holds if units are counted: each unit is in one partition.

   The sum of an itemset over the partitions that list it is again a lower bound, low. Each other partition adds at most
   f_p - 1, so low + sum of (f_p - 1) over those others is an upper bound. Let tau' be the larger of tau and the m-th
   largest low. An itemset whose upper bound is below tau' is not among the first m; the rest are candidates.
3. Candidates that some partition did not list but may hold are counted in all partitions.

The order of codes, which is the same everywhere, breaks ties; a candidate of count tau' is always kept. Transactions
may be spread in any way: partitions may be empty, or one may hold nearly all.

Cost: rounds 2 and 3 shuffle as many rows as partitions list. That is little while tau n_p / n is well above 1, so
partitions should be large: a partition of fewer than n / tau transactions lists all it holds of the remaining items.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray
from pyspark.sql import DataFrame
from pyspark.sql.functions import col, desc
from pyspark.sql.functions import sum as total

from fim_private.counting.hidden_counts import ItemsetCounts
from fim_private.counting.local.chosen_counts import ChosenCounts, count_chosen
from fim_private.counting.local.queries import count_itemsets, top_itemsets
from fim_private.counting.spark.blocks import Block, whole
from fim_private.counting.spark.rows import from_rows, in_order, members, schema, to_rows
from fim_private.counting.spark.session import Batches, Cluster
from fim_private.counting.spark.sums import sum_over_partitions
from fim_private.errors import InputError
from fim_private.transactions.bounding import merge_units
from fim_private.transactions.dataset import Transactions
from fim_private.transactions.restriction import places_among

MOST_CANDIDATES = 2 * 10**7
"""The most candidates that the driver holds. More mean that partitions are too small for the floor."""


class Shape(NamedTuple):
    """How transactions are spread.

    Args:
        transactions: int64, the number of transactions of each partition that holds any.
        longest: the number of items of the longest transaction, or of the largest unit if units are counted.
    """

    transactions: NDArray[np.int64]
    longest: int


def shape_of(cluster: Cluster, blocks: DataFrame) -> Shape:
    """The shape of the data, in one pass over all partitions."""
    found = cluster.collect(cluster.map(blocks, _shape, "transactions long, longest int"))
    return Shape(found.column("transactions").to_numpy(), int(max(found.column("longest").to_pylist(), default=0)))


def top_of_partitions(
    cluster: Cluster,
    blocks: DataFrame,
    *,
    item_counts: NDArray[np.int64],
    transactions: NDArray[np.int64],
    size: int,
    m: int,
    ties: bool,
) -> ItemsetCounts:
    """The first m itemsets in order of (count descending, codes ascending), or all if fewer occur.

    Args:
        cluster: Spark.
        blocks: the data.
        item_counts: int64, the count of every item of the vocabulary.
        transactions: int64, the number of transactions of each partition that holds any.
        size: items per itemset, at least 2.
        m: the number of itemsets, at least 1.
        ties: whether it matters which of the itemsets as frequent as the m-th are held. The sums of any m itemsets of
            each partition bound counts from below, so partitions need not break their ties if it does not.
    """
    width = len(item_counts)
    listed = cluster.map(blocks, partial(_own_top, width=width, size=size, m=m, ties=ties), schema(size))
    itemsets, counts = _first(cluster, _summed(listed, size), size, m)
    if len(counts) < m or len(transactions) == 1:
        return ItemsetCounts(itemsets=itemsets, counts=counts, complete=len(counts) < m)

    tau, n = int(counts[-1]), int(transactions.sum())
    slack = sum(_floor(tau, of, n) - 1 for of in transactions.tolist())
    frequent = cluster.broadcast(np.flatnonzero(item_counts >= tau).astype(np.int32))
    above = cluster.map(
        blocks, partial(_above_share, frequent=frequent, width=width, size=size, tau=tau, n=n), schema(size, "below")
    )
    sums = _summed(above, size, "below").withColumn("upper", col("count") + slack - col("below")).persist()
    try:
        # The m-th largest lower bound, which may have risen.
        tau = max(tau, int(_first(cluster, sums, size, m)[1][-1]))
        candidates = sums.filter(col("upper") >= tau).select(*members(size), "count", "upper")
        if cluster.collect(candidates.groupBy().count()).column(0)[0].as_py() > MOST_CANDIDATES:
            raise InputError(
                "The partitions are too small to tell the most frequent itemsets from the others.",
                "Spread the data over fewer partitions, bound the work with --max-items, or ask for fewer itemsets.",
            )
        table = cluster.collect(candidates)
    finally:
        sums.unpersist()
    itemsets, counts = from_rows(table, size)
    open_ = counts < table.column("upper").to_numpy()
    counts[open_] = count_in_partitions(cluster, blocks, itemsets[open_], width=width).vector()
    itemsets, counts = in_order(itemsets, counts)
    return ItemsetCounts(itemsets=itemsets[:m].copy(), counts=counts[:m].copy(), complete=False)


def count_in_partitions(
    cluster: Cluster,
    blocks: DataFrame,
    itemsets: NDArray[np.int32],
    *,
    width: int,
    weights: NDArray[np.int64] | None = None,
) -> ChosenCounts:
    """The counts of `count_chosen`, summed over the partitions."""
    number, bins = len(itemsets), 1 if weights is None else len(weights)
    sums = np.zeros(bins, np.int64)
    if number:
        sent = cluster.broadcast((itemsets, weights))
        sums = sum_over_partitions(cluster, blocks, number + bins, partial(_chosen, sent=sent, width=width))
    return ChosenCounts(itemsets=itemsets, totals=sums[:number], holders=sums[number:])


def count_items(cluster: Cluster, blocks: DataFrame, width: int) -> NDArray[np.int64]:
    """The number of transactions, or units, that hold each item of the vocabulary, int64, shape (width,)."""
    return sum_over_partitions(cluster, blocks, width, partial(_item_counts, width=width))


def _summed(rows: DataFrame, size: int, *more: str) -> DataFrame:
    return rows.groupBy(*members(size)).agg(*(total(name).alias(name) for name in ("count", *more)))


def _first(cluster: Cluster, sums: DataFrame, size: int, m: int) -> tuple[NDArray[np.int32], NDArray[np.int64]]:
    """The first m rows in order."""
    first = sums.orderBy(desc("count"), *members(size)).limit(m).select(*members(size), "count")
    return in_order(*from_rows(cluster.collect(first), size))


def _floor(tau: int, transactions: int, n: int) -> int:
    return max(1, -(-tau * transactions // n))


def _shape(batches: Batches) -> Iterator[pa.RecordBatch]:
    block = whole(batches)
    if len(block.lengths):
        longest = pa.array([int(_counted_once(block).lengths().max())], pa.int32())
        yield pa.RecordBatch.from_arrays(
            [pa.array([len(block.lengths)], pa.int64()), longest], names=["transactions", "longest"]
        )


def _own_top(batches: Batches, *, width: int, size: int, m: int, ties: bool) -> Iterator[pa.RecordBatch]:
    transactions, codes = whole(batches).compact(width)
    if len(transactions):
        itemsets, counts = top_itemsets(transactions, size, m, ties=ties, threads=1).reveal_to_curator()
        yield from to_rows(codes[itemsets], counts)


def _above_share(
    batches: Batches, *, frequent: Any, width: int, size: int, tau: int, n: int
) -> Iterator[pa.RecordBatch]:
    block = whole(batches)
    if not len(block.lengths):
        return
    # The share counts all transactions, also those without a frequent item.
    floor = _floor(tau, len(block.lengths), n)
    codes = frequent.value
    transactions = block.for_counting().recoded(places_among(codes, width)).as_transactions(len(codes))
    if len(transactions):
        itemsets, counts = count_itemsets(transactions, size, floor, threads=1).reveal_to_curator()
        yield from to_rows(codes[itemsets], counts, below=floor - 1)


def _chosen(block: Block, *, sent: Any, width: int) -> NDArray[np.int64]:
    itemsets, weights = sent.value
    transactions = block.for_counting().as_transactions(width)
    chosen = count_chosen(transactions, itemsets, weights)
    return np.concatenate([chosen.vector(), chosen.holders()])


def _item_counts(block: Block, *, width: int) -> NDArray[np.int64]:
    return np.bincount(_counted_once(block).items, minlength=width).astype(np.int64)


def _counted_once(block: Block) -> Transactions:
    """The transactions, or the merged transactions of each unit if units are counted: single items count the same."""
    return merge_units(block.for_counting().as_transactions(int(block.items.max(initial=0)) + 1))
