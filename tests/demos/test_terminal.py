"""Lessons as plain text: charts with letters, and running text without its marks."""

from __future__ import annotations

import pytest

from fim_private.demos.chart import Chart, Line
from fim_private.demos.drawing import figure_of
from fim_private.demos.terminal import HEIGHT, WIDTH, part_text, plot
from fim_private.report.document import Bullets, Code, Paragraph, Table


def chart(*lines: Line, log_x: bool = False, log_y: bool = False, here: float | None = None) -> Chart:
    return Chart(name="c", caption="**C**", alt="c", x="x", y="y", lines=lines, log_x=log_x, log_y=log_y, here=here)


def grid(text: str) -> list[str]:
    return [row.split(" |", 1)[1].ljust(WIDTH) for row in text.splitlines()[1 : HEIGHT + 1]]


def test_a_straight_line_is_straight() -> None:
    rows = grid(plot(chart(Line(label="a", x=(0, 10), y=(0, 5)))))
    assert [row.index("o") for row in rows] == sorted((row.index("o") for row in rows), reverse=True)
    assert rows[0].rstrip().endswith("o")
    assert rows[-1].startswith("o")
    assert all(any(row[column] == "o" for row in rows) for column in range(WIDTH))


def test_a_power_is_straight_on_logarithmic_axes() -> None:
    x = tuple(float(2**power) for power in range(11))
    rows = grid(plot(chart(Line(label="a", x=x, y=tuple(value**3 for value in x)), log_x=True, log_y=True)))
    straight = grid(plot(chart(Line(label="a", x=(0, 1), y=(0, 1)))))
    # Each stretch begins and ends on a whole place, so it may be one off.
    for place in range(WIDTH):
        here, there = ([row[place] for row in drawn].index("o") for drawn in (rows, straight))
        assert abs(here - there) <= 1


def test_points_are_not_joined_and_the_last_line_is_on_top() -> None:
    below, above = Line(label="a", x=(0, 1), y=(1, 1)), Line(label="b", x=(0, 1), y=(1, 1), joined=False)
    (top, *rest) = grid(plot(chart(below, above)))
    assert top == "*" + "o" * (WIDTH - 2) + "*"
    assert not "".join(rest).strip()


def test_the_reader_s_place_is_marked() -> None:
    rows = grid(plot(chart(Line(label="a", x=(0, 10), y=(1, 1)), here=10)))
    assert all(row[-1] == "|" for row in rows[1:])
    assert "| where you are" in plot(chart(Line(label="a", x=(0, 10), y=(1, 1)), here=10))


def test_a_line_needs_a_value_for_each_place() -> None:
    with pytest.raises(ValueError, match="2 places and 1 values"):
        Line(label="a", x=(0, 1), y=(1,))


def test_marks_are_left_out() -> None:
    assert part_text(Paragraph(text="a **b** `c`")) == "a b c"
    assert part_text(Bullets(items=("**a**", "b"))) == "* a\n* b"
    assert part_text(Code(text="x **y**")) == "    x **y**"
    table = Table(name="t", head=("n", "x"), rows=((1, "a"), (20, "b")), caption="**T**")
    assert part_text(table) == "T\n\n n  x\n--  -\n 1  a\n20  b"


def test_logarithmic_axes_say_so_in_the_terminal_and_in_the_figure() -> None:
    line = Line(label="a", x=(1, 10), y=(1, 10))
    for log_x, log_y in ((True, False), (False, True)):
        drawn = chart(line, log_x=log_x, log_y=log_y)
        assert plot(drawn).count("x (log scale)") == figure_of(drawn, "f").svg.count("x (log scale)") == log_x
        assert plot(drawn).count("y (log scale)") == figure_of(drawn, "f").svg.count("y (log scale)") == log_y
