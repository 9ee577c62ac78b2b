"""Write files whole or not at all. Every file that this program makes for its users is written here.

A place that is not a regular file (a device, a FIFO, standard output under a name such as /dev/stdout) is written in
place: a new file there would destroy it. New files honour the umask, or are readable by their owner alone. A replaced
file keeps its mode and, if the system allows it, its owner.
"""

from __future__ import annotations

import os
import re
import shutil
import stat
import sys
import tempfile
import uuid
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from itertools import count
from pathlib import Path
from typing import BinaryIO

import polars as pl

from fim_private.errors import InputError, UsageError

STREAMS = (1, 2)
"""The descriptors of standard output and error."""

REFUSED = "the disk is full or refuses"

TRIAL = 1 << 20
"""The number of bytes in the trial file: more than nearly all releases have."""


def check_place(path: Path, *, overwrite: bool = True) -> None:
    """Check, before any budget is spent, that a file of this name can be written. A trial file is written beside it.

    Raises:
        UsageError: the folder takes no files, the name belongs to a folder, a disk or a socket, or a file with this
            name exists and may not or cannot be replaced.
        InputError: the disk is full.
    """
    try:
        os.stat(path)  # noqa: PTH116 - Path's raises for names too long
    except FileNotFoundError:
        pass
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or "it is not a file name"
        raise UsageError(f"No file can be written at {path}: {reason}.", "Give another name.") from None
    if _descriptor(path) is not None:
        if not os.path.isfile(path) or path.is_symlink():  # noqa: PTH113 - as above
            return
        raise UsageError(f"{path} is also the standard output or error of this command.", "Give another name.")
    if _is_stream(path):
        if path.is_block_device() or path.is_socket() or not os.access(path, os.W_OK):
            raise UsageError(
                f"{path} is a disk, a socket or a device that may not be written to.", "Give the name of a file."
            )
        return
    # Path's own would raise where a name is too long.
    if not os.path.isdir(path.parent) or not os.access(path.parent, os.W_OK) or os.path.isdir(path):  # noqa: PTH112
        raise UsageError(
            f"No file can be written at {path}.",
            "Give a file name in a folder that exists and may be written to.",
        )
    if _is_standard_input(path):
        raise UsageError(f"{path} is also the standard input of this command.", "Give another name.")
    if overwrite and os.path.isfile(path) and not _may_be_replaced(path):  # noqa: PTH113 - as above
        raise UsageError(f"The file {path} may not be replaced.", "Give another name.")
    if not overwrite and os.path.exists(path):  # noqa: PTH110
        raise UsageError(f"There is a file {path} already.", "Give another name, or add --overwrite to replace it.")
    try:
        with _part_beside(path.resolve(), 0o600) as part:
            part.write_bytes(bytes(TRIAL))
            _keep(part)
            part.unlink()
    except OSError as error:
        raise InputError(
            f"No file can be written at {path}: {error.strerror or REFUSED}.", "Make room there, or give another name."
        ) from None


def write_whole(
    path: Path, write: Callable[[Path], object], *, overwrite: bool = True, owner_only: bool = False
) -> Path:
    """Let `write` write a file under another name, then give the file its own name in one step.

    Args:
        path: the file; a link stays a link.
        write: called with the path to write to.
        overwrite: replace a file of that name. Otherwise take the next free name (`name-2.json`).
        owner_only: only the owner may read the file, whatever was there before.

    Returns:
        where the file is: `path`, unless that name was taken.

    Raises:
        OSError: the file system refuses. Nothing is left behind.
    """
    try:
        if _is_stream(path) or _descriptor(path) is not None:
            _write_in_place(path, write)
            return path
        # What is for its owner alone is not written through somebody's link.
        target = path if owner_only else path.resolve()
        with _part_beside(target, 0o600 if owner_only or (overwrite and target.exists()) else 0o666) as part:
            write(part)
            _keep(part)
            if not overwrite:
                place = _take_free_name(part, target)
            elif owner_only:
                place = part.replace(target)
            else:
                place = _replace(part, target)
            return path if place == target else place
    except (pl.exceptions.PolarsError, pl.exceptions.PanicException):
        raise OSError(0, REFUSED) from None


def take_name(part: Path, place: Path) -> None:
    """Give a finished file a name that is free. An existing file is never replaced, even if it appears meanwhile.

    The finished file is in the folder of `place`, and may keep its own name too.

    Raises:
        FileExistsError: the name is taken.
        OSError: the file system refuses. The name stays free.
    """
    try:
        place.hardlink_to(part)
    except FileExistsError:
        raise
    except OSError:  # a file system without links
        os.close(os.open(place, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600))
        try:
            part.replace(place)
        except BaseException:
            with suppress(OSError):
                place.unlink()
            raise


