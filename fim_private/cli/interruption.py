"""Ctrl-C: one exception for it, heard at once in every phase except while a release is handed over."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType
from typing import NoReturn

HELD = tuple(getattr(signal, name) for name in ("SIGINT", "SIGTERM", "SIGHUP") if hasattr(signal, name))
"""Signals that wait until a file is in place."""

_heard = False


class InterruptedByUser(BaseException):
    """Ctrl-C; not KeyboardInterrupt, which the command line library would answer in its own words."""


def listen() -> None:
    """Let Ctrl-C raise `InterruptedByUser`.

    Called again once polars is imported: it puts a handler of its own in place, under which waiting for a file or for a
    thread is resumed instead of interrupted.
    """
    signal.signal(signal.SIGINT, _interrupt)


def stop_if_heard() -> None:
    """Raise `InterruptedByUser` once more, if it was raised where nobody hears it, such as a compiler's callback."""
    if _heard:
        raise InterruptedByUser


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


def _interrupt(_signal: int, _frame: FrameType | None) -> NoReturn:
    global _heard  # noqa: PLW0603 - there is one Ctrl-C
    _heard = True
    # A second one ends the process at once, wherever it is: raised while this one is dealt with, it would show where.
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    raise InterruptedByUser
