"""Section 1: what was asked, of which data, with which promise; the answer in one table."""

from __future__ import annotations

import math

from fim_private.mechanisms.registry import REGISTRY
from fim_private.report.document import Bullets, Paragraph, Part, Section, Table
from fim_private.report.drawing import Pictures
from fim_private.report.material import Material

CLEARLY = 0.02
"""Precisions that differ by less are called equal."""


def section(material: Material, _pictures: Pictures) -> Section:
    """Question, data, promise, answer, and which mechanism to take when."""
    settings = material.settings
    epsilon = settings.middle_epsilon
    unit = settings.unit.describe()
    parts: list[Part] = [
        Paragraph(
            text="A shop holds baskets and wants to publish **which items are most often bought together**, without "
            "anybody "
            "being able to tell from the answer whether a given basket was in the data. Differential privacy makes "
            "this exact: the answer is drawn at random, and one "
            f"unit more or less in the data (here {unit}) changes the probability of any answer by a factor of at most "
            f"e^epsilon, but for a chance of delta = {settings.delta}. "
            f"At epsilon {epsilon} that factor is {math.exp(material.epsilon(epsilon)):.3g}. Smaller epsilon protects "
            "more and "
            "answers worse."
        ),
        Paragraph(
            text="A **mechanism** is a recipe for drawing the answer. They all keep the same promise here: the same "
            "total "
            f"epsilon and delta for the whole list of k itemsets, the same neighbours ({settings.relation}), the same "
            "unit. They differ in how often the answer is right. **Precision at k** is the share of the true k most "
            "frequent itemsets in the list; a list that is cut short counts what it leaves out as wrong."
        ),
        Bullets(
            items=tuple(
                f"**{source.name}**: {source.description} {counts.transactions:,} transactions, {counts.items:,} "
                "items; "
                + ", ".join(
                    f"{profile.occurring:,} different itemsets of size {size} occur"
                    for size, profile in counts.profiles.items()
                )
                + (f". {source.citation}" if source.citation else ".")
                for source, counts in zip(material.sources, material.counts, strict=True)
            )
        ),
    ]
    parts += [_answer(material, data.name) for data in material.counts]
    parts.append(Paragraph(text="**Which mechanism, when?** What the tables above and the sections below come to:"))
    parts.append(Bullets(items=tuple(_advice(material))))
    return Section(anchor="answer", title="What was asked, and the answer", parts=tuple(parts))


def _answer(material: Material, data: str) -> Table:
    settings = material.settings
    size, epsilon = settings.main_size, settings.middle_epsilon
    precision: dict[str, dict[int, float]] = {}
    for name, frame in material.by_mechanism(material.cells(data=data, size=size, epsilon=epsilon)):
        precision[name] = dict(zip(frame["top"].to_list(), frame["precision"].to_list(), strict=True))
    most = max(material.tops)
    limit = max(found[most] for found in precision.values()) - CLEARLY
    best = [name for name, found in precision.items() if found[most] >= limit]
    return Table(
        name=f"answer-{data.lower()}",
        head=("mechanism", "universe", *(f"k = {top}" for top in material.tops)),
        rows=tuple(
            (name, _universe(name), *(found[top] for top in material.tops)) for name, found in precision.items()
        ),
        caption=(
            f"**{data}: the answer in one table.** Precision at k for itemsets of size {size} at epsilon {epsilon}, "
            f"mean of {settings.trials} runs. At k = {most} the best, within {CLEARLY}, "
            + (f"is {best[0]}." if len(best) == 1 else f"are {material.names(best)}.")
        ),
        mechanism_column=0,
    )


def _universe(name: str) -> str:
    row = REGISTRY[name]
    return "list of items needed" if row.needs_universe else "baskets are cut" if row.needs_cap else "open"


def _advice(material: Material) -> list[str]:
    """Each piece of advice with the figures that bear it out, for those mechanisms that were run."""
    run = set(material.settings.mechanisms)
    size, epsilon = material.settings.main_size, material.settings.middle_epsilon
    data = material.counts[0].name
    tops = tuple(dict.fromkeys((min(material.tops, key=lambda top: abs(top - 10)), max(material.tops))))

    def found(name: str) -> str:
        """Its precision at a short and a long list."""
        values = [
            material.value("precision", data=data, mechanism=name, size=size, top=top, epsilon=epsilon) for top in tops
        ]
        return ", ".join(f"{value:.2f} at k = {top}" for top, value in zip(tops, values, strict=True))

    advice = []
    if "limited-domain" in run:
        advice.append(
            "**No public list of all items, and you want the longest list that can be had:** `limited-domain`. It asks "
            "for the smallest lead over the bulk of the ranking of all mechanisms for an open universe, and stops when "
            f"it runs out (precision on {data}: {found('limited-domain')})."
        )
    if "lmm" in run:
        advice.append(
            "**No public list, and a list that is cut off where the counts have a gap:** `lmm`, the large margin "
            "mechanism, calibrated. Where it finds a certified gap it picks from the itemsets above it; where there "
            f"is none, it goes on as `limited-domain` with what is left of the budget ({found('lmm')})."
        )
    if {"exponential", "permute-and-flip"} <= run:
        advice.append(
            "**A public list of all items that may occur:** `exponential` for several itemsets "
            f"({found('exponential')}), `permute-and-flip` for a single one, or where delta has to "
            "be 0."
        )
    if "report-noisy-max" in run:
        advice.append(
            "**You also want to know how clear each pick was:** `report-noisy-max` gives the noisy lead over the "
            "runner-up for free; its list is that of `permute-and-flip`."
        )
    studied = [name for name in ("lmm-paper", "stable-max", "choosing", "max-of-laplaces") if name in run]
    if studied:
        advice.append(
            f"**To understand the field, not to use:** {', '.join(f'`{name}`' for name in studied)}, and whatever ends "
            "in `-textbook`: the same mechanism with the constants of the textbooks, which pay twice for counts that "
            "can only move one way."
        )
    return [*advice, "**Not sure:** `--mechanism auto` compares the leads and says why it chose."]
