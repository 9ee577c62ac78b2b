"""What a person waits for: the start of a command, noise for many unknown items, reading, and whole runs as data grows.

    python -m benchmarks.waiting draws NUMBER | read FILE | sizes PEER FILE FLOOR

measures one of them in a process of its own and prints one line of JSON.
"""

from __future__ import annotations

import io
import json
import statistics
import sys
import tempfile
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from benchmarks.data import CACHE, prepare
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


def draws() -> dict[str, float]:
    """Seconds of so many exact draws, by their number."""
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


def growth(folder: Path, cache: Path = CACHE, *, large: Mapping[str, Any] | None = None) -> list[dict[str, Any]]:
    """`mine --size 2 --top 100` as a whole on more and more baskets: seconds and peak memory.

    Args:
        folder: of the data.
        cache: for what is generated.
        large: what `mine_large` measured, if it did.
    """
    rows: list[dict[str, Any]] = []
    for name in GROWTH:
        ended = _well(run([*PROGRAM, "mine", str(prepare(name, folder, cache)), *MINE_PAIRS, "--quiet"], 600))
        rows.append({"data": name, "seconds": ended.seconds, "memory": ended.memory})
    if large and not large["failure"]:
        rows.append({name: large[name] for name in ("data", "seconds", "memory")})
    return rows


def _well(ended: Ended) -> Ended:
    if ended.failure is not None:
        raise RuntimeError(ended.failure)
    return ended


def _in_own_process(*arguments: object) -> dict[str, Any]:
    command = [sys.executable, "-m", "benchmarks.waiting", *map(str, arguments)]
    got: dict[str, Any] = json.loads(_well(run(command, 600)).output.splitlines()[-1])
    return got


def _draws(number: str) -> dict[str, float]:
    from fim_private.randomness import SecureRandomness  # noqa: PLC0415 - each measurement loads what it needs
    from fim_private.randomness.gaussian_vector import sample_discrete_gaussians  # noqa: PLC0415 - as above

    sample_discrete_gaussians(400, 1, SecureRandomness())
    began = time.perf_counter()
    sample_discrete_gaussians(400, int(number), SecureRandomness())
    return {"seconds": time.perf_counter() - began}


def _read(name: str) -> dict[str, float]:
    from fim_private.transactions import read_transactions  # noqa: PLC0415 - as above

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
    times = []
    for _ in range(6):
        began = time.perf_counter()
        find()
        times.append(time.perf_counter() - began)
    return {"seconds": statistics.median(times[1:])}


if __name__ == "__main__":
    what, *given = sys.argv[1:]
    print(json.dumps({"draws": _draws, "read": _read, "sizes": _sizes}[what](*given)))
