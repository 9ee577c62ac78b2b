"""Ctrl-C and other signals that end the program: one exception, raised at once except while a release is handed over.

So whatever ends the program early, no half of a file stays behind, and what was charged is said.
"""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType
from typing import NoReturn

HELD = tuple(getattr(signal, name) for name in ("SIGINT", "SIGTERM", "SIGHUP") if hasattr(signal, name))
"""Signals that end the program, and wait until a file is in place."""

_heard: int | None = None


class InterruptedByUser(BaseException):
    """One of these signals; not KeyboardInterrupt, which the command line library would answer in its own words."""

    def __init__(self, number: int = signal.SIGINT) -> None:
        super().__init__(number)
        self.exit_code = 128 + number


def listen() -> None:
    """Let the signals raise `InterruptedByUser`, but for those that this program was started to ignore (nohup).

    Called again once polars is imported: it puts a handler of its own in place for Ctrl-C, under which waiting for a
    file or for a thread is resumed instead of interrupted.
    """
    for number in HELD:
        if number == signal.SIGINT or signal.getsignal(number) is not signal.SIG_IGN:
            signal.signal(number, _interrupt)


def listen_no_more() -> None:
    """Let the signals end the process at once."""
    for number in HELD:
        if signal.getsignal(number) is not signal.SIG_IGN:
            signal.signal(number, signal.SIG_DFL)


def stop_if_heard() -> None:
    """Raise `InterruptedByUser` once more, if it was raised where nobody hears it, such as a compiler's callback."""
    if _heard is not None:
        raise InterruptedByUser(_heard)


@contextmanager
def held() -> Iterator[None]:
    """Let the signals that end the program wait meanwhile; a second one does not."""
    waiting: list[int] = []

    def wait(number: int, _frame: FrameType | None) -> None:
        if waiting:
            signal.signal(number, signal.SIG_DFL)
            os.kill(os.getpid(), number)
        waiting.append(number)

    before = {number: signal.signal(number, wait) for number in HELD}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, signal.SIG_DFL if handler is None else handler)
    if waiting:
        os.kill(os.getpid(), waiting[0])


def _interrupt(number: int, _frame: FrameType | None) -> NoReturn:
    global _heard  # noqa: PLW0603 - there is one process to end
    _heard = number
    # A second one ends the process at once, wherever it is: raised while this one is dealt with, it would show where.
    listen_no_more()
    raise InterruptedByUser(number)
