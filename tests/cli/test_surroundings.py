"""What lies around a run: memory limits, streams that are closed, Ctrl-C given twice."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from importlib.util import find_spec
from pathlib import Path

import pytest

from tests import processes
from tests.cli.command import PROMISE
from tests.conftest import ROOT

ASKED = ("--size", "2", "--top", "1", *PROMISE)


@pytest.mark.parametrize("limit", [200, 600, 1000])
@pytest.mark.parametrize("flag", ["-v", "-d"])
def test_too_little_memory_is_said(tmp_path: Path, limit: int, flag: str) -> None:
    """It used to end in aborts of OpenBLAS, of Rust and of LLVM."""
    (tmp_path / "baskets.csv").write_text("bread,milk\n" * 900)
    program = [sys.executable, "-m", "fim_private", "mine", str(tmp_path / "baskets.csv"), *ASKED]
    limited = ["bash", "-c", f'ulimit {flag} {limit << 10}; exec "$@"', "bash", *program]
    done = processes.run(limited, text=True)
    assert done.returncode == 3, done.stderr
    assert f"may use {limit:,} MiB of memory" in done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.slow
@pytest.mark.skipif(find_spec("marimo") is None, reason="marimo is not here; it is in the extra `desk`")
def test_the_desk_is_not_opened_on_a_file_that_is_not_there(tmp_path: Path) -> None:
    program = [sys.executable, "-m", "fim_private", "desk", "--no-browser", "absent.csv"]
    done = processes.run(program, text=True, cwd=tmp_path, env={**os.environ, "PYTHONPATH": str(ROOT)})
    assert (done.returncode, done.stdout) == (3, "")
    assert "There is no file absent.csv." in done.stderr
    assert not list(tmp_path.iterdir())


def test_a_folder_that_is_gone_is_said(tmp_path: Path) -> None:
    (tmp_path / "gone").mkdir()
    program = [sys.executable, "-m", "fim_private", "plan", *ASKED]
    done = processes.run(
        ["bash", "-c", 'cd gone; rmdir ../gone; exec "$@"', "bash", *program],
        text=True, cwd=tmp_path, env={**os.environ, "PYTHONPATH": str(ROOT)},
    )  # fmt: skip
    assert done.returncode == 2, done.stderr
    assert "The current folder is gone" in done.stderr


@pytest.mark.slow
def test_as_much_memory_as_is_asked_for_is_enough(tmp_path: Path) -> None:
    (tmp_path / "baskets.csv").write_text("bread,milk\n" * 900)
    program = [sys.executable, "-m", "fim_private", "mine", str(tmp_path / "baskets.csv"), *ASKED]
    limited = ["bash", "-c", 'ulimit -v 1572864; exec "$@"', "bash", *program]
    done = processes.run(limited, text=True)
    assert done.returncode == 0, done.stderr


@pytest.mark.slow
@pytest.mark.parametrize(
    "pause", [0.002, 0.05, *(pytest.param(pause, marks=pytest.mark.slow) for pause in (0.0, 0.01))]
)
def test_a_second_ctrl_c_shows_nothing(tmp_path: Path, pause: float) -> None:
    fifo = tmp_path / "fifo"
    os.mkfifo(fifo)
    command = [sys.executable, "-m", "fim_private", "mine", str(fifo), *ASKED]
    with processes.started(command, seconds=90, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as running:
        end = _opened(fifo)
        time.sleep(1)
        running.send_signal(signal.SIGINT)
        time.sleep(pause)
        running.send_signal(signal.SIGINT)
        _, said = running.communicate(timeout=20)
        os.close(end)
    assert running.returncode in {130, -signal.SIGINT}
    assert b"Traceback" not in said
    assert b"Exception" not in said


def _opened(fifo: Path) -> int:
    """The writing end, as soon as somebody reads."""
    deadline = time.monotonic() + 60
    while True:
        try:
            return os.open(fifo, os.O_WRONLY | os.O_NONBLOCK)
        except OSError:
            if time.monotonic() > deadline:
                raise
            time.sleep(0.02)
