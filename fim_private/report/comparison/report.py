"""The comparison report: its sections in order."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from fim_private.comparison.settings import ranking_all_sizes
from fim_private.report.comparison.results import ComparisonResults
from fim_private.report.comparison.sections import (
    all_sizes,
    answer,
    margins,
    open_universe,
    reproduction,
    universe,
    utility,
)
from fim_private.report.document import Document, Paragraph
from fim_private.report.document.write import write_document
from fim_private.report.drawing import Pictures, style

SECTIONS = (
    answer,
    open_universe,
    utility,
    universe,
    all_sizes,
    margins,
    reproduction,
)

PUBLIC = "EXACT COUNTS OF PUBLIC DATA, SEEDED NOISE: a comparison, not a private release."
CURATOR = "EXACT COUNTS, NOT PRIVATE: for the curator's eyes only. Do not publish any of this."

THEORY = "../theory/index.html"
"""The theory report, seen from the reports of the program's repository."""


def document_of(results: ComparisonResults, pictures: Pictures, *, theory: bool = False) -> Document:
    """The report as a document; its pictures are collected. With `theory`, it links to that report."""
    shown = (module for module in SECTIONS if not (module is margins and results.settings.without_delta))
    first, *others = (module.section(results, pictures) for module in shown)
    first = replace(first, parts=(*first.parts, _further(theory=theory)))
    sections = (first, *(section for section in others if section.parts))
    mechanisms = tuple(dict.fromkeys((*results.settings.mechanisms, *dict(ranking_all_sizes(results.settings)))))
    return Document(
        title=results.title,
        banner=PUBLIC if results.public else CURATOR,
        introduction=(),
        sections=sections,
        mechanisms=mechanisms,
        footer="Made by `fim-private compare`. " + (PUBLIC if results.public else CURATOR),
        pages=(THEORY,) if theory else (),
    )


def _further(*, theory: bool) -> Paragraph:
    """Where the rest is."""
    where = f"[the theory report]({THEORY})" if theory else "the theory report (`reports/theory` in the repository)"
    return Paragraph(
        text="Everything else is folded: [where auto is behind](#open-universe), [every size and epsilon](#utility), "
        "[words and how to reproduce this](#reproduce). What is the same for all data is in "
        f"{where}: what the mechanisms do, what no mechanism can do, and what composition costs."
    )


def write_report(results: ComparisonResults, folder: Path) -> None:
    """`index.html`, `report.md` and `figures/` in the folder, replacing what a former run left.

    Where data is not known to be public they are for their owner alone: they show exact counts.

    Raises:
        InputError: the file system refuses.
    """
    pictures = Pictures()
    with style():
        document = document_of(results, pictures, theory=(folder / THEORY).is_file())
    write_document(document, pictures, folder, owner_only=not results.public)
