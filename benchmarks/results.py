"""What was measured, on disk and in memory, and on what machine."""

from __future__ import annotations

import importlib.metadata
import json
import os
import platform
import time
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

LIBRARIES = (
    "numpy", "numba", "polars", "pyfim", "rusket", "fastapriori", "mlxtend", "pandas", "pyarrow", "scipy", "duckdb",
    "pyspark",
)  # fmt: skip


@dataclass(frozen=True, kw_only=True)
class Measured:
    """One peer at one task. Times in seconds, memory in bytes; None where not measured.

    Args:
        peer: name.
        number: of itemsets found.
        cold: import and first count in a fresh process.
        warm: median of `runs` further counts.
        runs: how many these were.
        whole: median time of a process that starts, reads, counts and ends.
        whole_runs: how many these were.
        memory: the most the process held when it had read and counted once.
        reading: time to read the file, for information.
        reading_memory: the most the process held when it had read the file.
        delivers: what is delivered.
        skipped: why nothing was measured.
    """

    peer: str
    number: int | None = None
    cold: float | None = None
    warm: float | None = None
    runs: int = 0
    whole: float | None = None
    whole_runs: int = 0
    memory: int | None = None
    reading: float | None = None
    reading_memory: int | None = None
    delivers: str = ""
    skipped: str | None = None


@dataclass(frozen=True, kw_only=True)
class Measurements:
    """One task: what was asked, of what data, and what each peer did."""

    key: str
    data: str
    size: int
    floor: int
    share: float
    transactions: int
    peers: list[Measured]

    def of(self, peer: str) -> Measured | None:
        """A peer's row."""
        return next((row for row in self.peers if row.peer == peer), None)

    def best(self, names: tuple[str, ...]) -> Measured | None:
        """The quickest when warm of some peers."""
        rows = [row for row in self.peers if row.peer in names and row.warm is not None]
        return min(rows, key=lambda row: row.warm or 0, default=None)


@dataclass(kw_only=True)
class Results:
    """A whole run.

    Args:
        machine: what it ran on, in words.
        date: when it began.
        form: "quick", "full" or "large".
        tasks: in order.
        agreement: rows of `benchmarks.agree`.
        extra: single figures by name: first compilation, the large run, and what `benchmarks.waiting` measures.
        missing: data sets that were not found.
        seconds: how long all took.
    """

    machine: dict[str, str]
    date: str
    form: str
    tasks: list[Measurements] = field(default_factory=list)
    agreement: list[tuple[str, int, int, str, str]] = field(default_factory=list)
    extra: dict[str, Any] = field(default_factory=dict)
    missing: list[str] = field(default_factory=list)
    seconds: float = 0.0

    def of(self, key: str) -> Measurements | None:
        """A task's measurements."""
        return next((task for task in self.tasks if task.key == key), None)

    def save(self, path: Path) -> None:
        """As JSON, whole or not at all."""
        path.parent.mkdir(parents=True, exist_ok=True)
        part = path.with_name(path.name + ".part")
        part.write_text(json.dumps(asdict(self), indent=1) + "\n", encoding="utf-8")
        part.replace(path)

    @staticmethod
    def load(path: Path) -> Results:
        """What `save` wrote."""
        raw = json.loads(path.read_text(encoding="utf-8"))
        raw["tasks"] = [
            Measurements(**{**task, "peers": [Measured(**row) for row in task["peers"]]}) for task in raw["tasks"]
        ]
        raw["agreement"] = [tuple(row) for row in raw["agreement"]]
        return Results(**raw)


def machine() -> dict[str, str]:
    """The machine in words: processor, cores, memory, versions, and how busy it was before the first measurement."""
    described = {
        "processor": _processor(),
        "cores": str(len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()),
        "memory": f"{os.sysconf('SC_PAGE_SIZE') * os.sysconf('SC_PHYS_PAGES') / 2**30:.0f} GiB",
        "system": f"{platform.system()} {platform.release()}",
        "load before the run": f"{os.getloadavg()[0]:.1f}",
        "Python": platform.python_version(),
    }
    for library in LIBRARIES:
        try:
            described[library] = importlib.metadata.version(library)
        except importlib.metadata.PackageNotFoundError:
            described[library] = "not installed"
    return described


def _processor() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
        return next(line.split(":", 1)[1].strip() for line in lines if line.startswith("model name"))
    except (OSError, StopIteration):
        return platform.processor() or platform.machine()


def today() -> str:
    """The date, for the report."""
    return time.strftime("%Y-%m-%d")
