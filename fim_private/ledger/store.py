"""The ledger's file. Each operation locks it, reads all of it and checks it. Every failure has its own message.

The lock belongs to the file itself, not to its name, and there is no second file beside it. So processes that use
different names for the ledger (hard links, symbolic links, a file mounted into a container) still exclude each other
and see the same events. The system drops the lock of a process that ends, however it ends.
"""

from __future__ import annotations

import errno
import fcntl
import os
import shlex
import stat
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from fim_private.errors import InputError, UsageError
from fim_private.ledger import chain
from fim_private.ledger.chain import DamagedError, Event
from fim_private.randomness import SecureRandomness
from fim_private.writing import take_name

PATIENCE = 60.0
"""How many seconds to wait for other processes."""
SILENT = 1.0
"""After this many seconds `on_wait` is called."""


OnWait = Callable[[], None]


class RecordedError(InputError):
    """Something failed after the event was written: it counts."""


_GIVE_A_LEDGER = "Give the file that `fim-private budget create` made; this one was left as it is."


def create(path: Path, event: Event) -> None:
    """Make a new ledger at `path`. The file is complete, or it is not there.

    Args:
        path: no file may be there yet.
        event: the first event.

    Raises:
        UsageError: there is a file already, or the folder takes no files.
        InputError: the disk refuses, or the path is a link to a file that is not there.
    """
    _refuse_dangling(path)
    if os.path.lexists(path):
        raise UsageError(
            f"There is a file at {path} already.", "Give another name; `fim-private budget set` changes a ledger."
        )
    if not os.path.isdir(path.parent):  # noqa: PTH112 - Path's would raise where the name is too long
        raise UsageError(f"No file can be made at {path}.", "Give a file name in a folder that exists.")
    scratch = path.with_name(f".{path.name}.{SecureRandomness().bits(64):016x}")
    try:
        file = os.open(scratch, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o666)
        try:
            _put(file, chain.begin(event), 0)
        finally:
            os.close(file)
        _give_name(scratch, path)
    except OSError as error:
        raise _explained(error, path) from None
    finally:
        with suppress(OSError):
            scratch.unlink()


def read(path: Path, on_wait: OnWait | None = None) -> list[Event]:
    """All events of the ledger, the oldest first. A ledger on a read-only medium can be read too.

    `on_wait` is called once if another process keeps the ledger for more than a moment.

    Raises:
        InputError: the file is not a ledger, is damaged, is of another version, or cannot be read.
    """
    try:
        with _locked(path, os.O_RDONLY, fcntl.LOCK_SH, on_wait) as file:
            return _log(file, path).events
    except OSError as error:
        raise _explained(error, path) from None


def write(path: Path, work: Callable[[list[Event]], Event | None], on_wait: OnWait | None = None) -> list[Event]:
    """Append the event that `work` returns, and return all events. If `work` raises, nothing changes.

    One process at a time does this, so the events that `work` sees are still current when its event is written.
    `on_wait` is called as by `read`.

    Raises:
        RecordedError: the disk failed when the event was in the file already.
        InputError: as `read`; or the file is read-only, the disk is full, or other processes hold the lock too long.
    """
    recorded = False
    try:
        with _locked(path, os.O_RDWR, fcntl.LOCK_EX, on_wait) as file:
            log = _log(file, path)
            if log.is_spoilt:
                _put(file, chain.mended(log), log.next_mark)
                log = _log(file, path)
            event = work(log.events)
            if event is None:
                return log.events
            line, mark = chain.add(log, event)
            os.ftruncate(file, log.end)
            recorded = True
            try:
                _put(file, line, log.end)
            except BaseException:
                with suppress(OSError):
                    os.ftruncate(file, log.end)
                    recorded = False
                raise
            # From here on the event counts, even if this process ends now or the disk refuses the mark.
            _put(file, mark, log.next_mark)
            _check_name(file, path)
            return [*log.events, event]
    except OSError as error:
        explained = _explained(error, path)
        if recorded:
            then = "The entry is in the ledger: see `fim-private budget history`."
            raise RecordedError(explained.what, then) from None
        raise explained from None


def _refuse_dangling(path: Path) -> None:
    if os.path.islink(path) and not os.path.exists(path):  # noqa: PTH110, PTH114 - Path's would raise where the name is too long
        raise InputError(
            f"There is no ledger at {path}, which is a link to a file that is not there.",
            "Mend or remove the link, or give the ledger's own file.",
        )


