"""Plain text: numbers as people write them, names that cannot steer a terminal, tables and paragraphs."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence
from fractions import Fraction

WIDEST = 200
"""Letters of a column at most."""


def number(value: Fraction | float) -> str:
    """A number as people write it: 1, 0.25, 1e-6.

    >>> number(Fraction(1, 10**6)), number(Fraction(1)), number(0.120880304)
    ('1e-6', '1', '0.1209')
    """
    return f"{float(value):.4g}".replace("e-0", "e-").replace("e+0", "e")


def printable(text: str) -> str:
    r"""The text with control characters written out, so that a name cannot steer the terminal.

    >>> printable("milk\x1b[2J")
    'milk\\x1b[2J'
    """
    if text.isprintable():
        return text
    return "".join(letter if letter.isprintable() else repr(letter)[1:-1] for letter in text)


def table(head: Sequence[str], rows: Sequence[Sequence[str]], *, right: Sequence[bool]) -> str:
    """Columns as wide as their widest cell, two blanks apart; `right` says which are aligned to the right.

    Cells wider than `WIDEST` are shown whole and move the rest of their line, instead of filling all lines with blanks.
    """
    widths = [min(WIDEST, max(len(line[column]) for line in (head, *rows))) for column in range(len(head))]

    def line(cells: Sequence[str]) -> str:
        aligned = (
            cell.rjust(width) if to_right else cell.ljust(width)
            for cell, width, to_right in zip(cells, widths, right, strict=True)
        )
        return "  ".join(aligned).rstrip()

    return "\n".join([line(head), line(["-" * width for width in widths]), *map(line, rows)])


def wrapped(paragraphs: list[str], *, indent: str = "") -> str:
    """Each paragraph on lines of at most 100 letters; `indent` is put before all but its first line."""
    return "\n".join(
        textwrap.fill(paragraph, 100, subsequent_indent=indent, break_long_words=False, break_on_hyphens=False)
        for paragraph in paragraphs
    )
