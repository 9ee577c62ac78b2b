"""Keep libraries from printing while they read, because what they print may quote data."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from threading import Lock

_ONE_AT_A_TIME = Lock()


@contextmanager
def nothing_printed() -> Iterator[None]:
    """Discard everything that any thread writes to standard error in this context.

    Polars may quote the file in its messages, and prints them itself when it panics.
    """
    if sys.__stderr__ is None:
        # It was closed when Python began. Its number may belong to a file by now, or to the event queue of Polars,
        # which would wait for ever.
        yield
        return
    with _ONE_AT_A_TIME:
        try:
            kept = os.dup(2)
        except OSError:  # standard error is closed
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
