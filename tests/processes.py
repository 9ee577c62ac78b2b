"""Starting programs and processes in tests: one that hangs is killed, so that no test waits for it."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from multiprocessing.process import BaseProcess
from typing import Any

SECONDS = 200
"""A program may take this long. The suite's own limit for a test is 240 seconds."""


@contextmanager
def started(command: Sequence[Any], *, seconds: float = SECONDS, **options: Any) -> Iterator[subprocess.Popen[Any]]:
    """A running program. It is killed with all it has started after so many seconds, and at the end in any case.

    `with subprocess.Popen(...)` alone would wait for a program that hangs, even when the test's time is up.
    """
    late = threading.Event()
    with subprocess.Popen(command, start_new_session=True, **options) as running:

        def kill() -> None:
            if running.returncode is None:
                with suppress(ProcessLookupError):
                    os.killpg(running.pid, signal.SIGKILL)

        def give_up() -> None:
            late.set()
            kill()

        timer = threading.Timer(seconds, give_up)
        timer.start()
        try:
            yield running
        finally:
            timer.cancel()
            kill()
            if late.is_set():
                raise TimeoutError(f"killed after {seconds} seconds: {command}")


def run(
    command: Sequence[Any],
    *,
    input: Any = None,  # noqa: A002 - as subprocess.run has it
    check: bool = False,
    seconds: float = SECONDS,
    **options: Any,
) -> subprocess.CompletedProcess[Any]:
    """`subprocess.run` that returns both streams and cannot hang."""
    streams = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, **options}
    if input is not None:
        streams["stdin"] = subprocess.PIPE
    with started(command, seconds=seconds, **streams) as running:
        out, err = running.communicate(input)
    done = subprocess.CompletedProcess(command, running.returncode, out, without_progress(err))
    if check:
        done.check_returncode()
    return done


def without_progress(told: Any) -> Any:
    """What a program told, without the lines that it writes every ten seconds: a slow machine makes it write some."""
    if told is None:
        return None
    pattern = r"^.* \.\.\. .*\([0-9]+ (?:s|min) so far\)\n"
    if isinstance(told, str):
        return re.sub(pattern, "", told, flags=re.MULTILINE)
    return re.sub(pattern.encode(), b"", told, flags=re.MULTILINE)


@contextmanager
def side_by_side(*processes: BaseProcess, seconds: float = 60) -> Iterator[None]:
    """Processes of `multiprocessing` that run meanwhile. Each has to end by itself, or is killed."""
    for process in processes:
        process.start()
    try:
        yield
        for process in processes:
            process.join(seconds)
            assert process.exitcode is not None, f"{process} did not end"
    finally:
        for process in processes:
            process.kill()
            process.join()
