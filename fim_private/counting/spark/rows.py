"""Itemsets with their counts as rows of a frame: one column of codes per member, i0 < i1 < ..., and the count."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

AT_ONCE = 2**18
"""Rows per batch."""


def members(size: int) -> list[str]:
    """The names of the columns of codes."""
    return [f"i{member}" for member in range(size)]


def schema(size: int, *more: str) -> str:
    """The schema of itemsets with counts, and of more columns of whole numbers."""
    return ", ".join([*(f"{name} int" for name in members(size)), "count long", *(f"{name} long" for name in more)])


def to_rows(itemsets: NDArray[np.int32], counts: NDArray[np.int64], **more: int) -> Iterator[pa.RecordBatch]:
    """Batches of itemsets, shape (n, size), with counts, shape (n,), and more columns that each repeat one number."""
    for start in range(0, len(counts), AT_ONCE):
        part = itemsets[start : start + AT_ONCE]
        columns = {
            **{
                name: pa.array(np.ascontiguousarray(part[:, member]))
                for member, name in enumerate(members(part.shape[1]))
            },
            "count": pa.array(counts[start : start + AT_ONCE]),
            **{name: pa.array(np.full(len(part), number, np.int64)) for name, number in more.items()},
        }
        yield pa.RecordBatch.from_pydict(columns)


def from_rows(table: pa.Table, size: int) -> tuple[NDArray[np.int32], NDArray[np.int64]]:
    """Itemsets, int32, shape (n, size), and counts, int64, shape (n,), in the order of the rows."""
    itemsets = np.empty((table.num_rows, size), np.int32)
    for member, name in enumerate(members(size)):
        itemsets[:, member] = table.column(name).to_numpy()
    return itemsets, table.column("count").to_numpy().astype(np.int64)


def in_order(itemsets: NDArray[np.int32], counts: NDArray[np.int64]) -> tuple[NDArray[np.int32], NDArray[np.int64]]:
    """Sort by count descending, then by codes ascending."""
    order = np.lexsort([*itemsets.T[::-1], -counts])
    return np.ascontiguousarray(itemsets[order]), counts[order]
