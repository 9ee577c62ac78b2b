"""Signals while a release is handed over."""

from __future__ import annotations

import os
import signal

import pytest

from fim_private.cli.interruption import held


def test_ctrl_c_waits_until_a_file_is_in_place() -> None:
    done = []

    def hand_over() -> None:
        with held():
            os.kill(os.getpid(), signal.SIGINT)
            done.append("written")

    with pytest.raises(KeyboardInterrupt):
        hand_over()
    assert done == ["written"]
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def test_a_failure_meanwhile_is_told_and_handlers_are_put_back() -> None:
    before = [signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)]
    with pytest.raises(OSError, match="full"), held():
        raise OSError("full")
    assert [signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)] == before
