"""A database of transactions on the executors of a Spark cluster."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray
from pyspark.sql import DataFrame

from fim_private.counting.hidden_counts import Hidden, HiddenCounts, ItemsetCounts
from fim_private.counting.local.basis_bins import BasisBins, count_bins, number_of_bins, refusal_of_units
from fim_private.counting.local.chosen_counts import ChosenCounts
from fim_private.counting.local.queries import at_least_one, lengths_in_bins
from fim_private.counting.spark import bounding
from fim_private.counting.spark.blocks import SCHEMA, Block, pack, unpack
from fim_private.counting.spark.histogram import SparkHistogram
from fim_private.counting.spark.session import Batches, Cluster
from fim_private.counting.spark.sums import sum_over_partitions
from fim_private.counting.spark.top import Shape, count_in_partitions, count_items, shape_of, top_of_partitions
from fim_private.errors import UsageError
from fim_private.transactions.bounding import Words
from fim_private.transactions.dataset import ReadingNotes, Transactions
from fim_private.transactions.restriction import places_among, restrict_to, without_items
from fim_private.transactions.strings import positions_in


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class SparkDatabase(Hidden):
    """A `TransactionDatabase` of blocks. Its `repr` shows no data.

    It counts what the local engine counts; itemsets of equal count may be in another order. Its random choices have the
    same law but use other words (`bounding`). So a seeded run that has to bound anything differs.

    Args:
        cluster: Spark.
        blocks: a frame of `blocks.SCHEMA`: the transactions, the same each time they are computed.
        vocabulary: the item names, in name order.
        has_units: whether the blocks name units.
        notes: what the reader noticed.
        counts_units: whether the blocks count units.
    """

    cluster: Cluster
    blocks: DataFrame
    vocabulary: pl.Series
    has_units: bool
    notes: ReadingNotes
    counts_units: bool = False

    def restrict_to(self, names: Sequence[str]) -> SparkDatabase:
        nothing = Transactions(offsets=np.zeros(1, np.int64), items=np.zeros(0, np.int32), vocabulary=self.vocabulary)
        vocabulary = restrict_to(nothing, names).vocabulary
        return self._recoded(positions_in(vocabulary, self.vocabulary).astype(np.int32), vocabulary)

    def keep_items(self, codes: NDArray[np.int32]) -> SparkDatabase:
        return self._recoded(places_among(codes, len(self.vocabulary)), self.vocabulary[codes])

    def containing(self, names: Sequence[str]) -> SparkDatabase:
        others = without_items(self.vocabulary, names)
        sent = self.cluster.broadcast(places_among(others, len(self.vocabulary)))
        blocks = self.cluster.map(self.blocks, partial(_contain, sent=sent, number=len(names)), SCHEMA)
        return replace(self, blocks=blocks, vocabulary=self.vocabulary[others])

    def merge_units(self) -> SparkDatabase:
        """See `transactions.merge_units`. It shuffles one row per unit and partition."""
        if not self.has_units:
            return self
        blocks = bounding.merge_units(self.cluster, self.blocks).persist()
        return replace(self, blocks=blocks, has_units=False, counts_units=False)

    def count_units(self) -> SparkDatabase:
        """See `transactions.count_units`. It shuffles one row per transaction."""
        if not self.has_units or self.counts_units:
            return self
        return replace(self, blocks=bounding.count_units(self.cluster, self.blocks).persist(), counts_units=True)

    def keep_transactions(self, most: int, words: Words) -> SparkDatabase:
        """See `transactions.keep_transactions`. It draws a key of four words, and shuffles one row per transaction."""
        at_least_one(most=most)
        if not self.has_units:
            return self
        blocks = bounding.keep_transactions(self.cluster, self.blocks, most, bounding.secret_key(words)).persist()
        return replace(self, blocks=blocks, counts_units=False)

    def cap_items(self, most: int, words: Words) -> SparkDatabase:
        """See `transactions.cap_items`. It draws a key of four words if anything is too long."""
        at_least_one(most=most)
        if self._shape.longest <= most:
            return self
        key = bounding.secret_key(words)
        blocks = bounding.cap_items(self.cluster, self.blocks, most, key, of_units=self.counts_units)
        return replace(self, blocks=blocks)

    def top_itemsets(self, size: int, m: int, *, ties: bool = True) -> HiddenCounts:
        """See `counting.top_itemsets`; module `top` explains how."""
        at_least_one(size=size, m=m)
        counts = self._item_counts
        if size == 1:
            order = np.argsort(-counts, kind="stable")[: np.count_nonzero(counts)]
            first = order[:m].astype(np.int32)
            return ItemsetCounts(itemsets=first[:, np.newaxis], counts=counts[first], complete=len(order) <= m)
        return top_of_partitions(
            self.cluster,
            self.blocks,
            item_counts=counts,
            transactions=self._shape.transactions,
            size=size,
            m=m,
            ties=ties,
        )

    def count_histogram(self, size: int) -> HiddenCounts:
        """See `counting.count_histogram`. It shuffles one row per itemset and partition."""
        at_least_one(size=size)
        return SparkHistogram(self.cluster, self.blocks, size=size, width=len(self.vocabulary))

    def count_chosen(self, itemsets: NDArray[np.int32], weights: NDArray[np.int64] | None = None) -> ChosenCounts:
        return count_in_partitions(self.cluster, self.blocks, itemsets, width=len(self.vocabulary), weights=weights)

    def count_bins(self, bases: NDArray[np.int32]) -> BasisBins:
        if self.counts_units:
            raise refusal_of_units()
        sent, width = self.cluster.broadcast(bases), len(self.vocabulary)
        length = int(number_of_bins(bases).sum())
        totals = sum_over_partitions(self.cluster, self.blocks, length, partial(_bins, sent=sent, width=width))
        return BasisBins(bases=bases, totals=totals)

    def weigh_itemsets(self, sizes: Sequence[int], weights: NDArray[np.int64]) -> HiddenCounts:
        """Refuse with a UsageError: the itemsets that occur would all have to enter this process."""
        del sizes, weights
        raise UsageError(
            "Spark cannot weigh all itemsets that occur.", "Take another mechanism, or read the data without Spark."
        )

    def count_lengths(self, bins: NDArray[np.int64]) -> NDArray[np.int64]:
        return sum_over_partitions(self.cluster, self.blocks, len(bins), partial(_lengths, bins=bins))

    def occurs(self, itemset: Sequence[int]) -> bool:
        if max(itemset) >= len(self.vocabulary):
            return False
        codes = np.array([sorted(itemset)], np.int32)
        return bool(self.count_chosen(codes).vector()[0])

    @cached_property
    def _shape(self) -> Shape:
        return shape_of(self.cluster, self.blocks)

    @cached_property
    def _item_counts(self) -> NDArray[np.int64]:
        return count_items(self.cluster, self.blocks, len(self.vocabulary))

    def _recoded(self, new_code: NDArray[np.int32], vocabulary: pl.Series) -> SparkDatabase:
        sent = self.cluster.broadcast(new_code)
        blocks = self.cluster.map(self.blocks, partial(_recode, sent=sent), SCHEMA)
        return replace(self, blocks=blocks, vocabulary=vocabulary)


def _recode(batches: Batches, sent: Any) -> Batches:
    for block in unpack(batches):
        recoded = block.recoded(sent.value)
        if len(recoded.lengths):
            yield pack(recoded)


def _contain(batches: Batches, sent: Any, number: int) -> Batches:
    for block in unpack(batches):
        wanted = (sent.value < 0)[block.items]
        held = np.add.reduceat(wanted, block.offsets()[:-1], dtype=np.int32) if len(block.lengths) else block.lengths
        left = block.where(~wanted & np.repeat(held == number, block.lengths), sent.value)
        if len(left.lengths):
            yield pack(left)


def _bins(block: Block, sent: Any, width: int) -> NDArray[np.int64]:
    return count_bins(block.for_counting().as_transactions(width), sent.value).vector()


def _lengths(block: Block, bins: NDArray[np.int64]) -> NDArray[np.int64]:
    return lengths_in_bins(block.lengths, bins)
