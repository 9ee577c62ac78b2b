"""rusket (Rust): a sparse matrix; a frame of lists of items of every size up to the one asked for."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
import pyarrow.compute as pc
import rusket

from benchmarks.peers.protocol import Itemsets, Peer, by_name, too_many
from benchmarks.peers.sparse import read_matrix


def _count(data: Any, size: int, floor: int, *, method: str) -> tuple[Any, Any, int]:
    matrix, _ = data
    support = (floor - 0.5) / matrix.shape[0]
    found = rusket.mine(matrix, min_support=support, use_colnames=False, max_len=size, method=method)
    lists = found["itemsets"].array.__arrow_array__()
    wanted = pc.equal(pc.list_value_length(lists), size)
    return found, wanted, int(pc.sum(wanted).as_py() or 0)


def _itemsets(data: Any, result: Any) -> Itemsets:
    (matrix, names), (found, wanted, number) = data, result
    kept = found[np.asarray(wanted.to_numpy(zero_copy_only=False))]
    rows = np.array(kept["itemsets"].to_list()).reshape(number, -1)
    return by_name(names, rows, np.rint(kept["support"].to_numpy() * matrix.shape[0]))


FPGROWTH, ECLAT = (
    Peer(
        delivers="a frame of supports and Arrow lists of items, of all sizes up to the one asked for",
        load=partial(read_matrix, kind=np.uint8),
        count=partial(_count, method=method),
        number=lambda result: result[2],
        itemsets=_itemsets,
        refuses=too_many(15_000_000, "over half a minute and several GB"),
    )
    for method in ("fpgrowth", "eclat")
)
