"""What a cap would drop: exact figures, which only the curator may see."""

from __future__ import annotations

from itertools import count

import numpy as np
from numpy.typing import NDArray


def caps(largest: int) -> list[int]:
    """The caps 1, 2, 5, 10, 20, 50, ... up to the first that is at least `largest`, and so drops nothing.

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
    """How much a cap of `most` drops in total, and how many units or transactions lose some of theirs.

    The figures do not depend on the random choice. They are data, not a release; no privacy guarantee protects them.

    Args:
        sizes: int64: the transactions per unit, or the items per transaction.
        most: the cap.

    >>> dropped(np.array([1, 3, 6]), 2)
    (5, 2)
    """
    over = sizes[sizes > most] - most
    return int(over.sum()), len(over)
