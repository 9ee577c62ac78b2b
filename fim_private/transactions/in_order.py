"""Work on the parts of something with all cores, and hand over the results in order."""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from typing import Any, TypeVar

Part = TypeVar("Part")
Result = TypeVar("Result")

THREADS = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
"""The cores that this process may use."""

_AHEAD = 2 * THREADS
"""The most parts that are in work, or done and not yet taken."""


def in_order(work: Callable[[Part], Result], parts: Iterable[Part]) -> Iterator[Result]:
    """work(part) for each part, in the order of the parts, as `map` does; several threads work at the same time.

    What goes wrong with a part, or while the next part is made, is raised in its turn: after all results before it.
    """
    source = iter(parts)
    waiting: deque[Future[Result]] = deque()
    failure: Exception | None = None
    more = True
    pool = ThreadPoolExecutor(THREADS)
    try:
        while True:
            while more and len(waiting) < _AHEAD:
                try:
                    waiting.append(pool.submit(work, next(source)))
                except StopIteration:
                    more = False
                except Exception as error:
                    more, failure = False, error
            if not waiting:
                break
            yield waiting.popleft().result()
    finally:
        pool.shutdown(cancel_futures=True)
    if failure is not None:
        raise failure


@contextmanager
def mapping(threads: int) -> Iterator[Callable[..., Iterable[Any]]]:
    """`map` with this many threads. For one, none is started: that takes longer than to count small data."""
    if threads <= 1:
        yield map
        return
    with ThreadPoolExecutor(threads) as pool:
        yield pool.map
