"""Run a script on a file's bytes in a process of its own, with limited memory and time.

Libraries that read a hostile file may end the process instead of raising, or fill the memory. The user would see no
message, and a program that uses this package would end too.
"""

from __future__ import annotations

import contextlib
import runpy
import subprocess
import sys

TOOK_TOO_LONG = -1000
"""The exit code of a script that was stopped. No signal has this number."""


def run_limited(script: str, data: bytes, *arguments: object, memory: int, seconds: int) -> tuple[int, bytes]:
    """Run a script with `data` as its standard input: its exit code (negative for a signal) and standard output.

    What it writes to standard error is not shown, because libraries quote what they read.

    Args:
        script: the path of a Python file, which imports nothing of this package.
        data: its standard input.
        arguments: its arguments.
        memory: bytes that it may allocate, on systems that can limit it.
        seconds: how long it may last.
    """
    command = [sys.executable, "-P", __file__, str(memory), str(seconds), script, *map(str, arguments)]
    try:
        done = subprocess.run(  # noqa: S603 - our own
            command,
            input=data,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            check=False,
            timeout=seconds,
        )
    except subprocess.TimeoutExpired:
        return TOOK_TOO_LONG, b""
    return done.returncode, done.stdout


def _limit(memory: int, seconds: int) -> None:
    with contextlib.suppress(ImportError):  # not on every system
        import resource  # noqa: PLC0415

        for what, most in (
            (resource.RLIMIT_CORE, 0),  # a core dump would hold the data
            (resource.RLIMIT_DATA, memory),
            (resource.RLIMIT_CPU, 64 * seconds),  # over all cores, if nobody is left to end it
        ):
            with contextlib.suppress(ValueError, OSError):  # the limit is lower already
                resource.setrlimit(what, (most, most))


if __name__ == "__main__":
    _, allowed, lasting, *sys.argv = sys.argv
    _limit(int(allowed), int(lasting))
    runpy.run_path(sys.argv[0], run_name="__main__")
