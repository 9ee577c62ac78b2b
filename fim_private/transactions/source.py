"""Bytes in: from a path, standard input or an open file; gzip undone; what cannot be read refused by name."""

from __future__ import annotations

import gzip
import sys
import zlib
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

from fim_private.errors import InputError, UsageError

GZIP = b"\x1f\x8b"
PARQUET = b"PAR1"
UNPACK = "Unpack it first, or pack it with gzip, which is read as it is."
SAVE_AS_CSV = "Open it in the program that made it and save the table as CSV."

FOREIGN = (
    (b"\xfd7zXZ\x00", "an xz archive", UNPACK),
    *((b"BZh%d1AY&SY" % level, "a bzip2 archive", UNPACK) for level in range(1, 10)),
    (b"\x28\xb5\x2f\xfd", "a Zstandard archive", UNPACK),
    (b"7z\xbc\xaf\x27\x1c", "a 7z archive", UNPACK),
    (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", "an old Excel or Office file", SAVE_AS_CSV),
    (b"SQLite format 3\x00", "an SQLite database", SAVE_AS_CSV),
    (b"%PDF-", "a PDF document", SAVE_AS_CSV),
    (b"ARROW1", "an Arrow (Feather) file", "Save it as Parquet."),
)
"""First bytes of files that are no baskets, what they are, what to do."""


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class Content:
    """The bytes of one source, unpacked, with the name to show in messages."""

    name: str
    data: bytes

    @property
    def is_parquet(self) -> bool:
        """Whether this is Parquet, whole or cut short; a text that happens to start with PAR1 is not."""
        return self.data.startswith(PARQUET) and (self.data.endswith(PARQUET) or b"\0" in self.data[:65536])


def load(source: str | Path | BinaryIO) -> Content:
    """The content of a path, of standard input ("-") or of an open binary file; gzip is undone.

    Errors:
        InputError: there is no such file, it is a folder, empty, unreadable, a broken gzip, or another kind
            of file.
        UsageError: an open file is not in binary mode.
    """
    name, data = _open(source)
    if data.startswith(GZIP):
        data = _gunzip(name, data)
    if not data:
        raise InputError(f"{name} is empty.", "Check that the right file was given and that it was written in full.")
    _refuse_foreign(name, data)
    return Content(name=name, data=data)


def _open(source: str | Path | BinaryIO) -> tuple[str, bytes]:
    if not isinstance(source, str | Path):
        data = _read_stream("The open file", source)
        if not isinstance(data, bytes):
            raise UsageError("The open file gives text, not bytes.", "Open it in binary mode ('rb').")
        return "The open file", data
    if str(source) == "-":
        return "Standard input", _read_stream("Standard input", sys.stdin.buffer)
    try:
        return str(source), Path(source).read_bytes()
    except FileNotFoundError:
        raise InputError(f"There is no file {source}.", "Check the path.") from None
    except IsADirectoryError:
        raise InputError(f"{source} is a folder.", "Give the path of one file.") from None
    except PermissionError:
        raise InputError(f"{source} may not be read by this user.", "Change its permissions.") from None
    except (OSError, ValueError):
        raise InputError(f"{source} cannot be opened.", "Check the path and the disk it is on.") from None


def _read_stream(name: str, stream: BinaryIO) -> bytes:
    try:
        return stream.read()
    except (OSError, EOFError, ValueError):
        raise InputError(f"{name} cannot be read to its end.", "Check where it comes from.") from None


def _gunzip(name: str, data: bytes) -> bytes:
    try:
        return gzip.decompress(data)
    except EOFError:
        problem = "stops before its end"
    except (OSError, zlib.error):
        problem = "is damaged"
    raise InputError(f"{name} is a gzip file that {problem}.", "Fetch or pack it again.")


def _refuse_foreign(name: str, data: bytes) -> None:
    if data.startswith(b"PK\x03\x04"):
        if b"xl/" in data[:65536]:
            raise InputError(f"{name} is an Excel workbook.", SAVE_AS_CSV)
        raise InputError(f"{name} is a ZIP archive.", UNPACK)
    if data.startswith(GZIP):
        raise InputError(f"{name} is packed with gzip twice.", "Unpack it once.")
    for magic, kind, next_step in FOREIGN:
        if data.startswith(magic):
            raise InputError(f"{name} is {kind}.", next_step)
