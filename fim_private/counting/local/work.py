"""Divide the work of counting into equal chunks, and limit its steps."""

from __future__ import annotations

import math
from threading import Lock

import numpy as np
from numpy.typing import NDArray

from fim_private.arrays import Floats
from fim_private.errors import InputError
from fim_private.transactions.in_order import THREADS as CORES

THREADS = min(8, CORES)
"""Each thread has lists of its own, so memory grows with them."""

MOST_STEPS = 5 * 10**10
"""The most steps of one count, which take some minutes on two cores. A step walks over one occurrence of an item."""

STEPS_OF_PACKING = 16
"""Packing one member of an itemset takes as long as this many steps of a walk.

In a single transaction of a million items no pair is rarer than the others, so every pair is packed. The limit ends
that too.
"""

_CHUNK_WORK = 2**18
_MOST_CHUNKS = 1024


class Effort:
    """Counts the steps of all threads of a walk, and stops the walk after too many.

    This is not a forecast, because only the walk itself shows how much a floor saves.
    """

    def __init__(self, size: int) -> None:
        self._size = size
        self._steps = 0
        self._lock = Lock()
        self._stopped = False

    def stop(self) -> None:
        """End every thread at its next step, because nobody waits for the result any more."""
        self._stopped = True

    def add(self, steps: int) -> None:
        """Count more steps.

        Raises:
            InputError: there were more than `MOST_STEPS`, or the walk was stopped.
        """
        with self._lock:
            self._steps += steps
        if self._stopped or self._steps > MOST_STEPS:
            raise too_much_work(self._size)


def too_much_work(size: int) -> InputError:
    """The refusal to count. About the data it only tells that transactions are long."""
    return InputError(
        f"Some transactions are too long to count all itemsets of size {size} in them.",
        "Bound the number of items per transaction with --max-items B, ask for a smaller size, or take "
        "--mechanism items-first --select counts, which counts likely itemsets of frequent items only.",
    )


def cut_into_chunks(work: Floats) -> NDArray[np.int64]:
    """Cuts c_0 = 0 < c_1 < ... = number of owners, such that the chunks of owners c_i to c_(i+1) have about equal work.

    Without any work there is one cut and no chunk. The cuts depend on the work alone, never on the number of threads.
    """
    cumulative = np.cumsum(work)
    total = cumulative[-1] if len(work) else 0.0
    if total == 0:
        return np.zeros(1, np.int64)
    chunks = min(_MOST_CHUNKS, math.ceil(total / _CHUNK_WORK))
    inner = np.searchsorted(cumulative, total / chunks * np.arange(1, chunks))
    return np.unique(np.concatenate([[0], inner, [len(work)]])).astype(np.int64)
