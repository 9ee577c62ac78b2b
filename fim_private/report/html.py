"""A report as one HTML page that asks nobody for anything: styles, script and drawings are inside it.

The page is complete without its script, which only adds the switch of the mechanisms and the sorting of tables. Its
content security policy allows that one script by its hash, so that no text of the report could ever run.
"""

from __future__ import annotations

import base64
import hashlib
import math
import re
from collections.abc import Iterable
from functools import cache
from html import escape
from importlib import resources
from xml.etree import ElementTree

from fim_private.report.document import (
    Bullets,
    Cell,
    Choice,
    Code,
    Document,
    Figure,
    Marked,
    Paragraph,
    Part,
    Section,
    Table,
    anchor,
    cell_text,
    inline,
    visible,
)

DROPPED = {"metadata", "style"}
"""Parts of a drawing that the page does without: they are full of addresses, or would style the whole page."""

SHAPES = {"circle", "ellipse", "image", "line", "path", "polygon", "polyline", "rect", "text", "tspan", "use"}
DRAWN = SHAPES | {"svg", "g", "defs", "clipPath", "linearGradient", "mask", "pattern", "radialGradient", "stop"}
"""The elements a drawing may hold: those that only draw."""

REFERENCE = re.compile(r"url\(\s*['\"]?#([^'\")]+?)['\"]?\s*\)")
NOT_XML = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
LONG = 60
"""Letters of a word that stand on one line at most."""
LENGTH = re.compile(r"[0-9.]+(?:pt|px|in|mm|cm)?")


def to_html(document: Document) -> str:
    """The report as one self-contained HTML page, the same text for the same document.

    Raises:
        ValueError: a figure is not a drawing that stands on its own.
    """
    anchors = frozenset(document.anchors())
    script = asset("page.js")
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    policy = (
        f"default-src 'none'; script-src 'sha256-{digest}'; style-src 'unsafe-inline'; img-src data:; "
        "base-uri 'none'; form-action 'none'"
    )
    title = text(document.title)
    lines = [
        "<!DOCTYPE html>",
        '<html lang="en">',
        "<head>",
        '<meta charset="utf-8">',
        f'<meta http-equiv="Content-Security-Policy" content="{policy}">',
        '<meta name="viewport" content="width=device-width, initial-scale=1">',
        '<meta name="color-scheme" content="light">',
        f"<title>{title}</title>",
        '<link rel="icon" href="data:,">',
        f"<style>\n{asset('page.css')}</style>",
        "</head>",
        "<body>",
        f'<header class="banner{" alarm" if document.alarm else ""}"><p>{text(document.banner)}</p></header>',
        f'<h1 id="top">{title}{self_link("top", document.title)}</h1>',
        '<div class="side">',
        *contents(document),
        *switch(document.mechanisms),
        "</div>",
        "<main>",
        *(part_html(part, anchors) for part in document.introduction),
        *(line for section in document.sections for line in section_html(section, anchors)),
        "</main>",
        f"<footer><p>{marked(inline(document.footer, anchors))}</p></footer>",
        f"<script>{script}</script>",
        "</body>",
        "</html>",
    ]
    return "\n".join(lines) + "\n"


@cache
def asset(name: str) -> str:
    """The text of a file of this package."""
    return (resources.files("fim_private.report") / name).read_text(encoding="utf-8")


def text(words: str) -> str:
    """Plain text, fit for an element and for an attribute in double quotes."""
    return escape(visible(words))


def marked(words: Iterable[str | Marked]) -> str:
    """Running text with its inline marks."""
    return "".join(escape(word) if isinstance(word, str) else mark(word) for word in words)


def mark(word: Marked) -> str:
    """One marked word."""
    inside = marked(word.words)
    if word.mark == "bold":
        return f"<strong>{inside}</strong>"
    if word.mark == "code":
        return f"<code>{inside}</code>"
    return f'<a href="{word.mark}">{inside}</a>'


def self_link(target: str, title: str) -> str:
    """A heading's link to itself, there to be copied."""
    return f' <a class="self" href="#{target}" aria-label="Link to: {text(title)}">#</a>'


