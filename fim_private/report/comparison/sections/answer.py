"""The question, the data and the promise; the answer in one table."""

from __future__ import annotations

from fim_private.mechanisms.registry import AUTO, find
from fim_private.report.comparison.results import ComparisonResults
from fim_private.report.comparison.sections import all_sizes
from fim_private.report.document import Bullets, Paragraph, Part, Section, Table
from fim_private.report.document.text import times_as_likely
from fim_private.report.drawing import Pictures

CLEARLY = 0.02
"""Precisions that differ by less than this count as equal."""


def section(results: ComparisonResults, _pictures: Pictures) -> Section:
    """State the question, the data and the promise. Give the answer, and advice on which mechanism to take."""
    settings = results.settings
    epsilon = settings.middle_epsilon
    unit = settings.described_unit
    holders = "transactions that hold them all"
    if settings.counts_units:
        holders = "units that hold them all in one transaction"
    parts: list[Part] = [
        Paragraph(
            text="A shop wants to publish **which items are most often bought together**. The answer must not show "
            "whether a given basket was in the data. Differential privacy makes this exact. The answer is drawn at "
            f"random. One unit more or less in the data (here {unit}) makes any set of answers at most e^epsilon times "
            f"as likely, plus delta = {settings.delta}. At epsilon {epsilon} that factor is "
            f"{times_as_likely(results.epsilon(epsilon))}. A smaller epsilon protects more, and the answer is worse."
        ),
        Paragraph(
            text="A **mechanism** is a recipe for drawing the answer. Here all mechanisms keep the same promise: the "
            f"same epsilon and delta for the whole list of k itemsets, the same neighbours ({settings.relation}) and "
            "the same unit. They differ in how often the answer is right. **Precision at k** is the share of the true "
            "k most frequent itemsets that the list names. If a list is shorter, the missing itemsets count as wrong."
        ),
        Paragraph(
            text="Mechanisms with an **open** universe need only the baskets. The others need a public **list of all "
            "items** that may occur. Here they get "
            + (
                f"a list of {settings.universe_items:,} items. "
                if settings.universe_items
                else "the shortest possible list: the items that do occur. That is the most favourable case; with "
                "private data nobody could know this list. "
            )
            + "Below: [what longer lists cost them](#range). At the end: [what each mechanism does]"
            "(#table-mechanisms). They are compared with the large margin mechanism of Chaudhuri, Hsu and Song (2014), "
            "called the paper from here on."
        ),
        Bullets(
            items=(
                f"**Itemset** of size r: r different items; its **count**: the number of {holders}. "
                "**k**: how many itemsets are asked for.",
                "**Unit**: what is protected, here "
                + unit
                + ". **Neighbours**: two data sets that differ in one unit, "
                + ("one more or one less" if settings.relation == "add-remove" else "exchanged for another")
                + f" ({settings.relation}). **Budget**: the epsilon and delta that a whole list may spend.",
                "**Calibrated**: with the smallest noise and thresholds that provably keep the promise. `-textbook` "
                "and `lmm-paper` have published constants instead. **Stop symbol**: a candidate that ends the list "
                "when it is picked. **Bulk**: the rest of the ranking, far below place k.",
            )
        ),
        Bullets(
            items=tuple(
                f"**{source.name}**: {source.description} {counts.transactions:,} "
                f"{'units' if settings.counts_units else 'transactions'}, {counts.items:,} "
                "items; "
                + ", ".join(
                    f"{profile.occurring:,} different itemsets of size {size} occur"
                    for size, profile in counts.profiles.items()
                )
                + (f". {source.citation}" if source.citation else ".")
                for source, counts in zip(results.sources, results.counts, strict=True)
            )
        ),
    ]
    if settings.all_sizes:
        parts += [all_sizes.precision_table(results, data.name) for data in results.counts]
    parts += [_answer(results, data.name) for data in results.counts]
    parts.append(Paragraph(text="**Which mechanism, when?** In brackets: its precision on this data, above."))
    parts.append(Bullets(items=tuple(_advice(results))))
    return Section(anchor="answer", title="What was asked, and the answer", parts=tuple(parts))


