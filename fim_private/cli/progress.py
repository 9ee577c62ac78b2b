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


@contextmanager
def bar(what: str, *, quiet: bool) -> Iterator[Callable[[int, int], None]]:
    """A function that shows how many of how many are done, with the time left, until the end."""
    listen()
    if quiet or not sys.stderr.isatty():
        yield lambda _done, _all: None
        return
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    columns = (TextColumn(what), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    with Progress(*columns, console=Console(stderr=True)) as progress:
        task = progress.add_task(what)
        yield lambda done, total: progress.update(task, completed=done, total=total)


def say(text: str, *, quiet: bool = False) -> None:
    """Words for the user, on stderr."""
    if not quiet:
        print(text, file=sys.stderr)
