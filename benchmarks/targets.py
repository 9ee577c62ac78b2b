"""What was to be reached, and whether it was."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from benchmarks.data import GENERATED
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
    reached: str = ""
    passed: bool | None = None

    @property
    def verdict(self) -> str:
        """In a word."""
        return {True: "passed", False: "**missed**", None: "not measured"}[self.passed]


def targets(results: Results) -> list[Target]:
    """All of them, in the order in which they were set."""
    return [
        _ratio(results, "all pairs of retail", "retail size 2 floor 1", DELIVERING, 8),
        _ratio(results, "all triples of retail", "retail size 3 floor 1", DELIVERING, 6),
        _ratio(results, "all pairs of 1 M baskets", "generated-1M size 2 floor 1", DELIVERING, 12),
        *(
            _ratio(
                results, f"retail, size {size}, floor {share:.2%}", f"retail size {size} floor {share:g}", MINERS, 2.5
            )
            for size in (2, 3)
            for share in (0.001, 0.0005, 0.0001)
        ),
        *(_ratio(results, f"mushroom, size {size}", f"mushroom size {size} floor 1", MINERS, 1) for size in (3, 4, 5)),
        *(_spectrum(results, size) for size in (3, 4, 5)),
        *_whole(results),
        *_ten_million(results),
        *_starts(results),
        *_draws(results),
        _sizes_up_to_four(results),
        *_readings(results),
        *_growth(results),
        _large(results),
    ]


def _ratio(results: Results, what: str, key: str, peers: tuple[str, ...], least: float) -> Target:
    """How many times quicker than the best of some peers, both warm."""
    task = results.of(key)
    ours, best = (task.of(OURS), task.best(peers)) if task else (None, None)
    asked = f"at least {least:g} x the best peer" if least > 1 else "no slower than the best peer"
    return _times_quicker(what, asked, ours, best, least, named=True)


def _times_quicker(
    what: str, asked: str, ours: Measured | None, theirs: Measured | None, least: float, *, named: bool
) -> Target:
    if ours is None or theirs is None or ours.warm is None or theirs.warm is None:
        return Target(what=what, asked=asked)
    ratio = theirs.warm / ours.warm
    peer = f" {theirs.peer}" if named else ""
    reached = f"{ratio:.1f} x{peer} ({ours.warm:.3f} s against {theirs.warm:.3f} s)"
    return Target(what=what, asked=asked, reached=reached, passed=ratio >= least)


def _spectrum(results: Results, size: int) -> Target:
    """Both without itemsets: how many have which count."""
    task = results.of(f"mushroom size {size} floor 1")
    ours, theirs = (task.of("fim_private, histogram"), task.of(SPECTRUM)) if task else (None, None)
    what, asked = f"mushroom, size {size}, neither delivering itemsets", f"no slower than {SPECTRUM}"
    return _times_quicker(what, asked, ours, theirs, 1, named=False)


def _whole(results: Results) -> Iterator[Target]:
    task = results.of("retail size 2 floor 1")
    ours = task.of(OURS) if task else None
    for name in ("DuckDB", "polars"):
        theirs = task.of(name) if task else None
        what, asked = "whole process, all pairs of retail", f"no slower than {name}"
        if ours is None or theirs is None or ours.whole is None or theirs.whole is None:
            yield Target(what=what, asked=asked)
        else:
            reached = f"{ours.whole:.2f} s against {theirs.whole:.2f} s"
            yield Target(what=what, asked=asked, reached=reached, passed=ours.whole <= theirs.whole)


def _ten_million(results: Results) -> Iterator[Target]:
    task = results.of("generated-10M size 2 floor 1")
    ours: Measured | None = task.of(SHARED) if task else None
    warm, memory = (ours.warm, ours.memory) if ours else (None, None)
    read = (ours.reading_memory if ours else None) or 0
    what = "all pairs of 10 M baskets, counting alone, members shared"
    yield _at_most(what, 10, warm, "under 10 s warm", lambda seconds: f"{seconds:.1f} s")
    what = "all pairs of 10 M baskets, reading included, members shared"
    shown = f"{{:.1f}} GB, {read / 1e9:.1f} GB before counting began"
    yield _at_most(what, 3e9, memory, "at most 3 GB", lambda most: shown.format(most / 1e9))


def _starts(results: Results) -> Iterator[Target]:
    """Processor seconds of commands on small data."""
    for name, what, most in (
        ("--help", "`--help`", 0.15),
        ("plan", "`plan`, which reads no data", 0.4),
        ("mine", "`mine` on groceries", 0.7),
        ("first run", "`mine` on groceries, the first run ever, with nothing compiled", 3.5),
    ):
        reached = results.extra.get("starts", {}).get(name)
        yield _at_most(what, most, reached, f"at most {most:g} s of processor", lambda seconds: f"{seconds:.2f} s")


def _draws(results: Results) -> Iterator[Target]:
    """The noise for items of which only the number is known."""
    for number, most in ((65_536, 0.1), (10_000_000, 2.0)):
        reached = results.extra.get("draws", {}).get(str(number))
        what = f"noise for {number:,} anonymous items"
        yield _at_most(what, most, reached, f"at most {most:g} s", lambda seconds: f"{seconds:.3f} s")


def _at_most(what: str, most: float, reached: float | None, asked: str, shown: Callable[[float], str]) -> Target:
    if reached is None:
        return Target(what=what, asked=asked)
    return Target(what=what, asked=asked, reached=shown(reached), passed=reached <= most)


def _sizes_up_to_four(results: Results) -> Target:
    what, asked = "retail, sizes 1 to 4, floor 0.05%", "at least 3 x the best of rusket, fastapriori and pyfim"
    seconds = dict(results.extra.get("sizes up to four", {}))
    ours = seconds.pop(OURS, None)
    if ours is None or not seconds:
        return Target(what=what, asked=asked)
    best = min(seconds, key=seconds.__getitem__)
    reached = f"{seconds[best] / ours:.1f} x {best} ({ours:.3f} s against {seconds[best]:.3f} s)"
    return Target(what=what, asked=asked, reached=reached, passed=seconds[best] >= 3 * ours)


def _readings(results: Results) -> Iterator[Target]:
    for name, least in (("FIMI", 350), ("CSV", 250)):
        what, asked = f"reading 10 M baskets, {name}", f"at least {least} MB/s"
        got = results.extra.get("readings", {}).get(name)
        rate = got["bytes"] / got["seconds"] / 1e6 if got else None
        reached = f"{rate:.0f} MB/s, {got['memory'] / 1e9:.2f} GB held" if got else ""
        yield Target(what=what, asked=asked, reached=reached, passed=rate >= least if rate is not None else None)


def _growth(results: Results) -> Iterator[Target]:
    """Whole runs of `mine` between 1 and 10 M baskets, and up to 100 M if these were mined."""
    rows = {row["data"]: row for row in results.extra.get("growth", [])}
    small = rows.get("generated-1M")
    largest = rows.get("generated-100M") or rows.get("generated-10M")
    time, memory = "time of `mine` from 1 M baskets on", "memory of `mine` per million baskets"
    linear, slim = "linear: at most 1.2 times that of 1 M, per basket", "at most 80 MB"
    if small is None or largest is None:
        yield from (Target(what=time, asked=linear), Target(what=memory, asked=slim))
        return
    times = GENERATED[largest["data"]] / GENERATED[small["data"]]
    slower = largest["seconds"] / small["seconds"] / times
    each = (largest["memory"] - small["memory"]) / (GENERATED[largest["data"]] - GENERATED[small["data"]])
    yield Target(
        what=time,
        asked=linear,
        reached=f"{slower:.2f} times, at {GENERATED[largest['data']]:,} baskets in {largest['seconds']:.1f} s",
        passed=slower <= 1.2,
    )
    yield Target(what=memory, asked=slim, reached=f"{each:.0f} MB", passed=each <= 80)


def _large(results: Results) -> Target:
    what, asked = "100 M baskets mined (`mine --size 2 --top 100`)", "in 55 s and 8 GB"
    large = results.extra.get("large")
    if not large:
        return Target(what=what, asked=asked, reached="`make bench LARGE=1` measures it", passed=None)
    if large["failure"]:
        return Target(what=what, asked=asked, reached=large["failure"], passed=False)
    reached = f"{large['seconds']:.0f} s, {large['memory'] / 1e9:.1f} GB"
    return Target(what=what, asked=asked, reached=reached, passed=large["memory"] <= 8e9 and large["seconds"] <= 55)
