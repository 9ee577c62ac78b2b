"""How many itemsets have each count over all partitions. Spark sums the counts and keeps the sums."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from math import comb
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray
from pyspark.sql import DataFrame
from pyspark.sql.functions import sum as total

from fim_private.counting.local.queries import count_itemsets
from fim_private.counting.local.work import MOST_STEPS, too_much_work
from fim_private.counting.runs import RunCounts, Runs
from fim_private.counting.spark.blocks import partition_number, whole
from fim_private.counting.spark.rows import from_rows, members, schema, to_rows
from fim_private.counting.spark.session import Batches, Cluster

TALLY_SCHEMA = "partition int, level long, number long"


class SparkHistogram(RunCounts):
    """The counts of all occurring itemsets of one size, and the itemsets of given ranks on request.

    Ranks are in decreasing order of count. Spark assigns itemsets to partitions by a hash of their codes; itemsets of
    equal count are in the order of these partitions, and in each by code. That order is fixed, but differs from that of
    `ItemsetCounts`; for a uniform choice among them this makes no difference. `repr` shows no data.
    """

    def __init__(self, cluster: Cluster, blocks: DataFrame, *, size: int, width: int) -> None:
        """Count itemsets of `size` of `width` items; this shuffles one row per itemset and partition."""
        listed = cluster.map(blocks, partial(_all_itemsets, size=size, width=width), schema(size))
        self._cluster = cluster
        self._size = size
        self._sums = listed.groupBy(*members(size)).agg(total("count").alias("count")).persist()
        tallies = cluster.collect(cluster.map(self._sums, _tally, TALLY_SCHEMA))
        chunk, level, share = (tallies.column(name).to_numpy() for name in ("partition", "level", "number"))
        super().__init__(Runs.ranked(level, chunk, share))

    @property
    def size(self) -> int:
        """The number of items of each itemset."""
        return self._size

    def itemsets_at(self, ranks: Sequence[int]) -> NDArray[np.int32]:
        """The itemsets of these ranks, int32, shape (len(ranks), size), codes increasing; for the door only.

        Cost: one pass over the sums. Only the requested itemsets come to the driver.
        """
        if not len(ranks):
            return np.empty((0, self._size), np.int32)
        runs, within = self._runs.locate(ranks)
        places = np.stack([self._runs.sources[runs], self._runs.levels[runs], within], axis=1).tolist()
        asked: dict[int, dict[int, list[int]]] = {}
        for chunk, level, place in places:
            asked.setdefault(chunk, {}).setdefault(level, []).append(place)
        found = self._cluster.collect(
            self._cluster.map(
                self._sums, partial(_members, size=self._size, asked=asked), schema(self._size, "partition", "place")
            )
        )
        itemsets, counts = from_rows(found, self._size)
        keys = zip(
            found.column("partition").to_pylist(), counts.tolist(), found.column("place").to_pylist(), strict=True
        )
        by_place = dict(zip(keys, itemsets, strict=True))
        return np.stack([by_place[tuple(place)] for place in places])


def _all_itemsets(batches: Batches, *, size: int, width: int) -> Iterator[pa.RecordBatch]:
    transactions, codes = whole(batches).compact(width)
    lengths, numbers = np.unique(transactions.lengths(), return_counts=True)
    occurrences = sum(
        comb(length, size) * number for length, number in zip(lengths.tolist(), numbers.tolist(), strict=True)
    )
    if occurrences > MOST_STEPS:
        raise too_much_work(size)
    if len(transactions):
        itemsets, counts = count_itemsets(transactions, size, threads=1).reveal_to_curator()
        yield from to_rows(codes[itemsets], counts)


def _tally(batches: Batches) -> Iterator[pa.RecordBatch]:
    counts = np.concatenate([np.zeros(0, np.int64), *(batch.column("count").to_numpy() for batch in batches)])
    levels, numbers = np.unique(counts, return_counts=True)
    if len(levels):
        yield pa.RecordBatch.from_arrays(
            [
                pa.array(np.full(len(levels), partition_number(), np.int32)),
                pa.array(levels),
                pa.array(numbers.astype(np.int64)),
            ],
            names=["partition", "level", "number"],
        )


def _members(batches: Batches, *, size: int, asked: dict[int, dict[int, list[int]]]) -> Iterator[pa.RecordBatch]:
    """The itemsets at these places of these levels of this partition."""
    levels = asked.get(partition_number(), {})
    parts: dict[int, list[Any]] = {level: [] for level in levels}
    for batch in batches:
        if levels:
            itemsets, counts = from_rows(pa.Table.from_batches([batch]), size)
            for level, found in parts.items():
                found.append(itemsets[counts == level])
    for level, found in parts.items():
        itemsets = np.concatenate(found)
        itemsets = itemsets[np.lexsort(itemsets.T[::-1])]
        for place in sorted(set(levels[level])):
            yield from to_rows(
                itemsets[place : place + 1], np.array([level], np.int64), partition=partition_number(), place=place
            )
