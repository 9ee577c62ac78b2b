"""Which phase is running, on stderr, for people at a terminal; never anything of the data."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, TextIO, cast

from fim_private.cli.interruption import listen

if TYPE_CHECKING:
    from rich.progress import Progress, ProgressColumn

WORTH_SAYING = 2.0
"""Seconds after which it is of interest how many are left."""


class Notes:
    """Standard error as a file that never fails, so that nobody's release is lost to a full log or a closed pipe."""

    @property
    def encoding(self) -> str:
        """As of standard error."""
        return getattr(sys.stderr, "encoding", None) or "utf-8"

    def isatty(self) -> bool:
        """Whether somebody looks at it."""
        return sys.stderr is not None and sys.stderr.isatty()

    def write(self, text: str) -> int:
        """Write the text, or not."""
        self._try(lambda stream: stream.write(text))
        return len(text)

    def flush(self) -> None:
        """Send what was written on its way, or not."""
        self._try(lambda stream: stream.flush())

    @staticmethod
    def _try(action: Callable[[TextIO], object]) -> None:
        if sys.stderr is not None:
            try:
                action(sys.stderr)
            except (OSError, ValueError):
                # Python would try once more at its end, and make a failure of the run of it.
                sys.stderr = None


def _progress(*columns: ProgressColumn, transient: bool = False) -> Progress:
    """Progress on standard error, which Rich must not put itself in the place of: Notes writes to it."""
    from rich.console import Console
    from rich.progress import Progress

    console = Console(file=cast(TextIO, Notes()))
    return Progress(*columns, console=console, transient=transient, redirect_stdout=False, redirect_stderr=False)


class Phases:
    """Told which phase is running, and how far it is where somebody knows.

    Args:
        show: what to show instead of the last words; by default nothing is.
    """

    def __init__(self, show: Callable[[str], None] = lambda _words: None) -> None:
        self._show = show
        self._phase, self._began = "", 0.0

    def __call__(self, phase: str) -> None:
        """A phase begins."""
        self._phase, self._began = phase, time.monotonic()
        self._show(f"{phase} ...")

    def share(self, done: float) -> None:
        """Of the running phase this share is done, from 0 to 1: of bytes, of runs, never of anything counted."""
        passed = time.monotonic() - self._began
        if passed > WORTH_SAYING and 0 < done < 1:
            self._show(f"{self._phase} ... {done:.0%}, {_spoken(passed * (1 - done) / done)} left")


def _spoken(seconds: float) -> str:
    return f"{seconds:.0f} s" if seconds < 100 else f"{seconds / 60:.0f} min"


@contextmanager
def phases(*, quiet: bool) -> Iterator[Phases]:
    """What shows the running phase and its time, until the next or the end. Ctrl-C is heard throughout."""
    listen()
    if quiet or not Notes().isatty():
        yield Phases()
        return
    from rich.progress import SpinnerColumn, TextColumn, TimeElapsedColumn

    columns = (SpinnerColumn(), TextColumn("{task.description}", markup=False), TimeElapsedColumn())
    with _progress(*columns, transient=True) as shown:
        task = shown.add_task("")
        yield Phases(lambda words: shown.update(task, description=words))


@contextmanager
def bar(what: str, *, quiet: bool) -> Iterator[Callable[[int, int], None]]:
    """A function that shows how many of how many are done, with the time left, until the end."""
    listen()
    if quiet or not Notes().isatty():
        yield lambda _done, _all: None
        return
    from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeRemainingColumn

    columns = (TextColumn(what), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    with _progress(*columns) as progress:
        task = progress.add_task(what)
        yield lambda done, total: progress.update(task, completed=done, total=total)


def say(text: str, *, quiet: bool = False) -> None:
    """Words for the user, on stderr; where that takes none they are lost, and nothing else is."""
    if not quiet:
        print(text, file=Notes())
