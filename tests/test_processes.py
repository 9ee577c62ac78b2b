"""No test can wait for ever for a program that it started."""

from __future__ import annotations

import multiprocessing
import re
import subprocess
import sys
import time

import pytest

from tests.conftest import ROOT
from tests.processes import run, side_by_side, started, without_progress


def test_a_program_that_hangs_is_killed_with_what_it_started() -> None:
    began = time.monotonic()
    with pytest.raises(TimeoutError, match="killed after 1 seconds"):
        run(["bash", "-c", "sleep 100 & sleep 100; true"], seconds=1)
    assert time.monotonic() - began < 20


def test_a_test_that_fails_does_not_wait_for_its_program() -> None:
    began = time.monotonic()
    with pytest.raises(RuntimeError), started(["sleep", "100"]) as running:
        raise RuntimeError
    assert running.returncode == -9
    assert time.monotonic() - began < 20


def test_a_process_that_hangs_is_killed() -> None:
    other = multiprocessing.get_context("spawn").Process(target=time.sleep, args=(100,))
    with pytest.raises(AssertionError, match="did not end"), side_by_side(other, seconds=1):
        pass
    assert not other.is_alive()


def test_both_streams_and_the_status_are_returned() -> None:
    done = run(["sh", "-c", "cat; echo no >&2; exit 3"], input=b"yes")
    assert (done.returncode, done.stdout, done.stderr) == (3, b"yes", b"no\n")
    with pytest.raises(subprocess.CalledProcessError):
        run([sys.executable, "-c", "raise SystemExit(1)"], check=True)


def test_every_test_starts_programs_through_this_module() -> None:
    for path in [*(ROOT / "tests").rglob("test_*.py"), *(ROOT / "tests").rglob("c*.py")]:
        called = re.findall(r"subprocess\.(?:run|Popen|call|check_\w+)\(|Process\(.*\)\.start", path.read_text("utf-8"))
        assert not called, path


def test_lines_that_a_slow_machine_adds_are_left_out() -> None:
    told = "reading ... (10 s so far)\ncells ... 3 of 4, 2 s left (2 min so far)\nError: no.\n"
    assert without_progress(told) == "Error: no.\n"
    assert without_progress(told.encode()) == b"Error: no.\n"
