"""Which engine reads and counts: this process, or a Spark cluster."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from typing import TYPE_CHECKING

from fim_private.cli.interruption import listen
from fim_private.errors import UsageError, did_you_mean

if TYPE_CHECKING:
    from fim_private.counting import TransactionDatabase

ENGINES = ("local", "spark")
THIS_MACHINE = "local[*]"

Read = Callable[..., "TransactionDatabase"]


@contextmanager
def reader(engine: str, master: str | None, progress: Callable[[float], None] | None = None) -> Iterator[Read]:
    """What reads a file with the options of `read_transactions`; whatever it read is gone at the end.

    Args:
        engine: "local" or "spark".
        master: of Spark; None for all cores of this machine.
        progress: told what share of the file was read, where that is known.

    Raises:
        UsageError: no such engine, a master without Spark, or Spark or its Java is missing.
    """
    if engine not in ENGINES:
        raise UsageError(
            f"There is no engine {engine!r}.", f"{did_you_mean(engine, ENGINES)}Choose one of {', '.join(ENGINES)}."
        )
    if engine == "local":
        if master is not None:
            raise UsageError("--master is for Spark.", "Give --engine spark too, or leave it out.")
        from fim_private.counting import as_database
        from fim_private.transactions import read_transactions

        yield lambda file, **options: as_database(read_transactions(file, progress=progress, **options))
        return
    from fim_private.counting.spark.session import open_session, stop

    session = open_session(master or THIS_MACHINE)
    # Spark takes Ctrl-C for itself when it starts.
    listen()
    try:
        from fim_private.counting.spark.reading import read_with_spark

        yield partial(read_with_spark, session)
    finally:
        stop(session)
