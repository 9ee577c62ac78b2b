"""Read bytes from a path, standard input or an open file, unpack gzip, and refuse files of other kinds by name.

A source is read once from front to back, one block at a time: standard input cannot be rewound, and a file may be
larger than the memory.
"""

from __future__ import annotations

import gzip
import io
import os
import re
import stat
import sys
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import BinaryIO, cast

from fim_private.errors import InputError, UsageError

BLOCK = 1 << 20
"""Bytes read at a time."""

HEAD = 1 << 16
"""The first bytes, which show what kind of file this is."""

UNPACKED_FREELY = 1 << 28
MOST_TIMES = 200
"""A gzip file may unpack to `UNPACKED_FREELY` bytes, or to `MOST_TIMES` its size if that is more.

Baskets are packed to a tenth, wide tables of zeros to a hundredth, and files made to fill the memory to a thousandth.
"""

GZIP = b"\x1f\x8b"
PARQUET = b"PAR1"
ARCHIVE = b"PK\x03\x04"
UNPACK = "Unpack it first, or pack it with gzip, which can be read directly."
GIVE_QUERY = "Read it with --query, as in --query 'SELECT invoice, item FROM sales'."
SAVE_AS_CSV = "Open it in the program that made it and save the table as CSV."

DUCKDB = re.compile(rb".{8}DUCK..\0{6}", re.DOTALL)
"""How a DuckDB file begins: a checksum, its mark, and the version of its format."""

TAR = re.compile(rb".{257}ustar", re.DOTALL)
"""A tar archive begins with the name of its first file."""

