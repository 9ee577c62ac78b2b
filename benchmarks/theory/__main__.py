"""The theory report: what is the same for all data.

    python -m benchmarks.theory [FOLDER]

Writes reports/theory. The data of one section ships with the program.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from benchmarks.theory import composition, corollary, example, lower_bounds
from fim_private.mechanisms.registry import AUTO, COMPARATORS, REGISTRY, find
from fim_private.report.document import Bullets, Document, Paragraph, Section, Table
from fim_private.report.document.write import write_document
from fim_private.report.drawing import Pictures, style

BANNER = "PUBLIC DATA AND EXACT LAWS: this report is not a private release."
MADE: tuple[Callable[[Pictures], Section], ...] = (
    composition.section,
    lower_bounds.section,
    example.section,
    corollary.section,
)


def _list_of_items(name: str) -> str:
    row = find(name)
    if row.needs_universe:
        return "needed"
    return "can use one" if name == AUTO or row.finds_items else "none"


def document_of(pictures: Pictures, comparisons: Mapping[str, str]) -> Document:
    """The report as a document; its pictures are collected.

    Args:
        pictures: where its pictures are kept.
        comparisons: the pages of the comparison reports that are there, by the name of their data.
    """
    names = (AUTO, *REGISTRY, *COMPARATORS)
    used = [name for name in names if not find(name).study]
    links = ", ".join(f"[{data}]({page})" for data, page in comparisons.items())
    return Document(
        title="Theory: what the mechanisms do, and what none can do",
        banner=BANNER,
        introduction=(
            Paragraph(
                text="How do the mechanisms name frequent itemsets privately, and how far are they from what is "
                "possible? The answers on this page are the same for all data:"
            ),
            Bullets(
                items=(
                    "Some mechanisms need a list of the items, which must be public. [The "
                    "table](#table-mechanisms) says which need none.",
                    "[Asking for more itemsets](#composition) costs less than one would expect.",
                    "[No mechanism](#lower-bounds) can name an itemset without a certain lead. A figure shows how near "
                    "the best ones come.",
                    "Two statements of Chaudhuri, Hsu and Song (2014) beside measurements: [example 1](#example) and "
                    "[Corollary 1](#corollary).",
                )
            ),
            Paragraph(
                text="Epsilon is 1 and delta is 1e-6 where nothing else is said. Which mechanism to take on which data "
                f"is in the comparison reports{f': {links}' if links else ''}."
            ),
        ),
        sections=(_mechanisms(used, names), *(section(pictures) for section in MADE)),
        mechanisms=names,
        footer="Made by `python -m benchmarks.theory`. " + BANNER,
        pages=tuple(comparisons.values()),
    )


def _mechanisms(used: Sequence[str], names: Sequence[str]) -> Section:
    """What each mechanism does: those in use, and all with their sources folded away."""
    return Section(
        anchor="what-they-do",
        title="What each mechanism does",
        parts=(
            Table(
                name="mechanisms",
                head=("mechanism", "list of items", "what it does"),
                rows=tuple((name, _list_of_items(name), find(name).summary) for name in used),
                caption="**The main mechanisms.** `auto` is the default.",
                mechanism_column=0,
            ),
            Table(
                name="sources",
                head=("mechanism", "list of items", "what it does", "source"),
                rows=tuple((name, _list_of_items(name), find(name).summary, find(name).source) for name in names),
                caption=f"**All {len(names)} mechanisms with their sources**, also those for study. Names that end in "
                "-textbook or -paper have published constants.",
                mechanism_column=0,
                collapsed=True,
            ),
        ),
    )


def _beside(folder: Path) -> dict[str, str]:
    """The pages of the comparison reports in the folders beside this one, by name."""
    tables = sorted(folder.parent.glob("*/results.parquet"))
    return {table.parent.name: f"../{table.parent.name}/index.html" for table in tables}


def main() -> None:
    """Draw and write the report."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", nargs="?", type=Path, default=Path("reports/theory"))
    folder = parser.parse_args().folder
    drawn = Pictures()
    with style():
        document = document_of(drawn, _beside(folder))
    write_document(document, drawn, folder)


if __name__ == "__main__":
    main()
