"""Plain text: numbers as people write them, names that cannot steer a terminal, tables and paragraphs."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence
from fractions import Fraction

from fim_private.accounting.rounding import exp_up, round_up
from fim_private.privacy import exact

WIDEST = 200
"""Letters of a column at most."""


def number(value: Fraction | float) -> str:
    """A number as people write it: 1, 0.25, 1e-6.

    >>> number(Fraction(1, 10**6)), number(Fraction(1)), number(0.120880304), number(10.0**11)
    ('1e-6', '1', '0.1209', '1e11')
    """
    return f"{float(value):.4g}".replace("e-0", "e-").replace("e+0", "e").replace("e+", "e")


def stated(value: Fraction | float, *, digits: int = 15) -> str:
    """What is promised, as people write it: never less than the value.

    Args:
        value: at least 0.
        digits: a number of no more digits is shown as it is, such as one that was typed; else it is rounded up to four.

    >>> stated(1.00049), stated(Fraction(1, 3)), stated(Fraction(1, 10**6)), stated(Fraction("0.99991"), digits=4)
    ('1.00049', '0.3334', '1e-6', '1')
    """
    known = exact(value, "bound")
    shown = known if round_up(known, digits) == known else round_up(known, 4)
    return f"{float(shown):.15g}".replace("e-0", "e-").replace("e+", "e")


def times_as_likely(epsilon: Fraction | float) -> str:
    """e^epsilon, rounded up.

    >>> times_as_likely(1), times_as_likely(0.25), times_as_likely(0.001)
    ('2.72', '1.285', '1.00101')
    """
    return stated(1 + round_up(exp_up(exact(epsilon, "epsilon")) - 1, 3))


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


def wrapped(*paragraphs: str, indent: str = "") -> str:
    """Each paragraph on lines of at most 100 letters; `indent` is put before all but its first line."""
    return "\n".join(
        textwrap.fill(paragraph, 100, subsequent_indent=indent, break_long_words=False, break_on_hyphens=False)
        for paragraph in paragraphs
    )
