"""One style for all figures: readable in greyscale, the same line for a mechanism everywhere."""

from __future__ import annotations

import io
import math
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import matplotlib as mpl
import matplotlib.figure
from matplotlib.axes import Axes
from matplotlib.lines import Line2D
from matplotlib.ticker import NullFormatter

from fim_private.mechanisms.registry import AUTO, COMPARATORS, REGISTRY
from fim_private.report.document import Figure

mpl.use("Agg")

STYLE = {
    "font.family": "DejaVu Sans",
    "font.size": 9,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": True,
    "grid.color": "#dddddd",
    "grid.linewidth": 0.6,
    "axes.axisbelow": True,
    "axes.titlesize": 10,
    "axes.titlelocation": "left",
    "xtick.labelsize": 8,
    "ytick.labelsize": 8,
    "legend.frameon": False,
    "legend.fontsize": 8,
    "legend.columnspacing": 1.5,
    "lines.linewidth": 1.4,
    "lines.markersize": 5,
    "svg.fonttype": "none",
    "svg.hashsalt": "fim_private",
    "figure.constrained_layout.use": True,
}


@dataclass(frozen=True)
class Look:
    """How a mechanism is drawn: the hue and marker of its family, and dashes of its own."""

    color: str
    marker: str
    dashes: str = "-"
    filled: bool = True


AUTOMATIC = Look("#111111", "1")
OTHER = Look("#555555", "h")
HUES = ("#b03a00", "#6a3fb5", "#000000", "#0057a8", "#00805c", "#b0559a", "#d89a00", "#4a9fd0", "#7a7a7a")
MARKERS = ("o", "h", "x", "D", "^", "v", "p", "P", "*", "s", "<")
"""One of each for a family, in the registry's order. Their numbers have no common divisor, so pairs repeat late."""
DASHES = ("-", "--", ":", "-.")
"""One for each member of a family; all but the first have hollow markers."""


def _look_of(name: str) -> Look:
    if name == AUTO:
        return AUTOMATIC
    rows = REGISTRY | COMPARATORS
    row = rows.get(name)
    if row is None:
        return OTHER
    family = list(dict.fromkeys(each.family for each in rows.values())).index(row.family)
    member = [each.name for each in rows.values() if each.family == row.family].index(name)
    return Look(
        HUES[family % len(HUES)], MARKERS[family % len(MARKERS)], DASHES[member % len(DASHES)], filled=member == 0
    )


def look(name: str) -> dict[str, Any]:
    """Keyword arguments of `plot` for a mechanism."""
    style = _look_of(name)
    return {
        "color": style.color,
        "marker": style.marker,
        "linestyle": style.dashes,
        "markerfacecolor": style.color if style.filled else "white",
    }


@contextmanager
def style() -> Iterator[None]:
    """The style, for all that is drawn inside."""
    with mpl.rc_context(STYLE):  # type: ignore[arg-type]
        yield


def new_figure(
    rows: int = 1, columns: int = 1, *, height: float = 2.6, same_x: bool = False, same_y: bool = True
) -> tuple[mpl.figure.Figure, list[Axes]]:
    """A figure of the report's width with a grid of axes, row by row.

    Args:
        rows: of the grid.
        columns: of the grid.
        height: of a row, in inches.
        same_x: whether all have the same horizontal axis.
        same_y: likewise.
    """
    figure = mpl.figure.Figure(figsize=(8.4, 0.9 + height * rows))
    axes = figure.subplots(rows, columns, squeeze=False, sharex=same_x, sharey=same_y)
    return figure, list(axes.ravel())


SUPERSCRIPTS = str.maketrans("0123456789-", "⁰¹²³⁴⁵⁶⁷⁸⁹⁻")


def power_of_ten(value: float, _place: object = None) -> str:
    """The label of a place on a logarithmic axis, as plain text: drawings in a page carry no mathematical fonts.

    >>> power_of_ten(1e6), power_of_ten(100), power_of_ten(20)
    ('10⁶', '100', '')
    """
    exponent = round(math.log10(value)) if value > 0 else 0
    if value <= 0 or not math.isclose(value, 10**exponent):
        return ""
    return f"{10**exponent:,g}" if -2 <= exponent <= 3 else f"10{str(exponent).translate(SUPERSCRIPTS)}"


def logarithmic(axes: Axes, *, x: bool = True, y: bool = False) -> None:
    """Make axes logarithmic, with plain labels."""
    for wanted, scale, axis in ((x, axes.set_xscale, axes.xaxis), (y, axes.set_yscale, axes.yaxis)):
        if wanted:
            scale("log")
            axis.set_major_formatter(power_of_ten)
            axis.set_minor_formatter(NullFormatter())


def line(axes: Axes, name: str, x: Sequence[float], y: Sequence[float], error: Sequence[float] | None = None) -> None:
    """A mechanism's line, with its confidence intervals as thin bars."""
    how = look(name)
    (drawn,) = axes.plot(x, y, label=name, **how)
    drawn.set_gid(f"mechanism:{name}")
    if error is not None:
        bars = axes.vlines(
            x,
            [value - half for value, half in zip(y, error, strict=True)],
            [value + half for value, half in zip(y, error, strict=True)],
            color=how["color"],
            linewidth=0.8,
        )
        bars.set_gid(f"mechanism:{name}:interval")


def legend(
    figure: mpl.figure.Figure, names: Sequence[str], *, columns: int = 4, changes: Mapping[str, Any] | None = None
) -> None:
    """One legend for the whole figure, below it.

    Args:
        figure: the figure.
        names: of the mechanisms in it.
        columns: of the legend.
        changes: what is drawn otherwise than usual, by mechanism.
    """
    handles = [Line2D([], [], **{**look(name), "label": name, **(changes or {}).get(name, {})}) for name in names]
    drawn = figure.legend(handles=handles, loc="outside lower center", ncols=columns, handlelength=3.2)
    for name, handle, text in zip(names, drawn.legend_handles, drawn.get_texts(), strict=True):
        if handle is not None:
            handle.set_gid(f"mechanism:{name}:key")
        text.set_gid(f"mechanism:{name}:label")


def svg_of(figure: mpl.figure.Figure) -> str:
    """The drawing as SVG, the same text for the same drawing."""
    svg = io.StringIO()
    figure.savefig(svg, format="svg", metadata={"Date": None, "Creator": None})
    return svg.getvalue()


class Pictures:
    """The figures of a report as files, by name, collected while its sections are made."""

    def __init__(self) -> None:
        self.png: dict[str, bytes] = {}
        self.svg: dict[str, str] = {}

    def finish(self, figure: mpl.figure.Figure, *, name: str, alt: str, caption: str) -> Figure:
        """The figure for the document; its picture is kept."""
        png = io.BytesIO()
        figure.savefig(png, format="png", dpi=150, metadata={"Software": None})
        self.png[name], self.svg[name] = png.getvalue(), svg_of(figure)
        return Figure(name=name, svg=self.svg[name], alt=alt, caption=caption)
