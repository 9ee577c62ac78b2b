"""What a library prints by itself while it reads: nothing of it is ours to show."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from threading import Lock

_ONE_AT_A_TIME = Lock()


@contextmanager
def nothing_printed() -> Iterator[None]:
    """Whatever Polars has to say of a file, it may quote it, and it prints itself where it panics.

    Meanwhile nothing is printed to the standard error of the process, by any thread.
    """
    with _ONE_AT_A_TIME:
        try:
            kept = os.dup(2)
        except OSError:  # it is closed
            yield
            return
        nothing = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nothing, 2)
        os.close(nothing)
        try:
            yield
        finally:
            os.dup2(kept, 2)
            os.close(kept)
