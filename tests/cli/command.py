"""Running the command in a process of its own, as a user does, or in this process, which takes a tenth of the time."""

from __future__ import annotations

import io
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from unittest import mock

import typer

from tests import processes

PROMISE = ("--epsilon", "1", "--delta", "1e-6", "--unit", "transaction")


def in_own_process(*arguments: object, stdin: bytes | None = None) -> subprocess.CompletedProcess[bytes]:
    """Run the command as a process, to test its start, its streams and its end."""
    command = [sys.executable, "-m", "fim_private", *map(str, arguments)]
    return processes.run(command, input=stdin)


COMMANDS = cache(typer.main.get_command)
"""The commands and their options, read from the functions once. That takes longer than most commands do."""


@contextmanager
def standard_output(path: Path) -> Iterator[None]:
    """Let the descriptor of standard output be a file, for commands that ask what it is."""
    kept = os.dup(1)
    with path.open("ab") as file:
        os.dup2(file.fileno(), 1)
    try:
        yield
    finally:
        os.dup2(kept, 1)
        os.close(kept)


def fim_private(*arguments: object, encoding: str = "utf-8") -> subprocess.CompletedProcess[bytes]:
    """The same through the same door, `run`, with streams of bytes and without starting an interpreter.

    What `run` leaves behind in a process that was meant to end is put back: the streams, the answers to Ctrl-C and to
    what cannot be raised.
    """
    from fim_private.cli.app import run

    command = ["fim-private", *map(str, arguments)]
    out, err = io.BytesIO(), io.BytesIO()
    streams = {"stdout": io.TextIOWrapper(out, encoding), "stderr": io.TextIOWrapper(err, encoding)}
    ctrl_c = signal.getsignal(signal.SIGINT)
    try:
        with (
            mock.patch("typer.main.get_command", COMMANDS),
            mock.patch.multiple(sys, argv=command, stdin=None, unraisablehook=sys.unraisablehook, **streams),
        ):
            run()
    except SystemExit as end:
        for stream in streams.values():
            stream.flush()
        told = processes.without_progress(err.getvalue())
        return subprocess.CompletedProcess(command, end.code, out.getvalue(), told)
    finally:
        signal.signal(signal.SIGINT, ctrl_c)


def words(completed: subprocess.CompletedProcess[bytes]) -> str:
    return completed.stderr.decode()


def end_with(code: int, *arguments: object) -> subprocess.CompletedProcess[bytes]:
    """The same as `fim_private`, for a command that has to end with this code."""
    done = fim_private(*arguments)
    assert done.returncode == code, words(done)
    return done


def succeed(*arguments: object) -> subprocess.CompletedProcess[bytes]:
    return end_with(0, *arguments)
