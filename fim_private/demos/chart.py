"""A drawing as values: lines over two axes. The terminal draws them with letters, and a page draws a figure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass


@dataclass(frozen=True, kw_only=True)
class Line:
    """One line, or only its points.

    Args:
        label: what the line is.
        x: increasing; above 0 where the axis is logarithmic.
        y: as many values as in `x`; above 0 where the axis is logarithmic.
        joined: whether a line joins the points.
    """

    label: str
    x: tuple[float, ...]
    y: tuple[float, ...]
    joined: bool = True

    def __post_init__(self) -> None:
        """Refuse a line whose axes do not match."""
        if len(self.x) != len(self.y) or not self.x:
            raise ValueError(f"line {self.label!r}: {len(self.x)} places and {len(self.y)} values")


def lines_over(places: Sequence[str], values: Mapping[str, Sequence[float]]) -> tuple[Line, ...]:
    """A line for each label, with a value at each of these places of a control."""
    across = tuple(map(float, places))
    return tuple(Line(label=label, x=across, y=tuple(map(float, each))) for label, each in values.items())


@dataclass(frozen=True, kw_only=True)
class Chart:
    """Lines over two axes.

    Args:
        name: unique in the lesson: lower-case letters, digits and hyphens.
        caption: what to see; running text with inline marks.
        alt: what the chart shows, for people who cannot see it.
        x: the horizontal axis, in words.
        y: the vertical axis, in words.
        lines: what is drawn, the last on top.
        log_x: whether the horizontal axis is logarithmic.
        log_y: whether the vertical axis is logarithmic.
        here: the value of the first control, if the horizontal axis shows this control.
    """

    name: str
    caption: str
    alt: str
    x: str
    y: str
    lines: tuple[Line, ...]
    log_x: bool = False
    log_y: bool = False
    here: float | None = None

    @property
    def axes(self) -> tuple[str, str]:
        """The horizontal and the vertical axis in words, with their scales."""
        return self.x + " (log scale)" * self.log_x, self.y + " (log scale)" * self.log_y
