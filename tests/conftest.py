"""Fixtures every test may use."""

from __future__ import annotations

import gc
import io
import os
import sys
from collections.abc import Callable, Iterator
from functools import lru_cache
from pathlib import Path
from unittest import mock

import pytest
from hypothesis import settings

from fim_private.randomness import weighted_choice
from fim_private.transactions.sources import excel, parquet, sheet_reading
from fim_private.transactions.sources.parquet_trial import Verdict

# No flakes: the same examples in every run, and no time limit for a machine that does other things meanwhile.
settings.register_profile("repeatable", derandomize=True, deadline=None, database=None)
settings.load_profile("repeatable")

ROOT = Path(__file__).resolve().parent.parent


def pytest_collection_finish() -> None:
    """What was imported stays. The garbage collector need not go through it again and again."""
    gc.freeze()


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


@pytest.fixture(scope="session", autouse=True)
def powers_computed_once() -> Iterator[None]:
    """Thousands of draws from one law ask for the same powers. The program itself keeps nothing that counts decide."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(weighted_choice, "_exp_interval", lru_cache(maxsize=4096)(weighted_choice._exp_interval))
        yield


@pytest.fixture
def sheets_read_here(monkeypatch: pytest.MonkeyPatch) -> None:
    """Workbooks are not read in a process of its own, which takes half a second. They have to be sound."""

    def read(script: str, data: bytes, *arguments: str, **_limits: int) -> tuple[int, bytes]:
        streams = {"stdin": io.TextIOWrapper(io.BytesIO(data)), "stdout": io.TextIOWrapper(written := io.BytesIO())}
        with mock.patch.multiple(sys, argv=[script, *arguments], **streams):
            code = sheet_reading.main()
            sys.stdout.flush()
        return code, written.getvalue()

    monkeypatch.setattr(excel, "run_limited", read)
