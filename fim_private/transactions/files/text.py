"""Turn bytes into UTF-8 with plain line ends, and read them once in chunks of whole lines."""

from __future__ import annotations

import codecs
import re
from collections.abc import Iterable, Iterator
from itertools import chain

import numpy as np
import polars as pl

from fim_private.errors import InputError, UsageError

LONGEST_LINE = 1 << 20
"""In bytes. A longer line means a file without line ends."""

SMALL = 1 << 19
"""In bytes. A smaller chunk is read without compiled code, which would take longer to load."""

WIDE_MARKS = {
    codecs.BOM_UTF32_LE: "utf-32-le",
    codecs.BOM_UTF32_BE: "utf-32-be",
    codecs.BOM_UTF16_LE: "utf-16-le",
    codecs.BOM_UTF16_BE: "utf-16-be",
}
"""Byte order marks, and the encodings whose texts begin with them. The mark of UTF-32 begins like one of UTF-16."""

ORDER_UNSAID = ("utf-16", "utf-32")
OTHERS = (
    "cp1252 (western Europe), cp1250 (central Europe), cp850 (DOS), cp1251 (Cyrillic), cp932 (Japanese) or utf-16-le"
)
ENCODINGS = f"utf-8, {OTHERS}"
USUAL_ENCODINGS = f"Usual ones are {ENCODINGS}."

MARKS = re.compile(b"^(?:%b)+" % codecs.BOM_UTF8, re.MULTILINE)
"""Byte order marks at the start of any line.

The mark of a file belongs to no transaction, and other transactions decide which line comes first. A file joined from
several has several first lines.
"""

READ_BY_THE_LINE = re.compile(
    r"ascii|big5(hkscs)?|cp[0-9]+|euc_\w+|gb[0-9k]+|hp-roman8|iso8859-[0-9]+|johab|koi8-[a-z]|kz1048|mac-\w+|ptcp154"
    r"|shift_jis\w*|tis-620|utf-8(-sig)?|utf-(16|32)-[bl]e"
)
"""Encodings in which a line does not depend on the lines before. In others an escape changes all that follows."""

Chunk = tuple[int, bytes]
r"""The 0-based number of a line, and whole lines from there on, without the last `\n`."""


class Text:
    r"""A text that can be read once, as UTF-8 without byte order marks and with `\n` as line end."""

    def __init__(self, *, name: str, blocks: Iterable[bytes], encoding: str = "utf-8") -> None:
        r"""Prepare the text without reading any of it.

        The bytes may be cut anywhere into blocks; line ends may be `\n`, `\r\n` or `\r`.

        Errors:
            UsageError: the encoding is unknown, or lets the first bytes decide how all others are read.
            InputError (while reading): the text begins with the mark of another encoding, or holds NUL bytes, bytes
                that are not in this encoding, a line over a mebibyte, or only blanks.
        """
        self.name = name
        self._ahead: list[Chunk] = []
        self._rest = _whole_lines(name, _plain_line_ends(_as_utf8(name, iter(blocks), _codec(encoding))))

    def chunks(self) -> Iterator[Chunk]:
        """All lines, in chunks of about the size of the blocks; can be read once."""
        while (chunk := self._next()) is not None:
            yield chunk

    def head(self, lines: int, size: int) -> list[str]:
        """The first lines that are not blank, at least one and at most `lines`, from about `size` bytes.

        `chunks` still returns them.

        Errors:
            InputError: every line is blank.
        """
        found: list[str] = []
        seen = 0
        for _, chunk in self._looking_ahead():
            if not found and not chunk.strip():
                continue
            for line in map(bytes.decode, chunk.split(b"\n")):
                if line.strip():
                    found.append(line)
                seen += len(line) + 1 if found else 0
                if len(found) == lines or seen > size:
                    return found
        if not found:
            raise only_blanks(self.name)
        return found

    def skip(self, lines: int) -> None:
        """Leave out the first lines that are not blank. There may be fewer.

        Errors:
            InputError: nothing but blanks is left.
        """
        while (numbered := self._next()) is not None:
            number, chunk = numbered
            below, gone = chunk.split(b"\n"), 0
            while gone < len(below) and lines:
                lines -= below[gone].decode().strip() != ""  # as text: a no-break space is blank too
                gone += 1
            if any(line.decode().strip() for line in below[gone:]):
                self._ahead.insert(0, (number + gone, b"\n".join(below[gone:])))
                return
        raise only_blanks(self.name)

    def _next(self) -> Chunk | None:
        # Not by an iterator over `_rest`: whoever leaves that early closes `_rest`, and the other lines are lost.
        return self._ahead.pop(0) if self._ahead else next(self._rest, None)

    def _looking_ahead(self) -> Iterator[Chunk]:
        yield from self._ahead
        for chunk in self._rest:
            self._ahead.append(chunk)
            yield chunk


def only_blanks(name: str) -> InputError:
    """The error for a text that holds only blanks."""
    return InputError(f"{name} holds nothing but blanks.", "Check that the right file was given.")


def lines_of(chunk: bytes) -> pl.Series:
    """The lines of a chunk as a series of strings."""
    return pl.Series([chunk.decode()]).str.split("\n").explode()


