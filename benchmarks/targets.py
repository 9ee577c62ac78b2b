"""What was to be reached, and whether it was."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from benchmarks.peers import OURS, SHARED
from benchmarks.results import Measured, Results
from benchmarks.tasks import COUNTERS, MINERS, MLXTEND, SPECTRUM

DELIVERING = (*MINERS, MLXTEND, *COUNTERS, "Spark")
"""Peers that deliver itemsets, as this project does."""


@dataclass(frozen=True, kw_only=True)
class Target:
    """One line of the table of targets.

    Args:
        what: was asked.
        asked: the figure asked for.
        reached: the figure reached, in words.
        passed: whether it was reached; None if it was not measured.
    """

    what: str
    asked: str
    reached: str
    passed: bool | None

    @property
    def verdict(self) -> str:
        """In a word."""
        return {True: "passed", False: "**missed**", None: "not measured"}[self.passed]


def targets(results: Results) -> list[Target]:
    """All of them, in the order in which they were set."""
    return [
        _ratio(results, "all pairs of retail", "retail size 2 floor 1", DELIVERING, 6),
        _ratio(results, "all triples of retail", "retail size 3 floor 1", DELIVERING, 6),
        _ratio(results, "all pairs of 1 M baskets", "generated-1M size 2 floor 1", DELIVERING, 12),
        *(
            _ratio(
                results, f"retail, size {size}, floor {share:.2%}", f"retail size {size} floor {share:g}", MINERS, 2.5
            )
            for size in (2, 3)
            for share in (0.001, 0.0005, 0.0001)
        ),
        *(
            _ratio(results, f"mushroom, size {size}", f"mushroom size {size} floor 1", ("pyfim eclat",), 1)
            for size in (3, 4, 5)
        ),
        *(_spectrum(results, size) for size in (3, 4, 5)),
        *_whole(results),
        *_ten_million(results),
        _large(results),
    ]


def _ratio(results: Results, what: str, key: str, peers: tuple[str, ...], least: float) -> Target:
    """How many times quicker than the best of some peers, both warm."""
    task = results.of(key)
    ours, best = (task.of(OURS), task.best(peers)) if task else (None, None)
    asked = f"at least {least:g} x the best peer" if least > 1 else f"no slower than {peers[0]}"
    if ours is None or best is None or ours.warm is None or best.warm is None:
        return Target(what=what, asked=asked, reached="", passed=None)
    ratio = best.warm / ours.warm
    reached = f"{ratio:.1f} x {best.peer} ({ours.warm:.3f} s against {best.warm:.3f} s)"
    return Target(what=what, asked=asked, reached=reached, passed=ratio >= least)


def _spectrum(results: Results, size: int) -> Target:
    """Both without itemsets: how many have which count."""
    task = results.of(f"mushroom size {size} floor 1")
    ours, theirs = (task.of("fim_private, histogram"), task.of(SPECTRUM)) if task else (None, None)
    what, asked = f"mushroom, size {size}, neither delivering itemsets", f"no slower than {SPECTRUM}"
    if ours is None or theirs is None or ours.warm is None or theirs.warm is None:
        return Target(what=what, asked=asked, reached="", passed=None)
    ratio = theirs.warm / ours.warm
    reached = f"{ratio:.1f} x ({ours.warm:.3f} s against {theirs.warm:.3f} s)"
    return Target(what=what, asked=asked, reached=reached, passed=ratio >= 1)


def _whole(results: Results) -> Iterator[Target]:
    task = results.of("retail size 2 floor 1")
    ours = task.of(OURS) if task else None
    for name in ("DuckDB", "polars"):
        theirs = task.of(name) if task else None
        what, asked = "whole process, all pairs of retail", f"no slower than {name}"
        if ours is None or theirs is None or ours.whole is None or theirs.whole is None:
            yield Target(what=what, asked=asked, reached="", passed=None)
        else:
            reached = f"{ours.whole:.2f} s against {theirs.whole:.2f} s"
            yield Target(what=what, asked=asked, reached=reached, passed=ours.whole <= theirs.whole)


def _ten_million(results: Results) -> Iterator[Target]:
    task = results.of("generated-10M size 2 floor 1")
    ours: Measured | None = task.of(SHARED) if task else None
    warm, memory = (ours.warm, ours.memory) if ours else (None, None)
    read = (ours.reading_memory if ours else None) or 0
    yield Target(
        what="all pairs of 10 M baskets, counting alone, members shared",
        asked="under 10 s warm",
        reached=f"{warm:.1f} s" if warm is not None else "",
        passed=warm < 10 if warm is not None else None,
    )
    yield Target(
        what="all pairs of 10 M baskets, reading included, members shared",
        asked="at most 3 GB",
        reached=f"{memory / 1e9:.1f} GB, {read / 1e9:.1f} GB before counting began" if memory is not None else "",
        passed=memory <= 3e9 if memory is not None else None,
    )


def _large(results: Results) -> Target:
    what, asked = "100 M baskets mined (`mine --size 2 --top 100`)", "within 20 GB"
    large = results.extra.get("large")
    if not large:
        return Target(what=what, asked=asked, reached="`make bench LARGE=1` measures it", passed=None)
    if large["failure"]:
        return Target(what=what, asked=asked, reached=large["failure"], passed=False)
    reached = f"{large['memory'] / 1e9:.1f} GB, {large['seconds'] / 60:.0f} minutes"
    return Target(what=what, asked=asked, reached=reached, passed=large["memory"] <= 20e9)
