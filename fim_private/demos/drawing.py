"""A lesson's charts as figures of a document, in the style of the reports."""

from __future__ import annotations

from fim_private.demos.chart import Chart
from fim_private.mechanisms.registry import AUTO, REGISTRY
from fim_private.report.document import Figure
from fim_private.report.drawing import legend, logarithmic, look, new_figure, style, svg_of

PENS = (
    {"color": "#0057a8", "marker": "o", "linestyle": "-"},
    {"color": "#b03a00", "marker": "s", "linestyle": "--"},
    {"color": "#00805c", "marker": "^", "linestyle": ":"},
    {"color": "#6a3fb5", "marker": "D", "linestyle": "-."},
)
"""Pens for lines that are not mechanisms. They differ in shape as well as in colour."""

FEW = 40
"""Lines of more points than this are drawn without markers."""


def figure_of(chart: Chart, name: str) -> Figure:
    """Draw the chart as a figure of this name."""
    with style():
        figure, (axes,) = new_figure(height=3.0)
        logarithmic(axes, x=chart.log_x, y=chart.log_y)
        if chart.here is not None:
            axes.axvline(chart.here, color="#999999", linewidth=1)
        pens = {
            line.label: look(line.label) if line.label in {AUTO, *REGISTRY} else PENS[place % len(PENS)]
            for place, line in enumerate(chart.lines)
        }
        for line in chart.lines:
            pen = pens[line.label] | ({} if line.joined else {"linestyle": ""})
            axes.plot(line.x, line.y, **pen | ({"marker": ""} if len(line.x) > FEW else {}))
        if not chart.log_y:
            axes.set_ylim(bottom=min(0.0, *(min(line.y) for line in chart.lines)))
        axes.set_xlabel(chart.x)
        axes.set_ylabel(chart.y)
        points = {line.label: {"linestyle": ""} for line in chart.lines if not line.joined}
        legend(
            figure, list(pens), columns=3, changes={label: pen | points.get(label, {}) for label, pen in pens.items()}
        )
        return Figure(name=name, svg=svg_of(figure), alt=chart.alt, caption=chart.caption)
