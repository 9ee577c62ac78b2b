"""Does Polars survive decoding this Parquet file? Tried in a process of its own.

Where the header of a page asks for an absurd amount of memory, Polars ends the process instead of raising: nothing
could be said to the user any more, and a program that uses this package would be gone with it.
"""

from __future__ import annotations

import contextlib
import io
import subprocess
import sys

import polars as pl

BLOCK = 256
"""Columns at once: as a table of customers has, while a one-hot table may have thousands."""


def decodes(data: bytes) -> bool:
    """Whether every column of this Parquet file can be decoded. The trial costs a quarter of a second and the decoding.

    No word of what happens there is shown: libraries quote what they read.
    """
    trial = [sys.executable, "-P", __file__]
    nowhere = subprocess.DEVNULL
    done = subprocess.run(trial, input=data, stdout=nowhere, stderr=nowhere, check=False)  # noqa: S603 - our own
    return done.returncode == 0


def _decode(data: bytes) -> None:
    names = list(pl.read_parquet_schema(io.BytesIO(data)))
    for start in range(0, len(names), BLOCK):
        pl.read_parquet(io.BytesIO(data), columns=names[start : start + BLOCK])


if __name__ == "__main__":
    with contextlib.suppress(ImportError):  # not on every system
        import resource

        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))  # it would hold the data
    _decode(sys.stdin.buffer.read())
