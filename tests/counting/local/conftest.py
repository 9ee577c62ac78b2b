"""Each way of counting on this machine, whatever the data is like."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import pytest
from hypothesis import note

METHODS = {
    "as it is": {},
    "by lists alone": {"task.is_dense": lambda _index: False},
    "by bits": {"task.is_dense": lambda _index: True},
    "few items in the triangle": {"triangle.WORTH_IT": 0, "triangle.ITEMS": 4},
    "all items in the triangle": {"triangle.WORTH_IT": 0},
    "with a bound from a part": {"queries._LARGE": 8, "queries._SHARE": 2, "triangle.WORTH_IT": 0, "triangle.ITEMS": 3},
    "with few lists at a time": {"queries._LISTED": 3},
    "with few lists beside a triangle": {"queries._LISTED": 3, "triangle.WORTH_IT": 0, "triangle.ITEMS": 2},
    "in small pieces": {
        "walk._BATCH_ROWS": 1,
        "walk._TALLY_CELLS": 3,
        "work._CHUNK_WORK": 16,
        "found_itemsets._ROWS": 8,
    },
    "by threads": {
        "walk._SINGLE_THREAD_WORK": 0,
        "work._CHUNK_WORK": 16,
        "index._WORTH_A_THREAD": 0,
        "index.THREADS": 3,
    },
}


SLOW = ("few items in the triangle", "with a bound from a part", "in small pieces", "by threads")


USUAL = tuple(name for name in METHODS if name not in SLOW)

each_method = pytest.mark.parametrize(
    "methods", [pytest.param(USUAL, id="usual"), pytest.param(SLOW, id="others", marks=pytest.mark.slow)]
)
"""Making an example takes longer than counting in it, so that each example is counted by several methods."""


@contextmanager
def counting(method: str) -> Iterator[None]:
    """Count by this method, and name it if an example fails."""
    note(f"counted {method}")
    with pytest.MonkeyPatch.context() as patch:
        for name, value in METHODS[method].items():
            patch.setattr(f"fim_private.counting.local.{name}", value)
        yield
