"""Measuring every peer at every task, each in a process of its own, and stopping if they do not agree."""

from __future__ import annotations

import json
import os
import signal
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from importlib.util import find_spec
from pathlib import Path

from benchmarks.data import GENERATED, count_lines, prepare
from benchmarks.peers import OURS
from benchmarks.results import Measured, Measurements
from benchmarks.tasks import MINE_PAIRS, Task

ROOT = Path(__file__).parent.parent
RUNS = 5
WARM_SECONDS = 6.0
"""No further warm run begins after so long: a peer that takes longer is run once more, and no oftener."""

WHOLE_SECONDS = 6.0


class DisagreementError(Exception):
    """Two peers count the same data differently, so no time of theirs means anything."""


@dataclass(frozen=True, kw_only=True)
class Ended:
    """How a process ended.

    Args:
        seconds: from start to end.
        processor: seconds of all cores together.
        memory: the most bytes it held, as far as the kernel tells its parent.
        output: what it printed.
        failure: why it did not end well, or None.
    """

    seconds: float
    processor: float
    memory: int
    output: str
    failure: str | None = None


def run(command: Sequence[str], limit: float, environment: Mapping[str, str] | None = None) -> Ended:
    """Run a process to its end, or end it with all it started when the limit of seconds is reached."""
    with tempfile.TemporaryFile("w+") as out, tempfile.TemporaryFile("w+") as errors:
        began = time.perf_counter()
        process = subprocess.Popen(
            command,
            stdout=out,
            stderr=errors,
            cwd=ROOT,
            start_new_session=True,
            # Bytecode is kept, as it is of what is installed: the peers' is there.
            env={**os.environ, "PYTHONDONTWRITEBYTECODE": "", **(environment or {})},
        )
        usage, status = None, None
        while status is None:
            pid, code, used = os.wait4(process.pid, os.WNOHANG)
            if pid:
                status, usage = os.waitstatus_to_exitcode(code), used
            elif time.perf_counter() - began > limit:
                os.killpg(process.pid, signal.SIGKILL)
                usage = os.wait4(process.pid, 0)[2]
                break
            else:
                time.sleep(0.002)
        process.returncode = status if status is not None else -9
        seconds = time.perf_counter() - began
        out.seek(0)
        errors.seek(0)
        failure = None if status == 0 else f"> {limit:g} s" if status is None else _last_line(errors.read(), status)
        return Ended(
            seconds=seconds,
            processor=usage.ru_utime + usage.ru_stime if usage else 0.0,
            memory=usage.ru_maxrss * (1 if sys.platform == "darwin" else 1024) if usage else 0,
            output=out.read(),
            failure=failure,
        )


def _last_line(errors: str, status: int) -> str:
    if status == -signal.SIGKILL:
        return "failed: ended by the system, out of memory"
    lines = [line for line in errors.splitlines() if line.strip()]
    return f"failed: {lines[-1].strip()[:120]}" if lines else f"failed with exit code {status}"


def measure_task(task: Task, folder: Path, *, leave_out: Sequence[str]) -> Measurements:
    """All peers at one task, but those that are left out.

    Errors:
        DisagreementError: a peer finds another number of itemsets than this project.
        FileNotFoundError: the data is not there.
    """
    path = prepare(task.data, folder)
    transactions = GENERATED.get(task.data) or count_lines(path)
    floor = task.least(transactions)
    done = Measurements(
        key=task.key,
        data=task.data,
        size=task.size,
        floor=floor,
        share=task.floor if task.floor < 1 else 0.0,
        transactions=transactions,
        peers=[],
    )
    number: int | None = None
    for name in (name for name in task.peers if name not in leave_out):
        row = _measure(name, path, task, done, number)
        done.peers.append(row)
        if name == OURS:
            number = row.number
        elif row.number is not None and row.number != (number if number is not None else row.number):
            raise DisagreementError(
                f"{task.key}: {name} finds {row.number:,} itemsets, {OURS} {number:,}. Nothing is written."
            )
        print(f"  {_line(row)}", flush=True)
    if task.whole:
        done.peers.extend(_command_lines(path, task, spark=not leave_out))
    return done