def _answer(results: ComparisonResults, data: str) -> Table:
    settings = results.settings
    size, epsilon = settings.main_size, settings.middle_epsilon
    precision: dict[str, dict[int, float]] = {}
    for name, frame in results.by_mechanism(results.cells(data=data, size=size, epsilon=epsilon)):
        precision[name] = dict(zip(frame["top"].to_list(), frame["precision"].to_list(), strict=True))
    most = max(results.tops)
    limit = max(found[most] for found in precision.values()) - CLEARLY
    best = [name for name, found in precision.items() if found[most] >= limit]
    open_ones = [name for name in precision if not find(name).needs_universe]
    return Table(
        name=f"answer-{data.lower()}",
        head=("mechanism", "universe", *(f"k = {top}" for top in results.tops)),
        rows=tuple(
            (name, all_sizes.universe_of(name), *(found[top] for top in results.tops))
            for name, found in precision.items()
        ),
        caption=(
            f"**{data}: the answer in one table.** Precision at k for itemsets of size {size} at epsilon {epsilon}, "
            f"mean of {settings.trials} runs. At k = {most} "
            + _winners(results, best if limit > 0 else [])
            + (
                f" The best mechanism with an open universe: {max(open_ones, key=lambda name: precision[name][most])}, "
                f"{max(precision[name][most] for name in open_ones):.2f}."
                if open_ones
                else ""
            )
        ),
        mechanism_column=0,
    )


def _winners(results: ComparisonResults, best: list[str]) -> str:
    if not best:
        return "hardly any mechanism names a right itemset."
    return f"the best, within {CLEARLY}, {'is' if len(best) == 1 else 'are'} {results.names(best)}."


def _advice(results: ComparisonResults) -> list[str]:
    """Each piece of advice with the precision that supports it, for the mechanisms that were run."""
    run = set(results.settings.mechanisms)
    size, epsilon = results.settings.main_size, results.settings.middle_epsilon
    data = results.counts[0].name
    tops = tuple(dict.fromkeys((min(results.tops, key=lambda top: abs(top - 10)), max(results.tops))))

    def found(name: str) -> str:
        """The precision of a mechanism for a short and a long list."""
        values = [
            results.value("precision", data=data, mechanism=name, size=size, top=top, epsilon=epsilon) for top in tops
        ]
        return ", ".join(f"{value:.2f} at k = {top}" for top, value in zip(tops, values, strict=True))

    names = [name for name in results.settings.mechanisms if name != AUTO]
    advice = [f"{find(name).advice} ({found(name)})." for name in names if find(name).advice]
    studied = [f"`{name}`" for name in names if not find(name).advice]
    if studied:
        advice.append(
            f"**To understand the field, not to use:** {', '.join(studied)}. The names that end in `-textbook` are the "
            "same mechanisms with the textbooks' constants. These constants pay twice for counts that can only move "
            "one way."
        )
    best_open = max(
        (
            results.value("precision", data=data, mechanism=name, size=size, top=max(tops), epsilon=epsilon)
            for name in run
            if not find(name).needs_universe
        ),
        default=1.0,
    )
    if best_open < 0.5:
        advice.append(
            f"**A long list from little data:** at k = {max(tops)} and epsilon {epsilon} no mechanism with an open "
            f"universe names half of {data}'s list. Ask for fewer itemsets, or spend a larger epsilon."
        )
    unsure = (
        "**Not sure:** `--mechanism auto`, the default, compares the leads and says why it chose. `look-first`, which "
        "it takes for more than one itemset, also looks at the data, privately"
    )
    return [*advice, f"{unsure} ({found(AUTO)})." if AUTO in run else f"{unsure}."]
