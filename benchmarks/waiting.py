"""What a person waits for: the start of a command, noise for many unknown items, reading, and whole runs as data grows.

    python -m benchmarks.waiting draws NUMBER | read FILE | sizes PEER FILE FLOOR | threads FILE SIZE
        | parts FILE FLOOR | profile FILE

measures one of them in a process of its own and prints one line of JSON.
"""

from __future__ import annotations

import builtins
import contextlib
import io
import json
import runpy
import statistics
import sys
import tempfile
import time
from collections.abc import Callable, Mapping
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from benchmarks.data import GENERATED, SOURCES, prepare
from benchmarks.measure import peak_memory
from benchmarks.peers import OURS, load_peer
from benchmarks.running import Ended, run
from benchmarks.tasks import MINE_PAIRS

STARTS = 7
PROGRAM = [sys.executable, "-m", "fim_private"]
PLAN = ["plan", "--size", "2", "--top", "20", "--epsilon", "1", "--delta", "1e-6", "--unit", "transaction"]
DRAWS = (65_536, 10_000_000)
UP_TO_FOUR = (OURS, "pyfim eclat", "rusket fpgrowth", "fastapriori")
GROWTH = ("generated-100k", "generated-1M", "generated-10M")
SHARED_OUT = (
    ("retail", 2),
    ("retail", 3),
    ("kosarak-head", 2),
    ("online-retail-sales-baskets", 2),
    ("generated-10M", 2),
)
"""Data, most of it skewed, and the size of the itemsets that threads count together."""
LOOPS = 5
"""How many of the loops that take longest to compile are named."""


def starts(groceries: Path) -> dict[str, float]:
    """Processor seconds of commands, each the median of several; and of the first run ever, with nothing compiled."""
    mine = ["mine", str(groceries), *MINE_PAIRS, "--quiet"]
    _well(run([*PROGRAM, *mine], 120))  # compiles what is missing
    seconds = {
        name: statistics.median(_well(run([*PROGRAM, *command], 60)).processor for _ in range(STARTS))
        for name, command in {"--help": ["--help"], "plan": PLAN, "mine": mine}.items()
    }
    with tempfile.TemporaryDirectory() as folder:
        seconds["first run"] = _well(run([*PROGRAM, *mine], 120, {"NUMBA_CACHE_DIR": folder})).processor
    return seconds


def profiles(groceries: Path) -> dict[str, dict[str, Any]]:
    """Where the processor seconds of `mine` go, and those of the first run ever."""
    found = {"mine": _in_own_process("profile", groceries)}
    with tempfile.TemporaryDirectory() as folder:
        found["first run"] = _in_own_process("profile", groceries, environment={"NUMBA_CACHE_DIR": folder})
    return found


def speed_ups(folder: Path) -> list[dict[str, Any]]:
    """Seconds, warm, in which one thread and all of them find all itemsets of data, as far as it is there."""
    rows = []
    for name, size in SHARED_OUT:
        if name in GENERATED or (folder / SOURCES[name]).exists():
            row = _in_own_process("threads", prepare(name, folder), size)
            rows.append({"data": name, "size": size, **row})
    return rows


def draws() -> dict[str, float]:
    """Seconds of this many exact draws, by their number."""
    return {str(number): _in_own_process("draws", number)["seconds"] for number in DRAWS}


def readings(numbers: Path) -> dict[str, dict[str, float]]:
    """How a file of numbers is read, as it is and as CSV: seconds, bytes of the file, and peak memory."""
    commas = numbers.with_suffix(".csv")
    if not commas.exists():
        part = commas.with_name(commas.name + ".part")
        with numbers.open("rb") as file, part.open("wb") as copy:
            for block in iter(lambda: file.read(1 << 24), b""):
                copy.write(block.replace(b" ", b","))
        part.replace(commas)
    return {name: _in_own_process("read", path) for name, path in (("FIMI", numbers), ("CSV", commas))}


