from __future__ import annotations

import errno
import os
import resource
import shutil
import socket
import stat
import sys
import tempfile
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from fim_private.errors import InputError, UsageError
from fim_private.writing import check_place, write_whole
from tests import processes

ROOT_ONLY = pytest.mark.skipif(os.geteuid() != 0, reason="only root makes devices, and files of other people")


@pytest.fixture
def umask() -> Iterator[None]:
    before = os.umask(0o027)
    yield
    os.umask(before)


def put(path: Path, text: str, **how: bool) -> Path:
    return write_whole(path, lambda part: part.write_text(text), **how)


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def test_new_files_honour_the_umask_or_are_for_their_owner_alone(tmp_path: Path, umask: None) -> None:
    put(tmp_path / "shared", "a")
    put(tmp_path / "own", "b", owner_only=True)
    assert (mode(tmp_path / "shared"), mode(tmp_path / "own")) == (0o640, 0o600)
    assert mode(put(tmp_path / "shared", "c", overwrite=False)) == 0o640


def test_a_file_that_is_replaced_keeps_its_mode(tmp_path: Path, umask: None) -> None:
    put(tmp_path / "file", "a")
    (tmp_path / "file").chmod(0o604)
    put(tmp_path / "file", "b")
    assert ((tmp_path / "file").read_text(), mode(tmp_path / "file")) == ("b", 0o604)


def test_what_is_for_its_owner_alone_is_so_whatever_was_there(tmp_path: Path, umask: None) -> None:
    """An open file of that name, or a link to somebody's, would show exact counts."""
    put(tmp_path / "file", "a")
    (tmp_path / "link").symlink_to(tmp_path / "file")
    for name in ("file", "link"):
        put(tmp_path / name, "b", owner_only=True)
        assert mode(tmp_path / name) == 0o600
        assert not (tmp_path / name).is_symlink()
    put(tmp_path / "victim", "a")
    (tmp_path / "other").symlink_to(tmp_path / "victim")
    put(tmp_path / "other", "b", owner_only=True)
    assert (tmp_path / "victim").read_text() == "a"


@ROOT_ONLY
def test_a_file_that_is_replaced_keeps_its_owner(tmp_path: Path) -> None:
    put(tmp_path / "file", "a")
    os.chown(tmp_path / "file", 12345, 23456)
    put(tmp_path / "file", "b")
    found = (tmp_path / "file").stat()
    assert (found.st_uid, found.st_gid) == (12345, 23456)


@pytest.mark.parametrize("links", [True, False])
def test_nothing_is_replaced_where_that_was_not_asked_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, links: bool
) -> None:
    if not links:

        def without(self: Path, target: Path) -> None:
            raise OSError(errno.EPERM, "no links on this file system")

        monkeypatch.setattr(Path, "hardlink_to", without)
    written = [put(tmp_path / "out.json", text, overwrite=False) for text in "abc"]
    assert [path.name for path in written] == ["out.json", "out-2.json", "out-3.json"]
    assert [path.read_text() for path in written] == ["a", "b", "c"]
    assert names(tmp_path) == ["out-2.json", "out-3.json", "out.json"]