@contextmanager
def _locked(path: Path, mode: int, kind: int, on_wait: OnWait | None) -> Iterator[int]:
    """The file, open and locked: shared with other readers, or exclusively."""
    if path.is_dir():
        raise InputError(f"There is no ledger at {path}, which is a folder.", "Give the ledger's file.")
    _refuse_dangling(path)
    if not path.is_file():
        raise InputError(
            f"There is no ledger at {path}.",
            f"Make one: fim-private budget create {shlex.quote(str(path))} --epsilon 3 --delta 1e-5.",
        )
    file = os.open(path, mode | os.O_NONBLOCK)  # it may have become a pipe
    try:
        began = time.monotonic()
        while not _taken(file, kind):
            waited = time.monotonic() - began
            if on_wait is not None and waited > SILENT:
                on_wait()
                on_wait = None
            if waited > PATIENCE:
                raise InputError(
                    f"The ledger {path} has been in use by other processes for {PATIENCE:g} seconds.",
                    "Try again later; nothing was charged.",
                )
            time.sleep(0.005)
        _check_name(file, path)
        yield file
    finally:
        with suppress(OSError):
            fcntl.flock(file, fcntl.LOCK_UN)  # a process that was forked in the meantime would keep it
        with suppress(OSError):  # what was written is on the disk
            os.close(file)


def _taken(file: int, kind: int) -> bool:
    try:
        fcntl.flock(file, kind | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def _check_name(file: int, path: Path) -> None:
    """Refuse a file that the name no longer leads to: whatever is written there is lost."""
    try:
        same = os.path.samestat(os.fstat(file), path.stat())
    except FileNotFoundError:
        same = False
    if not same or os.fstat(file).st_nlink == 0:
        raise InputError(
            f"The ledger {path} was removed, or another file was put in its place, while it was in use.",
            "Find out who did that and put the ledger back: its history shows whether it was charged. Nothing was "
            "released.",
        )


def _log(file: int, path: Path) -> chain.Log:
    """The log in the file, if it is a sound ledger of this version."""
    if not stat.S_ISREG(os.fstat(file).st_mode):
        raise InputError(f"{path} is not a ledger of this program.", _GIVE_A_LEDGER)
    found = chain.format_of(os.pread(file, 2 * chain.MARK, 0))
    if found is None:
        raise InputError(f"{path} is not a ledger of this program.", _GIVE_A_LEDGER)
    if found < chain.FORMAT:
        raise InputError(
            f"The ledger {path} was written by an older version of this program, in a format of its own.",
            "That version's `budget show` says what remains. Make a new ledger with this as its total, and keep the "
            "old file for its history; nothing was changed.",
        )
    if found > chain.FORMAT:
        raise InputError(
            f"The ledger {path} was written by a newer version of this program (format {found}; this one knows "
            f"{chain.FORMAT}).",
            "Install that version; nothing was changed.",
        )
    with open(file, "rb", closefd=False) as whole:
        whole.seek(0)
        data = whole.read()
    try:
        return chain.read(data)
    except DamagedError:
        raise damaged(path) from None


def _put(file: int, data: bytes, at: int) -> None:
    """Write the data at this place, and wait until it is on the disk."""
    while data:
        written = os.pwrite(file, data, at)
        data, at = data[written:], at + written
    os.fsync(file)


def _give_name(scratch: Path, path: Path) -> None:
    """Give the finished file its name, unless another process took the name first."""
    try:
        take_name(scratch, path)
    except FileExistsError:
        raise UsageError(f"There is a file at {path} already.", "Give another name.") from None
    try:
        folder = os.open(path.parent, os.O_RDONLY)
        try:
            os.fsync(folder)
        finally:
            os.close(folder)
    except OSError:
        raise InputError(
            f"The ledger {path} was made, but the disk does not say that it keeps the name.",
            "See whether it is there, with `fim-private budget show`, and use it.",
        ) from None


def damaged(path: Path) -> InputError:
    """The error for a ledger whose content contradicts itself."""
    return InputError(
        f"The ledger {path} is damaged or incomplete.",
        "Put back a copy with all releases in it; nothing was charged.",
    )


def _explained(error: OSError, path: Path) -> InputError:
    """What happened to the ledger, and what to do."""
    match error.errno:
        case errno.EACCES | errno.EPERM | errno.EROFS:
            what = (
                f"The ledger {path} cannot be written to or read: it, or its folder, is read-only or somebody else's."
            )
            then = "Change that, or ask whoever keeps the ledger; nothing was charged."
        case errno.ENOSPC | errno.EDQUOT | errno.EFBIG | errno.EIO:
            what = f"The ledger {path} could not be written: the disk is full or refuses."
            then = "Make room and try again; nothing was released, and what was charged before is still recorded."
        case errno.ENOLCK | errno.EOPNOTSUPP | errno.ENOSYS:
            what = f"The ledger {path} is on a file system that cannot lock files."
            then = "Keep the ledger on a local disk; nothing was charged."
        case _:
            what = f"The ledger {path} could not be used: {error.strerror or 'the system refuses'}."
            then = "Nothing was charged."
    return InputError(what, then)
