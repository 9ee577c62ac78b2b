"""Corollary 1 beside the measurement."""

from __future__ import annotations

import math

from fim_private.privacy import exact
from fim_private.report.comparison.results import ComparisonResults
from fim_private.report.document import Paragraph, Part, Section
from fim_private.report.drawing import Pictures, legend, line, logarithmic, new_figure

NAMES = ("lmm-paper", "lmm", "exponential-textbook", "exponential")


def section(results: ComparisonResults, pictures: Pictures) -> Section:
    """Draw how much less frequent the first named itemset is than the best, with the paper's two bounds."""
    top = min(results.tops)
    parts: list[Part] = [
        Paragraph(
            text="One selection names an itemset. Corollary 1 of the paper bounds how much less frequent this itemset "
            "is than the most frequent one. The bounds here are in transactions; the paper divides by n. For the large "
            "margin mechanism the bound is a constant times **log(L/delta)/epsilon**, where L is the number of "
            "different itemsets that occur. It holds if the largest count exceeds a constant times the same "
            "expression. For the exponential mechanism over all itemsets of r out of |I| items the bound is a constant "
            "times **r log(|I|/delta)/epsilon**. The paper does not state the constants. Both bounds are drawn with "
            "the constant 1."
        )
    ]
    epsilons = [results.epsilon(epsilon) for epsilon in results.epsilons]
    delta = float(exact(results.settings.delta, "delta"))
    for counts in results.counts:
        data = counts.name
        sizes = sorted(results.settings.sizes)
        figure, axes = new_figure(1, len(sizes), height=3.0)
        names = [name for name in NAMES if name in results.settings.mechanisms]
        worst = 0.0
        above = []
        items = results.settings.universe_items or counts.items
        for panel, size in zip(axes, sizes, strict=True):
            occurring = counts.profiles[size].occurring
            bounds = {
                "L": [math.log(occurring / delta) / epsilon for epsilon in epsilons],
                "I": [size * math.log(items / delta) / epsilon for epsilon in epsilons],
            }
            panel.plot(epsilons, bounds["L"], color="#444444", linewidth=1, label="log(L/delta)/epsilon")
            panel.plot(epsilons, bounds["I"], color="#444444", linewidth=1, linestyle="--")
            for name, frame in results.by_mechanism(results.cells(data=data, size=size, top=top)):
                if name not in names:
                    continue
                known = frame.filter(frame["shortfall"].is_not_null()).sort("epsilon_value")
                x, y = known["epsilon_value"].to_list(), known["shortfall"].to_list()
                line(panel, name, x, y, known["shortfall_error"].to_list())
                worst = max([worst, *y])
                limit = dict(zip(epsilons, bounds["L" if name.startswith("lmm") else "I"], strict=True))
                above += [
                    f"{name} at size {size}, epsilon {at:g}"
                    for at, value in zip(x, y, strict=True)
                    if value > limit[at]
                ]
            panel.set_title(f"size {size}: L = {occurring:,}")
            logarithmic(panel)
            panel.set_yscale("symlog", linthresh=1)
            panel.yaxis.set_major_formatter(lambda value, _place: f"{value:,.0f}")
            panel.set_xticks(epsilons, results.epsilons)
            panel.minorticks_off()
            panel.set_xlabel("epsilon (log scale)")
        axes[0].set_ylim(-0.5, 1.3 * max(worst, *bounds["I"]))
        axes[0].set_ylabel("largest count minus count of the\nfirst named, in transactions")
        legend(figure, names)
        verdict = (
            "No mean lies above its bound drawn with constant 1."
            if not above
            else f"These means lie above their bound drawn with constant 1: {'; '.join(above)}."
        )
        parts.append(
            pictures.finish(
                figure,
                name=f"corollary-{data.lower()}",
                alt=f"Shortfall of the first named itemset of {data} with the bounds of Corollary 1",
                caption=(
                    f"**{data}, k = {top}.** Solid grey: log(L/delta)/epsilon, for the large margin mechanism; dashed: "
                    f"r log(|I|/delta)/epsilon, for the exponential mechanism, |I| = {items:,}. {verdict} The largest "
                    f"mean shortfall of these mechanisms is {worst:,.1f} transactions; the largest count is "
                    f"{', '.join(f'{counts.profiles[size].count(1):,} (size {size})' for size in sizes)}. If a line is "
                    "missing, its mechanism named nothing."
                ),
            )
        )
    return Section(anchor="corollary", title="Corollary 1 beside the measurement", parts=tuple(parts))
