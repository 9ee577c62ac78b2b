"""Check the streams, the current folder and the allowed memory before anything is loaded."""

from __future__ import annotations

import sys
from contextlib import suppress
from pathlib import Path

from fim_private.errors import InputError, UsageError

LEAST_MEMORY = 3 << 29
"""Bytes of address space. The libraries take over a gibibyte; with less, they end the process without a message."""


def check_surroundings() -> None:
    """Refuse surroundings in which the run would fail later, or without saying why.

    Raises:
        UsageError: standard output is closed, or the current folder is gone.
        InputError: the process may use less memory than the libraries need.
    """
    if sys.stdout is None:
        raise UsageError("Standard output is closed: nothing can be printed.", "Redirect it, as in > /dev/null.")
    try:
        Path.cwd()
    except OSError:
        raise UsageError(
            "The current folder is gone, or may not be entered.", "Change to a folder that exists, and run it there."
        ) from None
    with suppress(ImportError):  # not on every system
        import resource

        for what, flag in ((resource.RLIMIT_AS, "-v"), (resource.RLIMIT_DATA, "-d")):
            allowed, _ = resource.getrlimit(what)
            if allowed != resource.RLIM_INFINITY and allowed < LEAST_MEMORY:
                raise InputError(
                    f"This process may use {allowed >> 20:,} MiB of memory, but its libraries need "
                    f"{LEAST_MEMORY >> 20:,} MiB.",
                    f"Raise the limit: ulimit {flag} {LEAST_MEMORY >> 10}, or unlimited.",
                )
