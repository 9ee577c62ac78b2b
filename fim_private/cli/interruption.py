"""Ctrl-C: one exception for it, heard at once in every phase."""

from __future__ import annotations

import signal
from types import FrameType
from typing import NoReturn


class InterruptedByUser(BaseException):
    """Ctrl-C; not KeyboardInterrupt, which the command line library would answer in its own words."""


def listen() -> None:
    """Let Ctrl-C raise `InterruptedByUser`.

    Called again once polars is imported: it puts a handler of its own in place, under which waiting for a file or for a
    thread is resumed instead of interrupted.
    """
    signal.signal(signal.SIGINT, _interrupt)


def _interrupt(_signal: int, _frame: FrameType | None) -> NoReturn:
    raise InterruptedByUser
