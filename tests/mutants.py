"""Small faults, one at a time, in the lines that privacy depends on: does the test-suite notice each of them?

    python -m tests.mutants [FILE ...] [--jobs N] [--only SUBSTRING] [--seconds S]

`mutations.py` says which faults. Each is written to a file of its own and run in a fork that has the heavy libraries
loaded and nothing of this package. Which tests are run is measured, not guessed: those that execute the faulty line (or
its file, where that is not seen), quickest first. A fault is found if a test fails, or takes far longer than it should.

Faults that no test finds are explained in `mutants_survivors.toml`. The run fails if one is not explained, if an
explanation has nothing left to explain, or if less than 95 in 100 faults are found.
"""

from __future__ import annotations

import argparse
import builtins
import contextlib
import hashlib
import importlib
import importlib.util
import json
import os
import resource
import signal
import sys
import tempfile
import time
import tomllib
import traceback
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from itertools import accumulate
from pathlib import Path
from typing import Any

from tests.mutations import Mutation, mutations, noting_lines, optional_arguments

ROOT = Path(__file__).resolve().parent.parent
FAULTY = ("accounting", "mechanisms", "plan", "randomness", "release")
TESTS = (
    "accounting",
    "audit",
    "mechanisms",
    "mining",
    "plan",
    "randomness",
    "release",
    "test_constraints.py",
)
SURVIVORS = ROOT / "tests" / "mutants_survivors.toml"
MEASURED = ROOT / ".mutants.json"
"""What was measured of the tests; measured again where the package or the test has changed."""
HEAVY = ("pytest", "numpy", "polars", "numba", "scipy.stats", "scipy.integrate", "hypothesis", "dp_accounting.pld")

LEAST_SCORE = 0.95
SECONDS, SECONDS_BRIEF = 40, 5
"""Of tests for one fault, at most; the less for one that is explained, to see whether it still has to be, and for a
file without a fault, to see whether it can be tested like this."""
CURT = ("--assert=plain", "--tb=native")
"""Options of pytest for a short account of what happened."""
MEMORY = 4 << 30
PATIENCE, PATIENCE_COMPILED = 5, 60
"""Seconds a test may take beyond five times what it took; the more where its functions are compiled first."""

SURVIVED, FAILED, NOT_IMPORTED, NO_TESTS = 0, 1, 2, 5
"""How pytest ends. Anything else but the alarm is an error of this program."""
ALARM = -signal.SIGALRM
CRASHED = {-signal.SIGSEGV, -signal.SIGBUS, -signal.SIGFPE, -signal.SIGABRT}
"""Compiled code that reads or writes where nothing is: it cannot be missed."""


Key = tuple[str, str, str]
"""File, line, and what becomes of it."""


@dataclass(frozen=True)
class Measured:
    """The seconds one test takes, and which lines of which files it executes."""

    seconds: float
    lines: dict[str, list[int]]


class Plugin:
    """Runs all tests and notes what they execute; or the chosen ones in their order, each within its time."""

    def __init__(self, chosen: dict[str, float] | None = None, patience: int = PATIENCE) -> None:
        self.chosen, self.patience = chosen, patience
        self.seconds: dict[str, float] = {}
        self.lines: dict[str, dict[str, list[int]]] = {}
        self.executed: set[tuple[str, int]] = set()

    def pytest_configure(self) -> None:
        from hypothesis import Phase, settings

        # Any counterexample will do, it need not be the smallest.
        settings.register_profile("any", settings.get_profile("repeatable"), phases=(Phase.explicit, Phase.generate))
        settings.load_profile("any")

    def pytest_collection_modifyitems(self, items: list[Any]) -> None:
        if self.chosen is not None:
            at = {item.nodeid: item for item in items}
            items[:] = [at[name] for name in self.chosen if name in at]

    def pytest_runtest_logstart(self, nodeid: str) -> None:
        self.executed.clear()
        self.seconds[nodeid] = time.perf_counter()
        if self.chosen is not None:
            # The default action of this signal ends the process, whatever it is doing.
            signal.alarm(self.patience + round(5 * self.chosen[nodeid]))

    def pytest_runtest_logfinish(self, nodeid: str) -> None:
        self.seconds[nodeid] = time.perf_counter() - self.seconds[nodeid]
        files = self.lines[nodeid] = {}
        for file, line in sorted(self.executed):
            files.setdefault(file, []).append(line)


def run_pytest(paths: list[str], plugin: Plugin, *more: str) -> int:
    import pytest

    options = ["-x", "--durations=0", "--timeout=0", "-m", "not long", "-p", "no:cacheprovider", "-p", "no:xdist"]
    # Assertions of libraries that were imported before the fork are as they are.
    options += ["-W", "ignore::pytest.PytestAssertRewriteWarning"]
    return int(pytest.main([*options, *more, *paths], plugins=[plugin]))


def write(sources: dict[str, str], folder: Path) -> Path:
    """Files of their own, so that what numba keeps of them is kept beside them."""
    for file, source in sources.items():
        (folder / file).parent.mkdir(parents=True, exist_ok=True)
        (folder / file).write_text(source, encoding="utf-8")
    return folder


