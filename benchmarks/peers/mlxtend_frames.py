"""mlxtend: a sparse one-hot frame; a frame of frozensets of every size up to the one asked for."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from mlxtend.frequent_patterns import fpgrowth

from benchmarks.peers.protocol import Itemsets, Peer, too_many
from benchmarks.peers.sparse import read_matrix


def _load(path: Path) -> pd.DataFrame:
    matrix, names = read_matrix(path, np.bool_)
    return pd.DataFrame.sparse.from_spmatrix(matrix, columns=names)


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
