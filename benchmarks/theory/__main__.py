"""The theory report: what is the same for all data.

    python -m benchmarks.theory [FOLDER]

Writes reports/theory. The data of one section ships with the program; `reports/items-first-defaults.parquet` is there.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path

from benchmarks.theory import composition, corollary, defaults, example, lower_bounds
from fim_private.mechanisms.registry import AUTO, COMPARATORS, REGISTRY, find
from fim_private.report.comparison.sections.answer import uses_list
from fim_private.report.document import Code, Document, Paragraph, Section, Table
from fim_private.report.document.write import write_document
from fim_private.report.drawing import Pictures, style

BANNER = "PUBLIC DATA AND EXACT LAWS: this report is not a private release."
MADE: tuple[Callable[[Pictures], Section], ...] = (
    composition.section,
    lower_bounds.section,
    example.section,
    corollary.section,
    defaults.section,
)


def _list_of_items(name: str) -> str:
    if find(name).needs_universe:
        return "needed"
    return "can use one" if uses_list(name) else "none"


def document_of(pictures: Pictures) -> Document:
    """The report as a document; its pictures are collected."""
    names = (AUTO, *REGISTRY, *COMPARATORS)
    mechanisms = Section(
        anchor="what-they-do",
        title="What each mechanism does",
        parts=(
            Table(
                name="mechanisms",
                head=("mechanism", "list of items", "what it does", "source"),
                rows=tuple((name, _list_of_items(name), find(name).summary, find(name).source) for name in names),
                caption="**All mechanisms.** Names that end in -textbook or -paper have published constants.",
            ),
        ),
    )
    return Document(
        title="Theory: what the mechanisms do, and what none can do",
        banner=BANNER,
        introduction=(
            Paragraph(
                text="The comparison reports say which mechanism to take on which data. This report has what is the "
                "same for all data: [what each mechanism does](#what-they-do), [why asking for more itemsets costs "
                "less than one thinks](#composition), [what no mechanism can do](#lower-bounds), and two statements of "
                "Chaudhuri, Hsu and Song (2014) beside measurements ([example 1](#example), [Corollary "
                "1](#corollary)). All have epsilon 1 and delta 1e-6 where nothing else is said."
            ),
            Code(text="python -m benchmarks.theory"),
        ),
        sections=(mechanisms, *(section(pictures) for section in MADE)),
        mechanisms=names,
        footer="Made by `python -m benchmarks.theory`. " + BANNER,
    )


if __name__ == "__main__":
    drawn = Pictures()
    with style():
        document = document_of(drawn)
    write_document(document, drawn, Path(sys.argv[1] if sys.argv[1:] else "reports/theory"))
