"""Drawings made of text, in the style of the figures: letters of the page, so that names of any script are shown."""

from __future__ import annotations

import unicodedata
from html import escape
from itertools import accumulate

from fim_private.report.document import visible

INK, SOFT, LINE, FILL, PALE = "#1a1a1a", "#595959", "#dddddd", "#0057a8", "#a9c6e3"
NARROW = 0.64
"""The width of most letters as a share of their height."""
LETTERS = 'font-family="DejaVu Sans, Liberation Sans, Arial, sans-serif"'


def drawing(width: float, height: float, parts: list[str]) -> str:
    """A whole drawing of a size in pixels."""
    size = f'width="{width:.0f}px" height="{height:.0f}px" viewBox="0 0 {width:.0f} {height:.0f}"'
    return "\n".join([f'<svg xmlns="http://www.w3.org/2000/svg" {size} {LETTERS}>', *parts, "</svg>"])


def words(text: str, x: float, y: float, *, anchor: str = "start", size: int = 12, color: str = INK) -> str:
    """A line of text, with a white rim that keeps it readable on lines."""
    rim = 'stroke="#ffffff" stroke-width="3" stroke-linejoin="round" paint-order="stroke"'
    place = f'x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}" font-size="{size}" fill="{color}"'
    return f"<text {place} {rim}>{escape(visible(text))}</text>"


def line(x1: float, y1: float, x2: float, y2: float, *, color: str = INK, width: float = 1.0) -> str:
    """A straight line."""
    ends = f'x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}" y2="{y2:.1f}"'
    return f'<line {ends} stroke="{color}" stroke-width="{width:.1f}" stroke-linecap="round"/>'


def width_of(text: str, size: int = 12) -> float:
    """About how wide a text is, in pixels, rather too much; East Asian letters are as wide as high."""
    return sum(map(_width, visible(text))) * size


def shortened(text: str, width: float, size: int = 12) -> str:
    """The text, or as much of its beginning as fits the width, and an ellipsis."""
    # No more of it is looked at than could fit: a name may be as long as a file.
    begin = visible(text[: int(width / (NARROW * size)) + 2])
    if len(begin) >= len(text) and width_of(begin, size) <= width:
        return begin
    fits = 0
    for so_wide in accumulate(map(_width, begin), initial=_width("…")):
        if so_wide * size > width:
            break
        fits += 1
    return begin[: max(0, fits - 1)].rstrip() + "…"


def folded(text: str, width: float, size: int = 12, lines: int = 2) -> list[str]:
    """The text on a few lines of this width, broken at blanks where that can be, and shortened at the end."""
    rest = " ".join(visible(text).split())
    done: list[str] = []
    while rest and len(done) < lines - 1 and shortened(rest, width, size) != rest:
        fitting = shortened(rest, width, size).removesuffix("…")
        whole = rest[len(fitting)] == " " or " " not in fitting
        cut = max(1, len(fitting) if whole else fitting.rfind(" "))
        done.append(rest[:cut].strip())
        rest = rest[cut:].strip()
    return [*done, shortened(rest, width, size)] if rest or not done else done


def _width(letter: str) -> float:
    """The width of a letter as a share of its height."""
    return 1.0 if unicodedata.east_asian_width(letter) in "WF" else NARROW
