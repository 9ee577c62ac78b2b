"""What a run finds in place: its streams, and the memory that it may use. Asked for before anything is loaded."""

from __future__ import annotations

import sys
from contextlib import suppress

from fim_private.errors import InputError, UsageError

LEAST_MEMORY = 3 << 29
"""Bytes of address space: the libraries take over a gibibyte, and below that they end the process without a word."""


def check_surroundings() -> None:
    """Refuse what would only fail later, or without saying why.

    Raises:
        UsageError: standard output is closed.
        InputError: less memory may be used than the libraries need.
    """
    if sys.stdout is None:
        raise UsageError("Standard output is closed: nothing can be printed.", "Redirect it, as in > /dev/null.")
    with suppress(ImportError):  # not on every system
        import resource

        for what, flag in ((resource.RLIMIT_AS, "-v"), (resource.RLIMIT_DATA, "-d")):
            allowed, _ = resource.getrlimit(what)
            if allowed != resource.RLIM_INFINITY and allowed < LEAST_MEMORY:
                raise InputError(
                    f"This process may use {allowed >> 20:,} MiB of memory, and its libraries need "
                    f"{LEAST_MEMORY >> 20:,} MiB.",
                    f"Raise the limit: ulimit {flag} {LEAST_MEMORY >> 10}, or unlimited.",
                )
