"""A lesson's charts as figures of a document, in the style of the reports."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from fim_private.demos.chart import Chart
from fim_private.mechanisms.registry import AUTO, REGISTRY
from fim_private.report.document import Figure
from fim_private.report.document.text import number
from fim_private.report.drawing import legend, logarithmic, look, new_figure, style, svg_of

PENS = (
    {"color": "#0057a8", "markerfacecolor": "#0057a8", "marker": "o", "linestyle": "-"},
    {"color": "#b03a00", "markerfacecolor": "#b03a00", "marker": "s", "linestyle": "--"},
    {"color": "#00805c", "markerfacecolor": "#00805c", "marker": "^", "linestyle": ":"},
    {"color": "#6a3fb5", "markerfacecolor": "#6a3fb5", "marker": "D", "linestyle": "-."},
)
"""Pens for lines that are not mechanisms. They differ in shape as well as in colour."""

FEW = 15
"""Lines of more points than this are drawn without markers."""

WIDTH, HEIGHT, KEY = 5.0, 3.2, 0.22
"""In inches: what a phone can show without scrolling, with readable letters, and the height of a line of the legend."""

MOST_TICKS = 12


def figure_of(chart: Chart, name: str) -> Figure:
    """Draw the chart as a figure of this name."""
    with style():
        figure, (axes,) = new_figure()
        figure.set_size_inches(WIDTH, HEIGHT + KEY * len(chart.lines))
        logarithmic(axes, x=chart.log_x, y=chart.log_y)
        axes.minorticks_off()
        places = sorted({place for line in chart.lines for place in line.x})
        if len(places) <= MOST_TICKS:
            # The places of a control, as the reader chooses them.
            axes.set_xticks(places, [number(place) for place in places])
        if chart.here is not None:
            axes.axvline(chart.here, color="#999999", linewidth=1)
        pens = pens_of([line.label for line in chart.lines])
        for line in chart.lines:
            pens[line.label] |= {} if line.joined else {"linestyle": ""}
            pens[line.label] |= {"marker": ""} if len(line.x) > FEW else {}
            axes.plot(line.x, line.y, **pens[line.label])
        if not chart.log_y:
            axes.set_ylim(bottom=min(0.0, *(min(line.y) for line in chart.lines)))
        across, upward = chart.axes
        axes.set_xlabel(across)
        axes.set_ylabel(upward)
        legend(figure, list(pens), columns=1, changes=pens)
        return Figure(name=name, svg=svg_of(figure), alt=chart.alt, caption=chart.caption)


def pens_of(labels: Sequence[str]) -> dict[str, dict[str, Any]]:
    """How each line is drawn: mechanisms as in the reports, other lines in colours and markers that these leave free.

    >>> pens = pens_of(["lmm", "limited-domain", "the lead"])
    >>> len({pen["marker"] for pen in pens.values()})
    3
    """
    pens = {label: look(label) for label in labels if label in {AUTO, *REGISTRY}}
    taken = {pen[key] for pen in pens.values() for key in ("color", "marker")}
    free = [pen for pen in PENS if not {pen["color"], pen["marker"]} & taken] or PENS
    others = [label for label in labels if label not in pens]
    pens |= {label: dict(free[place % len(free)]) for place, label in enumerate(others)}
    return {label: pens[label] for label in labels}
