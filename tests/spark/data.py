"""Transactions in partitions as a test wants them, and back."""

from __future__ import annotations

from functools import partial
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from fim_private.counting.spark.blocks import SCHEMA, Block, identities_of, pack, unpack
from fim_private.counting.spark.database import SparkDatabase
from fim_private.counting.spark.session import Batches, Cluster
from fim_private.transactions.dataset import Transactions

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

Row = tuple[str | None, frozenset[str]]


def spread(session: SparkSession, transactions: Transactions, cuts: list[int], *, fails: bool = False) -> SparkDatabase:
    """A database with the transactions up to each cut in a partition; the last takes the rest."""
    units = transactions.units
    blocks = []
    for first, end in zip([0, *cuts], [*cuts, len(transactions)], strict=True):
        offsets = transactions.offsets[first : end + 1]
        names = pl.Series([str(number) for number in range(first, end)], dtype=pl.String)
        blocks.append(
            Block(
                lengths=np.diff(offsets).astype(np.int32),
                items=transactions.items[offsets[0] : offsets[-1]].astype(np.int32),
                identities=identities_of(names),
                units=None if units is None else pl.Series([f"u{unit}" for unit in units[first:end]], dtype=pl.String),
            )
        )
    cluster = Cluster(session)
    frame = cluster.map(session.range(0, len(blocks), 1, len(blocks)), partial(_given, blocks=blocks), SCHEMA)
    if fails:
        frame = cluster.map(frame, _fail_once, SCHEMA)
    return SparkDatabase(
        cluster=cluster,
        blocks=frame,
        vocabulary=transactions.vocabulary,
        has_units=units is not None,
        notes=transactions.notes,
    )


def _given(batches: Batches, blocks: list[Block]) -> Batches:
    for batch in batches:
        for number in batch.column(0).to_pylist():
            if len(blocks[number].lengths):
                yield pack(blocks[number])


def _fail_once(batches: Batches) -> Batches:
    """Half way through its first attempt the first task fails, after it has given something out."""
    from pyspark import TaskContext

    context = TaskContext.get()
    for batch in batches:
        yield batch
        if context.partitionId() == context.attemptNumber() == 0:
            raise ValueError("SECRET-ITEM")


def rows_of(database: SparkDatabase) -> list[Row]:
    """Units and items of all transactions, in some order that depends on these alone."""
    names = database.vocabulary.to_list()
    rows: list[Row] = []
    for block in unpack(iter(database.cluster.collect(database.blocks).to_batches())):
        offsets = block.offsets().tolist()
        units = [None] * len(block.lengths) if block.units is None else block.units.to_list()
        for unit, first, end in zip(units, offsets[:-1], offsets[1:], strict=True):
            codes = block.items[first:end].tolist()
            assert codes == sorted(set(codes))
            rows.append((unit, frozenset(names[code] for code in codes)))
    return sorted(rows, key=lambda row: (row[0] or "", sorted(row[1])))


def local_rows(transactions: Transactions) -> list[frozenset[str]]:
    names = transactions.vocabulary.to_list()
    offsets = transactions.offsets.tolist()
    rows = [
        frozenset(names[code] for code in transactions.items[first:end].tolist()) for first, end in pairwise(offsets)
    ]
    return sorted(rows, key=sorted)