def exchange(folder: Path) -> None:
    """Let what there is in this folder be imported instead of the package's files."""
    places = {".".join(place.relative_to(folder).with_suffix("").parts): place for place in folder.rglob("*.py")}

    class Finder:
        @staticmethod
        def find_spec(name: str, *_: object) -> Any:
            return importlib.util.spec_from_file_location(name, places[name]) if name in places else None

    sys.meta_path.insert(0, Finder)


def measure(test: Path, noting: Path, folder: Path) -> int:
    """Run one file of tests on the package as it is, but for noting what is executed."""
    plugin = Plugin()
    exchange(noting)
    builtins.executed = plugin.executed
    ended = run_pytest([str(test)], plugin)
    measured = {name: Measured(plugin.seconds[name], plugin.lines[name]) for name in plugin.lines}
    (folder / "measured").write_text(json.dumps({name: vars(each) for name, each in measured.items()}))
    return ended


def attempt(mutation: Mutation, chosen: dict[str, float], folder: Path) -> int:
    """Run the chosen tests on the package with one faulty file."""
    if not chosen:
        return SURVIVED
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    exchange(write({mutation.file: mutation.source}, folder))
    signal.alarm(60)  # for importing it
    patience = PATIENCE_COMPILED if "@compiled" in mutation.source else PATIENCE
    ended = SURVIVED
    for part in in_parts(chosen):
        if ended == SURVIVED:
            ended = run_pytest(sorted({name.split("::")[0] for name in part}), Plugin(part, patience), *CURT)
            if ended == NO_TESTS:  # their names depend on what is faulty, and are others now
                ended = SURVIVED
    return ended


def in_parts(chosen: dict[str, float]) -> list[dict[str, float]]:
    """The first few seconds of tests, which find nearly all there is to find, and the rest: files take time to read."""
    places = list(accumulate(chosen.values()))
    first = sum(place <= SECONDS_BRIEF for place in places) or 1
    names = list(chosen)
    parts = ({name: chosen[name] for name in part} for part in (names[:first], names[first:]))
    return [part for part in parts if part]


def in_forks(tasks: Iterator[tuple[Any, Callable[[Path], int]]], jobs: int) -> Iterator[tuple[Any, int, Path]]:
    """What each task ended with, and the folder it could write to; as many at once as there are jobs."""
    running: dict[int, tuple[Any, tempfile.TemporaryDirectory[str]]] = {}

    def finished() -> Iterator[tuple[Any, int, Path]]:
        process, status = os.wait()
        key, folder = running.pop(process)
        with folder as path:
            yield key, os.waitstatus_to_exitcode(status), Path(path)

    for key, task in tasks:
        if len(running) == jobs:
            yield from finished()
        folder = tempfile.TemporaryDirectory()
        process = os.fork()
        if not process:
            with Path(folder.name, "output").open("w") as output:
                os.dup2(output.fileno(), 1)
                os.dup2(output.fileno(), 2)
            ended = 70
            try:
                ended = task(Path(folder.name))
            except BaseException:
                traceback.print_exc()
            finally:
                sys.stdout.flush()
                sys.stderr.flush()
                os._exit(ended)
        running[process] = key, folder
    while running:
        yield from finished()


def measure_tests(jobs: int) -> dict[str, Measured]:
    """Every test that may be run, from what is known already where nothing has changed."""
    tests = [found for name in TESTS for found in sorted((ROOT / "tests" / name).rglob("test_*.py"))]
    tests += [ROOT / "tests" / name for name in TESTS if (ROOT / "tests" / name).is_file()]
    shared = [path for path in (ROOT / "tests").rglob("*.py") if not path.name.startswith(("test_", "mutat", "mutant"))]
    package = hashlib.sha256(b"".join(path.read_bytes() for path in sorted((ROOT / "fim_private").rglob("*.py"))))
    package.update(b"".join(path.read_bytes() for path in sorted(shared)))
    kept = json.loads(MEASURED.read_text()) if MEASURED.exists() else {}
    keys = {test: package.hexdigest() + hashlib.sha256(test.read_bytes()).hexdigest() for test in tests}
    known = {key: kept[key] for key in keys.values() if key in kept}
    missing = [test for test in tests if keys[test] not in known]
    with tempfile.TemporaryDirectory() as noting:
        write({file: noting_lines(ROOT / file, file) for file in files([])}, Path(noting))
        tasks = ((test, partial(measure, test, Path(noting))) for test in missing)
        for test, ended, folder in in_forks(tasks, jobs):
            if ended not in {SURVIVED, NO_TESTS}:
                sys.exit(f"{test} fails without any fault:\n{(folder / 'output').read_text()[-3000:]}")
            known[keys[test]] = json.loads((folder / "measured").read_text())
            print(f"measured {test.relative_to(ROOT)}", flush=True)
            MEASURED.write_text(json.dumps(known))
    return {name: Measured(**each) for part in known.values() for name, each in part.items()}


