"""Ctrl-C and other signals that end the program. They raise one exception, but wait while a release is handed over.

So an early end leaves no half-written file, and the program says what was charged.
"""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType
from typing import NoReturn

HELD = tuple(getattr(signal, name) for name in ("SIGINT", "SIGTERM", "SIGHUP") if hasattr(signal, name))
"""Signals that end the program. They wait while a file is put in place."""

_heard: int | None = None


class InterruptedByUser(BaseException):
    """One of these signals came. Not a KeyboardInterrupt: the command line library would print its own words."""

    def __init__(self, number: int = signal.SIGINT) -> None:
        super().__init__(number)
        self.exit_code = 128 + number


def listen() -> None:
    """Let the signals raise `InterruptedByUser`, except those that the program was started to ignore (nohup).

    This is called again after polars is imported. Polars puts its own handler for Ctrl-C in place, and under that
    handler a wait for a file or a thread goes on instead of being interrupted.
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
    """Raise `InterruptedByUser` again if it was lost where it was raised, such as in a compiler's callback."""
    if _heard is not None:
        raise InterruptedByUser(_heard)


@contextmanager
def held() -> Iterator[None]:
    """Let the first signal that ends the program wait until the end of the context. A second signal does not wait."""
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
    # A second signal ends the process at once. An exception raised while this one is handled would show a traceback.
    listen_no_more()
    raise InterruptedByUser(number)
