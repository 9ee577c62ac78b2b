"""Which phase is running, on stderr, for people at a terminal; never anything of the data."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from fim_private.cli.interruption import listen


@contextmanager
def phases(*, quiet: bool) -> Iterator[Callable[[str], None]]:
    """A function that shows the name of the running phase, until the next or the end. Ctrl-C is heard throughout."""
    listen()
    if quiet or not sys.stderr.isatty():
        yield lambda _phase: None
        return
    from rich.console import Console

    with Console(stderr=True).status("") as status:
        yield lambda phase: status.update(f"{phase} ...")


def say(text: str, *, quiet: bool = False) -> None:
    """Words for the user, on stderr."""
    if not quiet:
        print(text, file=sys.stderr)
