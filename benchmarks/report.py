"""The report: what was to be reached, the figures, and a table for each task.

    python -m benchmarks.report RESULTS.json SPEED.md

writes it again from the results.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Sequence
from pathlib import Path

from benchmarks.figures import draw
from benchmarks.peers import OURS
from benchmarks.results import Measured, Measurements, Results
from benchmarks.running import RUNS
from benchmarks.targets import targets

HOW = """\
* **Every figure is from this one run, on this machine.** Compare rows with rows, and ratios with ratios from other
  runs; not seconds with seconds from elsewhere.
* Each row is a process of its own. **Cold** is what a fresh process pays: importing the library and counting for
  the first time, with what is compiled kept on disk, as it is from the second use on; reading the file is not in
  it. **Warm** is the median of five further counts in that process, for this project and its peers alike. Where a
  count takes long there are fewer, and the table says how many. **Whole process** is from the start to the end of a
  process that reads the file, counts and ends, median of five likewise.
* **Peak memory** is the most the process held when it had read the file and counted once, libraries included.
* **Ratio** is warm time over that of this project: above 1, this project is quicker.
* Everybody reads the same uncompressed file, one transaction per line without repeated items, and starts counting from
  its own form of the data: this project from its arrays, pyfim from tuples, scipy and rusket from a sparse matrix,
  mlxtend from a one-hot frame, the others from two columns of whole numbers. fastapriori is called at its compiled
  core, without its frames, which is quicker than what its users see.
* **Delivered** says what the caller holds at the end: that differs, and some of the time with it. A spectrum or
  histogram says how many itemsets have which count and holds none of them.
