"""A report as one HTML page that asks nobody for anything: styles, script and drawings are inside it.

The page is complete without its script, which only adds the switch of the mechanisms and the sorting of tables. Its
content security policy allows that one script by its hash, so that no text of the report could ever run.

What the page looks like is in `templates/`. Every text that they insert is escaped and made visible, unless it is
`Markup` or marked `safe`: the script and the drawings.
"""

from __future__ import annotations

import base64
import hashlib
import math
from collections.abc import Iterable
from functools import cache
from html import escape
from importlib import resources
from typing import Any

from jinja2 import Environment, FunctionLoader, StrictUndefined
from markupsafe import Markup

from fim_private.report.document import Dial, Document, Estimate, Marked, anchor, cell_text, inline, visible
from fim_private.report.document.inline_svg import drawing

LONG = 60
"""Letters of a word that stand on one line at most."""

BROKEN = 32
"""Code of more letters than this may be broken over lines, since a phone has no room for it."""


def to_html(document: Document) -> str:
    """The report as one self-contained HTML page, the same text for the same document.

    Raises:
        ValueError: a figure is not a drawing that stands on its own.
    """
    anchors = frozenset(document.anchors())
    script = asset("page.js")
    return (
        templates()
        .get_template("page.html")
        .render(
            document=document,
            running=lambda text: marked(inline(text, anchors)),
            most=Dial.MOST,
            script=script,
            digest=base64.b64encode(hashlib.sha256(script.encode()).digest()).decode(),
        )
    )


@cache
def templates() -> Environment:
    """The templates of pages, with the functions that they call."""
    environment = Environment(
        loader=FunctionLoader(asset),
        autoescape=True,
        finalize=shown,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    environment.filters["shown"] = shown
    environment.globals.update(
        anchor=anchor,
        cell_text=cell_text,
        drawing=drawing,
        is_estimate=lambda cell: isinstance(cell, Estimate),
        is_long=is_long,
        kind_of=lambda part: type(part).__name__,
        sorted_by=sorted_by,
    )
    return environment


@cache
def asset(name: str) -> str:
    """The text of a file beside the templates."""
    return (resources.files("fim_private.report.document") / "templates" / name).read_text(encoding="utf-8")


def shown(value: Any) -> Any:
    """What a template inserts: plain text becomes fit for an element and for an attribute in double quotes."""
    if not isinstance(value, str) or isinstance(value, Markup):
        return value
    return Markup(escape(visible(value)))  # noqa: S704 - escaped by hand, so that quotes are written as they were


def marked(words: Iterable[str | Marked]) -> Markup:
    """Running text with its inline marks."""
    return Markup("").join(shown(word) if isinstance(word, str) else mark(word) for word in words)


def mark(word: Marked) -> Markup:
    """One marked word."""
    inside = marked(word.words)
    if word.mark == "bold":
        return Markup("<strong>{}</strong>").format(inside)
    if word.mark == "code":
        return Markup("<code{}>{}</code>").format(Markup(" class=long") if len(inside) > BROKEN else "", inside)
    return Markup('<a href="{}">{}</a>').format(word.mark, inside)


def sorted_by(cell: float | Estimate | None) -> str:
    """What the script sorts a number by: the number in full, or nothing where there is none."""
    value = math.nan if cell is None else float(cell)
    return "" if math.isnan(value) else repr(value).replace("inf", "Infinity")


def is_long(words: str) -> bool:
    """Whether a text has a word that no column has room for."""
    return len(words) > LONG and any(len(word) > LONG for word in words.split())
