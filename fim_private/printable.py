"""Text and JSON that cannot steer a terminal."""

from __future__ import annotations

import json
from typing import Any


def printable(text: str) -> str:
    r"""The text with control characters written out, so that a name cannot steer the terminal.

    >>> printable("milk\x1b[2J")
    'milk\\x1b[2J'
    """
    if text.isprintable():
        return text
    return "".join(letter if letter.isprintable() else repr(letter)[1:-1] for letter in text)


def json_text(value: Any, indent: int | None = None) -> str:
    r"""JSON in which letters stand as they are, but what could steer a terminal is written out.

    >>> json_text(["é", "\x9b2J"])
    '["é", "\\u009b2J"]'
    """
    text = json.dumps(value, ensure_ascii=False, indent=indent)
    if text.replace("\n", "").isprintable():
        return text
    return "".join(letter if letter.isprintable() or letter == "\n" else json.dumps(letter)[1:-1] for letter in text)
