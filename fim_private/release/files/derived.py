"""Files that can be made again: pages, rules, reports.

They may replace each other, where that is asked for, but never a ledger, and never a release that can be read as one
(JSON and Parquet). A release as a bare table of text looks like any other table.
"""

from __future__ import annotations

import os.path
from collections.abc import Callable
from pathlib import Path

from fim_private.errors import FimPrivateError, UsageError
from fim_private.release.files import parquet
from fim_private.release.release import Release
from fim_private.transactions.files.source import load
from fim_private.writing import check_place, write_whole

LEDGERS = (b"fim-private ledger ", b"SQLite format 3\0")
"""How a ledger's file begins, and how one of older versions does."""


def check_derived(path: Path, *, overwrite: bool = True) -> None:
    """Check that such a file can be written.

    Raises:
        UsageError: the folder does not take files, a release or a ledger is there, or a file that may not be replaced.
    """
    what = _paid_for(path)
    if what is not None:
        raise UsageError(f"{path} is a {what}, which nothing could replace.", "Give the output another name.")
    check_place(path, overwrite=overwrite)


def refuse_ledger(path: Path) -> None:
    """Refuse to replace a ledger, even if files may be replaced, with a UsageError."""
    if _is_ledger(path):
        raise UsageError(f"{path} is a ledger, which nothing could replace.", "Give the output another name.")


def write_derived(
    path: Path, write: Callable[[Path], object], *, overwrite: bool = True, owner_only: bool = False
) -> Path:
    """Write as `write_whole` does, and replace no release and no ledger; without `overwrite`, no file at all.

    Raises:
        UsageError: what is there may not be replaced.
        OSError: the file system refuses.
    """
    check_derived(path, overwrite=overwrite)
    return write_whole(path, write, overwrite=overwrite, owner_only=owner_only)


def _paid_for(path: Path) -> str | None:
    """What kind of file is there that cannot be made again: a ledger or a release; None if it is neither."""
    if not os.path.isfile(path):  # noqa: PTH113 - no error for names too long
        return None
    try:
        if _is_ledger(path):
            return "ledger"
        content = load(path)
        if content.is_parquet:
            parquet.read_release(content.data)
        else:
            Release.from_json(content.data.decode())
    except (OSError, ValueError, FimPrivateError):
        return None
    return "release"


def _is_ledger(path: Path) -> bool:
    try:
        if not path.is_file():
            return False
        with path.open("rb") as file:
            return file.read(max(map(len, LEDGERS))).startswith(LEDGERS)
    except OSError:
        return False