def contents(document: Document) -> list[str]:
    """The table of contents."""
    targets = [("top", document.title), *((section.anchor, section.title) for section in document.sections)]
    links = [f'<li><a href="#{target}">{text(title)}</a></li>' for target, title in targets]
    return ['<nav id="contents" aria-label="Contents">', "<p>Contents</p>", "<ol>", *links, "</ol>", "</nav>"]


def switch(mechanisms: tuple[str, ...]) -> list[str]:
    """The switch of the mechanisms; hidden until the script that works it is there."""
    if not mechanisms:
        return []
    boxes = (
        f'<label><input type="checkbox" checked autocomplete="off" value="{text(name)}"> {text(name)}</label>'
        for name in mechanisms
    )
    return [
        '<details id="mechanisms" hidden>',
        "<summary>Show mechanisms</summary>",
        '<div role="group" aria-label="Show mechanisms">',
        '<p><button type="button" value="all">all</button> <button type="button" value="none">none</button></p>',
        *boxes,
        "</div>",
        "</details>",
    ]


def section_html(section: Section, anchors: frozenset[str]) -> list[str]:
    """A section under its heading."""
    heading = f'<h2 id="{section.anchor}">{text(section.title)}{self_link(section.anchor, section.title)}</h2>'
    return ["<section>", heading, *(part_html(part, anchors) for part in section.parts), "</section>"]


def part_html(part: Part, anchors: frozenset[str]) -> str:
    """One part of a section."""
    match part:
        case Paragraph():
            return f"<p>{marked(inline(part.text, anchors))}</p>"
        case Bullets():
            return "\n".join(["<ul>", *(f"<li>{marked(inline(item, anchors))}</li>" for item in part.items), "</ul>"])
        case Code():
            lines = "\n".join(map(text, part.lines()))
            return f'<pre tabindex="0"><code>{lines}</code></pre>'
        case Figure():
            caption = marked(inline(part.caption, anchors))
            return f'<figure id="{anchor(part)}">\n{drawing(part)}\n<figcaption>{caption}</figcaption>\n</figure>'
        case Table():
            return table_html(part, marked(inline(part.caption, anchors)))
        case Choice():
            return choice_html(part, anchors)


def choice_html(choice: Choice, anchors: frozenset[str]) -> str:
    """A row of buttons and all views; the style hides those that are not chosen, so that no script is needed."""
    buttons = (
        f'<label><input type="radio" name="{anchor(choice)}" autocomplete="off"{" checked" * (place == choice.start)}> '
        f"{text(name)}</label>"
        for place, (name, _) in enumerate(choice.views)
    )
    views = (
        "\n".join(['<div class="view">', *(part_html(part, anchors) for part in view), "</div>"])
        for _, view in choice.views
    )
    return "\n".join(
        [
            f'<div class="choice" id="{anchor(choice)}">',
            f"<fieldset><legend>{text(choice.label)}</legend>",
            *buttons,
            "</fieldset>",
            *views,
            "</div>",
        ]
    )


def table_html(table: Table, caption: str) -> str:
    """A table in a box of its own that scrolls, so that the page need not."""
    label = f"{anchor(table)}:caption"
    columns = list(zip(*table.rows, strict=True)) or [()] * len(table.head)
    numeric = [numbers(column) for column in columns]
    head = (
        f'<th scope="col"{" class=number" * right}>{text(name)}</th>'
        for name, right in zip(table.head, numeric, strict=True)
    )
    rows = (row_html(row, table, numeric) for row in table.rows)
    lines = [
        f'<div class="scroll" role="region" aria-labelledby="{label}" tabindex="0">',
        f'<table aria-labelledby="{label}">',
        f"<thead><tr>{''.join(head)}</tr></thead>",
        "<tbody>",
        *rows,
        "</tbody>",
        "</table>",
        "</div>",
    ]
    if table.collapsed:
        lines = ["<details>", f'<summary id="{label}">{caption}</summary>', *lines, "</details>"]
    else:
        lines = [f'<figcaption id="{label}">{caption}</figcaption>', *lines]
    return "\n".join([f'<figure id="{anchor(table)}" class="table">', *lines, "</figure>"])


def numbers(column: Iterable[Cell]) -> bool:
    """Whether a column holds numbers, and nothing but numbers where it holds anything."""
    kinds = {isinstance(cell, str) for cell in column if cell is not None}
    return kinds == {False}


