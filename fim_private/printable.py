"""Text and JSON that cannot steer a terminal."""

from __future__ import annotations

import json
import re
import unicodedata
from typing import Any

_JOINER = re.compile(r"(?<=[^\0-\x7f\u200c\u200d])[\u200c\u200d](?=[^\0-\x7f\u200c\u200d])")
"""What joins two letters of Persian or Hindi, or two emoji, or keeps them apart. In ASCII it would only hide."""


def printable(text: str, *, spaces: bool = False) -> str:
    r"""The text with control characters written out, so that a name cannot steer the terminal.

    Args:
        text: any text.
        spaces: whether spaces of all widths stay.

    >>> printable("milk\x1b[2J")
    'milk\\x1b[2J'
    """
    if text.isprintable():  # as nearly all are, however long
        return text
    joiners = {found.start() for found in _JOINER.finditer(text)}
    return "".join(
        letter
        if letter.isprintable() or at in joiners or (spaces and unicodedata.category(letter) == "Zs")
        else repr(letter)[1:-1]
        for at, letter in enumerate(text)
    )


def json_text(value: Any, indent: int | None = None) -> str:
    r"""JSON in which letters stand as they are, but what could steer a terminal is written out.

    >>> json_text(["é", "\x9b2J"])
    '["é", "\\u009b2J"]'
    """
    text = json.dumps(value, ensure_ascii=False, indent=indent)
    if text.replace("\n", "").isprintable():
        return text
    return "".join(letter if letter.isprintable() or letter == "\n" else json.dumps(letter)[1:-1] for letter in text)
