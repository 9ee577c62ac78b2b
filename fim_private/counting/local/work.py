"""What counting costs: a fair division of the work into chunks, and the limit to the steps taken."""

from __future__ import annotations

import math
import os
from threading import Lock

import numpy as np
from numpy.typing import NDArray

from fim_private.errors import InputError

THREADS = min(2, os.cpu_count() or 1)

MOST_STEPS = 5 * 10**10
"""The most occurrences of items that are walked over or packed for one count: some minutes on two cores."""

STEPS_OF_PACKING = 16
"""So many steps of a walk take as long as packing one member of an itemset. Of one transaction of a million items every
pair is packed, since none is rarer than the others: that has to end in minutes too."""

_CHUNK_WORK = 2**18
_MOST_CHUNKS = 1024


class Effort:
    """Counts the steps of all threads of a walk, and stops it where there are too many.

    Only the walk itself shows how much a floor saves, so this is no forecast.
    """

    def __init__(self, size: int) -> None:
        self._size = size
        self._steps = 0
        self._lock = Lock()
        self._stopped = False

    def stop(self) -> None:
        """Let every thread end at its next step: whoever waits for them has given up."""
        self._stopped = True

    def add(self, steps: int) -> None:
        """Count some more.

        Raises:
            InputError: there were more than `MOST_STEPS`, or the walk was stopped.
        """
        with self._lock:
            self._steps += steps
        if self._stopped or self._steps > MOST_STEPS:
            raise too_much_work(self._size)


def too_much_work(size: int) -> InputError:
    """The refusal to count; it says nothing about the data but that its transactions are long."""
    return InputError(
        f"Some transactions are too long to count all itemsets of size {size} in them.",
        "Bound the number of items of a transaction with --max-items B, or ask for a smaller size.",
    )


def cut_into_chunks(work: NDArray[np.float64]) -> NDArray[np.int64]:
    """Cuts c_0 = 0 < c_1 < ... = number of owners, such that owners c_i to c_(i+1) have about equal work.

    Without any work there is one cut and no chunk. The cuts depend on the work alone, never on the number of threads.
    """
    cumulative = np.cumsum(work)
    total = cumulative[-1] if len(work) else 0.0
    if total == 0:
        return np.zeros(1, np.int64)
    chunks = min(_MOST_CHUNKS, math.ceil(total / _CHUNK_WORK))
    inner = np.searchsorted(cumulative, total / chunks * np.arange(1, chunks))
    return np.unique(np.concatenate([[0], inner, [len(work)]])).astype(np.int64)
