"""The README's figure: pairs at epsilon 1, five mechanisms, three data sets, from the tables of the reports.

    python -m benchmarks.overview

Writes reports/overview.png. Run it after `make reports`.
"""

from __future__ import annotations

import math
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
    "auto": ("auto", "#111111", (115, 0), "left"),
    "exponential": ("exponential,\ntold all items", "#b0559a", (26, 0.09), "center"),
    "max-of-laplaces": ("max-of-Laplaces,\ntold all items", "#2a78a8", (10, -0.13), "right"),
    "limited-domain": ("limited domain", "#00805c", (17, -0.2), "right"),
    "lmm-paper": ("large margin, as published", "#b03a00", (1.1, 0.05), "left"),
}
"""Each mechanism's label and colour. In the first panel the label stands at a k, so far above the line, aligned so."""
SIZE, EPSILON, MOST = 2, "1", 100


def draw(panel: Axes, data: str, *, labelled: bool) -> None:
    """Precision against k of each mechanism, with 95 % intervals."""
    table = pl.read_parquet(REPORTS / data / "results.parquet")
    cells = averages(
        table.filter(
            ~pl.col("padded") & (pl.col("size") == SIZE) & (pl.col("epsilon") == EPSILON) & (pl.col("top") <= MOST)
        )
    )
    for name, (label, colour, (at, above), align) in LINES.items():
        rows = cells.filter(pl.col("mechanism") == name).sort("top")
        panel.plot(rows["top"], rows["precision"], **{**look(name), "color": colour, "markerfacecolor": colour})
        panel.vlines(rows["top"], rows["precision_low"], rows["precision_high"], color=colour, linewidth=0.8)
        if labelled:
            line = float(np.interp(math.log(at), np.log(rows["top"]), rows["precision"]))
            panel.text(at, line + above, label, color=colour, ha=align, va="center", size="small")
    panel.set_title(PANELS[data])
    logarithmic(panel)
    tops = sorted(cells["top"].unique())
    panel.set_xticks(tops, list(map(str, tops)))
    panel.set_xlim(0.8, 230)
    panel.minorticks_off()
    panel.set_xlabel("k, pairs asked for (log scale)")


def main() -> None:
    """Draw and write the figure."""
    with style():
        figure, panels = new_figure(1, len(PANELS), height=2.6, same_x=True)
        for panel, data in zip(panels, PANELS, strict=True):
            draw(panel, data, labelled=panel is panels[0])
        panels[0].set_ylabel("share of the true k pairs named")
        figure.savefig(REPORTS / "overview.png", dpi=150, metadata={"Software": None})


if __name__ == "__main__":
    main()
