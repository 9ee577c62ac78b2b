"""The classical task, the most frequent itemsets of all sizes in one ranking, beside the published systems."""

from __future__ import annotations

import polars as pl

from fim_private.comparison.settings import ALL_SIZES, ranked_tops, ranking_all_sizes
from fim_private.mechanisms.registry import AUTO, COMPARATORS
from fim_private.report.comparison.choice import ahead_of_auto
from fim_private.report.comparison.results import ComparisonResults
from fim_private.report.comparison.sections.answer import OPEN, TOLD
from fim_private.report.document import Paragraph, Part, Section, Table
from fim_private.report.drawing import Pictures


def section(results: ComparisonResults, _pictures: Pictures) -> Section:
    """Give the precision, what was missed, and how far off the released counts are."""
    parts: list[Part] = []
    if results.settings.all_sizes:
        weighted = (
            " `weighted-gaussian` (Gopi et al. 2020) needs no list, like `auto`."
            if "weighted-gaussian" in dict(ranking_all_sizes(results.settings))
            else ""
        )
        systems = (
            f"`privbasis` (Li, Qardaji, Su, Cao 2012) was made for this task. It and `{AUTO}` are told the "
            "names of all items that occur. "
            if results.settings.without_delta
            else f"{' and '.join(f'`{name}`' for name in COMPARATORS)} (Li, Qardaji, Su, Cao 2012) were made for this "
            f"task. They are told the names of all items that occur. `{AUTO}` is shown without a list and with that "
            "one. `privbasis` needs no delta, so that its noise is larger. All others here spend the same delta. "
        )
        parts.append(
            Paragraph(
                text=f"{systems}`truncated-frequency` (Bhaskar et al. 2010) and "
                "`joint-exponential` (Gillenwater et al. 2022) stand in the tables for single sizes: over all sizes "
                f"together they would have to tell apart all itemsets of the list.{weighted}"
            )
        )
        for counts in results.counts:
            parts += [_precision(results, counts.name), _missed(results, counts.name)]
    return Section(
        anchor="published-systems", title="All sizes in one ranking, beside published systems", parts=tuple(parts),
        folded=True,
    )  # fmt: skip


def _precision(results: ComparisonResults, data: str) -> Table:
    """Precision over all sizes together, by k and epsilon."""
    settings = results.settings
    return Table(
        name=f"all-sizes-{data.lower()}",
        head=("mechanism", "list of items", "k", *(f"epsilon {epsilon}" for epsilon in results.epsilons)),
        rows=tuple(
            (
                name,
                TOLD if listed else OPEN,
                top,
                *_row(results, "precision", listed=listed, data=data, mechanism=name, top=top),
            )
            for top in ranked_tops(settings)
            for name, listed in ranking_all_sizes(settings)
        ),
        caption=f"**{data}: itemsets of {_sizes(settings.all_sizes)} items in one ranking**, the task of most "
        f"published systems. Precision at k, mean of {settings.trials} runs, delta {settings.delta}. "
        + _ahead(results, data),
        mechanism_column=0,
    )


def _ahead(results: ComparisonResults, data: str) -> str:
    """In how many cells which system is clearly better than `auto`, without a list and with one, in words."""
    sentences = []
    for listed, which in ((False, "without a list"), (True, "with a list")):
        cells = _cells(results, listed=listed, data=data)
        if not len(cells):
            continue  # with delta 0 all have a list
        ahead = ahead_of_auto(cells).group_by("mechanism", maintain_order=True).len().sort("mechanism")
        asked = (cells["mechanism"] == AUTO).sum()
        better = [f"`{name}` is clearly better than `{AUTO}` in {times}" for name, times in ahead.iter_rows()]
        found = ", ".join(better) or f"none is clearly better than `{AUTO}` in any"
        sentences.append(f"Of the mechanisms {which}, {found} of {asked} cells.")
    return " ".join(sentences)


def _missed(results: ComparisonResults, data: str) -> Table:
    settings = results.settings
    top = ranked_tops(settings)[-1]
    measures = {"itemsets missed": "false_negative_rate", "error of counts": "count_error"}
    return Table(
        name=f"missed-{data.lower()}",
        head=("mechanism", "list of items", "measure", *(f"epsilon {epsilon}" for epsilon in results.epsilons)),
        rows=tuple(
            (
                name,
                TOLD if listed else OPEN,
                words,
                *_row(results, measure, listed=listed, data=data, mechanism=name, top=top),
            )
            for words, measure in measures.items()
            for name, listed in ranking_all_sizes(settings)
        ),
        caption=f"**{data}, {_sizes(settings.all_sizes)} items, k = {top}.** Missed: the share of the itemsets above "
        "the k-th count that are not named. Error of counts: the median relative error of the released counts, of "
        "those itemsets that are named; – where fewer than half of the runs release counts.",
        mechanism_column=0,
    )


def _cells(results: ComparisonResults, *, listed: bool, **wanted: object) -> pl.DataFrame:
    """The averages over all sizes together, with a list of items or without."""
    return results.cells(size=ALL_SIZES, **wanted).filter(pl.col("universe_items").is_not_null() == listed)


def _row(results: ComparisonResults, measure: str, *, listed: bool, **cell: object) -> tuple[float | None, ...]:
    """One value for each epsilon; None where nothing was measured."""
    found = (_cells(results, listed=listed, epsilon=epsilon, **cell)[measure].item() for epsilon in results.epsilons)
    return tuple(None if value is None else float(value) for value in found)


def _sizes(sizes: tuple[int, ...]) -> str:
    return f"{', '.join(map(str, sizes[:-1]))} and {sizes[-1]}"
