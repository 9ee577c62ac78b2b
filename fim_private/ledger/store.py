"""The ledger's file: one SQLite database, opened anew for each operation, with every way it can fail put into words.

Write-ahead logging with full synchronisation: what was committed is on the disk, and a process that is killed at any
moment leaves the last committed state behind (beside the file there is then a second one, `-wal`, that belongs to it;
whoever opens the ledger next puts the two together). Such a log needs a local disk: not a network share.
"""

from __future__ import annotations

import os
import sqlite3
import time
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from typing import TypeVar

from fim_private.errors import InputError, UsageError
from fim_private.randomness import SecureRandomness

APPLICATION = 0x46494D4C
"""Marks the file as a ledger: FIML."""
SCHEMA_VERSION = 1
PATIENCE = 60.0
"""Seconds to wait for other processes that are writing."""

SCHEMA = """
CREATE TABLE ledger (
    one INTEGER PRIMARY KEY CHECK (one = 1), created TEXT NOT NULL, dataset TEXT,
    composition TEXT NOT NULL, basic_share TEXT, renyi_order TEXT, relation TEXT, unit_column TEXT
);
CREATE TABLE totals (
    number INTEGER PRIMARY KEY, time TEXT NOT NULL, epsilon TEXT NOT NULL, delta TEXT NOT NULL
);
CREATE TABLE releases (
    number INTEGER PRIMARY KEY AUTOINCREMENT, id TEXT NOT NULL UNIQUE, time TEXT NOT NULL, command TEXT,
    mechanism TEXT NOT NULL, plan TEXT NOT NULL, losses TEXT NOT NULL, failure_event TEXT NOT NULL,
    epsilon TEXT NOT NULL, delta TEXT NOT NULL, renyi TEXT NOT NULL, plain TEXT NOT NULL, failure TEXT NOT NULL,
    state TEXT NOT NULL CHECK (state IN ('charged', 'delivered')), delivered TEXT
);
"""

Answer = TypeVar("Answer")


def create(path: Path, fill: Callable[[sqlite3.Connection], None]) -> None:
    """A new ledger at `path`; the file is complete or it is not there.

    Args:
        path: where no file is yet.
        fill: writes the first rows.

    Raises:
        UsageError: there is a file already, or the folder takes none.
        InputError: the disk refuses.
    """
    if os.path.lexists(path):
        raise UsageError(
            f"There is a file at {path} already.", "Give another name; `fim-private budget set` changes a ledger."
        )
    if not os.path.isdir(path.parent):  # noqa: PTH112 - Path's would raise where the name is too long
        raise UsageError(f"No file can be made at {path}.", "Give a file name in a folder that exists.")
    scratch = path.with_name(f".{path.name}.{SecureRandomness().bits(64):016x}")
    try:
        with closing(sqlite3.connect(scratch, isolation_level=None)) as connection:
            connection.execute("PRAGMA synchronous = FULL")
            connection.execute("BEGIN IMMEDIATE")
            connection.execute(f"PRAGMA application_id = {APPLICATION}")
            connection.execute(f"PRAGMA user_version = {SCHEMA_VERSION}")
            for statement in SCHEMA.split(";\n"):
                connection.execute(statement)
            fill(connection)
            connection.execute("COMMIT")
            # Only now: of a log that a full disk keeps from being put into the file, the file would not know.
            connection.execute("PRAGMA journal_mode = WAL")
        with _opened(scratch, "rw"):
            pass  # a sound ledger, and the disk has room for what comes with opening it
        _put(scratch, path)
    except (sqlite3.Error, OSError) as error:
        raise _explained(error, path) from None
    finally:
        for suffix in ("", "-wal", "-shm"):
            with suppress(OSError):
                Path(f"{scratch}{suffix}").unlink()


def _put(scratch: Path, path: Path) -> None:
    """Give the finished file its name, unless somebody was faster."""
    try:
        os.link(scratch, path)
    except FileExistsError:
        raise UsageError(f"There is a file at {path} already.", "Give another name.") from None
    except OSError:
        scratch.rename(path)  # a file system without links
    if os.name == "posix":
        folder = os.open(path.parent, os.O_RDONLY)
        try:
            os.fsync(folder)
        finally:
            os.close(folder)


def read(path: Path, work: Callable[[sqlite3.Connection], Answer]) -> Answer:
    """What `work` makes of a consistent state of the ledger. A ledger on a read-only medium can be read too.

    Raises:
        InputError: the file is not a ledger, is damaged, is newer than this program, or cannot be read.
    """

    def attempt() -> Answer:
        # Whoever may write tidies up behind himself; a reader who may not would leave the log's files behind.
        writable = os.access(path, os.W_OK) and os.access(path.parent, os.W_OK)
        with _opened(path, "rw" if writable else "ro") as connection:
            connection.execute("BEGIN")
            return work(connection)

    return _patiently(path, attempt)


