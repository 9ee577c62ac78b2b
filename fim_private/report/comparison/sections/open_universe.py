"""What an open universe costs, and where another mechanism beats the planner's choice."""

from __future__ import annotations

import polars as pl

from fim_private.mechanisms.registry import AUTO
from fim_private.report.comparison.choice import CLEARLY, ahead_of_auto
from fim_private.report.comparison.results import ComparisonResults
from fim_private.report.comparison.sections.answer import OPEN, TOLD
from fim_private.report.document import Paragraph, Part, Section, Table
from fim_private.report.drawing import Pictures, curves, legend, new_figure, ticks

SIDE_BY_SIDE = (AUTO, "exponential", "limited-domain", "certified-domain", "items-first")
LONGEST = 200


def section(results: ComparisonResults, pictures: Pictures) -> Section:
    """Draw a declared universe, the limited domain and items-first side by side. Then list where auto is behind."""
    shown = tuple(name for name in SIDE_BY_SIDE if name in results.settings.mechanisms)
    listed = results.settings.without_delta  # then every mechanism has the list of items
    parts: list[Part] = [] if listed else [_terms()]
    for counts in results.counts:
        if len(shown) > 1 and not listed:
            parts.append(_figure(results, pictures, counts.name, shown))
        if AUTO in results.settings.mechanisms:
            parts.append(_behind(results, counts.name))
    title = "Where auto is behind" if listed else "What an open universe costs, and where auto is behind"
    return Section(anchor="open-universe", title=title, parts=tuple(parts), folded=True)


def _terms() -> Paragraph:
    return Paragraph(
        text="`limited-domain` pays for an open universe with a lead: to be named, an itemset must clearly exceed "
        "place 1,000 k. `certified-domain` picks without a stop symbol, and names as many of its picks as a "
        "noisy test finds to have support. `items-first` first counts the **items**, with noise and without names. "
        "Then it picks from the itemsets of the frequent items, or counts these with noise. "
        "For more than two itemsets `auto` mostly takes `look-first`. It looks twice, with noise: at how many "
        "items transactions hold, and at the ranking. Then it decides between the last two. The figure compares "
        "them with the exponential mechanism, which was told every item that occurs."
    )


def _figure(results: ComparisonResults, pictures: Pictures, data: str, names: tuple[str, ...]) -> Part:
    epsilons = [text for text in results.epsilons if results.epsilon(text) <= 1][-3:] or results.epsilons[:3]
    sizes = sorted(results.settings.sizes)
    tops = [top for top in results.all_tops if top <= max(LONGEST, min(results.all_tops))]
    figure, axes = new_figure(len(sizes), len(epsilons), same_x=True, height=2.2)
    panels = iter(axes)
    for size in sizes:
        for epsilon in epsilons:
            panel = next(panels)
            cells = results.cells(data=data, size=size, epsilon=epsilon).filter(
                pl.col("mechanism").is_in(names) & pl.col("top").is_in(tops)
            )
            curves(panel, results.by_mechanism(cells), "top")
            panel.set_title(f"size {size}, epsilon {epsilon}")
            ticks(panel, tops, list(map(str, tops)))
    for panel in axes[-len(epsilons) :]:
        panel.set_xlabel("k (log scale)")
    for panel in axes[:: len(epsilons)]:
        panel.set_ylabel("precision at k")
    legend(figure, names)
    return pictures.finish(
        figure,
        name=f"open-universe-{data.lower()}",
        alt=f"Precision against k on {data} for a declared universe, the limited domain and items first",
        caption=f"**{data}: with a list of items, and without.** Bars are 95 % confidence intervals over "
        f"{results.settings.trials} runs.",
    )


def _behind(results: ComparisonResults, data: str) -> Table:
    """Every cell in which some mechanism is clearly better than the planner's choice."""
    grid = results.cells(data=data)
    here = grid.filter(pl.col("mechanism") == AUTO)
    best = (
        ahead_of_auto(grid)
        .with_columns(pl.col("universe_items").is_not_null().alias("needs"))
        .sort("precision", descending=True, maintain_order=True)
        .unique(["size", "top", "epsilon", "needs"], keep="first", maintain_order=True)
        .sort("size", "top", "epsilon_value", "needs")
    )
    without = len(best.filter(~pl.col("needs")))
    asked = f"{len(here)} cells"
    better = (
        f"Another mechanism is clearly better in {len(best)} of {asked}"
        if results.settings.without_delta
        else f"Another mechanism without a list is clearly better in {without} of {asked}, and one that is told what "
        f"occurs in {len(best) - without}"
    )
    return Table(
        name=f"behind-{data.lower()}",
        head=("size", "k", "epsilon", "better", "its precision", "list of items", "auto", "auto took"),
        rows=tuple(
            (
                row["size"],
                row["top"],
                row["epsilon"],
                row["mechanism"],
                row["precision"],
                TOLD if row["needs"] else OPEN,
                row["precision_here"],
                row["ran_here"],
            )
            for row in best.iter_rows(named=True)
        ),
        caption=(
            f"**{data}: where `auto` is clearly behind.** {better}"
            + (". The table has the best of them" if len(best) else "")
            + f'. "Clearly" means: the 95 % intervals do not meet, and the means differ by more than {CLEARLY}. With '
            "so many cells a few are in the table by chance."
            + (" All sizes in one ranking: [below](#published-systems)." if results.settings.all_sizes else "")
        ),
        mechanism_column=3,
        digits=3,
        collapsed=True,
    )
