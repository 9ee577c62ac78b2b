"""Sum long vectors, one from each partition, in pieces; equal pieces meet at the same executor.

If each partition sent its vector to the driver, memory would grow with partitions times candidates. One row per number
would cost Spark a hundred times the bytes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray
from pyspark.sql import DataFrame

from fim_private.counting.spark.blocks import Block, whole
from fim_private.counting.spark.session import Batches, Cluster

PIECE = 2**13
"""Numbers per piece: 64 KiB. An executor holds one piece from each partition at a time."""

SCHEMA = "piece int, numbers binary"

Vector = NDArray[np.int64]


def sum_over_partitions(cluster: Cluster, blocks: DataFrame, length: int, vector: Callable[[Block], Vector]) -> Vector:
    """The sum of `vector(partition)` over all partitions, int64, shape (length,).

    `vector` is a function that the executors can import, or a partial of one.
    """
    pieces = cluster.map(blocks, partial(_pieces, vector=vector), SCHEMA)
    summed = cluster.collect(cluster.sum_groups(pieces, "piece", _sum, SCHEMA))
    total = np.zeros(length, np.int64)
    for piece, numbers in zip(summed.column("piece").to_pylist(), summed.column("numbers").to_pylist(), strict=True):
        total[piece * PIECE : (piece + 1) * PIECE] = np.frombuffer(numbers, np.int64)
    return total


def _pieces(batches: Batches, *, vector: Callable[[Block], Vector]) -> Iterator[pa.RecordBatch]:
    block = whole(batches)
    if not len(block.lengths):
        return
    numbers = vector(block)
    for piece, start in enumerate(range(0, len(numbers), PIECE)):
        part = numbers[start : start + PIECE]
        if part.any():
            yield pa.RecordBatch.from_arrays(
                [pa.array([piece], pa.int32()), pa.array([part.tobytes()], pa.binary())], names=["piece", "numbers"]
            )


def _sum(group: pa.Table) -> pa.Table:
    numbers = group.column("numbers").to_pylist()
    total = np.frombuffer(numbers[0], np.int64).copy()
    for more in numbers[1:]:
        total += np.frombuffer(more, np.int64)
    return pa.table({"piece": group.column("piece").slice(0, 1), "numbers": pa.array([total.tobytes()], pa.binary())})
