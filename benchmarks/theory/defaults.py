"""How the defaults of items-first were chosen: shares of the budget, and when to pick and when to count."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import polars as pl

from fim_private.mechanisms.protocol import COUNTS, PEEL
from fim_private.report.document import Paragraph, Section
from fim_private.report.drawing import Pictures, logarithmic, new_figure

TABLE = Path(__file__).parents[2] / "reports" / "items-first-defaults.parquet"
COLORS = ("#000000", "#0057a8", "#00805c", "#b03a00", "#d89a00")
MARKERS = ("o", "s", "^", "D", "v")


def section(pictures: Pictures) -> Section:
    """Draw the sweep over public data sets."""
    anchor, title = "defaults", "How items first was tuned"
    table = pl.read_parquet(TABLE)
    figure, (left, right) = new_figure(1, 2, height=3.0, same_y=False)
    swept = table.filter(pl.col("items_share").is_not_null())
    default = table.filter(pl.col("items_share").is_null())
    epsilons = sorted(table["epsilon"].unique().to_list(), key=float)
    styles: dict[str, dict[str, Any]] = {
        epsilon: {"color": color, "marker": marker, "label": f"epsilon {epsilon}"}
        for epsilon, color, marker in zip(epsilons, COLORS, MARKERS, strict=False)
    }
    tried = sorted(swept["epsilon"].unique().to_list(), key=float)
    for epsilon in tried:
        means = (
            swept.filter((pl.col("epsilon") == epsilon) & (pl.col("pairs_share") == pl.col("pairs_share").median()))
            .group_by("items_share")
            .agg(pl.col("precision").mean())
            .sort("items_share")
        )
        left.plot(means["items_share"].to_list(), means["precision"].to_list(), **styles[epsilon])
    both = default.filter(pl.col("select").is_in([PEEL, COUNTS])).pivot(
        "select", index=["data", "size", "top", "epsilon"], values="precision"
    )
    for epsilon in epsilons:
        means = (
            both.filter(pl.col("epsilon") == epsilon)
            .group_by("top")
            .agg((pl.col(COUNTS) - pl.col(PEEL)).mean().alias("gain"))
            .sort("top")
        )
        right.plot(means["top"].to_list(), means["gain"].to_list(), **styles[epsilon])
    left.set_xlabel("share of the budget that finds the items")
    left.set_ylabel("mean precision, all data sets")
    right.axhline(0, color="black", linewidth=0.8)
    right.set_xlabel("k (log scale)")
    right.set_ylabel("precision of counts minus picks")
    logarithmic(right)
    handles, labels = right.get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower center", ncols=len(labels))
    worst = (
        both.group_by("data").agg((pl.col(COUNTS) - pl.col(PEEL)).mean().alias("gain")).sort("gain").row(0, named=True)
    )
    sizes = sorted(table["size"].unique().to_list())
    drawn = pictures.finish(
        figure,
        name="items-first-defaults",
        alt="Mean precision of items first against the share of the budget for the items, and counts against picks",
        caption=(
            f"**These defaults were chosen on {table['data'].n_unique()} public data sets.** Itemsets have "
            f"{', '.join(map(str, sizes[:-1]))} or {sizes[-1]} items. Each setting was run "
            f"{int(table['trials'].to_list()[0])} times. First panel: the share of the budget that finds the items, "
            f"tried at epsilon {', '.join(tried[:-1])} and {tried[-1]} only. Precision hardly depends on it. Second "
            "panel: noisy counts against picks. Above the line, counts are better: for long lists at a small epsilon. "
            "Below it, picks are, most of all on "
            f"`{worst['data']}` (by {-worst['gain']:.2f} on average)."
        ),
    )
    text = (
        "The shares of `items-first` are functions of k, size, epsilon, and of what was released before. "
        "`benchmarks/items_first_defaults.py` chose these functions once, on public data. `items-first` always "
        "picks single items. It picks pairs too if k is small for its epsilon, or if transactions hold many of the "
        "frequent items. It picks larger itemsets if a pick can tell their items from nothing. Otherwise it uses noisy "
        "counts."
    )
    return Section(anchor=anchor, title=title, parts=(Paragraph(text=text), drawn))
