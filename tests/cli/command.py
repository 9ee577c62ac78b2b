"""Running the command as a user does: in a process of its own."""

from __future__ import annotations

import subprocess
import sys

PROMISE = ("--epsilon", "1", "--delta", "1e-6", "--unit", "transaction")


def fim_private(*arguments: object, stdin: bytes | None = None) -> subprocess.CompletedProcess[bytes]:
    command = [sys.executable, "-m", "fim_private", *map(str, arguments)]
    return subprocess.run(command, input=stdin, capture_output=True, timeout=120, check=False)


def words(completed: subprocess.CompletedProcess[bytes]) -> str:
    return completed.stderr.decode()
