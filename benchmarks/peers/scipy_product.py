"""scipy: the product of the sparse matrix with its transpose, above the diagonal."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

from benchmarks.peers.protocol import Itemsets, Peer, Work, by_name
from benchmarks.peers.sparse import read_matrix


def _count(data: Any, _size: int, floor: int) -> tuple[Any, Any, Any]:
    matrix, _ = data
    columns = np.arange(matrix.shape[1])
    if floor > 1:
        columns = np.flatnonzero(np.bincount(matrix.indices, minlength=matrix.shape[1]) >= floor)
        matrix = matrix[:, columns]
    together = (matrix.T @ matrix).tocoo()
    kept = (together.row < together.col) & (together.data >= floor)
    return columns[together.row[kept]], columns[together.col[kept]], together.data[kept]


def _itemsets(data: Any, result: Any) -> Itemsets:
    first, second, counts = result
    return by_name(data[1], np.stack((first, second), axis=1), counts)


def _refuses(work: Work) -> str | None:
    if work.size != 2:
        return "a matrix product gives pairs only"
    if work.transactions > 2_000_000:
        return "ten times the work of a million transactions: a minute and a half"
    return None


PRODUCT = Peer(
    delivers="arrays of both items and counts",
    load=partial(read_matrix, kind=np.int32),
    count=_count,
    number=lambda result: len(result[2]),
    itemsets=_itemsets,
    refuses=_refuses,
)
