"""What is shown while it runs: phases, time left where it is known, never anything of the data."""

from __future__ import annotations

import gzip
import os
import pty
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from fim_private.cli import interruption, progress
from fim_private.cli.interruption import InterruptedByUser
from fim_private.cli.progress import Phases, bar, phases
from fim_private.transactions.reading import read_transactions
from tests import processes
from tests.cli.command import PROMISE, succeed, words


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


def test_no_phase_begins_after_an_interruption_that_was_lost(monkeypatch: pytest.MonkeyPatch) -> None:
    """What a signal raises in a compiler's callback goes no further. A run without a ledger then went on to its end."""
    monkeypatch.setattr(interruption, "_heard", signal.SIGINT)
    with pytest.raises(InterruptedByUser):
        Phases()("counting")


@pytest.mark.parametrize("quiet", [False, True])
def test_nothing_follows_the_last_phase_after_an_interruption_that_was_lost(
    monkeypatch: pytest.MonkeyPatch, quiet: bool
) -> None:
    monkeypatch.setattr(progress, "listen", lambda: None)  # the signals of this process are not the program's
    done: list[str] = []

    def work() -> None:
        with progress.phases(quiet=quiet):
            monkeypatch.setattr(interruption, "_heard", signal.SIGINT)
            done.append("last phase")
        done.append("printing")

    with pytest.raises(InterruptedByUser):
        work()
    assert done == ["last phase"]


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
        printed = running.stdout.read().decode()
        running.wait()
    os.close(ours)
    assert running.returncode == 0, seen.decode()
    return printed, seen.decode()


@pytest.mark.slow
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


def test_a_log_gets_a_line_every_ten_seconds_and_a_short_run_none(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(progress, "listen", lambda: None)  # signals are this process's
    with phases(quiet=False) as show:
        show("reading")
    assert capsys.readouterr().err == ""
    monkeypatch.setattr(progress, "LOG_SECONDS", 0.02)
    for quiet in (False, True):
        with phases(quiet=quiet) as show, bar("runs", quiet=quiet) as advance:
            show("counting")
            advance(3, 10)
            time.sleep(0.3)
        lines = capsys.readouterr().err.splitlines()
        assert bool(lines) is not quiet
        assert {line.split(" (")[0] for line in lines} <= {"counting ...", "runs ... 3 of 10"}
        assert len(set(lines)) == len(lines), "2 min so far is said once"


def test_what_was_done_before_says_nothing_of_the_time_left(monkeypatch: pytest.MonkeyPatch) -> None:
    now = 100.0
    monkeypatch.setattr(progress.time, "monotonic", lambda: now)
    parts = progress._Parts("runs")
    shown = []
    for now, done in ((100.0, 90), (110.0, 90), (120.0, 92), (160.0, 100)):  # noqa: B007 - the clock's
        shown.append(parts.words(done, 100))
    assert shown == ["runs ... 90 of 100", "runs ... 90 of 100", "runs ... 92 of 100, 80 s left", "runs ... 100 of 100"]


@pytest.mark.slow
def test_a_comparison_says_beforehand_how_long_it_takes(tmp_path: Path) -> None:
    (tmp_path / "baskets.csv").write_text("milk,bread\nmilk,tea\n" * 400)
    options = ("--sizes", "2", "--tops", "1", "--epsilons", "1", "--trials", 2, "--mechanisms", "limited-domain")
    done = succeed("compare", tmp_path / "baskets.csv", *options, "--curator", "-o", tmp_path / "report")
    assert " at a time. With nothing else to do, this machine takes about " in words(done)