def sizes_up_to_four(path: Path, floor: int) -> dict[str, float]:
    """Seconds, warm, in which each of the quickest finds all itemsets of sizes 1 to 4, as far as they are installed."""
    found = {peer: _in_own_process("sizes", peer, path, floor) for peer in UP_TO_FOUR}
    return {peer: got["seconds"] for peer, got in found.items() if "seconds" in got}


def parts_of_counting(path: Path, floor: int) -> dict[str, dict[str, float]]:
    """Seconds, warm: of the steps that find all pairs, and of each size from 1 to 4 above the floor."""
    return _in_own_process("parts", path, floor)


def growth(folder: Path, *, large: Mapping[str, Any] | None) -> list[dict[str, Any]]:
    """`mine --size 2 --top 100` as a whole on more and more baskets: seconds, also by Spark here, and peak memory.

    Args:
        folder: of the data.
        large: what `mine_large` measured, if it did.
    """
    rows: list[dict[str, Any]] = []
    for name in GROWTH:
        command = [*PROGRAM, "mine", str(prepare(name, folder)), *MINE_PAIRS, "--quiet"]
        ended = _well(run(command, 600))
        rows.append({"data": name, "seconds": ended.seconds, "memory": ended.memory})
        if find_spec("pyspark"):
            rows[-1]["spark"] = _well(run([*command, "--engine", "spark"], 600)).seconds
    if large and not large["failure"]:
        rows.append({name: large[name] for name in ("data", "seconds", "memory")})
    return rows


def _well(ended: Ended) -> Ended:
    if ended.failure is not None:
        raise RuntimeError(ended.failure)
    return ended


def _in_own_process(*arguments: object, environment: Mapping[str, str] | None = None) -> dict[str, Any]:
    command = [sys.executable, "-m", "benchmarks.waiting", *map(str, arguments)]
    got: dict[str, Any] = json.loads(_well(run(command, 600, environment)).output.splitlines()[-1])
    return got


def _warm(work: Callable[[], object]) -> float:
    """The median seconds of five runs after a first one, which compiles."""
    times = []
    for _ in range(6):
        began = time.perf_counter()
        work()
        times.append(time.perf_counter() - began)
    return statistics.median(times[1:])


def _draws(number: str) -> dict[str, float]:
    from fim_private.randomness import SecureRandomness  # noqa: PLC0415 - each measurement loads what it needs
    from fim_private.randomness.gaussian_vector import sample_discrete_gaussians  # noqa: PLC0415 - as above

    sample_discrete_gaussians(400, min(int(number), 1 << 20), SecureRandomness())  # loads what is compiled
    began = time.perf_counter()
    sample_discrete_gaussians(400, int(number), SecureRandomness())
    return {"seconds": time.perf_counter() - began}


def _read(name: str) -> dict[str, float]:
    from fim_private.transactions.reading import read_transactions  # noqa: PLC0415 - as above

    path = Path(name)
    kind = "fimi" if path.suffix == ".dat" else "basket"
    with path.open("rb") as file:
        read_transactions(io.BytesIO(file.read(1 << 22)), format=kind)  # loads what is compiled
    began = time.perf_counter()
    read_transactions(path, format=kind)
    seconds = time.perf_counter() - began
    return {"seconds": seconds, "bytes": path.stat().st_size, "memory": peak_memory()}


def _sizes(peer: str, name: str, floor: str) -> dict[str, Any]:
    try:
        loaded = load_peer(peer)
    except ImportError as error:
        return {"skipped": f"not installed ({error.name})"}
    data = loaded.load(Path(name))
    find: Callable[[], object]
    if peer == "pyfim eclat":
        import fim  # noqa: PLC0415 - only where it is measured

        find = lambda: fim.eclat(data, supp=-int(floor), zmin=1, zmax=4, report="a")  # noqa: E731
    elif peer == "rusket fpgrowth":
        find = lambda: loaded.count(data, 4, int(floor))  # noqa: E731 - of all sizes up to the one asked for
    else:
        sizes = (1, 2, 3, 4) if peer == OURS else (2, 3, 4)
        find = lambda: [loaded.count(data, size, int(floor)) for size in sizes]  # noqa: E731
    return {"seconds": _warm(find)}


