"""mlxtend: a sparse one-hot frame; a frame of frozensets of every size up to the one asked for."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from mlxtend.frequent_patterns import fpgrowth
from scipy.sparse import csr_matrix

from benchmarks.peers.protocol import Itemsets, Peer, too_many
from benchmarks.peers.reading import read_long


def _load(path: Path) -> pd.DataFrame:
    long = read_long(path)
    shape = long.transactions, len(long.names)
    matrix = csr_matrix((np.ones(len(long.item), bool), (long.transaction, long.item)), shape=shape)
    return pd.DataFrame.sparse.from_spmatrix(matrix, columns=long.names)


def _count(frame: pd.DataFrame, size: int, floor: int) -> pd.DataFrame:
    found = fpgrowth(frame, min_support=(floor - 0.5) / len(frame), use_colnames=True, max_len=size)
    return found[found["itemsets"].map(len) == size]


def _itemsets(frame: pd.DataFrame, found: Any) -> Itemsets:
    counts = np.rint(found["support"].to_numpy() * len(frame)).astype(int).tolist()
    return {tuple(sorted(items)): count for items, count in zip(found["itemsets"], counts, strict=True)}


FPGROWTH = Peer(
    delivers="a frame of supports and frozensets, of all sizes up to the one asked for",
    load=_load,
    count=_count,
    number=len,
    itemsets=_itemsets,
    refuses=too_many(100_000, "each a Python frozenset: over a minute"),
)
