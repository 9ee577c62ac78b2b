"""Show on stderr which phase is running. Progress never shows anything of the data.

People at a terminal see it all the time. A log gets a line every ten seconds, later every minute, so a short run
leaves none.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from threading import Event, Thread
from typing import TextIO, cast

from fim_private.cli.interruption import listen, stop_if_heard
from fim_private.printable import printable

LOG_SECONDS = 10.0
"""A log gets a line as often as this."""
WORTH_SAYING = 2.0
"""After this many seconds, the time left is shown."""


class Notes:
    """Standard error as a file that never fails, so that no release is lost to a full log or a closed pipe."""

    @property
    def encoding(self) -> str:
        """The encoding of standard error."""
        return getattr(sys.stderr, "encoding", None) or "utf-8"

    def isatty(self) -> bool:
        """Whether standard error is a terminal."""
        return sys.stderr is not None and sys.stderr.isatty()

    def write(self, text: str) -> int:
        """Write the text if that is possible."""
        self._try(lambda stream: stream.write(text))
        return len(text)

    def flush(self) -> None:
        """Flush the stream if that is possible."""
        self._try(lambda stream: stream.flush())

    @staticmethod
    def _try(action: Callable[[TextIO], object]) -> None:
        if sys.stderr is not None:
            try:
                action(sys.stderr)
            except (OSError, ValueError):
                # Python would try again at its end, and the run would then fail.
                sys.stderr = None


class Phases:
    """Shows which phase is running, and how far it is if that is known.

    `show` replaces the words shown last; by default nothing is shown.
    """

    def __init__(self, show: Callable[[str], None] = lambda _words: None) -> None:
        self._show = show
        self._phase, self._began = "", 0.0

    def __call__(self, phase: str) -> None:
        """Begin a phase, unless Ctrl-C was heard and lost in the one before."""
        stop_if_heard()
        self._phase, self._began = phase, time.monotonic()
        self._show(f"{phase} ...")

    def share(self, done: float) -> None:
        """Show how much of the phase is done, from 0 to 1. A share of bytes or runs, never of counts."""
        passed = time.monotonic() - self._began
        if passed > WORTH_SAYING and 0 < done < 1:
            self._show(f"{self._phase} ... {done:.0%}, {spoken(passed * (1 - done) / done)} left")


def spoken(seconds: float) -> str:
    """A time in words."""
    return f"{seconds:.0f} s" if seconds < 100 else f"{seconds / 60:.0f} min"


class _Parts:
    """How many parts of how many are done, in words.

    Args:
        what: is done.
    """

    def __init__(self, what: str) -> None:
        self._what = what
        self._before: tuple[int, float] | None = None

    def words(self, done: int, total: int) -> str:
        """With the time left. Parts that were done before the first call took no time now."""
        self._before = self._before or (done, time.monotonic())
        now, passed = done - self._before[0], time.monotonic() - self._before[1]
        known = now > 0 and done < total and passed > WORTH_SAYING
        left = f", {spoken(passed * (total - done) / now)} left" if known else ""
        return f"{self._what} ... {done:,} of {total:,}{left}"


@contextmanager
def _logged() -> Iterator[Callable[[str], None]]:
    """A function that replaces the words for a log. The latest words are written every ten seconds, with the time."""
    latest, begun, ended = [""], time.monotonic(), Event()

    def write() -> None:
        said = ""
        while not ended.wait(LOG_SECONDS):
            words = f"{latest[0]} ({spoken(time.monotonic() - begun)} so far)"
            if latest[0] and words != said:
                say(words)
                said = words

    def show(words: str) -> None:
        latest[0] = words

    writer = Thread(target=write, daemon=True)
    writer.start()
    try:
        yield show
    finally:
        ended.set()
        writer.join(timeout=1)  # a full pipe may hold it up


@contextmanager
def phases(*, quiet: bool) -> Iterator[Phases]:
    """An object that shows the running phase and its time. Ctrl-C works throughout, also in the last phase."""
    listen()
    with _shown(quiet=quiet) as show:
        yield Phases(show)
    stop_if_heard()


@contextmanager
def _shown(*, quiet: bool) -> Iterator[Callable[[str], None]]:
    """A function that replaces the words shown last."""
    if quiet:
        yield lambda _words: None
        return
    if not Notes().isatty():
        with _logged() as show:
            yield show
        return
    from rich.console import Console
    from rich.progress import Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

    columns = (SpinnerColumn(), TextColumn("{task.description}", markup=False), TimeElapsedColumn())
    console = Console(file=cast(TextIO, Notes()))
    # Rich must not redirect standard error, because `Notes` writes to it.
    with Progress(*columns, console=console, transient=True, redirect_stdout=False, redirect_stderr=False) as shown:
        task = shown.add_task("")
        yield lambda words: shown.update(task, description=words)


@contextmanager
def bar(what: str, *, quiet: bool) -> Iterator[Callable[[int, int], None]]:
    """A function that shows how many parts of how many are done, and the time left."""
    listen()
    parts = _Parts(what)
    with _shown(quiet=quiet) as show:
        yield lambda done, total: show(parts.words(done, total))


def say(text: str, *, quiet: bool = False) -> None:
    """Print words for the user on stderr. If stderr cannot be written, only these words are lost.

    They may hold the name of a file, which must not steer the terminal.
    """
    if not quiet:
        print("\n".join(map(printable, text.split("\n"))), file=Notes())