def test_a_link_stays_a_link(tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to("file")
    assert put(tmp_path / "link", "a", overwrite=False) == tmp_path / "link"
    put(tmp_path / "link", "b")
    assert (tmp_path / "link").is_symlink()
    assert (tmp_path / "file").read_text() == "b"


def test_a_second_name_that_cannot_be_deleted_is_found_beforehand_and_fails_nothing_later(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object, **__: object) -> None:
        raise OSError(errno.EIO, "Input/output error")

    monkeypatch.setattr(Path, "unlink", fail)
    path = tmp_path / "new"
    with pytest.raises(InputError, match="No file can be written"):
        check_place(path)
    assert put(path, "new", overwrite=False) == path
    assert path.read_text() == "new"


def test_nothing_is_left_where_writing_fails(tmp_path: Path) -> None:
    def fail(part: Path) -> None:
        part.write_text("half")
        raise OSError(errno.ENOSPC, "full")

    (tmp_path / "file").write_text("old")
    with pytest.raises(OSError, match="full"):
        write_whole(tmp_path / "file", fail)
    assert names(tmp_path) == ["file"]
    assert (tmp_path / "file").read_text() == "old"


@pytest.mark.parametrize("linked", [False, True])
def test_who_waits_at_a_fifo_gets_what_is_written(tmp_path: Path, linked: bool) -> None:
    fifo = tmp_path / "fifo"
    os.mkfifo(fifo)
    (tmp_path / "link").symlink_to(fifo)
    read: list[str] = []
    reader = threading.Thread(target=lambda: read.append(fifo.read_text()), daemon=True)
    reader.start()
    path = tmp_path / "link" if linked else fifo
    check_place(path, overwrite=False)
    put(path, "all of it", overwrite=False)
    reader.join(10)
    assert read == ["all of it"]
    assert stat.S_ISFIFO(fifo.stat().st_mode)
    assert names(tmp_path) == ["fifo", "link"]


@ROOT_ONLY
def test_a_device_is_written_to_and_stays_one(tmp_path: Path) -> None:
    for name, minor in (("null", 3), ("full", 7)):
        try:
            os.mknod(tmp_path / name, 0o666 | stat.S_IFCHR, os.makedev(1, minor))
        except PermissionError:
            pytest.skip("no devices may be made here")
    check_place(tmp_path / "null", overwrite=False)
    try:
        put(tmp_path / "null", "gone")
    except PermissionError:
        pytest.skip("devices of this folder may not be used")
    with pytest.raises(OSError, match="No space left"):
        put(tmp_path / "full", "no room")
    assert all(stat.S_ISCHR((tmp_path / name).stat().st_mode) for name in ("null", "full"))
    assert names(tmp_path) == ["full", "null"]


@ROOT_ONLY
def test_a_disk_is_never_written_to(tmp_path: Path) -> None:
    try:
        os.mknod(tmp_path / "disk", 0o666 | stat.S_IFBLK, os.makedev(7, 250))
    except PermissionError:
        pytest.skip("no devices may be made here")
    with pytest.raises(UsageError, match="a disk, a socket"):
        check_place(tmp_path / "disk")
    with pytest.raises(OSError, match="a disk or a socket"):
        put(tmp_path / "disk", "a")


def test_a_socket_is_refused(tmp_path: Path) -> None:
    with socket.socket(socket.AF_UNIX) as listening:
        listening.bind(str(tmp_path / "socket"))
        with pytest.raises(UsageError, match="a disk, a socket"):
            check_place(tmp_path / "socket")
        with pytest.raises(OSError, match="a disk or a socket"):
            put(tmp_path / "socket", "a")


def test_a_file_that_is_there_is_refused_beforehand(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("old")
    check_place(tmp_path / "file")
    with pytest.raises(UsageError, match="overwrite=True"):
        check_place(tmp_path / "file", overwrite=False)


def test_a_full_disk_is_noticed_beforehand_and_nothing_is_left(tmp_path: Path) -> None:
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (1 << 19, limits[1]))
    try:
        with pytest.raises(InputError, match="File too large") as refused:
            check_place(tmp_path / "file")
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
    assert "Make room" in str(refused.value)
    assert names(tmp_path) == []
    check_place(tmp_path / "file")
    assert names(tmp_path) == []


@ROOT_ONLY
@pytest.mark.parametrize("linked", [False, True])
def test_somebody_elses_file_in_a_sticky_folder_is_refused_beforehand(linked: bool) -> None:
    # Not below tmp_path, which others may not enter.
    folder, links = Path(tempfile.mkdtemp()), Path(tempfile.mkdtemp())
    try:
        folder.chmod(0o1777)
        links.chmod(0o777)
        put(folder / "file", "old")
        (folder / "file").chmod(0o666)
        (links / "link").symlink_to(folder / "file")
        os.seteuid(12345)
        try:
            with pytest.raises(UsageError, match="may not be replaced"):
                check_place(links / "link" if linked else folder / "file")
            check_place(folder / "other")
        finally:
            os.seteuid(0)
        assert (folder / "file").read_text() == "old"
        check_place(folder / "file")
    finally:
        shutil.rmtree(folder)
        shutil.rmtree(links)


@ROOT_ONLY
def test_a_file_that_is_mounted_is_refused_beforehand(tmp_path: Path) -> None:
    """A file mounted into a container can be written to, but no other file can take its place."""
    for name in ("inside", "outside"):
        put(tmp_path / name, name)
    program = "import sys, pathlib, fim_private.writing as w; w.check_place(pathlib.Path(sys.argv[1]))"
    shell = 'mount --bind outside inside || exit 77; "$@"'
    namespace = ["unshare", "-m", "bash", "-c", shell, "bash", sys.executable, "-c", program]
    done = {name: processes.run([*namespace, tmp_path / name], cwd=tmp_path) for name in ("inside", "outside")}
    if b"unshare" in done["inside"].stderr or done["inside"].returncode == 77:
        pytest.skip("nothing may be mounted here")
    assert b"may not be replaced" in done["inside"].stderr
    assert done["outside"].returncode == 0
    assert names(tmp_path) == ["inside", "outside"]
