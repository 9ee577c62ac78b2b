"""The engine that reads and counts: this process, or a Spark cluster."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from typing import TYPE_CHECKING

from fim_private.cli.interruption import held, stop_if_heard
from fim_private.errors import UsageError, did_you_mean

if TYPE_CHECKING:
    from fim_private.counting import TransactionDatabase

ENGINES = ("local", "spark")
THIS_MACHINE = "local[*]"

Read = Callable[..., "TransactionDatabase"]


@contextmanager
def reader(engine: str, master: str | None, progress: Callable[[float], None] | None = None) -> Iterator[Read]:
    """A function that reads files with the options of `read_transactions`. At the end, what it read is gone.

    Args:
        engine: "local" or "spark".
        master: the address of the Spark cluster. None uses all cores of this machine.
        progress: called with the share of the file that was read, if that is known.

    Raises:
        UsageError: the engine does not exist, a master is given without Spark, or Spark or its Java is missing.
    """
    if engine not in ENGINES:
        raise UsageError(
            f"There is no engine {engine!r}.", f"{did_you_mean(engine, ENGINES)}Choose one of {', '.join(ENGINES)}."
        )
    if engine == "local":
        if master is not None:
            raise UsageError("--master is only for Spark.", "Add --engine spark, or leave out --master.")
        from fim_private.counting import as_database
        from fim_private.transactions.reading import read_transactions

        yield lambda files, **options: as_database(read_transactions(files, progress=progress, **options))
        return
    from fim_private.counting.spark.session import open_session, stop

    session = None
    try:
        # Spark's Java, if nobody waits for its start, would go on for ever. Spark also puts its own handler for Ctrl-C
        # in place.
        with held():
            session = open_session(master or THIS_MACHINE)
        from fim_private.counting.spark.reading import read_with_spark

        yield partial(read_with_spark, session)
    finally:
        if session is not None:
            stop(session)
        stop_if_heard()  # Spark may have raised an error of its own instead
