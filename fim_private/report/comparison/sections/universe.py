"""Range independence, the paper's main claim: which mechanisms depend on how many items there might be."""

from __future__ import annotations

import polars as pl

from fim_private.mechanisms.registry import AUTO
from fim_private.report.comparison.results import ComparisonResults
from fim_private.report.document import Figure, Paragraph, Section
from fim_private.report.drawing import Pictures, curves, legend, new_figure

MOVED = 0.1


def section(results: ComparisonResults, pictures: Pictures) -> Section:
    """Draw the precision with padded universes."""
    text = (
        "Some mechanisms choose among **all** itemsets that could be formed from a public list of items, including "
        "those that nobody bought. Each itemset that nobody bought gets a small chance. The longer the list, the "
        "larger the sum of these chances. The paper calls this range dependence. Here the same data is mined as if "
        "the shop offered more and more items that nobody bought. The large margin mechanism and its relatives look "
        "only at the top of the ranking, so these items do not affect them."
        + (" They need a delta, so they are not shown here." if results.settings.without_delta else "")
    )
    padded = results.averages["padded"].any()
    figures = (_padded(results, pictures, counts.name) for counts in results.counts if padded)
    return Section(
        anchor="range",
        title="Range independence: items that nobody bought",
        parts=(Paragraph(text=text), *figures) if padded else (),
        folded=True,
    )


def _padded(results: ComparisonResults, pictures: Pictures, data: str) -> Figure:
    cells = results.cells(data=data, padded=True).filter(pl.col("mechanism").is_in(results.main))
    tops = sorted(cells["top"].unique().to_list())
    figure, axes = new_figure(1, len(tops), height=3.0)
    verdicts = []
    for panel, top in zip(axes, tops, strict=True):
        frames = dict(results.by_mechanism(cells.filter(pl.col("top") == top)))
        curves(panel, frames.items(), "universe_items")
        falls = []
        for name, rows in frames.items():
            by_length = rows.sort("universe_items").to_dicts()
            shortest, longest = by_length[0], by_length[-1]  # the same where only one length was measured
            clear = shortest["precision_low"] > longest["precision_high"]
            if clear and shortest["precision"] - longest["precision"] > MOVED:
                falls.append(name)
        panel.set_title(f"k = {top}")
        panel.set_xlabel("items on the list (log scale)")
        verdicts.append(
            f"At k = {top}, from the shortest list to the longest, "
            + (
                f"the precision of {results.names(falls)} clearly falls by more than {MOVED}. That of the others does "
                "not."
                if falls
                else f"the precision of no mechanism in the figure clearly falls by more than {MOVED}."
            )
            + (_taken(frames[AUTO]) if AUTO in frames else "")
        )
    axes[0].set_ylabel("precision at k")
    legend(figure, list(dict(results.by_mechanism(cells))))
    ends = [
        name
        for name, rows in results.by_mechanism(cells)
        if rows["universe_items"].max() != cells["universe_items"].max()
    ]
    return pictures.finish(
        figure,
        name=f"padded-{data.lower()}",
        alt=f"Precision against the number of declared items for {data}",
        caption=f"**{data}, size {results.settings.main_size}, epsilon {results.settings.middle_epsilon}, universe "
        f"padded.** {' '.join(verdicts)} If the list of a mechanism is hardly ever right, its precision cannot fall "
        "much." + (f" {results.names(ends)} gives noise to every name, so its line ends earlier." if ends else ""),
    )


def _taken(rows: pl.DataFrame) -> str:
    """What `auto` took, and from which list on it took another mechanism: a line of it may jump there."""
    first = rows.group_by("ran").agg(pl.col("universe_items").min()).sort("universe_items").rows()
    later = "".join(f"; {ran} from {items:,} items on" for ran, items in first[1:])
    return f" {AUTO} takes {first[0][0]}{later}."