def for_owner(path: str, flags: int) -> int:
    """An opener for files that grow. It makes a new file readable by its owner alone."""
    return os.open(path, flags, 0o600)


def _status(path: Path) -> os.stat_result | None:
    try:
        return os.stat(path)  # noqa: PTH116 - Path's raises for names too long
    except (OSError, ValueError):
        return None


def _is_standard_input(path: Path) -> bool:
    with suppress(OSError):
        return os.path.isfile(path) and os.path.samestat(path.stat(), os.fstat(0))  # noqa: PTH113 - as above
    return False


def _may_be_replaced(path: Path) -> bool:
    """Whether the file opens for writing, the folder allows its removal, and nothing is mounted on it."""
    target = path.resolve()
    try:
        os.close(os.open(target, os.O_WRONLY))
        target.rmdir()  # never removes a file; the error differs if the folder does not allow the removal
    except NotADirectoryError:
        return _mount(target) == _mount(target.parent)
    except OSError:
        return False
    return True


def _mount(path: Path) -> str | None:
    """The name of the mount that holds the path; None if the system does not say."""
    try:
        opened = os.open(path, getattr(os, "O_PATH", os.O_RDONLY))
        try:
            found = re.search(r"^mnt_id:.*", Path(f"/proc/self/fdinfo/{opened}").read_text("ascii"), re.MULTILINE)
        finally:
            os.close(opened)
    except OSError:
        return None
    return found and found[0]


def _is_stream(path: Path) -> bool:
    """Whether the path exists and is neither a file nor a folder."""
    return os.path.exists(path) and not os.path.isfile(path) and not os.path.isdir(path)  # noqa: PTH110, PTH112, PTH113


def _descriptor(path: Path) -> int | None:
    """The descriptor of standard output or error, if the path leads there."""
    status = _status(path)
    if status is not None:
        for descriptor in STREAMS:
            with suppress(OSError):
                if os.path.samestat(status, os.fstat(descriptor)):
                    return descriptor
    return None


def _write_in_place(path: Path, write: Callable[[Path], object]) -> None:
    # Writers need a regular file, in which they can seek.
    with tempfile.TemporaryDirectory() as folder:
        part = Path(folder, "whole")
        write(part)
        with part.open("rb") as whole, _opened_in_place(path) as stream:
            shutil.copyfileobj(whole, stream)


@contextmanager
def _opened_in_place(path: Path) -> Iterator[BinaryIO]:
    descriptor = _descriptor(path)
    if descriptor is None and (path.is_block_device() or path.is_socket()):
        raise OSError(0, "it is a disk or a socket")
    if descriptor is None:
        opened = os.open(path, os.O_WRONLY | os.O_NOCTTY)
    else:
        opened = os.dup(descriptor)
        for stream in (sys.stdout, sys.stderr):
            if stream is not None:
                stream.flush()
    with open(opened, "wb") as stream:  # noqa: PTH123 - a descriptor
        yield stream


@contextmanager
def _part_beside(target: Path, mode: int) -> Iterator[Path]:
    """A new file in the target's folder. It is deleted at the end unless it was renamed."""
    part = target.parent / f".{uuid.uuid4().hex}.part"
    try:
        os.close(os.open(part, os.O_CREAT | os.O_EXCL | os.O_WRONLY, mode))
        yield part
    finally:
        with suppress(OSError):  # a finished file stays finished if its second name cannot be deleted
            part.unlink()


def _keep(part: Path) -> None:
    """Write the content to the disk before the file is renamed: a power cut could otherwise keep the name alone."""
    with part.open("rb") as file:
        os.fsync(file.fileno())


def _replace(part: Path, path: Path) -> Path:
    old = _status(path)
    if old is not None:
        # Without the right to change the owner, set the group alone.
        for owner in (old.st_uid, -1):
            with suppress(OSError):
                os.chown(part, owner, old.st_gid)
                break
        part.chmod(stat.S_IMODE(old.st_mode) & 0o777)
    part.replace(path)
    return path


def _take_free_name(part: Path, path: Path) -> Path:
    """Give the file its name, or the next free one. No existing file is replaced."""
    for number in count(1):
        place = path if number == 1 else path.with_stem(f"{path.stem}-{number}")
        with suppress(FileExistsError):
            take_name(part, place)
            return place
    raise AssertionError("there are always more numbers")
