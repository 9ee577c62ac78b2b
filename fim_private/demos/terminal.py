"""A lesson as plain text, for a terminal of 100 columns."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from itertools import pairwise

from fim_private.demos.chart import Chart
from fim_private.demos.demo import Demo, Settings, Shown
from fim_private.report.document import Bullets, Code, Marked, Paragraph, Table, cell_text, inline
from fim_private.report.document.text import number, table, wrapped

WIDTH, HEIGHT = 72, 15
LETTERS = "o*x+#@"


def to_text(demo: Demo, settings: Settings) -> str:
    """The whole lesson at these settings."""
    named = " ".join(f"{name}={value}" for name, value in settings.items())
    moved = demo.controls[0]
    other = _another(moved.choices, settings[moved.name])
    blocks = [
        f"{demo.title}\n{'=' * len(demo.title)}",
        *map(part_text, demo.introduction),
        f"--- at {named} ---",
        *map(part_text, demo.show(settings)),
        wrapped(f"Your turn. {demo.question.text}"),
        wrapped(f"At these settings: {demo.verdict(settings)}"),
        "\n".join(
            [
                "To move a control:",
                *(
                    f"  --set {control.name}=...  {control.what}: {', '.join(control.choices)}"
                    for control in demo.controls
                ),
                f"  for example: fim-private demo {demo.name} --set {moved.name}={other}",
            ]
        ),
    ]
    return "\n\n".join(blocks)


def _another(choices: Sequence[str], now: str) -> str:
    """The next choice, or the previous choice if there is no next one."""
    place = choices.index(now) + 1
    return choices[place if place < len(choices) else place - 2]


def part_text(part: Shown) -> str:
    """One part of a lesson."""
    match part:
        case Paragraph():
            return wrapped(plain(part.text))
        case Bullets():
            return "\n".join(wrapped(f"* {plain(item)}", indent="  ") for item in part.items)
        case Code():
            return "\n".join(f"    {line}" for line in part.lines())
        case Table():
            rows = [[cell_text(cell, part.digits) for cell in row] for row in part.rows]
            drawn = table(part.head, rows, right=part.numeric)
            return f"{wrapped(plain(part.caption))}\n\n{drawn}"
        case Chart():
            return f"{wrapped(plain(part.caption))}\n\n{plot(part)}"


def plain(text: str) -> str:
    """Running text without its marks.

    >>> plain("the **top** of `lmm`")
    'the top of lmm'
    """

    def words(pieces: Iterable[str | Marked]) -> str:
        return "".join(piece if isinstance(piece, str) else words(piece.words) for piece in pieces)

    return words(inline(text, frozenset()))


def plot(chart: Chart) -> str:
    """Draw the lines over the ranges of the axes, with one letter per line."""
    across = _Axis([x for line in chart.lines for x in line.x], logarithmic=chart.log_x, places=WIDTH)
    upward = _Axis([y for line in chart.lines for y in line.y], logarithmic=chart.log_y, places=HEIGHT)
    grid = [[" "] * WIDTH for _ in range(HEIGHT)]
    if chart.here is not None:
        for row in grid:
            row[across.place(chart.here)] = "|"
    for letter, line in zip(LETTERS, chart.lines, strict=False):
        points = [(across.place(x), upward.place(y)) for x, y in zip(line.x, line.y, strict=True)]
        for column, height in _between(points) if line.joined else points:
            grid[HEIGHT - 1 - height][column] = letter
    low, high = upward.ends
    margin = max(len(low), len(high))
    rows = [
        (high if place == 0 else low if place == HEIGHT - 1 else "").rjust(margin) + " |" + "".join(row).rstrip()
        for place, row in enumerate(grid)
    ]
    left, right = across.ends
    rows.append(" " * margin + " +" + "-" * WIDTH)
    rows.append(" " * (margin + 2) + left + chart.axes[0].center(WIDTH - len(left) - len(right)) + right)
    keys = [f"  {letter} {line.label}" for letter, line in zip(LETTERS, chart.lines, strict=False)]
    here = ["  | where you are"] if chart.here is not None else []
    return "\n".join([chart.axes[1], *rows, *keys, *here])


def _between(points: Sequence[tuple[int, int]]) -> list[tuple[int, int]]:
    """The points, and the places on the straight lines between them, one per column."""
    drawn = list(points[:1])
    for (column, row), (next_column, next_row) in pairwise(points):
        steps = max(abs(next_column - column), 1)
        drawn += [
            (column + (next_column - column) * step // steps, round(row + (next_row - row) * step / steps))
            for step in range(1, steps + 1)
        ]
    return drawn


class _Axis:
    """Map values to places of a grid."""

    def __init__(self, values: Sequence[float], *, logarithmic: bool, places: int) -> None:
        self._of = math.log if logarithmic else float
        least, most = min(values), max(values)
        # The scale starts at 0 if no value is negative, so that heights can be compared.
        self._low, self._high = (least if logarithmic else min(0.0, least)), most
        self._places = places

    def place(self, value: float) -> int:
        """The place of a value. A value beyond an end is put at that end."""
        low, high = self._of(self._low), self._of(self._high)
        share = (self._of(min(max(value, self._low), self._high)) - low) / ((high - low) or 1)
        return round(share * (self._places - 1))

    @property
    def ends(self) -> tuple[str, str]:
        """The two ends in words."""
        return number(self._low), number(self._high)
