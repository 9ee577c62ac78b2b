"""A sparse matrix for the peers that start from one. Who imports this pays for scipy, as they would by themselves."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from scipy.sparse import csr_matrix

from benchmarks.peers.reading import read_long


def read_matrix(path: Path, kind: type[np.generic]) -> tuple[csr_matrix, list[str]]:
    """A row for each transaction, with a one for each of its items, and the names of the items."""
    long = read_long(path)
    shape = long.transactions, len(long.names)
    return csr_matrix((np.ones(len(long.item), kind), (long.transaction, long.item)), shape=shape), long.names