def write(path: Path, work: Callable[[sqlite3.Connection], Answer]) -> Answer:
    """What `work` returns, once all it changed is on the disk; nothing is changed where it or the disk fails.

    One process at a time does this; what `work` reads is still so when it writes.

    Raises:
        InputError: as `read`; or the file is read-only, the disk full, others are writing all the time.
    """

    def attempt() -> Answer:
        with _opened(path, "rw") as connection:
            connection.execute("BEGIN IMMEDIATE")
            try:
                answer = work(connection)
                connection.execute("COMMIT")
            except BaseException:
                with suppress(sqlite3.Error):
                    connection.execute("ROLLBACK")
                raise
            return answer

    return _patiently(path, attempt)


@contextmanager
def _opened(path: Path, mode: str) -> Iterator[sqlite3.Connection]:
    """A connection to a file that is a ledger of this version and sound."""
    if not path.is_file():
        raise InputError(
            f"There is no ledger at {path}.", "Make one: fim-private budget create FILE --epsilon 3 --delta 1e-5."
        )
    address = path.resolve().as_uri() + f"?mode={mode}"
    if mode == "ro" and not os.access(path.parent, os.W_OK) and not Path(f"{path}-wal").exists():
        address += "&immutable=1"  # no lock can be made there, and nobody can write
    with closing(sqlite3.connect(address, uri=True, timeout=PATIENCE, isolation_level=None)) as connection:
        connection.execute("PRAGMA synchronous = FULL")
        (application,) = connection.execute("PRAGMA application_id").fetchone()
        if application != APPLICATION:
            raise InputError(
                f"{path} is not a ledger of this program.",
                "Give the file that `fim-private budget create` made; this one was left as it is.",
            )
        (version,) = connection.execute("PRAGMA user_version").fetchone()
        if version > SCHEMA_VERSION:
            raise InputError(
                f"The ledger {path} was written by a newer version of this program (schema {version}; this one knows "
                f"{SCHEMA_VERSION}).",
                "Install that version; nothing was changed.",
            )
        (verdict,) = connection.execute("PRAGMA quick_check(1)").fetchone()
        if verdict != "ok" or version != SCHEMA_VERSION:
            raise sqlite3.DatabaseError("damaged")
        yield connection


def _patiently(path: Path, attempt: Callable[[], Answer]) -> Answer:
    """Try again while others write. SQLite waits by itself, but not where a log is being put back or put away."""
    until = time.monotonic() + PATIENCE
    while True:
        try:
            return attempt()
        except sqlite3.Error as error:
            if _kind(error) not in {sqlite3.SQLITE_BUSY, sqlite3.SQLITE_PROTOCOL} or time.monotonic() > until:
                raise _explained(error, path) from None
            time.sleep(0.02)
        except (OSError, UnicodeDecodeError) as error:  # SQLite checks no text that it hands out
            raise _explained(error, path) from None


def _kind(error: BaseException) -> int:
    """SQLite's primary result code, 0 where there is none."""
    return int(getattr(error, "sqlite_errorcode", 0)) & 0xFF


def _explained(error: Exception, path: Path) -> InputError:
    """What happened to the ledger, and what to do; never SQLite's own words, which may quote what is stored."""
    match _kind(error):
        case sqlite3.SQLITE_BUSY | sqlite3.SQLITE_PROTOCOL | sqlite3.SQLITE_LOCKED:
            what = f"The ledger {path} is in use by other processes, for {PATIENCE:g} seconds now."
            then = "Try again later; nothing was charged."
        case sqlite3.SQLITE_READONLY | sqlite3.SQLITE_CANTOPEN | sqlite3.SQLITE_PERM | sqlite3.SQLITE_AUTH:
            what = f"The ledger {path} cannot be written to: it, or its folder, is read-only or somebody else's."
            then = "Change that, or ask whoever keeps the ledger; nothing was charged."
        case sqlite3.SQLITE_FULL | sqlite3.SQLITE_IOERR:
            what = f"The ledger {path} could not be written: the disk is full or refuses."
            then = "Make room and try again; nothing was released, and what was charged before is still recorded."
        case sqlite3.SQLITE_NOTADB:
            what = f"{path} is not a ledger of this program."
            then = "Give the file that `fim-private budget create` made; this one was left as it is."
        case 0 if isinstance(error, OSError):
            what = f"The ledger {path} could not be used: {error.strerror or 'the system refuses'}."
            then = "Nothing was charged."
        case _:
            what = f"The ledger {path} is damaged or incomplete."
            then = "Put back a copy with all releases in it, its -wal file too if there is one; nothing was charged."
    return InputError(what, then)
