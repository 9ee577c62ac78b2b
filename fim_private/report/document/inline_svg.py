"""A figure's SVG made safe to stand inside a page: it draws, and does nothing else."""

from __future__ import annotations

import re
from collections.abc import Iterable
from xml.etree import ElementTree

from fim_private.report.document import Figure, visible

DROPPED = {"metadata", "style"}
"""Parts of a drawing that the page does without: they are full of addresses, or would style the whole page."""

SHAPES = {"circle", "ellipse", "image", "line", "path", "polygon", "polyline", "rect", "text", "tspan", "use"}
DRAWN = SHAPES | {"svg", "g", "defs", "clipPath", "linearGradient", "mask", "pattern", "radialGradient", "stop"}
"""The elements a drawing may hold: those that only draw."""

REFERENCE = re.compile(r"url\(\s*['\"]?#([^'\")]+?)['\"]?\s*\)")
NOT_XML = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
LENGTH = re.compile(r"[0-9.]+(?:pt|px|in|mm|cm)?")


def drawing(figure: Figure, *, narrow: bool = False) -> str:
    """The figure's SVG, safe to stand in a page beside others.

    Raises:
        ValueError: it is not SVG, holds what does not draw, or refers to something outside itself.
    """
    svg = figure.narrow if narrow else figure.svg
    name = figure.name + (":narrow" if narrow else "")
    start = svg.find("<svg")
    try:
        # What stands before the root is the document type; cut off, it can declare no entities.
        root = ElementTree.fromstring(NOT_XML.sub("\ufffd", svg[max(start, 0) :]))  # noqa: S314
    except ElementTree.ParseError as error:
        raise ValueError(f"figure {figure.name}: not SVG ({error})") from None
    width = root.get("width", "")
    inlined(root, name, set())
    if root.tag != "svg" or "viewBox" not in root.attrib:
        raise ValueError(f"figure {figure.name}: not SVG, or without a viewBox")
    box = {"viewBox": root.attrib["viewBox"], "role": "img", "aria-label": visible(figure.alt)}
    if figure.narrow:
        box["class"] = "narrow" if narrow else "wide"
    root.attrib = box | ({"style": f"max-width: {width}; --width: {width}"} if LENGTH.fullmatch(width) else {})
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
    if element.tag not in {"text", "tspan"}:
        element.text = unindented(element.text)
    for child in list(element):
        if child.tag.rpartition("}")[2] in DROPPED:
            element.remove(child)
        else:
            inlined(child, name, seen)
            if element.tag not in {"text", "tspan"}:
                child.tail = unindented(child.tail)


def unindented(between: str | None) -> str | None:
    """What stands between elements, without blanks: a tenth of a page of many drawings."""
    return between if between is None or between.strip() else "\n"


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
