"""Utility against epsilon, for each k and size, and a table with all figures."""

from __future__ import annotations

from fim_private.report.comparison.results import ComparisonResults
from fim_private.report.document import Paragraph, Part, Section, Table
from fim_private.report.drawing import Pictures, legend, line, logarithmic, new_figure

COLUMNS = {
    "mechanism": "mechanism",
    "k": "top",
    "epsilon": "epsilon",
    "precision": "precision",
    "± 95 %": "precision_error",
    "of those named": "precision_named",
    "false negatives": "false_negative_rate",
    "rank loss": "rank_loss",
    "count loss": "count_loss",
    "empty": "empty",
    "named": "named",
    "ms": "milliseconds",
}
"""Heads of the table of everything, and the averages below them."""


def section(results: ComparisonResults, pictures: Pictures) -> Section:
    """One figure and one folded table for each data set and size."""
    parts: list[Part] = [
        Paragraph(
            text="Each panel shows one length of list. Epsilon grows to the right, so all lines should rise. The "
            "further left a line reaches the top, the smaller the epsilon that its mechanism needs. Thin bars are 95 % "
            f"confidence intervals of the mean over {results.settings.trials} runs. Where all runs agreed there is no "
            "bar, but a rarer outcome is still possible. Dotted lines with open markers are mechanisms whose names end "
            "in -textbook. They use the textbook's constants, so the gap to the solid line is due to the constants "
            "alone. The dashed black line is the large margin mechanism as published. permute-and-flip and "
            "report-noisy-max have the same law, and max-of-laplaces is close to both, so these lines cover one "
            "another."
            + (
                f" Panels beyond k = {max(results.tops)} show only the fast mechanisms."
                if results.settings.long_tops
                else ""
            )
        )
    ]
    for data in (counts.name for counts in results.counts):
        for size in sorted(results.settings.sizes):
            parts += [_figure(results, pictures, data, size), _table(results, data, size)]
    return Section(anchor="utility", title="Utility against epsilon", parts=tuple(parts))


def _figure(results: ComparisonResults, pictures: Pictures, data: str, size: int) -> Part:
    tops = results.all_tops
    rows = -(-len(tops) // 3)
    figure, axes = new_figure(rows, min(3, len(tops)), same_x=True, height=2.4)
    for panel, top in zip(axes, tops, strict=False):
        for name, frame in results.by_mechanism(results.cells(data=data, size=size, top=top)):
            ordered = frame.sort("epsilon_value")
            x, y, error = (ordered[column].to_list() for column in ("epsilon_value", "precision", "precision_error"))
            line(panel, name, x, y, error)
        panel.set_title(f"k = {top}")
        logarithmic(panel)
        panel.set_xticks([results.epsilon(epsilon) for epsilon in results.epsilons], results.epsilons)
        panel.minorticks_off()
        panel.set_ylim(-0.04, 1.06)
    for unused in axes[len(tops) :]:
        unused.set_visible(False)
    for panel in axes[max(0, len(tops) - len(axes) // rows) : len(tops)]:
        panel.set_xlabel("epsilon for the whole list (log scale)")
        panel.tick_params(labelbottom=True)  # also above an empty panel
    figure.supylabel("precision at k (share of the list)", fontsize=9)
    legend(figure, results.settings.mechanisms)
    return pictures.finish(
        figure,
        name=f"utility-{data.lower()}-{size}",
        alt=f"Precision against epsilon for itemsets of size {size} of {data}, a panel for each k",
        caption=f"**{data}, size {size}.** {_sentence(results, data, size)}",
    )


def _sentence(results: ComparisonResults, data: str, size: int) -> str:
    """The epsilon from which on each mechanism names 90 % of the longest and of the shortest list."""
    sentences = []
    for top in dict.fromkeys((max(results.all_tops), max(results.tops), min(results.tops))):
        reached: dict[str, list[str]] = {}
        for name, frame in results.by_mechanism(results.cells(data=data, size=size, top=top)):
            good = frame.filter(frame["precision"] >= 0.9).sort("epsilon_value")
            reached.setdefault(good["epsilon"][0] if len(good) else "", []).append(name)
        words = [
            f"at epsilon {epsilon} by {results.names(reached[epsilon])}"
            for epsilon in results.epsilons
            if epsilon in reached
        ]
        if "" in reached:
            words.append(f"not at all by {results.names(reached[''])}")
        sentences.append(
            f"No mechanism reaches a precision of 0.9 at k = {top}."
            if set(reached) == {""}
            else f"A precision of 0.9 at k = {top} is first reached {'; '.join(words)}."
        )
    return " ".join(sentences)


def _table(results: ComparisonResults, data: str, size: int) -> Table:
    frame = results.cells(data=data, size=size).sort(["top", "epsilon_value"], maintain_order=True)
    columns = tuple(COLUMNS.values())
    return Table(
        name=f"all-{data.lower()}-{size}",
        head=tuple(COLUMNS),
        rows=tuple(
            tuple(
                results.epsilon(value) if column == "epsilon" else value
                for column, value in zip(columns, row, strict=True)
            )
            for row in frame.select(columns).iter_rows()
        ),
        caption=(
            f"**Every cell for {data}, size {size}.** The figures are means over {results.settings.trials} runs; ms is "
            "the median time of a selection. ± 0.000: all runs agreed. Of those named: the share of the named itemsets "
            "that are right. False negatives: of the itemsets strictly more frequent than the k-th, the share that is "
            "not named. Rank loss: the share of the top k's weight that is missed, where place j weighs 1/log2(j + 1). "
            "Count loss: the share of the top k's total count that is missed. Empty: the share of runs that name "
            "nothing."
        ),
        mechanism_column=0,
        digits=3,
        collapsed=True,
    )
