"""The README's figure: pairs at epsilon 1 and 0.25, five mechanisms, three data sets, from the tables of the reports.

    python -m benchmarks.overview

Writes reports/overview.png. Run it after `make reports`.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import polars as pl
from matplotlib.axes import Axes

from fim_private.report.comparison.results import averages
from fim_private.report.drawing import logarithmic, look, new_figure, style

REPORTS = Path(__file__).parent.parent / "reports"
PANELS = {
    "online-retail-customers": "web shop: 4,372 customers",
    "groceries": "small outlet: 9,835 baskets",
    "retail": "supermarket: 88,162 baskets",
}
LINES = {
    "auto": "auto",
    "exponential": "exponential, told all items",
    "max-of-laplaces": "max-of-Laplaces, told all items",
    "limited-domain": "limited domain",
    "lmm": "large margin",
}
"""Each mechanism's label."""
SIZE, EPSILONS, MOST = 2, ("1", "0.25"), 100


def draw(panel: Axes, data: str, epsilon: str) -> None:
    """Precision against k of each mechanism, with 95 % intervals."""
    table = pl.read_parquet(REPORTS / data / "results.parquet")
    cells = averages(
        table.filter(
            ~pl.col("padded") & (pl.col("size") == SIZE) & (pl.col("epsilon") == epsilon) & (pl.col("top") <= MOST)
        )
    )
    for name, label in LINES.items():
        rows, shape = cells.filter(pl.col("mechanism") == name).sort("top"), look(name)
        panel.plot(rows["top"], rows["precision"], label=label, **shape)
        panel.vlines(rows["top"], rows["precision_low"], rows["precision_high"], color=shape["color"], linewidth=0.8)
    logarithmic(panel)
    tops = sorted(cells["top"].unique())
    panel.set_xticks(tops, list(map(str, tops)))
    panel.minorticks_off()


def main() -> None:
    """Draw and write the figure."""
    with style():
        figure, panels = new_figure(len(EPSILONS), len(PANELS), height=2.4, same_x=True)
        grid = np.reshape(panels, (len(EPSILONS), len(PANELS)))
        for row, epsilon in zip(grid, EPSILONS, strict=True):
            for panel, data in zip(row, PANELS, strict=True):
                draw(panel, data, epsilon)
            row[0].set_ylabel(f"epsilon {epsilon}: share of\nthe true k pairs named")
        for panel, title in zip(grid[0], PANELS.values(), strict=True):
            panel.set_title(title)
        for panel in grid[-1]:
            panel.set_xlabel("k, pairs asked for (log scale)")
        grid[0, -1].legend(loc="lower left", fontsize="small")
        figure.savefig(REPORTS / "overview.png", dpi=150, metadata={"Software": None})


if __name__ == "__main__":
    main()
