"""Itemsets in the order in which a walk finds them; those that differ only in one member store the others once."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from fim_private.counting.local.index import U32


class Batch(NamedTuple):
    """Itemsets as ranks, in runs, with their counts; all uint32.

    Run x has the rows from `end[x - 1]` (0 for the first) to `end[x]`. The members of a row are those of its run,
    prefix[x], the rarest first, and its own, last[row]. Storing members once per run halves the output, and if most
    itemsets occur once, writing output takes most of the time.

    Args:
        prefix: shape (runs, size - 1).
        end: shape (runs,), increasing.
        last: shape (rows,).
        counts: shape (rows,).
    """

    prefix: U32
    end: U32
    last: U32
    counts: U32

    def cut(self, runs: int, rows: int) -> Batch:
        """The first runs and rows, as views."""
        return Batch(self.prefix[:runs], self.end[:runs], self.last[:rows], self.counts[:rows])

    def members(self, rows: NDArray[np.int64]) -> U32:
        """The members of some rows, shape (size, len(rows))."""
        run = np.searchsorted(self.end, rows, side="right")
        return np.concatenate([self.prefix[run].T, self.last[np.newaxis, rows]])


def room_for(size: int, rows: int, runs: int) -> Batch:
    """A batch to be filled, for `rows` rows and `runs` runs. Its memory is not touched until then."""
    room = (np.empty(shape, np.uint32) for shape in ((runs, size - 1), (runs,), (rows,), (rows,)))
    return Batch(*room)
