"""The README's figure: pairs at epsilon 1, four mechanisms, three data sets, from the tables of the reports.

    python -m benchmarks.overview

Writes reports/overview.png. Run it after `make reports`.
"""

from __future__ import annotations

from pathlib import Path

import polars as pl
from matplotlib.axes import Axes

from fim_private.report.drawing import logarithmic, look, new_figure, style

REPORTS = Path(__file__).parent.parent / "reports"
PANELS = {
    "online-retail-customers": "web shop: 4,372 customers",
    "groceries": "small outlet: 9,835 baskets",
    "retail": "supermarket: 88,162 baskets",
}
LINES = {
    "auto": ("auto", "#111111"),
    "exponential": ("exponential, told all items", "#b0559a"),
    "max-of-laplaces": ("max-of-Laplaces, told all items", "#4a9fd0"),
    "lmm-paper": ("large margin, as published", "#b03a00"),
}
"""The label and the colour of each mechanism."""
SIZE, EPSILON, MOST = 2, "1", 100


def draw(panel: Axes, data: str) -> None:
    """Precision against k of each mechanism."""
    table = pl.read_parquet(REPORTS / data / "results.parquet").filter(
        ~pl.col("padded") & (pl.col("size") == SIZE) & (pl.col("epsilon") == EPSILON) & (pl.col("top") <= MOST)
    )
    for name, (label, colour) in LINES.items():
        rows = table.filter(pl.col("mechanism") == name).group_by("top").agg(pl.col("precision").mean()).sort("top")
        panel.plot(rows["top"], rows["precision"], **{**look(name), "label": label, "color": colour})
    panel.set_title(PANELS[data])
    logarithmic(panel)
    tops = sorted(table["top"].unique())
    panel.set_xticks(tops, list(map(str, tops)))
    panel.minorticks_off()
    panel.set_xlabel("k, pairs asked for")


def main() -> None:
    """Draw and write the figure."""
    with style():
        figure, panels = new_figure(1, len(PANELS), height=2.6, same_x=True)
        for panel, data in zip(panels, PANELS, strict=True):
            draw(panel, data)
        panels[0].set_ylabel("share of the true k pairs named")
        figure.legend(*panels[0].get_legend_handles_labels(), loc="outside lower center", ncols=4)
        figure.savefig(REPORTS / "overview.png", dpi=150, metadata={"Software": None})


if __name__ == "__main__":
    main()
