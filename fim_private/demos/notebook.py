"""Show a lesson in a marimo notebook: buttons for its controls, text and drawings. Needs the extra `demos`."""

from __future__ import annotations

import inspect
import sys
from collections.abc import Iterator, Mapping
from typing import Any

import marimo as mo

from fim_private.demos.chart import Chart
from fim_private.demos.demo import Demo, Settings, Shown
from fim_private.demos.drawing import figure_of
from fim_private.demos.page import BANNER
from fim_private.report.document import Paragraph, Part
from fim_private.report.document.inline_svg import drawing
from fim_private.report.document.markdown import part_markdown


def head_of(demo: Demo) -> Any:
    """The title and the introduction."""
    return mo.vstack([mo.md(f"_{BANNER}_"), mo.md(f"# {demo.title}"), *map(element, demo.introduction)])


def controls_of(demo: Demo) -> Any:
    """A row of choices for each control. Its `.value` holds the settings."""
    return mo.ui.dictionary(
        {
            control.name: mo.ui.radio(
                list(control.choices), value=control.start, inline=True, label=f"**{control.name}**, {control.what}"
            )
            for control in demo.controls
        }
    )


def result_of(demo: Demo, settings: Mapping[str, str]) -> Any:
    """The question, its answer at these settings, and the parts that the lesson shows."""
    return mo.vstack(list(_result(demo, demo.settings(settings))))


def code_of(demo: Demo) -> Any:
    """The file that computes the lesson, folded away."""
    source = inspect.getsource(sys.modules[demo.show.__module__])
    return mo.accordion({"The code of this lesson": mo.md(f"```python\n{source}\n```")})


def _result(demo: Demo, settings: Settings) -> Iterator[Any]:
    yield element(Paragraph(text=f"**Your turn.** {demo.question.text}"))
    yield mo.callout(mo.md(demo.verdict(settings)), kind="success" if demo.question.happens(settings) else "neutral")
    yield from map(element, demo.show(settings))


def element(part: Shown | Part) -> Any:
    """A part of a lesson as the notebook shows it."""
    if isinstance(part, Chart):
        caption = part_markdown(Paragraph(text=part.caption), frozenset())
        return mo.vstack([mo.Html(drawing(figure_of(part, part.name))), mo.md(caption)])
    return mo.md(part_markdown(part, frozenset()))
