"""What an open universe costs, and where another mechanism beats the planner's choice."""

from __future__ import annotations

from collections.abc import Iterator

import polars as pl

from fim_private.mechanisms.registry import AUTO, find
from fim_private.report.comparison.results import ComparisonResults
from fim_private.report.comparison.sections.answer import CLEARLY
from fim_private.report.document import Paragraph, Part, Section, Table
from fim_private.report.drawing import Pictures, legend, line, logarithmic, new_figure

SIDE_BY_SIDE = ("exponential", "limited-domain", "certified-domain", "items-first")
LONGEST = 200


def section(results: ComparisonResults, pictures: Pictures) -> Section:
    """Draw a declared universe, the limited domain and items-first side by side. Then list where auto is behind."""
    shown = tuple(name for name in SIDE_BY_SIDE if name in results.settings.mechanisms)
    parts: list[Part] = [
        Paragraph(
            text="One would expect an open universe to cost something. `limited-domain` pays with margin: an itemset "
            "must stand out far from place 1,000 k to be named. `certified-domain` picks without a stop symbol, and "
            "shows the names only if a noisy test finds that all of them have support. The test is one number, so it "
            "costs the same for any k. `items-first` asks another question first: **which items are frequent?** A "
            "basket holds few items but many pairs and triples, so this answer is cheap. It counts the items without "
            "names, and the itemsets of the frequent ones are then the universe, which is far smaller than that of any "
            "public list. Then it either picks, as the exponential mechanism does, or counts all these itemsets with "
            "noise, which is better for long lists of short baskets. In the end a noisy test decides which names are "
            "shown. The figure below compares them with the exponential mechanism, which was told every item that "
            "occurs."
        )
    ]
    for counts in results.counts:
        if len(shown) > 1:
            parts.append(_figure(results, pictures, counts.name, shown))
        if AUTO in results.settings.mechanisms:
            parts += list(_behind(results, counts.name))
    return Section(anchor="open-universe", title="What an open universe costs", parts=tuple(parts))


def _figure(results: ComparisonResults, pictures: Pictures, data: str, names: tuple[str, ...]) -> Part:
    epsilons = [text for text in results.epsilons if results.epsilon(text) <= 1][-3:] or results.epsilons[:3]
    sizes = sorted(results.settings.sizes)
    tops = [top for top in results.all_tops if top <= max(LONGEST, min(results.all_tops))]
    figure, axes = new_figure(len(sizes), len(epsilons), same_x=True, height=2.2)
    panels = iter(axes)
    for size in sizes:
        for epsilon in epsilons:
            panel = next(panels)
            for name in names:
                rows = results.cells(data=data, mechanism=name, size=size, epsilon=epsilon).sort("top")
                rows = rows.filter(rows["top"].is_in(tops))
                line(panel, name, *(rows[column].to_list() for column in ("top", "precision", "precision_error")))
            panel.set_title(f"size {size}, epsilon {epsilon}")
            logarithmic(panel)
            panel.set_xticks(tops, [str(top) for top in tops])
            panel.minorticks_off()
            panel.set_ylim(-0.04, 1.06)
    for panel in axes[-len(epsilons) :]:
        panel.set_xlabel("k (log scale)")
    figure.supylabel("precision at k", fontsize=9)
    legend(figure, names)
    return pictures.finish(
        figure,
        name=f"open-universe-{data.lower()}",
        alt=f"Precision against k on {data} for a declared universe, the limited domain and items first",
        caption=f"**{data}: with a list of items, and without.** {_sentence(results, data, names)} Bars are 95 % "
        f"confidence intervals over {results.settings.trials} runs.",
    )


def _sentence(results: ComparisonResults, data: str, names: tuple[str, ...]) -> str:
    """How often items-first is clearly better, and clearly worse, than each of the other mechanisms."""
    sentences = []
    for other in names:
        if "items-first" not in names or other == "items-first":
            continue
        pairs = _compared(results, data, "items-first").filter(pl.col("mechanism") == other)
        better, worse = (-pairs["gain"] > pairs["sure"]).sum(), (pairs["gain"] > pairs["sure"]).sum()
        sentences.append(
            f"In all {len(pairs)} cells of the comparison, `items-first` is clearly better than `{other}` in {better} "
            f"and clearly worse in {worse}."
        )
    return " ".join(sentences)


def _compared(results: ComparisonResults, data: str, name: str) -> pl.DataFrame:
    """Every other mechanism beside the named mechanism, cell by cell.

    `gain` says by how much the other is better. The gain is clear where it exceeds `sure`. The columns of the named
    mechanism end in `_here`.
    """
    here = results.cells(data=data, mechanism=name)
    others = results.cells(data=data).filter(pl.col("mechanism") != name)
    return others.join(here, on=["size", "top", "epsilon"], suffix="_here").with_columns(
        (pl.col("precision") - pl.col("precision_here")).alias("gain"),
        pl.max_horizontal(pl.lit(CLEARLY), pl.col("precision_error") + pl.col("precision_error_here")).alias("sure"),
    )


def _behind(results: ComparisonResults, data: str) -> Iterator[Part]:
    """Every cell in which some mechanism is clearly better than the planner's choice."""
    cells = len(results.cells(data=data, mechanism=AUTO))
    compared = _compared(results, data, AUTO).with_columns(
        pl.col("mechanism").map_elements(lambda name: find(name).needs_universe, return_dtype=pl.Boolean).alias("needs")
    )
    best = (
        compared.filter(pl.col("gain") > pl.col("sure"))
        .sort("gain", descending=True, maintain_order=True)
        .unique(["size", "top", "epsilon", "needs"], keep="first", maintain_order=True)
        .sort("size", "top", "epsilon_value", "needs")
    )
    without = len(best.filter(~pl.col("needs")))
    yield Table(
        name=f"behind-{data.lower()}",
        head=("size", "k", "epsilon", "better", "its precision", "universe", "auto", "auto took"),
        rows=tuple(
            (
                row["size"],
                row["top"],
                row["epsilon_value"],
                row["mechanism"],
                row["precision"],
                "list of items needed" if row["needs"] else "open",
                row["precision_here"],
                row["ran_here"],
            )
            for row in best.iter_rows(named=True)
        ),
        caption=(
            f"**{data}: where `auto` is clearly behind.** `auto` gets no list of items. `look-first`, which it takes "
            "for more than one itemset, has only one noisy look at the ranking before it decides between "
            "`certified-domain` and `items-first`. Another mechanism that needs no list of items is "
            f"clearly better in {without} of {cells} cells. A mechanism that needs a list is clearly better in "
            f"{len(best) - without} cells"
            + (". The table lists the best of them" if len(best) else ": `auto` is never clearly behind")
            + f'. "Clearly" means by more than both 95 % intervals together, and by more than {CLEARLY}. With so '
            "many cells a few are in the table by chance."
        ),
        mechanism_column=3,
        digits=3,
        collapsed=True,
    )
