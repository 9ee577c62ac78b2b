"""Association rules as a page, and as a section of the page of a release. Only the release is read."""

from __future__ import annotations

from dataclasses import replace

from fim_private.release import Release
from fim_private.report.document import Document, Paragraph, Part, Section, Table
from fim_private.report.pages.frame import promise_section, released_page
from fim_private.report.remarks import total_doubt
from fim_private.report.rules_table import INTERVALS, no_rules, rules_rows
from fim_private.rules import AssociationRules

READ = (
    "Read a rule from left to right: of those who hold what is on the left, the confidence is the share who also hold "
    "what is on the right."
)


def rules_document(release: Release, found: AssociationRules, *, title: str | None) -> Document:
    """The page."""
    number = len(found.rules)
    doubt = total_doubt(release)
    doubts = () if doubt is None else (Paragraph(text=doubt),)
    usual = "No rule" if not number else "1 rule" if number == 1 else f"{number:,} rules"
    rules = Section(anchor="rules", title="Rules", parts=(*doubts, *rules_parts(found, release)))
    return released_page(
        release,
        title=title or f"{usual} on what is bought together",
        sections=(rules, promise_section(release)),
        command="rules",
    )


def rules_parts(found: AssociationRules, release: Release, *, most: int | None = None) -> list[Part]:
    """How to read rules, and their table."""
    if not found.rules:
        return [Paragraph(text=no_rules(release))]
    head, rows = rules_rows(found if most is None else replace(found, rules=found.rules[:most]), arrow="→")
    caption = "Rules follow from the released counts alone, so they cost no privacy."
    if len(rows) < len(found.rules):
        caption += f" The first {len(rows):,} of {len(found.rules):,} rules."
    if any(interval is not None for rule in found.rules for interval in rule.intervals.values()):
        caption += f" {INTERVALS}"
    return [
        Paragraph(text=READ),
        Table(
            name="rules",
            head=tuple(head),
            rows=tuple((row[0], *map(_unbroken, row[1:])) for row in rows),
            caption=caption,
        ),
    ]


def _unbroken(cell: str) -> str:
    """The cell, whose interval stands on one line.

    >>> _unbroken("inf [3.142, inf]").replace(chr(160), "_")
    '∞ [3.142,_∞]'
    """
    value, bracket, interval = cell.partition(" [")
    return f"{value}{bracket}{interval.replace(' ', chr(160))}".replace("inf", "∞") if bracket else cell