def _codec(encoding: str) -> codecs.CodecInfo:
    try:
        codec = codecs.lookup(encoding)
    except (LookupError, ValueError, TypeError):
        raise UsageError(f"There is no encoding called {encoding!r}.", USUAL_ENCODINGS) from None
    if codec.name in ORDER_UNSAID:
        raise UsageError(
            f"In {codec.name} the first bytes of a text decide in which order all its bytes are read.",
            f"Give the order: --encoding {codec.name}-le (as Windows writes it) or --encoding {codec.name}-be.",
        )
    if not READ_BY_THE_LINE.fullmatch(codec.name):
        raise UsageError(
            f"{encoding!r} is not an encoding of text in which each line can be read by itself.", USUAL_ENCODINGS
        )
    return codec


def _as_utf8(name: str, blocks: Iterator[bytes], codec: codecs.CodecInfo) -> Iterator[bytes]:
    first = _beginning(blocks)
    marked = next((encoding for mark, encoding in WIDE_MARKS.items() if first.startswith(mark)), codec.name)
    if marked != codec.name:
        raise InputError(f"{name} begins like a text in {marked}.", f"Save it as UTF-8, or give --encoding {marked}.")
    if codec.name != "utf-8":
        blocks = _decoded(name, chain([first], blocks), codec)
        first = _beginning(blocks)
    yield first
    yield from blocks


def _beginning(blocks: Iterator[bytes]) -> bytes:
    """The first block, extended by the next ones until it is long enough to show any byte order mark."""
    first = b""
    while len(first) < len(codecs.BOM_UTF32) and (more := next(blocks, None)) is not None:
        first += more
    return first


def _decoded(name: str, blocks: Iterator[bytes], codec: codecs.CodecInfo) -> Iterator[bytes]:
    """Decode the text and encode it as UTF-8."""
    line = 1
    try:
        for piece in _pieces(blocks, codec):
            encoded = piece.encode()
            yield encoded
            line += encoded.count(b"\n")
    except UnicodeDecodeError as error:
        line += error.object.count(b"\n", 0, error.start)
    except UnicodeError:
        pass
    else:
        return
    raise _wrong_encoding(name, codec.name, line)


def _pieces(blocks: Iterator[bytes], codec: codecs.CodecInfo) -> Iterator[str]:
    decoder = codecs.getincrementaldecoder(codec.name)()
    for block in blocks:
        yield decoder.decode(block)
    yield decoder.decode(b"", final=True)


def _wrong_encoding(name: str, codec: str, line: int) -> InputError:
    return InputError(
        f"{name} is not a text in {codec}: see line {line}.",
        "Save it as UTF-8. Or, if it holds the data, give its encoding with --encoding, such as "
        f"{OTHERS if codec == 'utf-8' else ENCODINGS}.",
    )


def _plain_line_ends(blocks: Iterator[bytes]) -> Iterator[bytes]:
    held = b""
    for block in blocks:
        if not held and b"\r" not in block:
            yield block
            continue
        joined = held + block
        # After a final \r, the next block may begin with \n.
        held = b"\r" if joined.endswith(b"\r") else b""
        yield joined.removesuffix(held).replace(b"\r\n", b"\n").replace(b"\r", b"\n")
    if held:
        yield b"\n"


def _whole_lines(name: str, blocks: Iterator[bytes]) -> Iterator[Chunk]:
    line = 0
    rest = b""
    blank = True
    for block in blocks:
        data = rest + block if rest else block
        _check(name, data, line, final=False)
        end = data.rfind(b"\n")
        rest = data[end + 1 :]
        if end >= 0:
            chunk = _unmarked(data[:end])
            blank = blank and (chunk.isspace() or not chunk)
            yield line, chunk
            # Four times as fast as `bytes.count`.
            line += int(np.count_nonzero(np.frombuffer(chunk, dtype=np.uint8) == ord("\n"))) + 1
    if rest:
        _check(name, rest, line, final=True)
        rest = _unmarked(rest)
        blank = blank and rest.isspace()
        yield line, rest
    if blank:
        raise only_blanks(name)


def _unmarked(lines: bytes) -> bytes:
    return lines if lines.isascii() or codecs.BOM_UTF8 not in lines else MARKS.sub(b"", lines)


def _check(name: str, data: bytes, line: int, *, final: bool) -> None:
    """Refuse bytes that are not text.

    Args:
        name: the name for messages.
        data: whole lines, and the beginning of one more.
        line: the 0-based number of the first line.
        final: whether the last line is whole too.
    """
    if not data.isascii():
        try:
            codecs.utf_8_decode(data, "strict", final)
        except UnicodeDecodeError as error:
            raise _wrong_encoding(name, "utf-8", line + data.count(b"\n", 0, error.start) + 1) from None
    if b"\0" in data:
        raise InputError(
            f"{name} holds NUL bytes: it is a binary file or a text in UTF-16.",
            "Save it as text in UTF-8, or give --encoding utf-16-le.",
        )
    start = 0
    while len(data) - start > LONGEST_LINE:
        end = data.rfind(b"\n", start, start + LONGEST_LINE + 1)
        if end < 0:
            number = line + data.count(b"\n", 0, start) + 1
            raise InputError(
                f"Line {number} of {name} is longer than a mebibyte, too long for a basket.",
                "Write one transaction per line. If this line is one, write it as a long table, with a row per item."
                + (" If it heads a one-hot table, write one item per row." if number == 1 else ""),
            )
        start = end + 1
