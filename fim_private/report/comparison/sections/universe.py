"""Range independence, the paper's main claim: which mechanisms depend on how many items there might be."""

from __future__ import annotations

from fim_private.comparison.hard_instances import needed
from fim_private.mechanisms.registry import find
from fim_private.privacy import Budget
from fim_private.report.comparison.results import ComparisonResults
from fim_private.report.document import Figure, Paragraph, Part, Section
from fim_private.report.drawing import Pictures, legend, line, logarithmic, new_figure

UNIVERSES = tuple(10**digits for digits in (1, 3, 6, 9, 12, 15, 18))
FEW = UNIVERSES[2::2]
"""For mechanisms whose exact law takes long."""
MOVED = 0.1


def section(results: ComparisonResults, pictures: Pictures) -> Section:
    """Draw the precision with padded universes, and the paper's example (1)."""
    parts: list[Part] = [
        Paragraph(
            text="Some mechanisms choose among **all** itemsets that could be formed from a public list of items, "
            "including those that nobody bought. Each itemset that nobody bought gets a small chance. The longer the "
            "list, the larger the sum of these chances. The paper calls this range dependence. Here the same data is "
            "mined as if the shop offered more and more items that nobody bought. The large margin mechanism and its "
            "relatives look only at the top of the ranking, so these items do not affect them."
        )
    ]
    if results.averages["padded"].any():
        parts += [_padded(results, pictures, counts.name) for counts in results.counts]
    parts += [
        Paragraph(
            text="**The paper's example (1)**, computed exactly: each of n people has a number, and the count of item "
            "i is the number of people whose number is at least i. If all have number 1, item 1 has count n and all "
            "others have count 0, so there is a clear winner. If all have number 2, items 1 and 2 both have count n, "
            "so there are two clear winners and either is right. How many people does a mechanism need to name a "
            "winner 19 times in 20?"
        ),
        _example(results, pictures),
    ]
    return Section(anchor="range", title="Range independence: items that nobody bought", parts=tuple(parts))


def _padded(results: ComparisonResults, pictures: Pictures, data: str) -> Figure:
    frame = results.averages.filter(
        (results.averages["data"] == data) & (results.averages["padded"] == True)  # noqa: E712 - a column
    )
    tops = sorted(frame["top"].unique().to_list())
    figure, axes = new_figure(1, len(tops), height=3.0)
    verdicts = []
    for panel, top in zip(axes, tops, strict=True):
        falls: dict[bool, list[str]] = {True: [], False: []}
        for name, rows in results.by_mechanism(frame.filter(frame["top"] == top)):
            ordered = rows.sort("universe_items")
            precision = ordered["precision"].to_list()
            line(panel, name, ordered["universe_items"].to_list(), precision, ordered["precision_error"].to_list())
            falls[precision[0] - precision[-1] > MOVED].append(name)
        panel.set_title(f"k = {top}")
        logarithmic(panel)
        panel.set_ylim(-0.04, 1.06)
        panel.set_xlabel("|I|, number of items declared (log scale)")
        verdicts.append(
            f"At k = {top}, from the shortest list to the longest, "
            + (
                f"the precision of {results.names(falls[True])} falls by more than {MOVED}"
                if falls[True]
                else f"no mechanism's precision falls by more than {MOVED}"
            )
            + (f"; the precision of {results.names(falls[False])} does not." if falls[True] and falls[False] else ".")
        )
    axes[0].set_ylabel("precision at k")
    legend(figure, results.settings.mechanisms)
    epsilon = results.settings.middle_epsilon
    return pictures.finish(
        figure,
        name=f"padded-{data.lower()}",
        alt=f"Precision against the number of declared items for {data}",
        caption=(
            f"**{data}, size {results.settings.main_size}, epsilon {epsilon}, universe padded.** {' '.join(verdicts)} "
            "If the list of a mechanism is hardly ever right, its precision cannot fall much."
        ),
    )


def _example(results: ComparisonResults, pictures: Pictures) -> Figure:
    budget = Budget(results.settings.middle_epsilon, results.settings.delta)
    names = [name for name in results.settings.mechanisms if find(name).sees_counts_only]
    figure, axes = new_figure(1, 2, height=3.0)
    fails: set[str] = set()
    flat: set[str] = set()
    grows: set[str] = set()
    for panel, maximisers in zip(axes, (1, 2), strict=True):
        for name in names:
            universes = FEW if find(name).lowered else UNIVERSES
            people = [needed(name, maximisers, universe, budget) for universe in universes]
            if None in people:
                fails.add(name)
                continue
            values = [float(number) for number in people if number is not None]
            line(panel, name, universes, values)
            (flat if max(values[1:]) == min(values[1:]) else grows).add(name)
        panel.set_title(f"D = ({maximisers}, ..., {maximisers})")
        logarithmic(panel, y=True)
        panel.set_xlabel("K, number of items (log scale)")
    axes[0].set_ylabel("people needed (log scale)")
    legend(figure, names)
    return pictures.finish(
        figure,
        name="example-1",
        alt="Number of people needed in the paper's example (1), against the number of items",
        caption=(
            f"**Example (1), exact laws, epsilon {budget_words(results)}.** The lines of {results.names(grows)} rise "
            f"with the logarithm of K. The lines of {results.names(flat - fails)} are level from K = "
            f"{universes_word()} on"
            + (
                f"; {results.names(fails)} is missing on the right, because it finds no clear winner between two equal "
                "ones with any number of people"
                if fails
                else ""
            )
            + ". A level line is not always low: at small K a rising line may be far below a level one."
        ),
    )


def budget_words(results: ComparisonResults) -> str:
    """The budget of the figures that show only one budget."""
    return f"{results.settings.middle_epsilon}, delta {results.settings.delta}"


def universes_word() -> str:
    """The second universe. Level lines are level from this universe on."""
    return f"{UNIVERSES[1]:,}"
