"""One measurement of one peer in a process of its own.

    python -m benchmarks.measure PEER FILE --size 2 --floor 1

Prints one line of JSON. `cold` is what a fresh process pays: importing the peer's library and counting for the first
time, the file being read in between and not counted. `warm` is the median of further runs. Memory is the most that the
process (and any child, such as Spark's machine) held until the first count was done. With --once nothing is printed but
the number: the whole process is then timed from outside.
"""

from __future__ import annotations

import argparse
import gc
import json
import resource
import statistics
import sys
import time
from pathlib import Path

from benchmarks.peers import PEERS, load_peer
from benchmarks.peers.protocol import Work

RUNS = 5


def measure(
    name: str, path: Path, work: Work, *, runs: int = RUNS, seconds: float = 60.0, once: bool = False
) -> dict[str, object]:
    """What is found and how long it takes.

    Args:
        name: of the peer.
        path: of a prepared file.
        work: what to count.
        runs: warm ones, if time allows.
        seconds: no further warm run begins after so long.
        once: count once and no more.
    """
    began = time.perf_counter()
    try:
        peer = load_peer(name)
    except ImportError as error:
        return {"skipped": f"not installed ({error.name})"}
    imported = time.perf_counter() - began
    reason = peer.refuses(work)
    if reason is not None:
        return {"skipped": reason}
    began = time.perf_counter()
    data = peer.load(path)
    reading, reading_memory = time.perf_counter() - began, peak_memory()
    began = time.perf_counter()
    found = peer.count(data, work.size, work.floor)
    first = time.perf_counter() - began
    number, memory = peer.number(found), peak_memory()
    times: list[float] = []
    if not once:
        del found
        gc.collect()
        while len(times) < runs and (not times or sum(times) < seconds):
            began = time.perf_counter()
            found = peer.count(data, work.size, work.floor)
            times.append(time.perf_counter() - began)
            del found
    peer.close(data)
    return {
        "number": number,
        "reading": reading,
        "import": imported,
        "first": first,
        "cold": imported + first,
        "warm": statistics.median(times) if times else None,
        "times": times,
        "memory": memory,
        "reading_memory": reading_memory,
        "delivers": peer.delivers,
    }


def peak_memory() -> int:
    """The most bytes this process held so far, and its children with it."""
    try:
        return _peaks()
    except OSError:  # no such files here
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * (1 if sys.platform == "darwin" else 1024)


def _peaks() -> int:
    """From the kernel's files: `getrusage` would count what the parent held when it started this process."""
    parents: dict[int, int] = {}
    peaks: dict[int, int] = {}
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            lines = dict(line.split(":", 1) for line in (folder / "status").read_text().splitlines())
        except OSError:  # it ended meanwhile
            continue
        pid = int(folder.name)
        parents[pid] = int(lines["PPid"])
        peaks[pid] = 1024 * int(lines.get("VmHWM", "0 kB").split()[0])
    mine = {int(Path("/proc/self").resolve().name)}
    while more := {pid for pid, parent in parents.items() if parent in mine} - mine:
        mine |= more
    return sum(peaks[pid] for pid in mine)


def main() -> None:
    """The command."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("peer", choices=PEERS)
    parser.add_argument("file", type=Path)
    parser.add_argument("--size", type=int, default=2)
    parser.add_argument("--floor", type=int, default=1)
    parser.add_argument("--runs", type=int, default=RUNS)
    parser.add_argument("--seconds", type=float, default=60.0)
    parser.add_argument("--transactions", type=int, default=0, help="as far as known, for peers that refuse")
    parser.add_argument("--itemsets", type=int, help="likewise")
    parser.add_argument("--once", action="store_true")
    given = parser.parse_args()
    work = Work(size=given.size, floor=given.floor, transactions=given.transactions, itemsets=given.itemsets)
    result = measure(given.peer, given.file, work, runs=given.runs, seconds=given.seconds, once=given.once)
    print(json.dumps(result))


if __name__ == "__main__":
    main()
