"""Utility against epsilon, for each k and size, and a table with all figures."""

from __future__ import annotations

import polars as pl

from fim_private.report.comparison.results import ComparisonResults
from fim_private.report.comparison.sections.answer import precision_table, reach
from fim_private.report.document import Paragraph, Part, Section, Table
from fim_private.report.drawing import Pictures, curves, legend, new_figure, ticks

COLUMNS = {
    "mechanism": "mechanism",
    "k": "top",
    "epsilon": "epsilon",
    "precision": "precision",
    "from": "precision_low",
    "to": "precision_high",
    "of those named": "precision_named",
    "false negatives": "false_negative_rate",
    "rank loss": "rank_loss",
    "count loss": "count_loss",
    "empty": "empty",
    "named": "named",
}
"""Heads of the table of everything, and the averages below them."""


def section(results: ComparisonResults, pictures: Pictures) -> Section:
    """One figure and one folded table for each data set and size; the variants of mechanisms in a table."""
    settings = results.settings
    parts: list[Part] = [
        Paragraph(
            text="Each panel shows one length of list. Epsilon grows to the right, so all lines should rise. A "
            "small fall is chance, or a few runs whose list was cut. The further left a line reaches the top, the "
            "smaller the epsilon that its mechanism needs. Bars are 95 % "
            f"confidence intervals of the mean over {settings.trials} runs. Where all runs agreed there is no bar, but "
            "a rarer outcome is still possible. Lines that agree cover one another, above all permute-and-flip and "
            "max-of-laplaces. Where `auto` took a mechanism that was run too, the runs of both count for both."
        )
    ]
    for data in (counts.name for counts in results.counts):
        for size in sorted(settings.sizes):
            parts.append(_figure(results, pictures, data, size))
            if size != settings.main_size:
                parts.append(reach(results, data, size))
            parts.append(_table(results, data, size))
        studied = [name for name in settings.mechanisms if name not in results.main]
        if studied:
            parts.append(
                precision_table(
                    results,
                    data,
                    studied,
                    name=f"variants-{data.lower()}",
                    caption=f"**For study, not for use: variants and older mechanisms on {data}.** As the first table. "
                    "Names that end in -textbook have the textbooks' constants, which pay twice for counts that can "
                    "only move one way. report-noisy-max has the same law as permute-and-flip, and adds the noisy "
                    "lead.",
                    collapsed=True,
                )
            )
    return Section(anchor="utility", title="Every size, k and epsilon", parts=tuple(parts), folded=True)


def _figure(results: ComparisonResults, pictures: Pictures, data: str, size: int) -> Part:
    tops = results.all_tops
    rows = -(-len(tops) // 3)
    figure, axes = new_figure(rows, min(3, len(tops)), same_x=True, height=2.4)
    for panel, top in zip(axes, tops, strict=False):
        cells = results.cells(data=data, size=size, top=top).filter(pl.col("mechanism").is_in(results.main))
        curves(panel, results.by_mechanism(cells), "epsilon_value")
        panel.set_title(f"k = {top}")
        ticks(panel, [results.epsilon(epsilon) for epsilon in results.epsilons], results.epsilons)
    for unused in axes[len(tops) :]:
        unused.set_visible(False)
    for panel in axes[:: len(axes) // rows]:
        panel.set_ylabel("precision at k")
    for panel in axes[max(0, len(tops) - len(axes) // rows) : len(tops)]:
        panel.set_xlabel("epsilon (log scale)")
        panel.tick_params(labelbottom=True)  # also above an empty panel
    legend(figure, results.main)
    fast = [name for name in results.main if max(results.settings.tops_of(name)) == max(tops)]
    return pictures.finish(
        figure,
        name=f"utility-{data.lower()}-{size}",
        alt=f"Precision against epsilon for itemsets of size {size} of {data}, a panel for each k",
        caption=f"**{data}, size {size}.** Precision at k against the epsilon of the whole list."
        + (
            f" Beyond k = {max(results.tops)} only the fast mechanisms were run: {results.names(fast)}."
            if results.settings.long_tops
            else ""
        ),
    )


def _table(results: ComparisonResults, data: str, size: int) -> Table:
    frame = results.cells(data=data, size=size).sort(["top", "epsilon_value"], maintain_order=True)
    return Table(
        name=f"all-{data.lower()}-{size}",
        head=tuple(COLUMNS),
        rows=tuple(frame.select(COLUMNS.values()).iter_rows()),
        caption=(
            f"**Every cell for {data}, size {size}.** The figures are means over {results.settings.trials} runs. From, "
            "to: 95 % interval of the precision, Student's, or Wilson's at k = 1. Of those named: the share of the "
            "named itemsets that are right. False negatives: of the itemsets strictly more frequent than the k-th, the "
            "share that is not named. Rank loss: the share of the top k's weight that is missed, where place j weighs "
            "1/log2(j + 1). Count loss: the share of the top k's total count that is missed. Empty: the share of runs "
            "that name nothing."
        ),
        mechanism_column=0,
        digits=3,
        collapsed=True,
    )
