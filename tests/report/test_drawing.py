from __future__ import annotations

import math

from fim_private.mechanisms.registry import AUTO, COMPARATORS, REGISTRY
from fim_private.report.drawing import Pictures, legend, line, look, new_figure, style


def test_lines_differ_without_colour() -> None:
    shown = [look(name) for name in (AUTO, *REGISTRY, *COMPARATORS)]
    grey = [(each["marker"], each["linestyle"], each["markerfacecolor"] == "white") for each in shown]
    assert len(set(grey)) == len(grey)


def test_a_line_has_a_gap_where_nothing_was_measured() -> None:
    _, (axes,) = new_figure()
    line(axes, "lmm", [1, 2, 3], [0.5, None, 0.7], ([0.4, None, 0.6], [0.6, None, 0.8]))
    heights = axes.lines[0].get_ydata()
    assert [math.isnan(float(height)) for height in heights] == [False, True, False]


def test_panels_are_drawn_once_more_below_one_another() -> None:
    with style():
        figure, panels = new_figure(1, 2)
        for panel in panels:
            line(panel, "lmm", [1, 2], [0.5, 0.7])
        panels[0].set_ylabel("precision")
        panels[1].set_xlabel("epsilon")
        legend(figure, ["lmm"])
        drawn = Pictures().finish(figure, name="f", alt="a", caption="c")
        alone, _ = new_figure()
        assert Pictures().finish(alone, name="g", alt="a", caption="c").narrow == ""
    assert drawn.svg.count(">precision<") == drawn.svg.count(">epsilon<") == 1
    assert drawn.narrow.count(">precision<") == drawn.narrow.count(">epsilon<") == 2
    assert drawn.narrow.count("mechanism:lmm:key") == 1


def test_a_legend_without_names_is_left_out() -> None:
    figure, _ = new_figure()
    legend(figure, [])
    assert not figure.legends