FOREIGN = (
    (b"\xfd7zXZ\x00", "compressed by xz", UNPACK),
    *((b"BZh%d1AY&SY" % level, "compressed by bzip2", UNPACK) for level in range(1, 10)),
    (b"\x28\xb5\x2f\xfd", "compressed by Zstandard", UNPACK),
    (b"7z\xbc\xaf\x27\x1c", "a 7z archive", UNPACK),
    (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", "an old Excel or Office file", SAVE_AS_CSV),
    (b"SQLite format 3\x00", "an SQLite database", GIVE_QUERY),
    (b"%PDF-", "a PDF document", SAVE_AS_CSV),
    *((magic, "a picture", SAVE_AS_CSV) for magic in (b"\x89PNG\r\n", b"\xff\xd8\xff")),
    (b"ARROW1", "an Arrow (Feather) file", "Save it as Parquet."),
)
"""The first bytes of files that cannot be read, what the files are, and what to do."""

SECRET = re.compile(r"://|:.*@|(pass\w*|pwd|key|token|secret)\s*=", re.IGNORECASE)
"""What addresses with a password have, however they are mistyped."""

Progress = Callable[[float], None]


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class Content:
    """The bytes of one source, unpacked, and its name for messages."""

    name: str
    data: bytes

    @property
    def is_parquet(self) -> bool:
        """Whether this is a Parquet file, perhaps cut short, and not a text that happens to start with PAR1."""
        return self.data.startswith(PARQUET) and (self.data.endswith(PARQUET) or b"\0" in self.data[:HEAD])


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class Source:
    """One source while it is read, unpacked.

    Args:
        name: its name for messages.
        head: the first bytes, at least `HEAD` unless the source has fewer; never empty.
        rest: the bytes after `head`, in blocks that are not empty; can be read once.
    """

    name: str
    head: bytes
    rest: Iterator[bytes]

    @property
    def may_be_parquet(self) -> bool:
        """Whether this starts like Parquet; only its end tells for sure."""
        return self.head.startswith(PARQUET)

    @property
    def is_archive(self) -> bool:
        """Whether this starts like a ZIP archive, which a workbook is."""
        return self.head.startswith(ARCHIVE)

    def blocks(self) -> Iterator[bytes]:
        """The whole source in blocks that are not empty; can be read once."""
        return chain([self.head], self.rest)

    def content(self) -> Content:
        """The whole source at once; uses up the blocks."""
        return Content(name=self.name, data=b"".join(self.blocks()))


@contextmanager
def opened(
    source: str | Path | BinaryIO, progress: Progress | None = None, *, archives: bool = False
) -> Iterator[Source]:
    """Open a path, standard input ("-") or an open binary file for reading in this context, and unpack gzip.

    `progress` is called with the share of bytes that was read, for a path only. With `archives`, ZIP archives are not
    refused, because they may be workbooks.

    Errors (also while reading the blocks):
        InputError: there is no such file, or it is a folder, empty, unreadable, a broken gzip file, of another kind, or
            changes while it is read.
        UsageError: an open file is not in binary mode, or this is neither a path nor a file.
    """
    if isinstance(source, str) and is_address(source):
        # The address may hold a password, so it is not shown.
        raise UsageError("This is an address. Only a database can be read from one, and it needs a query.", GIVE_QUERY)
    if not isinstance(source, str | Path):
        if not hasattr(source, "read"):
            raise UsageError("This is no file.", "Give a path, or a file that is open in binary mode ('rb').")
        yield _source("The open file", source, archives=archives)
    elif source == "":
        raise InputError("The name of the file is empty.", "Give the path of a file.")
    elif str(source) == "-":
        if sys.stdin is None:
            raise InputError("Standard input is closed.", "Redirect it from a file, or name the file.")
        yield _source("Standard input", sys.stdin.buffer, archives=archives)
    else:
        with _open(Path(source)) as file:
            yield _source(str(source), file, progress, archives=archives)


def is_address(source: str) -> bool:
    """Whether a source is an address, such as that of a database, and not a path."""
    return re.match(r"[A-Za-z][\w+.-]*://", source) is not None


def shown(path: str | Path) -> str:
    """The path in a message. What looks like an address is left out: it may hold a password.

    What holds line ends is left out too: it may be the text of a file, given in place of its path.
    """
    text = str(path)
    if SECRET.search(text):
        return "of this name, which looks like an address"
    return text if len(text.splitlines()) <= 1 else "of this name (it holds line ends, as a text does)"


def load(source: str | Path | BinaryIO, *, archives: bool = False) -> Content:
    """The whole content of a source. Arguments and errors as for `opened`."""
    with opened(source, archives=archives) as reading:
        return reading.content()


def _open(path: Path) -> BinaryIO:
    try:
        # Not buffered, because blocks are large.
        return path.open("rb", buffering=0)
    except FileNotFoundError:
        raise InputError(f"There is no file {shown(path)}.", "Check the path.") from None
    except IsADirectoryError:
        raise InputError(f"{shown(path)} is a folder.", "Give the path of a file.") from None
    except PermissionError:
        raise InputError(f"{shown(path)} may not be read by this user.", "Change its permissions.") from None
    except (OSError, ValueError):
        raise InputError(f"The file {shown(path)} cannot be opened.", "Check the path and the disk it is on.") from None


def _version(file: BinaryIO) -> tuple[int, int] | None:
    """Its size and when it was written; None for a pipe, a device, or what is in memory."""
    with suppress(AttributeError, OSError):
        found = os.fstat(file.fileno())
        return (found.st_size, found.st_mtime_ns) if stat.S_ISREG(found.st_mode) else None
    return None


def _source(name: str, file: BinaryIO, progress: Progress | None = None, *, archives: bool) -> Source:
    stream = _Stream(name, file, progress)
    first = stream.peek(len(GZIP))
    blocks = _unpacked(name, stream) if first.startswith(GZIP) else _plain(stream)
    head = b""
    for block in blocks:
        head += block
        if len(head) >= HEAD:
            break
    if not head:
        raise InputError(f"{name} is empty.", "Check that the right file was given and that it was written in full.")
    if not (archives and head.startswith(ARCHIVE)):
        refuse_foreign(name, head)
    return Source(name=name, head=head, rest=blocks)


class _Stream:
    """A file that raises our own errors and lets a caller look at its first bytes."""

    def __init__(self, name: str, file: BinaryIO, progress: Progress | None) -> None:
        self._name = name
        self._file = file
        self._progress = progress
        self._version = _version(file)
        # 0 for a pipe or a device, whose length is unknown.
        self._size, _ = self._version or (0, 0)
        self._held = b""
        self.taken = 0
        """The number of bytes read from the file."""

    def peek(self, size: int) -> bytes:
        """The next `size` bytes, fewer only at the end; `read` returns them again."""
        while len(self._held) < size and (more := self._read(BLOCK)):
            self._held += more
        return self._held[:size]

    def read(self, size: int) -> bytes:
        """At most `size` bytes; none only at the end."""
        if not self._held:
            return self._read(size)
        data, self._held = self._held[:size], self._held[size:]
        return data

    def _read(self, size: int) -> bytes:
        try:
            data = self._file.read(size)
        except (OSError, EOFError, ValueError):
            raise InputError(f"{self._name} cannot be read to its end.", "Check where it comes from.") from None
        if not isinstance(data, bytes):
            raise UsageError("The open file gives text, not bytes.", "Open it in binary mode ('rb').")
        if not data and _version(self._file) != self._version:
            raise InputError(
                f"{self._name} changed while it was read.", "Wait until it is written in full, or read a copy of it."
            )
        self.taken += len(data)
        if self._progress and self._size:
            self._progress(min(1.0, self.taken / self._size))
        return data


def _plain(stream: _Stream) -> Iterator[bytes]:
    while block := stream.read(BLOCK):
        yield block


def _unpacked(name: str, stream: _Stream) -> Iterator[bytes]:
    # Unpacking takes a tenth of the time of reading, so a first block that unpacks to too much is refused soon.
    first, unpacked = io.BytesIO(stream.peek(BLOCK)), 0
    with suppress(EOFError, OSError, zlib.error), gzip.GzipFile(fileobj=first, mode="rb") as packed:
        while block := packed.read(BLOCK):
            unpacked += len(block)
            _check_unpacked(name, unpacked, stream.taken)
    unpacked = 0
    # GzipFile only calls `read`.
    with gzip.GzipFile(fileobj=cast(BinaryIO, stream), mode="rb") as packed:
        while True:
            try:
                block = packed.read(BLOCK)
            except EOFError:
                problem = "stops before its end"
                break
            except (OSError, zlib.error):
                problem = "is damaged"
                break
            if not block:
                return
            unpacked += len(block)
            _check_unpacked(name, unpacked, stream.taken)
            yield block
    raise InputError(f"{name} is a gzip file that {problem}.", "Fetch or pack it again.")


def _check_unpacked(name: str, unpacked: int, taken: int) -> None:
    if unpacked > max(UNPACKED_FREELY, MOST_TIMES * taken):
        raise InputError(
            f"{name} is a gzip file that unpacks to more than {MOST_TIMES} times its size, as a file does that "
            "is made to fill the memory.",
            "If the file is meant to be so, unpack it first: plain files may have any size.",
        )


def refuse_foreign(name: str, data: bytes) -> None:
    """Refuse data that begins like a file of a kind that cannot be read, with an InputError."""
    if data.startswith(ARCHIVE):
        if b"xl/" in data[:HEAD]:
            raise InputError(f"{name} is an Excel workbook.", SAVE_AS_CSV)
        if b"opendocument" in data[:HEAD]:
            raise InputError(f"{name} is an OpenDocument file.", SAVE_AS_CSV)
        raise InputError(f"{name} is a ZIP archive.", UNPACK)
    if data.startswith(GZIP):
        raise InputError(f"{name} is packed with gzip twice.", "Unpack it once.")
    if DUCKDB.match(data):
        raise InputError(f"{name} is a DuckDB database.", GIVE_QUERY)
    if TAR.match(data):
        raise InputError(f"{name} is a tar archive.", "Unpack it first, and give its files.")
    for magic, kind, next_step in FOREIGN:
        if data.startswith(magic):
            raise InputError(f"{name} is {kind}.", next_step)