* Every peer that looks for all itemsets has to find as many as this project, or the run stops; and before anything
  is timed, itemsets and counts are compared one by one."""


def write(results: Results, path: Path) -> None:
    """Write the report and its figures, into a folder named after it."""
    folder = path.with_suffix("")
    figures = draw(results, folder / "figures")
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("\n".join(_lines(results, figures, folder.name)).rstrip() + "\n", encoding="utf-8")


def _lines(results: Results, figures: Sequence[tuple[str, str]], folder: str) -> Iterable[str]:
    form = {"quick": "The short form: `make bench QUICK=1`.", "full": "`make bench`.", "large": "`make bench LARGE=1`."}
    about = results.machine
    yield "# How fast it counts"
    yield ""
    yield f"{form[results.form]} {results.date}, {about['cores']} cores of {about['processor']}, {about['memory']};"
    yield f"load before the run {about['load before the run']}; {results.seconds / 60:.0f} minutes in all."
    yield ""
    yield from _targets(results)
    yield from _where_time_goes(results)
    yield from ["## Figures", ""] if figures else []
    for name, caption in figures:
        yield f"![{caption}]({folder}/figures/{name}.png)"
        yield ""
        yield f"*{caption}*"
        yield ""
    yield "## How it was measured"
    yield ""
    yield HOW
    yield ""
    yield from _compilation(results)
    yield "## Every measurement"
    yield ""
    for task in results.tasks:
        yield from _task(task)
    if results.missing:
        yield f"Not found, and so not measured: {', '.join(results.missing)}."
        yield ""
    yield from _agreement(results)
    yield "## Machine and versions"
    yield ""
    yield from _table(("what", "which"), ([name, value] for name, value in about.items()))
    yield ""


def _targets(results: Results) -> Iterable[str]:
    lines = targets(results)
    passed, measured = (sum(line.passed is wanted for line in lines) for wanted in (True, False))
    yield "## What was to be reached"
    yield ""
    yield f"{passed} passed, {measured} missed, {len(lines) - passed - measured} not measured."
    yield ""
    yield from _table(
        ("what", "asked", "reached", ""), ([line.what, line.asked, line.reached, line.verdict] for line in lines)
    )
    yield ""


def _where_time_goes(results: Results) -> Iterable[str]:
    """What stands behind the targets: profiles of the start, the share of each thread, and Spark beside it."""
    profiles, speed_ups = results.extra.get("profiles", {}), results.extra.get("speed-ups", [])
    spark = [row for row in results.extra.get("growth", []) if "spark" in row]
    if profiles or speed_ups or spark:
        yield from ["## Where the time goes", ""]
    for name, what in (("mine", "`mine` on groceries"), ("first run", "The first run ever")):
        if name in profiles:
            took = profiles[name]
            rest = took["all"] - took["importing"] - took["compiling"]
            longest = ", ".join(f"`{loop}` {seconds:.2f}" for loop, seconds in took["loops"])
            yield (
                f"* **{what}**, in processor seconds: {took['importing']:.2f} loading modules, {took['compiling']:.2f} "
                f"compiling, {rest:.2f} everything else."
                + (f" The loops that take longest to compile: {longest}." if longest else "")
            )
    parts = results.extra.get("parts", {})
    for name, what in (("pairs", "All pairs of retail"), ("sizes", "Retail above 0.05 %, by the size of the itemsets")):
        if name in parts:
            shown = ", ".join(f"{step}: {1000 * seconds:.0f}" for step, seconds in parts[name].items())
            yield f"* **{what}**, warm, in milliseconds: {shown}."
    if speed_ups:
        threads = speed_ups[0]["threads"]
        shown = ", ".join(
            f"{row['data']} size {row['size']}: {row['one'] / row['all']:.2f} "
            f"({row['one']:.3f} s to {row['all']:.3f} s)"
            for row in speed_ups
        )
        yield f"* **{threads} threads instead of one**, finding all itemsets, give these speed-ups: {shown}."
    if spark:
        shown = ", ".join(f"{row['data']} {row['spark']:.1f} s instead of {row['seconds']:.1f} s" for row in spark)
        yield (
            f"* **Spark on the same cores**, `mine --engine spark` from start to end: {shown}. It pays where the data "
            "is larger than one machine's memory, or lies on several machines already."
        )
    yield ""


def _compilation(results: Results) -> Iterable[str]:
    times = results.extra.get("first compilation")
    if times:
        shown = " and ".join(f"{seconds:.1f} s for size {size}" for size, seconds in times.items())
        yield f"The very first use on a machine compiles: a whole process on retail then takes {shown}."
        yield ""


def _task(task: Measurements) -> Iterable[str]:
    ours = task.of(OURS)
    what = {2: "pairs", 3: "triples"}.get(task.size, f"itemsets of size {task.size}")
    which = f"{what} in at least {task.floor:,} transactions" if task.floor > 1 else f"all {what}"
    share = f" ({task.share:.2%})" if task.share else ""
    yield f"### {task.data}: {which}{share}"
    yield ""
    found = f"{ours.number:,} itemsets found." if ours and ours.number is not None else ""
    yield f"{task.transactions:,} transactions. {found}"
    yield ""
    whole = any(row.whole is not None for row in task.peers)
    header = ["", "cold, s", "warm, s", *(["whole process, s"] if whole else []), "memory, MB", "ratio", "delivered"]
    base = ours.warm if ours else None
    yield from _table(header, (_row(row, base, whole=whole) for row in task.peers), right=len(header) - 2)
    yield ""


def _row(row: Measured, base: float | None, *, whole: bool) -> list[str]:
    name = f"**{row.peer}**" if row.peer == OURS else row.peer
    if row.skipped is not None:
        return [name, *[""] * (3 + whole), "", f"*{row.skipped}*"]
    return [
        name,
        _seconds(row.cold),
        _seconds(row.warm) + _fewer(row.runs, row.warm),
        *([_seconds(row.whole) + _fewer(row.whole_runs, row.whole)] if whole else []),
        f"{row.memory / 1e6:,.0f}" if row.memory is not None else "",
        f"{row.warm / base:.1f}" if row.warm is not None and base else "",
        row.delivers,
    ]


def _seconds(value: float | None) -> str:
    return "" if value is None else f"{value:.3f}" if value < 10 else f"{value:.1f}"


def _fewer(runs: int, value: float | None) -> str:
    return "" if value is None or runs >= RUNS else f" ({runs} run{'s' if runs > 1 else ''})"


def _agreement(results: Results) -> Iterable[str]:
    if not results.agreement:
        return
    yield "## Itemset by itemset"
    yield ""
    yield "Compared with this project's, itemsets by the names of their items and counts alike:"
    yield ""
    tasks: dict[tuple[str, int, int], dict[str, str]] = {}
    for data, size, floor, peer, outcome in results.agreement:
        tasks.setdefault((data, size, floor), {})[peer] = outcome
    rows = []
    for (data, size, floor), outcomes in tasks.items():
        same = [peer for peer, outcome in outcomes.items() if outcome.endswith("the same") and peer != OURS]
        rows.append([data, str(size), f"{floor:,}", outcomes[OURS].split(" ")[0], "; ".join(same)])
    yield from _table(("data", "size", "minimum count", "itemsets", "the same by"), rows)
    yield ""


def _table(header: Sequence[str], rows: Iterable[Sequence[str]], *, right: int = 0) -> Iterable[str]:
    """A table in Markdown, of which all columns from the second to number `right` are of numbers."""
    yield f"| {' | '.join(header)} |"
    yield f"|{'|'.join('--:' if 0 < place <= right else '---' for place in range(len(header)))}|"
    for row in rows:
        yield f"| {' | '.join(cell.replace('|', '/') for cell in row)} |"


if __name__ == "__main__":
    write(Results.load(Path(sys.argv[1])), Path(sys.argv[2]))
