from __future__ import annotations

from pathlib import Path

import pytest


@pytest.fixture
def baskets(tmp_path: Path) -> Path:
    """A file in which one pair stands out, unless a test brings its own."""
    path = tmp_path / "baskets.csv"
    path.write_text("bread,milk\n" * 2000 + "tea,jam,bread\n" * 900)
    return path
