"""Blocks: some thousand transactions in one row of a Spark frame, as flat arrays of bytes.

With one row per transaction, every pass would cost Spark about a microsecond each way, several times what counting
costs. Spark passes the bytes of a block on as they are.
"""

from __future__ import annotations

from collections.abc import Iterator
from hashlib import blake2b
from typing import NamedTuple

import numpy as np
import polars as pl
import pyarrow as pa
from numpy.typing import NDArray
from pyspark import TaskContext

from fim_private.transactions.bounding import count_units
from fim_private.transactions.compressed_rows import without_gaps
from fim_private.transactions.dataset import Transactions

SCHEMA = "lengths binary, items binary, identities binary, units array<string>, counts_units boolean"


class Block(NamedTuple):
    """Transactions on an executor.

    Args:
        lengths: int32, shape (n,): how many items each transaction has, at least one.
        items: int32: the codes of one transaction after the other, increasing in each.
        identities: uint64, shape (n,): identifies a transaction, and is the same each time it is computed; its random
            words are made from it (`bounding`).
        units: the name of the privacy unit of each transaction, strings; None without units.
        counts_units: whether an itemset counts once per unit. All transactions of a unit are then neighbours in one
            partition.
    """

    lengths: NDArray[np.int32]
    items: NDArray[np.int32]
    identities: NDArray[np.uint64]
    units: pl.Series | None
    counts_units: bool = False

    def offsets(self) -> NDArray[np.int64]:
        """The offsets of `Transactions`, int64, shape (n + 1,)."""
        return np.append(0, np.cumsum(self.lengths, dtype=np.int64))

    def where(self, kept: NDArray[np.bool_], new_code: NDArray[np.int32] | None = None) -> Block:
        """The block with only some item occurrences; transactions left empty are dropped.

        Args:
            kept: bool, which occurrences to keep, of the shape of `items`.
            new_code: int32, the new code of each code, increasing over those kept; None keeps the codes.
        """
        lengths = np.add.reduceat(kept, self.offsets()[:-1], dtype=np.int32) if len(self.lengths) else self.lengths
        left = lengths > 0
        items = self.items[kept]
        return Block(
            lengths=lengths[left],
            items=items if new_code is None else new_code[items],
            identities=self.identities[left],
            units=None if self.units is None else self.units.filter(pl.Series(left)),
            counts_units=self.counts_units,
        )

    def recoded(self, new_code: NDArray[np.int32]) -> Block:
        """The block in new codes, without the items whose new code is -1."""
        return self.where((new_code >= 0)[self.items], new_code)

    def as_transactions(self, width: int) -> Transactions:
        """The block as `Transactions`, with units as codes and `width` empty names, which nobody reads.

        If units are counted, this has to be a whole partition.
        """
        units = None if self.units is None else without_gaps(self.units.rank("dense").to_numpy().astype(np.int64))
        vocabulary = pl.repeat("", width, dtype=pl.String, eager=True)
        transactions = Transactions(offsets=self.offsets(), items=self.items, vocabulary=vocabulary, units=units)
        return count_units(transactions) if self.counts_units else transactions

    def for_counting(self) -> Block:
        """The block without its units, unless they are counted."""
        return self if self.counts_units else self._replace(units=None)

    def compact(self, width: int) -> tuple[Transactions, NDArray[np.int32]]:
        """The block as `Transactions` over only the items that occur in it, and the old code of each of these items."""
        occurs = np.zeros(width, bool)
        occurs[self.items] = True
        codes = np.flatnonzero(occurs).astype(np.int32)
        new_code = (np.cumsum(occurs) - 1).astype(np.int32)
        return self.for_counting()._replace(items=new_code[self.items]).as_transactions(len(codes)), codes


def pack(block: Block) -> pa.RecordBatch:
    """The block as one row of `SCHEMA`."""
    units = None if block.units is None else block.units.to_list()
    return pa.RecordBatch.from_arrays(
        [
            pa.array([block.lengths.tobytes()], pa.binary()),
            pa.array([block.items.tobytes()], pa.binary()),
            pa.array([block.identities.tobytes()], pa.binary()),
            pa.array([units], pa.list_(pa.string())),
            pa.array([block.counts_units], pa.bool_()),
        ],
        names=["lengths", "items", "identities", "units", "counts_units"],
    )


def unpack(batches: Iterator[pa.RecordBatch]) -> Iterator[Block]:
    """The blocks of a partition."""
    for batch in batches:
        columns = (batch.column(name) for name in batch.schema.names)
        for lengths, items, identities, units, counts_units in zip(*columns, strict=True):
            yield Block(
                lengths=np.frombuffer(lengths.as_buffer(), np.int32),
                items=np.frombuffer(items.as_buffer(), np.int32),
                identities=np.frombuffer(identities.as_buffer(), np.uint64),
                units=pl.Series(units.as_py(), dtype=pl.String) if units.is_valid else None,
                counts_units=counts_units.as_py(),
            )


def whole(batches: Iterator[pa.RecordBatch]) -> Block:
    """A whole partition as one block, without transactions if the partition is empty."""
    blocks = list(unpack(batches))
    units = [block.units for block in blocks if block.units is not None]
    return Block(
        lengths=np.concatenate([np.zeros(0, np.int32), *(block.lengths for block in blocks)]),
        items=np.concatenate([np.zeros(0, np.int32), *(block.items for block in blocks)]),
        identities=np.concatenate([np.zeros(0, np.uint64), *(block.identities for block in blocks)]),
        units=pl.concat(units) if units else None,
        counts_units=any(block.counts_units for block in blocks),
    )


def identities_of(names: pl.Series) -> NDArray[np.uint64]:
    """64 bits for each name, uint64. Two names share theirs with probability 2^-64, which does no harm (`bounding`)."""
    digests = b"".join(blake2b(name.encode(), digest_size=8).digest() for name in names)
    return np.frombuffer(digests, np.uint64)


def identities_in_order(first: int, number: int) -> NDArray[np.uint64]:
    """64 bits for each of `number` transactions of this partition, made from their place in a file.

    A partition of a file holds the same lines in the same order each time it is read.
    """
    return np.arange(first, first + number, dtype=np.uint64) + np.uint64(partition_number() << 40)


def partition_number() -> int:
    """The number of the partition that this task computes."""
    context = TaskContext.get()
    return 0 if context is None else context.partitionId()