def choose(mutation: Mutation, tests: dict[str, Measured], seconds: float) -> dict[str, float]:
    """The tests that execute the line: the file's own first, then its folder's, the quickest first.

    Where none is seen to (constants, fields of classes, what is compiled) it is all that execute something of the file,
    and its own tests, which may call nothing but what is compiled.
    """
    first, last = mutation.statement
    folder, _, file = mutation.file.partition("/")[2].rpartition("/")
    home, own = f"tests/{folder.split('/')[0]}/", f"tests/{folder}/test_{file}::"
    of_file = [name for name in tests if mutation.file in tests[name].lines or name.startswith(own)]
    of_line = [
        name for name in of_file if any(first <= line <= last for line in tests[name].lines.get(mutation.file, ()))
    ]

    def order(name: str) -> tuple[bool, bool, float]:
        return not name.startswith(own), not name.startswith(home), tests[name].seconds

    chosen: dict[str, float] = {}
    for name in sorted(of_line or of_file, key=order):
        chosen[name] = tests[name].seconds
        if sum(chosen.values()) > seconds:
            break
    return chosen


def key(fault: Mutation) -> Key:
    """The key by which a fault is known wherever its line moves."""
    return fault.file, fault.line, fault.becomes


def explained() -> set[Key]:
    """The faults that need not be found."""
    entries = tomllib.loads(SURVIVORS.read_text(encoding="utf-8"))["survivor"]
    return {(entry["file"], entry["line"], becomes) for entry in entries for becomes in entry["becomes"]}


def files(asked: list[Path]) -> list[str]:
    """The files in which faults are made, relative to the repository. Twins are faults themselves."""
    roots = [path.resolve() for path in asked] or [ROOT / "fim_private" / name for name in FAULTY]
    found = [file for root in roots for file in ([root] if root.is_file() else sorted(root.rglob("*.py")))]
    return [str(file.relative_to(ROOT)) for file in found if file.name != "__init__.py" and file.parent.name != "twins"]


def main() -> int:
    """Print a table; 0 if all is found or explained."""
    parser = argparse.ArgumentParser(prog="python -m tests.mutants", description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("file", nargs="*", type=Path, help="only these files or folders of the package")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--only", default="", help="only lines that hold this text")
    parser.add_argument("--seconds", type=float, default=SECONDS, help="of tests for one fault, at most")
    asked = parser.parse_args()
    os.environ["FIM_PRIVATE_TEST_DATA"] = os.devnull  # what is found may not depend on the machine
    for name in HEAVY:
        with contextlib.suppress(ImportError):
            importlib.import_module(name)
    began = time.perf_counter()
    tests = measure_tests(asked.jobs)
    optional = optional_arguments(ROOT / "fim_private")
    faults = [
        mutation
        for file in files(asked.file)
        for mutation in mutations(ROOT / file, file, optional)
        if asked.only in mutation.line
    ]
    controls = [
        Mutation(file, 0, "", "", (ROOT / file).read_text(encoding="utf-8"), (0, 0))
        for file in dict.fromkeys(fault.file for fault in faults)
    ]

    known = explained()
    left: set[Key] = set()

    def task(fault: Mutation) -> Callable[[Path], int]:
        brief = fault in controls or key(fault) in known
        return partial(attempt, fault, choose(fault, tests, min(SECONDS_BRIEF if brief else SECONDS, asked.seconds)))

    ends: dict[str, Counter[int]] = {control.file: Counter() for control in controls}
    for fault, ended, folder in in_forks(((fault, task(fault)) for fault in controls + faults), asked.jobs):
        if ended not in {SURVIVED, FAILED, NOT_IMPORTED, ALARM, *CRASHED} or (ended and fault in controls):
            sys.exit(f"{fault.file} cannot be tested like this:\n{(folder / 'output').read_text()[-3000:]}")
        if fault in controls:
            continue
        ends[fault.file][ended] += 1
        if ended == SURVIVED:
            left.add(key(fault))
            print(f"{fault.file}:{fault.number}\n    {fault.line}\n    {fault.becomes or '(left out)'}", flush=True)
    wrong = [f"not explained: {' | '.join(each)}" for each in sorted(left - known)]
    if not asked.only:
        gone = {each for each in known - left if each[0] in ends or not asked.file}
        wrong += [f"explained, and found or gone: {' | '.join(each)}" for each in sorted(gone)]
    score = table(ends)
    if score < LEAST_SCORE:
        wrong.append(f"less than {LEAST_SCORE:.0%} found")
    print("\n".join([f"{time.perf_counter() - began:.0f} seconds", *wrong]))
    return 1 if wrong else 0


def table(ends: dict[str, Counter[int]]) -> float:
    """Print how many faults of each file were found; the share of all that were."""
    print(f"\n{'file':45}{'faults':>8}{'found':>8}{'too late':>10}{'left':>6}{'score':>8}")
    score = 1.0
    for file, end in [*ends.items(), ("all", sum(ends.values(), Counter[int]()))]:
        score = 1 - end[SURVIVED] / max(1, end.total())
        found = end.total() - end[SURVIVED]
        print(f"{file:45}{end.total():8}{found:8}{end[ALARM]:10}{end[SURVIVED]:6}{score:8.1%}")
    return score


if __name__ == "__main__":
    sys.exit(main())