def _threads(name: str, size: str) -> dict[str, float]:
    from fim_private.counting.local.queries import find_itemsets  # noqa: PLC0415 - as above
    from fim_private.counting.local.work import THREADS  # noqa: PLC0415 - as above
    from fim_private.transactions.reading import read_transactions  # noqa: PLC0415 - as above

    transactions = read_transactions(Path(name))
    times: dict[int, list[float]] = {1: [], THREADS: []}
    for _ in range(6):
        for threads, seconds in times.items():
            began = time.perf_counter()
            find_itemsets(transactions, int(size), threads=threads)
            seconds.append(time.perf_counter() - began)
    one, several = (statistics.median(seconds[1:]) for seconds in times.values())
    return {"threads": THREADS, "one": one, "all": several}


def _parts(name: str, floor: str) -> dict[str, dict[str, float]]:
    from fim_private.counting.local.index import index  # noqa: PLC0415 - as above
    from fim_private.counting.local.queries import find_itemsets  # noqa: PLC0415 - as above
    from fim_private.counting.local.task import Task  # noqa: PLC0415 - as above
    from fim_private.counting.local.work import THREADS  # noqa: PLC0415 - as above
    from fim_private.transactions.reading import read_transactions  # noqa: PLC0415 - as above

    transactions = read_transactions(Path(name))
    ranked, found = index(transactions), find_itemsets(transactions, 2)
    ranking, lists = _warm(lambda: index(transactions)), _warm(lambda: Task(ranked, 2, threads=THREADS))
    pairs = {
        "ranking items": ranking,
        "lists and pairs of frequent items": lists,
        "the walk": _warm(lambda: find_itemsets(transactions, 2)) - ranking - lists,
        "writing every member": _warm(found.reveal_in_parts_to_curator),
    }
    sizes = {str(size): _warm(partial(find_itemsets, transactions, size, int(floor))) for size in (1, 2, 3, 4)}
    return {"pairs": pairs, "sizes": sizes}


def _profile(name: str) -> dict[str, Any]:
    """Of the outermost imports and compilations, so that nothing is counted twice."""
    loops: dict[str, float] = {}
    spent = {"importing": 0.0, "compiling": 0.0}
    within: list[str] = []

    def begin(what: str) -> float:
        within.append(what)
        return time.process_time()

    def end(what: str, began: float) -> float:
        within.pop()
        took = time.process_time() - began
        if not within:
            spent[what] += took
        return took

    plain = builtins.__import__

    def timed(*given: Any, **named: Any) -> Any:
        began = begin("importing")
        try:
            return plain(*given, **named)
        finally:
            end("importing", began)

    builtins.__import__ = timed
    from numba.core import event  # noqa: PLC0415 - its import is part of what is measured

    class Compiling(event.Listener):
        """Notes how long each loop took."""

        def on_start(self, _event: Any) -> None:
            """A loop begins to be compiled."""
            self.began = [*getattr(self, "began", []), begin("compiling")]

        def on_end(self, event: Any) -> None:
            """It is compiled."""
            took = end("compiling", self.began.pop())
            if not within:
                loop = event.data["dispatcher"].py_func.__name__
                loops[loop] = loops.get(loop, 0.0) + took

    listen: Any = event.register
    listen("numba:compile", Compiling())
    sys.argv = ["fim-private", "mine", name, *MINE_PAIRS, "--quiet"]
    with contextlib.suppress(SystemExit), contextlib.redirect_stdout(io.StringIO()):
        runpy.run_module("fim_private", run_name="__main__")
    longest = sorted(loops.items(), key=lambda pair: -pair[1])[:LOOPS]
    return {"all": time.process_time(), **spent, "loops": longest}


if __name__ == "__main__":
    what, *given = sys.argv[1:]
    measured = {
        "draws": _draws, "read": _read, "sizes": _sizes, "threads": _threads, "parts": _parts, "profile": _profile,
    }  # fmt: skip
    print(json.dumps(measured[what](*given)))
