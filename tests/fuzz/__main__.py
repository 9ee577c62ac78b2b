"""Hostile input for every reader, by the million.

    python -m tests.fuzz [--inputs 1000000] [--seed N] [--processes N] [--output reports/reliability.md]

Each series runs in processes of their own, which are ended where one input takes too long and may not have more than so
much memory. A run that was interrupted goes on where it was, unless the program has changed since. Writes its part of
the report; exit code 1 if a promise was broken. One input once more:

    python -m tests.fuzz --again "Parquet 2164" --seed 1
"""

from __future__ import annotations

import argparse
import faulthandler
import hashlib
import json
import mmap
import os
import resource
import signal
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from benchmarks.parts import put_part
from tests.fuzz.series import Tally, run_series
from tests.fuzz.targets import TARGETS

PATIENCE = 30.0
"""Seconds that one input may take."""
MEMORY = 6 << 30
"""Bytes of addresses that a process may have. Of these a tenth is used, but threads and libraries reserve many."""
PIECE = 10_000
"""Inputs that one process is given at most."""
ROOT = Path(__file__).resolve().parents[2]
KEPT = ROOT / ".fuzz.jsonl"
"""Pieces that are done, a line each: what was run, and its tally."""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--inputs", type=int, default=1_000_000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--processes", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--output", type=Path, default=Path("reports/reliability.md"))
    parser.add_argument("--again", metavar="'TARGET PLACE'")
    parser.add_argument("--piece", nargs=4, help=argparse.SUPPRESS)
    asked = parser.parse_args()
    if asked.piece:
        target, first, inputs, place = asked.piece
        _piece(target, asked.seed, int(first), int(inputs), Path(place))
        return
    if asked.again:
        target, _, place = asked.again.rpartition(" ")
        print(run_series(target, seed=asked.seed, first=int(place), inputs=1))
        return
    # Ctrl-C must not look like an input that ended its process: all end at once, and what is done is kept.
    signal.signal(signal.SIGINT, lambda *_: os.killpg(0, signal.SIGKILL))
    tallies = _all(asked.inputs, asked.seed, asked.processes)
    text = report(tallies, f"python -m tests.fuzz --inputs {asked.inputs} --seed {asked.seed}")
    put_part(asked.output, "fuzz", text)
    print(text)
    sys.exit(any(tally.broken for tally in tallies))


def _all(inputs: int, seed: int, processes: int) -> list[Tally]:
    """Every target with its share of the inputs."""
    shares = sum(share for _, share in TARGETS.values())
    tallies = {target: Tally(target) for target in TARGETS}
    pieces = []
    most = max(share for _, share in TARGETS.values())
    # What has a small share takes long: in smaller pieces, and first, so that no process is the last for long.
    for target, (_, share) in sorted(TARGETS.items(), key=lambda row: row[1][1]):
        number, size = -(-inputs * share // shares), -(-PIECE * share // most)
        pieces += [(target, first, min(size, number - first)) for first in range(0, number, size)]
    program = _program()
    kept = dict(map(json.loads, KEPT.read_text().splitlines())) if KEPT.exists() else {}
    with ThreadPoolExecutor(processes) as pool, KEPT.open("a") as keeping:

        def done(piece: tuple[str, int, int]) -> Tally:
            key = f"{program} {seed} {' '.join(map(str, piece))}"
            if key not in kept:
                tally = _in_a_process(*piece, seed)
                keeping.write(json.dumps([key, vars(tally)]) + "\n")
                keeping.flush()
                return tally
            return Tally(**kept[key])

        for tally in pool.map(done, pieces):
            tallies[tally.target].add(tally)
            print(f"{tally.target}: {tallies[tally.target].inputs:,}", file=sys.stderr)
    return list(tallies.values())


def _program() -> str:
    """What is being tried and what tries it: for other code, what was found says nothing."""
    files = sorted(path for folder in ("fim_private", "tests/fuzz") for path in (ROOT / folder).rglob("*.py"))
    return hashlib.sha256(b"".join(path.read_bytes() for path in files)).hexdigest()


def _in_a_process(target: str, first: int, inputs: int, seed: int) -> Tally:
    """A piece of a series; where an input ends the process, it is noted and the next process goes on after it."""
    done = Tally(target)
    end = first + inputs
    began = time.perf_counter()
    while first < end:
        with tempfile.NamedTemporaryFile() as place:
            place.write(bytes(8))
            place.flush()
            piece = ["--piece", target, str(first), str(end - first), place.name]
            command = [sys.executable, "-m", "tests.fuzz", "--seed", str(seed), *piece]
            ended = subprocess.run(command, capture_output=True, text=True, check=False)
            if ended.returncode == 0:
                done.add(Tally(**json.loads(ended.stdout)))
                break
            last = int.from_bytes(Path(place.name).read_bytes(), "little")
            why = "took too long" if "Timeout (" in ended.stderr else f"ended the process ({ended.returncode})"
            done.add(Tally(target, inputs=last - first + 1, broken=[f"{target} {last}: {why}"]))
            first = last + 1
    done.seconds = time.perf_counter() - began
    return done


def _piece(target: str, seed: int, first: int, inputs: int, place: Path) -> None:
    """What runs in a process of its own: prints its tally as JSON."""
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    watch = os.fdopen(os.dup(2), "w")
    with place.open("r+b") as file, mmap.mmap(file.fileno(), 8) as shown:

        def before(at: int) -> None:
            shown[:] = at.to_bytes(8, "little")
            faulthandler.dump_traceback_later(PATIENCE, exit=True, file=watch)

        tally = run_series(target, seed=seed, first=first, inputs=inputs, before=before)
        faulthandler.cancel_dump_traceback_later()
    print(json.dumps(vars(tally)))


def report(tallies: list[Tally], command: str) -> str:
    """The part of the report, as Markdown."""
    inputs, seconds = sum(tally.inputs for tally in tallies), sum(tally.seconds for tally in tallies)
    lines = [
        "## Hostile input",
        "",
        f"Made by `{command}` in {seconds / 60:,.0f} minutes of a processor: {inputs:,} files for all readers, most of "
        "them spoilt at random. Each has to be read, or refused in our own words, within a time limit "
        f"({PATIENCE:g} s) and a memory limit, with nothing else printed and a name planted in the data in no message.",
        "",
        "| read by | inputs | read | refused | ways to refuse | longest | peak memory | broken promises |",
        "|---|--:|--:|--:|--:|--:|--:|--:|",
    ]
    for tally in tallies:
        read = tally.outcomes.get("read", 0)
        refused = sum(tally.outcomes.values()) - read
        lines.append(
            f"| {tally.target} | {tally.inputs:,} | {read:,} | {refused:,} | {len(tally.outcomes.keys() - {'read'})} | "
            f"{tally.longest:.2f} s | {tally.peak:,.0f} MiB | {len(tally.broken)} |"
        )
    broken = [what for tally in tallies for what in tally.broken]
    lines += ["", "Broken promises: none." if not broken else "Broken promises:"]
    lines += [f"* `{what}`" for what in broken[:50]]
    return "\n".join(lines)


if __name__ == "__main__":
    main()
