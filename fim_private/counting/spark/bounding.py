"""Bound what a privacy unit adds if tasks may run twice: random words are a function of what they cut.

Spark computes a partition again if a machine is lost, if memory is short, or if two jobs need it. With fresh words each
time, two passes would cut a transaction differently, and their counts would not be of the same data. So the driver
draws one secret key for each bounding: 256 bits of the randomness that the noise comes from. The words of a transaction
are SHAKE256(key, its identity). A sponge with its key in front is a pseudorandom function (Bertoni, Daemen, Peeters,
Van Assche 2011; NIST SP 800-185). The words are the same wherever and however often they are computed, and the key is
forgotten with the run.

Privacy: what is left of a unit depends only on its own transactions and its own words. For distinct identities, these
words cannot be told from independent uniform ones. So, as in one process, for every key, two databases that differ in
one unit differ afterwards only in what is left of that unit. If two identities collide, they have the same words. Each
is still uniform, and the argument still holds, because it holds for every choice made unit by unit. The identity of a
transaction without a name contains the index of its task and its place. So adding or removing a unit changes the
identities of later transactions. Their new words are uniform too, as when the words of a stream shift in one process.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from hashlib import shake_256
from itertools import pairwise
from typing import Any

import numpy as np
import polars as pl
import pyarrow as pa
from numpy.typing import NDArray
from pyspark.sql import DataFrame, Window
from pyspark.sql.functions import col, row_number

from fim_private.counting.spark.blocks import SCHEMA, Block, identities_of, pack, unpack, whole
from fim_private.counting.spark.session import Cluster
from fim_private.transactions.bounding import Words
from fim_private.transactions.compressed_rows import compressed

_ROWS = "unit string, identity long, items binary"
"""One row per transaction."""


def secret_key(words: Words) -> bytes:
    """256 bits for one bounding."""
    return words(4).tobytes()


def words_of(key: bytes, identity: bytes, number: int) -> NDArray[np.uint64]:
    """The first `number` uniform words of one identity, uint64, shape (number,)."""
    return np.frombuffer(shake_256(key + identity).digest(8 * number), np.uint64)


def merge_units(cluster: Cluster, blocks: DataFrame) -> DataFrame:
    """Blocks of one transaction per unit, the union of its items. The unit gives its identity; `units` is then None."""
    rows = cluster.map(blocks, _unit_rows, "unit string, items binary")
    gathered = rows.repartition(cluster.partitions_for(blocks), "unit").groupBy("unit").agg({"items": "collect_list"})
    return cluster.map(gathered.toDF("unit", "items"), _merged, SCHEMA)


def count_units(cluster: Cluster, blocks: DataFrame) -> DataFrame:
    """Blocks that count units: the transactions of a unit are neighbours in one partition."""
    rows = cluster.map(blocks, _transaction_rows, _ROWS)
    together = rows.repartition(cluster.partitions_for(blocks), "unit").sortWithinPartitions("unit", "identity")
    return cluster.map(together, partial(_kept, counts_units=True), SCHEMA)


def keep_transactions(cluster: Cluster, blocks: DataFrame, most: int, key: bytes) -> DataFrame:
    """Blocks of at most `most` transactions per unit: those with the smallest words."""
    rows = cluster.map(blocks, partial(_transaction_rows, key=key), f"{_ROWS}, word long")
    drawn = rows.repartition(cluster.partitions_for(blocks), "unit")
    place = row_number().over(Window.partitionBy("unit").orderBy("word", "identity"))
    kept = drawn.withColumn("place", place).filter(col("place") <= most).select("unit", "identity", "items")
    return cluster.map(kept, _kept, SCHEMA)


def cap_items(cluster: Cluster, blocks: DataFrame, most: int, key: bytes, *, of_units: bool) -> DataFrame:
    """Blocks of transactions of at most `most` items, those with the smallest words; or of units, as if merged."""
    return cluster.map(blocks, partial(_capped_units if of_units else _capped, most=most, key=key), SCHEMA)


def _unit_rows(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """One row per unit and partition: the union there, so that little is left to shuffle."""
    block = whole(batches)
    if block.units is None:
        return
    offsets, items, _ = compressed(*_places(block, block.units))
    names = pa.array(block.units.unique().sort().to_list(), pa.string())
    yield pa.RecordBatch.from_pydict({"unit": names, "items": _slices(items, offsets)})


def _merged(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    for batch in batches:
        lists = batch.column("items").to_pylist()
        if not lists:
            continue
        lengths = [sum(len(part) for part in parts) // 4 for parts in lists]
        codes = np.frombuffer(b"".join(part for parts in lists for part in parts), np.int32)
        width = int(codes.max()) + 1
        offsets, items, _ = compressed(
            np.repeat(np.arange(len(lengths), dtype=np.int64), lengths) * width + codes, width
        )
        names = pl.Series(batch.column("unit").to_pylist(), dtype=pl.String)
        yield pack(Block(np.diff(offsets).astype(np.int32), items, identities_of(names), None))


def _transaction_rows(batches: Iterator[pa.RecordBatch], *, key: bytes | None = None) -> Iterator[pa.RecordBatch]:
    """One row per transaction. Its word is made from unit and transaction together, so units do not share words."""
    for block in unpack(batches):
        if block.units is None:
            continue
        rows = {
            "unit": pa.array(block.units.to_list(), pa.string()),
            "identity": pa.array(block.identities.view(np.int64)),
            "items": _slices(block.items, block.offsets()),
        }
        if key is not None:
            named = zip(block.identities, block.units, strict=True)
            words = [words_of(key, identity.tobytes() + unit.encode(), 1)[0] for identity, unit in named]
            rows["word"] = pa.array(np.array(words, np.uint64).view(np.int64))
        yield pa.RecordBatch.from_pydict(rows)


def _kept(batches: Iterator[pa.RecordBatch], *, counts_units: bool = False) -> Iterator[pa.RecordBatch]:
    for batch in batches:
        parts = batch.column("items").to_pylist()
        if parts:
            yield pack(
                Block(
                    lengths=np.array([len(part) // 4 for part in parts], np.int32),
                    items=np.frombuffer(b"".join(parts), np.int32),
                    identities=batch.column("identity").to_numpy().view(np.uint64),
                    units=pl.Series(batch.column("unit").to_pylist(), dtype=pl.String),
                    counts_units=counts_units,
                )
            )


def _capped(batches: Iterator[pa.RecordBatch], *, most: int, key: bytes) -> Iterator[pa.RecordBatch]:
    for block in unpack(batches):
        yield pack(block.where(_cut(block, most, key)))


def _cut(block: Block, most: int, key: bytes) -> NDArray[np.bool_]:
    """Which occurrences of items stay: of each transaction at most `most`."""
    kept = np.ones(len(block.items), bool)
    offsets = block.offsets()
    for place in np.flatnonzero(block.lengths > most).tolist():
        first, end = offsets[place], offsets[place + 1]
        words = words_of(key, block.identities[place].tobytes(), int(end - first))
        kept[first:end] = False
        kept[first + np.argsort(words, kind="stable")[:most]] = True
    return kept


def _capped_units(batches: Iterator[pa.RecordBatch], *, most: int, key: bytes) -> Iterator[pa.RecordBatch]:
    block = whole(batches)
    if block.units is None or not len(block.lengths):
        return
    names = block.units.unique().sort()
    places, width = _places(block, block.units)
    offsets, items, _ = compressed(places, width)
    merged = Block(np.diff(offsets).astype(np.int32), items, identities_of(names), None)
    kept = _cut(merged, most, key)
    of_units = np.repeat(np.arange(len(names), dtype=np.int64), merged.lengths) * width + items
    yield pack(block.where(kept[np.searchsorted(of_units, places)]))


def _places(block: Block, units: pl.Series) -> tuple[NDArray[np.int64], int]:
    """For each occurrence of an item the number of its unit, in the order of names, times a width, plus the code."""
    width = int(block.items.max(initial=0)) + 1
    owner = np.repeat(units.rank("dense").to_numpy().astype(np.int64) - 1, block.lengths)
    return owner * width + block.items, width


def _slices(items: NDArray[np.int32], offsets: NDArray[np.int64]) -> Any:
    """The items of each transaction as bytes."""
    data = items.tobytes()
    ends = (4 * offsets).tolist()
    return pa.array([data[first:end] for first, end in pairwise(ends)], pa.binary())
