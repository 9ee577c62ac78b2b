"""Text in: bytes made UTF-8 with plain line ends, walked through in chunks of whole lines."""

from __future__ import annotations

import codecs
from collections.abc import Iterator
from dataclasses import dataclass

import polars as pl

from fim_private.errors import InputError, UsageError
from fim_private.transactions.source import Content

LONGEST_LINE = 1 << 20
"""Bytes; a basket of a million bytes is a file without line ends, not a basket."""

CHUNK = 2 << 20
"""Bytes worked on at a time, so that intermediate tables stay small beside the file."""

WIDE_MARKS = (codecs.BOM_UTF32_LE, codecs.BOM_UTF32_BE, codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class Text:
    r"""A text with the name to show in messages: UTF-8 without a mark, every line end a single `\n`."""

    name: str
    data: bytes

    def chunks(self, size: int = CHUNK) -> Iterator[tuple[int, bytes]]:
        r"""Runs of whole lines of about `size` bytes, each with the 0-based number of its first line.

        The `\n` at the end of a run is left out.
        """
        line, start, stop = 0, 0, len(self.data) - self.data.endswith(b"\n")
        while start <= stop:
            end = self.data.find(b"\n", min(start + size, stop), stop)
            end = stop if end < 0 else end
            chunk = self.data[start:end]
            yield line, chunk
            line += chunk.count(b"\n") + 1
            start = end + 1

    def head(self, lines: int, size: int) -> list[str]:
        """The first lines that are not blank, one at least and at most so many, out of about `size` bytes.

        Errors:
            InputError: every line is blank.
        """
        for _, chunk in self.chunks(size):
            found = [line for line in chunk.decode().split("\n") if line.strip()]
            if found:
                return found[:lines]
        raise only_blanks(self.name)


def only_blanks(name: str) -> InputError:
    """The error for a text without a word."""
    return InputError(f"{name} holds nothing but blanks.", "Check that the right file was given.")


def lines_of(chunk: bytes) -> pl.Series:
    """The lines of a chunk as a series of strings."""
    return pl.Series([chunk.decode()]).str.split("\n").explode()


def to_text(content: Content, encoding: str) -> Text:
    """Decode, and refuse what is not text.

    Errors:
        InputError: NUL bytes, UTF-16 unasked, bytes that are not of this encoding, a line over a mebibyte,
            only blanks.
        UsageError: an unknown encoding.
    """
    data = _as_utf8(content, encoding).removeprefix(codecs.BOM_UTF8)
    name = content.name
    if b"\0" in data:
        raise InputError(
            f"{name} holds NUL bytes: it is a binary file or a text in UTF-16.",
            "Save it as text in UTF-8, or give --encoding utf-16.",
        )
    if b"\r" in data:
        data = data.replace(b"\r\n", b"\n").replace(b"\r", b"\n")
    if data.isspace() or not data:
        raise only_blanks(name)
    _refuse_long_lines(name, data)
    return Text(name=name, data=data)


def _as_utf8(content: Content, encoding: str) -> bytes:
    try:
        codec = codecs.lookup(encoding).name
    except (LookupError, ValueError):
        raise UsageError(
            f"There is no encoding called {encoding!r}.", "Usual ones are utf-8, latin-1, cp1252, utf-16."
        ) from None
    if content.data.startswith(WIDE_MARKS) and not codec.startswith(("utf-16", "utf-32")):
        raise InputError(
            f"{content.name} is a text in UTF-16 or UTF-32.",
            "Save it as UTF-8, or give --encoding utf-16 (or utf-32).",
        )
    try:
        decoded = content.data.decode(codec)
        return content.data if codec == "utf-8" else decoded.encode()
    except LookupError:
        raise UsageError(
            f"{encoding!r} is not an encoding of text.", "Usual ones are utf-8, latin-1, cp1252, utf-16."
        ) from None
    except UnicodeDecodeError as error:
        line = content.data.count(b"\n", 0, error.start) + 1
    except UnicodeError:
        line = 1
    raise InputError(
        f"{content.name} is not a text in {codec}: see line {line}.",
        "Give its encoding, for example --encoding latin-1 or --encoding cp1252.",
    )


def _refuse_long_lines(name: str, data: bytes) -> None:
    start = 0
    while len(data) - start > LONGEST_LINE:
        end = data.rfind(b"\n", start, start + LONGEST_LINE + 1)
        if end < 0:
            line = data.count(b"\n", 0, start) + 1
            raise InputError(
                f"Line {line} of {name} is longer than a mebibyte, which no basket is.",
                "Write one transaction a line.",
            )
        start = end + 1
