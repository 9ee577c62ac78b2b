"""A series of hostile inputs in one process: watched, limited, and every one of them to be made again."""

from __future__ import annotations

import os
import random
import resource
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

from tests.fuzz.targets import TARGETS


@dataclass
class Tally:
    """What a series came to.

    Args:
        target: what the inputs were given to.
        inputs: how many there were.
        outcomes: how often each kind of answer was given.
        broken: place in the series and what went wrong.
        longest: seconds that one input took at most.
        peak: mebibytes that the process took at most.
        seconds: that all of them took, with the start of their process.
    """

    target: str
    inputs: int = 0
    outcomes: Counter[str] = field(default_factory=Counter)
    broken: list[str] = field(default_factory=list)
    longest: float = 0.0
    peak: float = 0.0
    seconds: float = 0.0

    def add(self, other: Tally) -> None:
        self.inputs += other.inputs
        self.outcomes.update(other.outcomes)
        self.broken += other.broken
        self.longest = max(self.longest, other.longest)
        self.peak = max(self.peak, other.peak)
        self.seconds += other.seconds


def run_series(
    target: str, *, seed: int, first: int, inputs: int, before: Callable[[int], None] = lambda _place: None
) -> Tally:
    """Give a target so many inputs, from a place of its series on.

    Args:
        target: a name of `TARGETS`.
        seed: of the series.
        first: the first place.
        inputs: how many.
        before: told each place before it is tried.
    """
    attempt, _ = TARGETS[target]
    tally = Tally(target)
    with _standard_error() as printed:
        for place in range(first, first + inputs):
            before(place)
            began = time.perf_counter()
            try:
                tally.outcomes[attempt(random.Random(f"{seed} {target} {place}"))] += 1
            except Exception as error:
                tally.broken.append(f"{target} {place}: {type(error).__name__}: {str(error)[:200]}")
            except BaseException as error:  # Polars' panics are of this kind
                if isinstance(error, KeyboardInterrupt):
                    raise
                tally.broken.append(f"{target} {place}: {type(error).__name__}")
            tally.longest = max(tally.longest, time.perf_counter() - began)
            if words := printed():
                tally.broken.append(f"{target} {place}: printed: {words[:200]}")
    tally.inputs = inputs
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    tally.peak = peak / (1 << 10 if sys.platform != "darwin" else 1 << 20)
    return tally


@contextmanager
def _standard_error() -> Iterator[Callable[[], str]]:
    """What was printed to the process's standard error since the last time, by whomever."""
    kept = os.dup(2)
    with tempfile.TemporaryFile() as file:
        os.dup2(file.fileno(), 2)
        seen = 0

        def printed() -> str:
            nonlocal seen
            size = os.fstat(file.fileno()).st_size
            words = os.pread(file.fileno(), size - seen, seen)
            seen = size
            return words.decode(errors="replace")

        try:
            yield printed
        finally:
            os.dup2(kept, 2)
            os.close(kept)
