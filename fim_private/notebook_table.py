"""A small HTML table, as notebooks show a value. Names are escaped and made visible, so none can steer the page."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

from fim_private.printable import printable

MOST = 50
"""Rows at most; the rest is said in words."""


def notebook_table(caption: str, head: Sequence[str], rows: Sequence[Sequence[object]]) -> str:
    """The table. Numbers are shown with commas, and None as nothing.

    >>> notebook_table("2 pairs", ["itemset", "count"], [["a & b", 1234]])
    '<table><caption>2 pairs</caption><tr><th>itemset</th><th>count</th></tr><tr><td>a &amp; b</td><td>1,234</td></tr>\
</table>'
    """
    lines = [_row("th", head), *(_row("td", row) for row in rows[:MOST])]
    more = f"<p>{len(rows) - MOST:,} more.</p>" if len(rows) > MOST else ""
    return f"<table><caption>{escape(printable(caption))}</caption>{''.join(lines)}</table>{more}"


def braces(items: Sequence[str]) -> str:
    """Names as people write a set.

    >>> braces(("butter", "milk"))
    '{butter, milk}'
    """
    return f"{{{', '.join(map(printable, items))}}}"


def _row(kind: str, cells: Sequence[object]) -> str:
    return f"<tr>{''.join(f'<{kind}>{escape(_cell(cell))}</{kind}>' for cell in cells)}</tr>"


def _cell(value: object) -> str:
    if value is None:
        return ""
    if isinstance(value, float):
        return f"{value:.3f}"
    return f"{value:,}" if isinstance(value, int) else printable(str(value))
