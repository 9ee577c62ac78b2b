"""Plain-text tables, safe to print whatever the item names hold."""

from __future__ import annotations

from collections.abc import Sequence

from fim_private.release import Release
from fim_private.release.record import SEEDED_NOTE

JOINT = " + "


def printable(text: str) -> str:
    r"""The text with control characters written out, so that a name cannot steer the terminal.

    >>> printable("milk\x1b[2J")
    'milk\\x1b[2J'
    """
    return "".join(letter if letter.isprintable() else repr(letter)[1:-1] for letter in text)


def table(head: Sequence[str], rows: Sequence[Sequence[str]], *, right: Sequence[bool]) -> str:
    """Columns as wide as their widest cell, two blanks apart; `right` says which are aligned to the right."""
    widths = [max(len(line[column]) for line in (head, *rows)) for column in range(len(head))]

    def line(cells: Sequence[str]) -> str:
        aligned = (
            cell.rjust(width) if to_right else cell.ljust(width)
            for cell, width, to_right in zip(cells, widths, right, strict=True)
        )
        return "  ".join(aligned).rstrip()

    return "\n".join([line(head), line(["-" * width for width in widths]), *map(line, rows)])


def release_table(release: Release) -> str:
    """The released itemsets in the order picked; counts and leads where they were released."""
    marked = [f"*** {SEEDED_NOTE} ***"] if release.seeded else []
    if not release.itemsets:
        return "\n".join([*marked, "No itemset could be named."])
    columns: list[tuple[str, list[int | None] | list[float | None]]] = [
        ("count", [itemset.count for itemset in release.itemsets]),
        ("from", [itemset.count_low for itemset in release.itemsets]),
        ("to", [itemset.count_high for itemset in release.itemsets]),
        ("support", [itemset.support for itemset in release.itemsets]),
        ("noisy lead", [itemset.lead for itemset in release.itemsets]),
    ]
    given = [(name, values) for name, values in columns if any(value is not None for value in values)]
    rows = [
        [
            str(itemset.rank),
            JOINT.join(map(printable, itemset.items)),
            *(_figure(values[place]) for _, values in given),
        ]
        for place, itemset in enumerate(release.itemsets)
    ]
    head = ["rank", "itemset", *(name for name, _ in given)]
    return "\n".join([*marked, table(head, rows, right=[True, False, *(True for _ in given)])])


def _figure(value: float | None) -> str:
    """A whole number with its thousands, a share of four digits."""
    if value is None:
        return ""
    return f"{value:,}" if isinstance(value, int) else f"{value:.4g}"
