"""One style for all figures: readable in greyscale and on a phone, the same line for a mechanism everywhere."""

from __future__ import annotations

import io
import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import matplotlib as mpl
import matplotlib.figure
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.lines import Line2D
from matplotlib.ticker import LogLocator, NullFormatter
from polars import DataFrame

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


AUTOMATIC = Look("#111111", "s")
OTHER = Look("#555555", "h")
HUES = (
    *("#b03a00", "#6a3fb5", "#000000", "#0057a8", "#00805c", "#b0559a", "#d89a00"),
    *("#4a9fd0", "#7a7a7a", "#7a4a1e", "#6b7a00", "#c2185b", "#008a99"),
)
MARKERS = ("o", "*", "x", "D", "^", "v", "p", "P", "h", ">", "<")
"""One of each for a family, in the registry's order. Their numbers have no common divisor, so pairs repeat late."""
DASHES = ("-", "--", ":", "-.")
"""Families take turns, and so do the members of a family; all but its first have hollow markers."""


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
        HUES[family % len(HUES)],
        MARKERS[family % len(MARKERS)],
        DASHES[(family + member) % len(DASHES)],
        filled=member == 0,
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
    """A figure of the report's width with a grid of axes, row by row; `height` is that of a row, in inches."""
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


_ONE_TICK = 100
"""A range of a smaller factor may have a single power of ten in it, so its axis also has ticks at 2 and 5."""


def logarithmic(axes: Axes, *, x: bool = True, y: bool = False) -> None:
    """Make axes logarithmic, with plain labels."""
    for wanted, scale, axis in ((x, axes.set_xscale, axes.xaxis), (y, axes.set_yscale, axes.yaxis)):
        if wanted:
            scale("log")
            axis.set_major_formatter(power_of_ten)
            axis.set_minor_formatter(NullFormatter())
            low, high = axis.get_data_interval()
            if axis is axes.yaxis and 0 < low < high < _ONE_TICK * low:
                axis.set_major_locator(LogLocator(subs=(1.0, 2.0, 5.0)))
                axis.set_major_formatter(lambda value, _place: f"{value:g}")


def line(
    axes: Axes,
    name: str,
    x: Sequence[float],
    y: Sequence[float | None],
    interval: tuple[Sequence[float | None], Sequence[float | None]] | None = None,
) -> None:
    """A mechanism's line, with its confidence intervals as thin bars. It has a gap where y is None or not a number."""
    how = look(name)
    (drawn,) = axes.plot(x, _numbers(y), label=name, **how)
    drawn.set_gid(f"mechanism:{name}")
    if interval is not None:
        low, high = map(_numbers, interval)
        bars = axes.vlines(x, low, high, color=how["color"], linewidth=0.8)
        bars.set_gid(f"mechanism:{name}:interval")


def _numbers(values: Sequence[float | None]) -> list[float]:
    return [math.nan if value is None else value for value in values]


def curves(axes: Axes, by_name: Iterable[tuple[str, DataFrame]], x: str) -> None:
    """The precision of mechanisms, with its interval, against the column `x` on a logarithmic axis.

    A line has a gap where its mechanism was not run.
    """
    frames = list(by_name)
    places = sorted({place for _, rows in frames for place in rows[x].to_list()})
    for name, rows in frames:
        columns = []
        for column in ("precision", "precision_low", "precision_high"):
            known = dict(zip(rows[x].to_list(), rows[column].to_list(), strict=True))
            columns.append([known.get(place) for place in places])
        value, low, high = columns
        line(axes, name, places, value, (low, high))
    logarithmic(axes)
    axes.set_ylim(-0.04, 1.06)


def ticks(axes: Axes, places: Sequence[float], labels: Sequence[str]) -> None:
    """Ticks with labels at these places of the horizontal axis, and at no others."""
    axes.set_xticks(places, labels)
    axes.minorticks_off()


def legend(
    figure: mpl.figure.Figure, names: Sequence[str], *, columns: int = 4, changes: Mapping[str, Any] | None = None
) -> None:
    """One legend below the whole figure, none without names; `changes` says what is drawn otherwise, by mechanism."""
    if not names:
        return
    handles = [Line2D([], [], **{**look(name), "label": name, **(changes or {}).get(name, {})}) for name in names]
    _keys(figure, handles, names, columns=columns)


def even_columns(names: int, most: int) -> int:
    """As few columns as keep the number of lines: five names in at most four columns stand in three.

    >>> even_columns(4, 4), even_columns(5, 4), even_columns(10, 4), even_columns(0, 4)
    (4, 3, 4, 1)
    """
    lines = math.ceil(names / most)
    return math.ceil(names / lines) if lines else 1


def _keys(figure: mpl.figure.Figure, handles: Sequence[Artist], names: Sequence[str], *, columns: int) -> None:
    drawn = figure.legend(
        handles=list(handles),
        labels=list(names),
        loc="outside lower center",
        ncols=even_columns(len(names), columns),
        handlelength=4.4,  # so long that a line of dashes and dots shows both beside its marker
    )
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
        figure.set_layout_engine("none")  # it is laid out, and that takes long
        self.png[name], self.svg[name] = png.getvalue(), svg_of(figure)
        return Figure(name=name, svg=self.svg[name], alt=alt, caption=caption, narrow=_narrow(figure))


MOST_BELOW = 9
"""More panels than this stand in two columns on a phone."""


def _narrow(figure: mpl.figure.Figure) -> str:
    """The same drawing with its panels below one another, for a phone; empty if it has one panel."""
    panels = [axes for axes in figure.axes if axes.get_visible()]
    if len(panels) < 2:
        return ""
    columns = 1 if len(panels) <= MOST_BELOW else 2
    rows = math.ceil(len(panels) / columns)
    figure.set_layout_engine("constrained")
    grid = figure.add_gridspec(rows, columns)
    for place, (axes, words) in enumerate(zip(panels, _words_of_rows(panels), strict=True)):
        axes.set_subplotspec(grid[place // columns, place % columns])
        first, last = place % columns == 0, place >= len(panels) - columns
        axes.tick_params(labelbottom=columns == 1 or last, labelleft=first)
        axes.set_ylabel(words if first else "")
        axes.set_xlabel((axes.get_xlabel() or panels[-1].get_xlabel()) if columns == 1 or last else "")
    keys = 0
    for legend in figure.legends:
        handles, labels = legend.legend_handles, [text.get_text() for text in legend.get_texts()]
        keys += -(-len(labels) // 2)
        legend.remove()
        _keys(figure, [handle for handle in handles if handle is not None], labels, columns=2)
    figure.set_size_inches(4.4, (2.6 if columns == 1 else 1.7) * rows + 0.2 * keys + 0.3)
    return svg_of(figure)


def _words_of_rows(panels: Sequence[Axes]) -> Iterator[str]:
    """The label of each panel's vertical axis: its own, or that of the panel before it."""
    words = ""
    for axes in panels:
        words = axes.get_ylabel() or words
        yield words
