"""Run the missing cells of a comparison in parallel, and return the whole table."""

from __future__ import annotations

import multiprocessing
import os
import signal
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager, suppress
from multiprocessing import resource_tracker
from multiprocessing.connection import Connection
from pathlib import Path
from threading import Thread
from typing import Any

import polars as pl

from fim_private.comparison.exact_counts import ExactCounts
from fim_private.comparison.settings import Cell, Settings, cells_of
from fim_private.comparison.store import Store, key_of
from fim_private.comparison.trials import Row, run_cell
from fim_private.errors import InputError
from fim_private.mechanisms.registry import find

Advance = Callable[[int, int], None]
"""Called with the number of finished cells and the number of all cells."""

SAMPLED, SAMPLING_SECONDS = 12, 10.0
"""The time of all runs is estimated from one run of `SAMPLED` cells, and from what fits into the seconds."""
SAMPLED_NAMES = 10**6
"""The time of runs that give noise to every name is estimated from a run with this many names: a second or two."""

_worker: tuple[Settings, dict[str, ExactCounts]]


def run(
    settings: Settings,
    counts: Sequence[ExactCounts],
    folder: Path,
    *,
    fingerprint: dict[str, Any],
    processes: int,
    advance: Advance = lambda _done, _all: None,
    expect: Callable[[int, float], None] = lambda _runs, _seconds: None,
    owner_only: bool = False,
) -> pl.DataFrame:
    """Run all trials and return their table. Cells that the folder already holds are not run again.

    Args:
        settings: what is compared.
        counts: the exact counts of each data set.
        folder: where finished cells and the table are kept.
        fingerprint: identifies the data as read. The settings add their own.
        processes: how many processes run at once.
        advance: called to report progress.
        expect: called once, before the runs, with their number and about how many seconds they will take.
        owner_only: make the files in the folder readable by their owner only.

    Raises:
        InputError: the disk refuses, or a process was killed.
        UsageError: the folder holds another comparison, or another process is writing to it.
    """
    by_name = {exact.name: exact for exact in counts}
    jobs = [(exact.name, cell) for exact in counts for cell in cells_of(settings, exact.items)]
    store = Store(folder, {**settings.fingerprint(), **fingerprint}, owner_only=owner_only)
    missing = [(name, cell) for name, cell in jobs if key_of(name, cell) not in store.finished]
    with store.locked():
        done = len(jobs) - len(missing)
        advance(done, len(jobs))
        if missing:
            seconds = _seconds_one_by_one(settings, by_name, missing)
            expect(settings.trials * len(missing), seconds / processes)
            context = multiprocessing.get_context("spawn")
            watched, held = context.Pipe(duplex=False)
            pool = ProcessPoolExecutor(
                processes,
                mp_context=context,
                initializer=_set_up,
                initargs=(settings, by_name, watched),
            )
            try:
                # The long cells come first, so that no process is left alone with a long cell at the end.
                missing.sort(key=lambda job: -job[1].top)
                with _deaf_to_interrupts():
                    futures = [pool.submit(_run, name, cell) for name, cell in missing]
                for future in as_completed(futures):
                    store.add(future.result())
                    done += 1
                    advance(done, len(jobs))
            except BaseException as error:
                held.close()  # ends the workers, because nobody waits for their cells
                if isinstance(error, BrokenProcessPool):
                    raise InputError(
                        "A process that ran mechanisms was killed, most likely because memory ran out.",
                        "Run it again, with fewer --processes. Finished runs are kept.",
                    ) from None
                raise
            finally:
                pool.shutdown(wait=True, cancel_futures=True)
        return store.finish([key_of(name, cell) for name, cell in jobs])


def _seconds_one_by_one(
    settings: Settings, counts: Mapping[str, ExactCounts], jobs: Sequence[tuple[str, Cell]]
) -> float:
    """About how long all cells take, one after the other. One run of a few cells is timed and thrown away.

    A few cells of long lists of names can take longer than all others. A mechanism that gives noise to every name takes
    at most time in proportion to them, so one cell of each such mechanism and k stands for shorter and longer lists.
    """
    others: list[tuple[str, Cell]] = []
    lists: dict[tuple[str, str, int], dict[int, Cell]] = {}
    for name, cell in jobs:
        if cell.padded and find(cell.plan(settings).mechanism_name).most_names:
            lists.setdefault((name, cell.mechanism, cell.top), {})[cell.universe_items or 0] = cell
        else:
            others.append((name, cell))
    found: list[float] = []
    begun = time.monotonic()
    for name, cell in others[:: max(1, len(others) // SAMPLED)]:
        found.append(_seconds_of(cell, settings, counts[name]))
        if time.monotonic() - begun > SAMPLING_SECONDS:
            break
    seconds = len(others) * sum(found) / max(1, len(found))
    for (name, _mechanism, _top), cells in lists.items():
        names = max((names for names in cells if names <= SAMPLED_NAMES), default=min(cells))
        seconds += _seconds_of(cells[names], settings, counts[name]) * sum(cells) / names
    return seconds


def _seconds_of(cell: Cell, settings: Settings, counts: ExactCounts) -> float:
    """About how long a cell takes, from one run of it."""
    before = time.monotonic()
    (row,) = run_cell(cell, settings, counts, trials=1)
    return time.monotonic() - before + (settings.trials - 1) * float(row["seconds"])


@contextmanager
def _deaf_to_interrupts() -> Iterator[None]:
    """Processes started in this context ignore Ctrl-C, even while they import. This process hears it afterwards."""
    resource_tracker.ensure_running()  # started here, because it would unblock Ctrl-C by itself
    heard = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT}) if hasattr(signal, "pthread_sigmask") else None
    try:
        yield
    finally:
        if heard is not None:
            signal.pthread_sigmask(signal.SIG_SETMASK, heard)


def _set_up(settings: Settings, counts: dict[str, ExactCounts], watched: Connection) -> None:
    global _worker  # noqa: PLW0603 - a worker process has one task, which every cell shares
    _worker = settings, counts
    # Ctrl-C reaches every process of a terminal. The first process decides when the others end.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    if multiprocessing.parent_process() is not None:
        Thread(target=_end_when_let_go, args=(watched,), daemon=True).start()


def _end_when_let_go(watched: Connection) -> None:
    """End at once if the first process gives up or is killed, because nobody else would end its workers."""
    with suppress(EOFError, OSError):
        watched.recv_bytes()
    os._exit(1)


def _run(name: str, cell: Cell) -> list[Row]:
    settings, counts = _worker
    return run_cell(cell, settings, counts[name])
