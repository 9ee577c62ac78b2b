"""What a cap would drop: exact figures, for the curator's eyes only."""

from __future__ import annotations

from itertools import count

import numpy as np
from numpy.typing import NDArray


def caps(largest: int) -> list[int]:
    """1, 2, 5, 10, 20, 50, ... up to the first that is no smaller than this, and so drops nothing.

    >>> caps(10), caps(11)
    ([1, 2, 5, 10], [1, 2, 5, 10, 20])
    """
    found: list[int] = []
    for power in count():
        for step in (1, 2, 5):
            found.append(step * 10**power)
            if found[-1] >= largest:
                return found
    raise AssertionError("the steps have no end")


def dropped(sizes: NDArray[np.int64], most: int) -> tuple[int, int]:
    """How much goes if of each no more than this is kept, and how many lose some; whatever is chosen at random.

    Data, not a release, and protected by no privacy guarantee.

    Args:
        sizes: int64: how many transactions each unit has, or items each transaction.
        most: how many are kept.

    >>> dropped(np.array([1, 3, 6]), 2)
    (5, 2)
    """
    over = sizes[sizes > most] - most
    return int(over.sum()), len(over)
