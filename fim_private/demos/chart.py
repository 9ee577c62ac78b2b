"""A drawing as values: lines over two axes, which the terminal draws with letters and a page with ink."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, kw_only=True)
class Line:
    """One line, or the points of one.

    Args:
        label: what it is.
        x: increasing; above 0 where the axis is logarithmic.
        y: of the same length; likewise.
        joined: whether the points belong to a line; otherwise they are only points.
    """

    label: str
    x: tuple[float, ...]
    y: tuple[float, ...]
    joined: bool = True

    def __post_init__(self) -> None:
        """Refuse a line whose axes do not match."""
        if len(self.x) != len(self.y) or not self.x:
            raise ValueError(f"line {self.label!r}: {len(self.x)} places and {len(self.y)} values")


@dataclass(frozen=True, kw_only=True)
class Chart:
    """Lines over two axes.

    Args:
        name: unique in the lesson: lower-case letters, digits and hyphens.
        caption: what to see; running text with inline marks.
        alt: what it shows, for those who cannot see it.
        x: the horizontal axis, in words.
        y: the vertical axis, in words.
        lines: what is drawn, the last on top.
        log_x: whether the axis is logarithmic.
        log_y: likewise.
        here: where the first control stands, if it is on the horizontal axis.
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
