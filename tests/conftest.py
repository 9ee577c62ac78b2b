"""Fixtures every test may use."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import settings

from fim_private.transactions.sources import parquet
from fim_private.transactions.sources.parquet_trial import Verdict

# No flakes: the same examples in every run, and no time limit for a machine that does other things meanwhile.
settings.register_profile("repeatable", derandomize=True, deadline=None, database=None)
settings.load_profile("repeatable")

ROOT = Path(__file__).resolve().parent.parent


@pytest.fixture(scope="session")
def shared_data() -> Callable[[str], Path]:
    """The path of a public data set that is not part of the repository, or a skip that says what is missing."""

    def find(name: str) -> Path:
        folder = Path(os.environ.get("FIM_PRIVATE_TEST_DATA", ROOT.parent / "shared" / "data"))
        path = folder / name
        if not path.exists():
            pytest.skip(f"{name} is not here; point FIM_PRIVATE_TEST_DATA at a folder that holds it")
        return path

    return find


@pytest.fixture
def tried_elsewhere() -> None:
    """Parquet is tried in a process of its own, as it is for users."""


@pytest.fixture(autouse=True)
def decoded_here(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Parquet is not tried in a process of its own, which takes a third of a second, but where a test asks for it."""
    if "tried_elsewhere" not in request.fixturenames:
        monkeypatch.setattr(parquet, "tried", lambda _data, _limits: Verdict.GOOD)