def row_html(row: tuple[Cell, ...], table: Table, numeric: list[bool]) -> str:
    """One row; `data-value` is what the script sorts by: a number in full, or nothing."""
    owner = "" if table.mechanism_column is None else f' data-mechanism="{text(str(row[table.mechanism_column]))}"'
    cells = []
    for cell, right in zip(row, numeric, strict=True):
        shown = escape(cell_text(cell, table.digits))
        if isinstance(cell, str):
            cells.append(f"<td{' class=long' * is_long(cell)}>{shown}</td>")
            continue
        value = "" if cell is None or math.isnan(cell) else repr(float(cell)).replace("inf", "Infinity")
        cells.append(f'<td{" class=number" if right or value else ""} data-value="{value}">{shown}</td>')
    return f"<tr{owner}>{''.join(cells)}</tr>"


def is_long(words: str) -> bool:
    """Whether a text has a word that no column has room for."""
    return len(words) > LONG and any(len(word) > LONG for word in words.split())


def drawing(figure: Figure) -> str:
    """The figure's SVG, safe to stand in a page beside others.

    Raises:
        ValueError: it is not SVG, holds what does not draw, or refers to something outside itself.
    """
    start = figure.svg.find("<svg")
    try:
        # What stands before the root is the document type; cut off, it can declare no entities.
        root = ElementTree.fromstring(NOT_XML.sub("\ufffd", figure.svg[max(start, 0) :]))  # noqa: S314
    except ElementTree.ParseError as error:
        raise ValueError(f"figure {figure.name}: not SVG ({error})") from None
    width = root.get("width", "")
    inlined(root, figure.name, set())
    if root.tag != "svg" or "viewBox" not in root.attrib:
        raise ValueError(f"figure {figure.name}: not SVG, or without a viewBox")
    box = {"viewBox": root.attrib["viewBox"], "role": "img", "aria-label": visible(figure.alt)}
    root.attrib = box | ({"style": f"max-width: {width}"} if LENGTH.fullmatch(width) else {})
    root.tail = None
    return ElementTree.tostring(root, encoding="unicode")


def inlined(element: ElementTree.Element, name: str, seen: set[str]) -> None:
    """Rewrite an element and all in it: no namespaces, ids that begin with the figure's name, mechanisms as data."""
    element.tag = element.tag.rpartition("}")[2]
    if element.tag not in DRAWN:
        raise ValueError(f"figure {name}: <{element.tag}> does not draw")
    if element.tag in {"text", "tspan"} and element.text:
        element.text = visible(element.text)
    element.attrib = dict(attributes(element, name, seen))
    for child in list(element):
        if child.tag.rpartition("}")[2] in DROPPED:
            element.remove(child)
        else:
            inlined(child, name, seen)


def attributes(element: ElementTree.Element, name: str, seen: set[str]) -> Iterable[tuple[str, str]]:
    """The attributes an element keeps; of ids that are used twice, as matplotlib's groups may be, the first."""
    for key, value in element.attrib.items():
        kind = key.rpartition("}")[2]
        if kind == "id":
            identity = own(name, value)
            if value.startswith("mechanism:"):
                yield "data-mechanism", visible(value.split(":")[1])
            elif identity not in seen:
                seen.add(identity)
                yield "id", identity
        elif kind == "href":
            yield "href", f"#{own(name, value[1:])}" if value.startswith("#") else picture(name, value)
        elif "}" not in key and not key.startswith("on"):
            kept = REFERENCE.sub(lambda match: f"url(#{own(name, match[1])})", value)
            if re.search(r"url\((?!#)", kept, re.IGNORECASE):
                raise ValueError(f"figure {name}: it refers to something outside itself")
            yield key, kept


def own(name: str, identity: str) -> str:
    """The id that an element of this figure has in the page."""
    return name + ":" + re.sub(r"\s", "_", identity)


def picture(name: str, address: str) -> str:
    """The address of a picture that is inside the drawing."""
    if not address.startswith("data:image/png;base64,"):
        raise ValueError(f"figure {name}: it refers to something outside itself")
    return re.sub(r"\s", "", address)