def _measure(name: str, path: Path, task: Task, about: Measurements, number: int | None) -> Measured:
    command = [sys.executable, "-m", "benchmarks.measure", name, str(path), "--size", str(task.size)]
    command += ["--floor", str(about.floor), "--transactions", str(about.transactions)]
    command += ["--itemsets", str(number)] if number is not None else []
    once = [*command, "--once"]
    if name.startswith(OURS):
        # So that what is compiled, and kept on disk from then on, is there: caches on disk belong to a cold start.
        ended = run(once, task.limit)
        if ended.failure is not None:
            return Measured(peer=name, skipped=ended.failure)
    ended = run([*command, "--runs", str(RUNS), "--seconds", str(WARM_SECONDS)], task.limit)
    if ended.failure is not None:
        return Measured(peer=name, skipped=ended.failure)
    got = json.loads(ended.output.splitlines()[-1])
    if "skipped" in got:
        return Measured(peer=name, skipped=got["skipped"])
    row = Measured(
        peer=name,
        number=got["number"],
        cold=got["cold"],
        warm=got["warm"],
        runs=len(got["times"]),
        memory=got["memory"],
        reading=got["reading"],
        reading_memory=got.get("reading_memory"),
        delivers=got["delivers"],
    )
    return _with_whole(row, once, task.limit) if task.whole else row


def _with_whole(row: Measured, command: Sequence[str], limit: float) -> Measured:
    """The row with the time of whole processes; of five, or of as many as there is time for."""
    seconds: list[float] = []
    while len(seconds) < RUNS and (not seconds or sum(seconds) < WHOLE_SECONDS):
        ended = run(command, limit)
        if ended.failure is not None:
            return replace(row, skipped=row.skipped or ended.failure)
        seconds.append(ended.seconds)
    return replace(row, whole=statistics.median(seconds), whole_runs=len(seconds), memory=row.memory or ended.memory)


def _command_lines(path: Path, task: Task, *, spark: bool) -> list[Measured]:
    """`fim-private mine` as a whole, on this machine's cores and, where that is built, on Spark's."""
    rows = []
    engines: dict[str, list[str]] = {"fim-private mine --top 100": []}
    if spark and task.data == "groceries" and find_spec("fim_private.counting.spark") and find_spec("pyspark"):
        engines["fim-private mine --engine spark"] = ["--engine", "spark"]
    for name, options in engines.items():
        size = ["--size", str(task.size)]
        command = [sys.executable, "-m", "fim_private", "mine", str(path), *MINE_PAIRS, *size, "--quiet", *options]
        ended = run(command, task.limit)  # compiles what is missing
        row = Measured(peer=name, delivers="the private release, as a table", skipped=ended.failure)
        rows.append(_with_whole(row, command, task.limit) if ended.failure is None else row)
        print(f"  {_line(rows[-1])}", flush=True)
    return rows


def first_compilation(path: Path) -> dict[str, float]:
    """Seconds of the very first count of pairs, and of triples, on a machine where nothing is compiled yet."""
    times = {}
    for size in (2, 3):
        with tempfile.TemporaryDirectory() as folder:
            command = [sys.executable, "-m", "benchmarks.measure", OURS, str(path), "--size", str(size), "--once"]
            ended = run(command, 300, {"NUMBA_CACHE_DIR": folder})
            if ended.failure is None:
                times[str(size)] = ended.seconds
    return times


def mine_large(name: str, folder: Path) -> dict[str, object]:
    """`fim-private mine --size 2 --top 100` of a large file: time and memory, or how it failed."""
    path = prepare(name, folder)
    ended = run([sys.executable, "-m", "fim_private", "mine", str(path), *MINE_PAIRS, "--quiet"], 4 * 3600)
    return {"seconds": ended.seconds, "memory": ended.memory, "failure": ended.failure, "data": name}


def _line(row: Measured) -> str:
    if row.skipped is not None:
        return f"{row.peer:32} {row.skipped}"
    figures = {"cold": row.cold, "warm": row.warm, "whole": row.whole}
    shown = "  ".join(f"{name} {value:8.3f}" for name, value in figures.items() if value is not None)
    return f"{row.peer:32} {shown}  {(row.memory or 0) / 1e6:7.0f} MB"
