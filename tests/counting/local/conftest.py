"""Each way of counting on this machine, whatever the data is like."""

from __future__ import annotations

import pytest
from hypothesis import HealthCheck

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


@pytest.fixture(
    params=[pytest.param(METHODS[name], id=name, marks=pytest.mark.slow if name in SLOW else ()) for name in METHODS]
)
def _method(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in request.param.items():
        monkeypatch.setattr(f"fim_private.counting.local.{name}", value)


each_method = pytest.mark.usefixtures("_method")
unchanged = [HealthCheck.function_scoped_fixture]
