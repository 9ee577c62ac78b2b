"""A ledger, and what is charged to it."""

from __future__ import annotations

from pathlib import Path

import pytest

from fim_private import Ledger
from fim_private.plan import Plan
from tests.ledger.charging import plan_for


@pytest.fixture(scope="session")
def tenth() -> Plan:
    return plan_for("0.1")


@pytest.fixture
def ledger(tmp_path: Path) -> Ledger:
    return Ledger.create(tmp_path / "shop.ledger", epsilon="1", delta="0", dataset="shop 2026")


@pytest.fixture(autouse=True)
def search_to_the_end(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let the search for what would fit end by itself: on a busy machine its time limit stops it at a smaller epsilon.

    Every test of a refusal starts that search, and several compare what it finds with the largest epsilon that fits.
    """
    monkeypatch.setattr("fim_private.ledger.refusal.SEARCH_SECONDS", 60)
