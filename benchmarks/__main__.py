"""Everything: this project beside its peers on the same data in the same run, and a report of it.

    python -m benchmarks [--data FOLDER] [--quick] [--large]

Writes reports/speed.md, its figures and reports/speed/results.json; the short form writes into .bench/quick instead.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from pathlib import Path

from benchmarks.data import CACHE, SOURCES, prepare
from benchmarks.results import Results, machine, today
from benchmarks.running import ROOT, DisagreementError, first_compilation, measure_task, mine_large, run
from benchmarks.tasks import TASKS
from benchmarks.waiting import draws, growth, parts_of_counting, profiles, readings, sizes_up_to_four, speed_ups, starts

QUICK = ["groceries"]
"""What the short form compares itemset by itemset."""

SLOW = ("Spark", "mlxtend fpgrowth")
"""Peers that the short form leaves out."""


def main() -> None:
    """The command."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, default=Path("../shared/data"), help="folder of the data sets")
    parser.add_argument("--quick", action="store_true", help="small data only, a minute or two")
    parser.add_argument("--large", action="store_true", help="also 100 M baskets: 8 GB of memory, 8 GB of disk")
    parser.add_argument("--output", type=Path, help="folder for the report")
    given = parser.parse_args()
    form = "quick" if given.quick else "large" if given.large else "full"
    output = given.output or (CACHE / "quick" if given.quick else ROOT / "reports")
    try:
        results = measure_all(form, given.data.resolve(), output)
    except DisagreementError as error:
        sys.exit(str(error))
    from benchmarks.report import write  # noqa: PLC0415 - drawing weighs on the processes that are measured

    write(results, output / "speed.md")
    print(f"\n{output / 'speed.md'}, after {results.seconds / 60:.1f} minutes")


def measure_all(form: str, folder: Path, output: Path) -> Results:
    """Measure what belongs to the form: quick, full or large. What is done so far is always on disk.

    Errors:
        DisagreementError: peers do not find the same.
    """
    began = time.perf_counter()
    results = Results(machine=machine(), date=today(), form=form)
    saved = (CACHE if form != "quick" else output) / "results.json"
    found = [name for name in SOURCES if (folder / SOURCES[name]).exists()]
    results.missing = [name for name in SOURCES if name not in found]
    results.agreement = _agreement([name for name in found if form != "quick" or name in QUICK], folder)
    if "retail" in found and form != "quick":
        results.extra["first compilation"] = first_compilation(prepare("retail", folder))
    for task in TASKS:
        if (form == "quick" and not task.quick) or task.data in results.missing:
            continue
        print(f"\n{task.key}", flush=True)
        results.tasks.append(measure_task(task, folder, leave_out=SLOW if form == "quick" else ()))
        results.seconds = time.perf_counter() - began
        results.save(saved)
    if form == "large":
        print("\n100 M baskets", flush=True)
        results.extra["large"] = mine_large("generated-100M", folder)
    if form != "quick":
        print("\nwhat a person waits for", flush=True)
        results.extra["growth"] = growth(folder, large=results.extra.get("large"))
        results.extra["readings"] = readings(prepare("generated-10M", folder))
        results.extra["draws"] = draws()
        results.extra["speed-ups"] = speed_ups(folder)
        if "groceries" in found:
            results.extra["starts"] = starts(prepare("groceries", folder))
            results.extra["profiles"] = profiles(prepare("groceries", folder))
        if "retail" in found:
            results.extra["sizes up to four"] = sizes_up_to_four(prepare("retail", folder), 44)
            results.extra["parts"] = parts_of_counting(prepare("retail", folder), 44)
    results.seconds = time.perf_counter() - began
    results.save(output / "speed" / "results.json")
    return results


def _agreement(names: list[str], folder: Path) -> list[tuple[str, int, int, str, str]]:
    """Compare itemset by itemset, in a process of its own so that this one stays small."""
    rows: list[tuple[str, int, int, str, str]] = []
    for name in names:
        print(f"comparing itemset by itemset: {name}", flush=True)
        ended = run([sys.executable, "-m", "benchmarks.agree", name, "--data", str(folder), "--json"], 600)
        if ended.failure is not None:
            raise DisagreementError(ended.failure)
        rows += [tuple(row) for row in json.loads(ended.output.splitlines()[-1])]
    return rows


if __name__ == "__main__":
    main()
