"""What is shown while it runs: phases, time left where it is known, never anything of the data."""

from __future__ import annotations

import gzip
import os
import pty
import subprocess
import sys
from pathlib import Path

import pytest

from fim_private.cli import progress
from fim_private.cli.progress import Phases
from fim_private.transactions import read_transactions
from tests import processes
from tests.cli.command import PROMISE


def test_time_left_is_what_the_share_so_far_says(monkeypatch: pytest.MonkeyPatch) -> None:
    now = 100.0
    monkeypatch.setattr(progress.time, "monotonic", lambda: now)
    shown: list[str] = []
    phases = Phases(shown.append)
    phases("reading")
    for now, done in ((101.0, 0.5), (110.0, 0.25), (120.0, 1.0), (600.0, 0.4)):  # noqa: B007 - the clock's
        phases.share(done)
    phases("counting")
    assert shown == ["reading ...", "reading ... 25%, 30 s left", "reading ... 40%, 12 min left", "counting ..."]


@pytest.mark.parametrize("packed", [False, True])
def test_reading_tells_its_share_of_the_file(tmp_path: Path, packed: bool) -> None:
    path = tmp_path / "baskets.csv"
    data = b"milk,bread\n" * 300_000
    path.write_bytes(gzip.compress(data) if packed else data)
    shares: list[float] = []
    read_transactions(path, progress=shares.append)
    assert shares[-1] == 1
    assert shares == sorted(shares)
    assert packed or len(shares) > 3


def on_a_terminal(*arguments: object) -> tuple[str, str]:
    """Standard output, and what a terminal sees of standard error."""
    ours, theirs = pty.openpty()
    command = [sys.executable, "-m", "fim_private", *map(str, arguments)]
    with processes.started(command, seconds=60, stdout=subprocess.PIPE, stderr=theirs) as running:
        os.close(theirs)
        seen = b""
        while True:
            try:
                more = os.read(ours, 1 << 16)
            except OSError:  # nobody writes any more
                break
            if not more:
                break
            seen += more
        assert running.stdout is not None
        printed = running.stdout.read().decode()
        running.wait()
    os.close(ours)
    assert running.returncode == 0, seen.decode()
    return printed, seen.decode()


def test_a_terminal_sees_phases_and_no_data(tmp_path: Path) -> None:
    path = tmp_path / "baskets.csv"
    path.write_text("SECRET-ITEM,milk\n" * 1237 + "tea,jam\n")
    asked = ("mine", path, "--size", 2, "--top", 1, *PROMISE, "--mechanism", "limited-domain")
    printed, seen = on_a_terminal(*asked)
    assert "SECRET-ITEM" in printed
    assert any(f"{phase} ..." in seen for phase in ("reading", "bounding", "counting", "selecting"))
    for data in ("SECRET", "milk", "tea", "1237", "1,237", "1238", "1,238"):
        assert data not in seen
    assert on_a_terminal(*asked, "--quiet")[1] == ""
