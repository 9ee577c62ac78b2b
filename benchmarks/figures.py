"""Time against the number of transactions, the size and the floor; memory against the number of transactions."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.ticker import FixedLocator, FuncFormatter

from benchmarks.data import GENERATED
from benchmarks.peers import OURS
from benchmarks.results import Measured, Measurements, Results
from fim_private.report.drawing import Look, Pictures, even_columns, logarithmic, new_figure, style

LOOKS = {
    OURS: Look("#111111", "o"),
    "pyfim eclat": Look("#b03a00", "s"),
    "pyfim fpgrowth": Look("#b03a00", "s", "--", filled=False),
    "rusket eclat": Look("#0057a8", "D"),
    "rusket fpgrowth": Look("#0057a8", "D", "--", filled=False),
    "fastapriori": Look("#00805c", "^"),
    "fastapriori eclat": Look("#00805c", "^", "--", filled=False),
    "mlxtend fpgrowth": Look("#7a7a7a", "*", ":"),
    "scipy": Look("#6a3fb5", "v", "-."),
    "polars": Look("#d89a00", "p", "-."),
    "DuckDB": Look("#4a9fd0", "P", "-."),
    "Spark": Look("#8a5a2b", "X", ":"),
}

GAPS = "Where a mark is missing, it was not measured: the tables below say why."

Value = Callable[[Measured], float | None]


def _warm(row: Measured) -> float | None:
    return row.warm


def _gigabytes(row: Measured) -> float | None:
    return row.memory / 1e9 if row.memory is not None else None


def draw(results: Results, folder: Path) -> list[tuple[str, str]]:
    """Draw what was measured into the folder: file name without ending, and caption, of each figure.

    Args:
        results: of a run; figures of which nothing was measured are left out.
        folder: for PNG and SVG files.
    """
    pictures, drawn = Pictures(), []
    with style():
        for name, caption, figure in _figures(results):
            pictures.finish(figure, name=name, alt=caption, caption=caption)
            drawn.append((name, caption))
    folder.mkdir(parents=True, exist_ok=True)
    for name, _ in drawn:
        (folder / f"{name}.png").write_bytes(pictures.png[name])
        (folder / f"{name}.svg").write_text(pictures.svg[name], encoding="utf-8")
    return drawn


def _figures(results: Results) -> Iterable[tuple[str, str, Figure]]:
    grown = [task for task in results.tasks if task.data.startswith("generated")]
    if len(grown) > 1:
        figure, (time, memory) = new_figure(1, 2, height=3.0, same_y=False)
        both = (lines(time, grown, _count, _warm), lines(memory, grown, _count, _gigabytes))
        _against_baskets(time, "Counting alone, warm", "seconds")
        _against_baskets(memory, "Peak memory", "GB")
        _legend(figure, both[0] | both[1])
        yield "transactions", f"All pairs of generated baskets: time and memory against their number. {GAPS}", figure
    if len(results.extra.get("growth", [])) > 1:
        yield (
            "growth",
            "Whole runs of `mine` for the 100 most frequent pairs, on more and more baskets. Spark has the same cores; "
            "its memory is not shown, because it lies in several processes.",
            _growth(results),
        )
    sizes = {
        "retail, floor 0.05 %": [task for task in results.tasks if task.data == "retail" and task.share == 0.0005],
        "mushroom, all": [task for task in results.tasks if task.data == "mushroom"],
    }
    yield from _panels("size", f"Time against size, counting alone, warm. {GAPS}", sizes, "items per itemset", _size)
    floors = {
        f"retail, size {size}": [
            task for task in results.tasks if task.data == "retail" and task.size == size and task.floor < 1000
        ]
        for size in (2, 3)
    }
    yield from _panels("floor", f"Time against floor, counting alone, warm. {GAPS}", floors, "minimum count", _floor)


def _growth(results: Results) -> Figure:
    rows = results.extra["growth"]
    with_spark = [row for row in rows if "spark" in row]
    figure, (time, memory) = new_figure(1, 2, height=3.0, same_y=False)
    baskets = [GENERATED[row["data"]] for row in rows]
    time.plot(baskets, [row["seconds"] for row in rows], **_style(OURS))
    memory.plot(baskets, [row["memory"] / 1e9 for row in rows], **_style(OURS))
    _against_baskets(time, "From start to end", "seconds")
    _against_baskets(memory, "Peak memory", "GB")
    time.plot([GENERATED[row["data"]] for row in with_spark], [row["spark"] for row in with_spark], **_style("Spark"))
    _legend(figure, {OURS, *(["Spark"] if with_spark else [])})
    return figure


def _against_baskets(axes: Axes, title: str, label: str) -> None:
    axes.set_title(title)
    axes.set_xlabel("baskets (log scale)")
    axes.set_ylabel(f"{label} (log scale)")
    logarithmic(axes, x=True, y=True)


def _panels(
    name: str, caption: str, panels: dict[str, list[Measurements]], label: str, place: Callable[[Measurements], float]
) -> Iterable[tuple[str, str, Figure]]:
    panels = {title: tasks for title, tasks in panels.items() if len(tasks) > 1}
    if not panels:
        return
    figure, grid = new_figure(1, len(panels), height=3.0, same_y=False)
    names: set[str] = set()
    for axes, (title, tasks) in zip(grid, panels.items(), strict=True):
        names |= lines(axes, tasks, place, _warm)
        axes.set_title(title)
        axes.set_xlabel(label + (" (log scale)" if place is _floor else ""))
        logarithmic(axes, x=place is _floor, y=True)
        places = sorted({place(task) for task in tasks})
        axes.xaxis.set_major_locator(FixedLocator(places))
        axes.xaxis.set_major_formatter(FuncFormatter(lambda value, _place: f"{value:,.0f}"))
    grid[0].set_ylabel("seconds (log scale)")
    _legend(figure, names)
    yield name, caption, figure


def _count(task: Measurements) -> float:
    return task.transactions


def _size(task: Measurements) -> float:
    return task.size


def _floor(task: Measurements) -> float:
    return task.floor


def lines(axes: Axes, tasks: list[Measurements], place: Callable[[Measurements], float], value: Value) -> set[str]:
    """A line for each peer, with a gap where it was not measured; the names of the peers."""
    names = set()
    tasks = sorted(tasks, key=place)
    for name in LOOKS:
        rows = [task.of(name) for task in tasks]
        heights = [None if row is None else value(row) for row in rows]
        if any(height is not None for height in heights):
            names.add(name)
            places = [place(task) for task in tasks]
            axes.plot(places, [math.nan if height is None else height for height in heights], **_style(name))
    return names


def _style(name: str) -> dict[str, Any]:
    look = LOOKS[name]
    return {
        "color": look.color,
        "marker": look.marker,
        "linestyle": look.dashes,
        "markerfacecolor": look.color if look.filled else "white",
        "linewidth": 2.2 if name == OURS else 1.2,
        "label": name,
    }


def _legend(figure: Figure, names: set[str]) -> None:
    handles = [Line2D([], [], **_style(name)) for name in LOOKS if name in names]
    figure.legend(handles=handles, loc="outside lower center", ncols=even_columns(len(handles), 4), handlelength=3.2)
