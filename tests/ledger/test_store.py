"""The ledger's file: what becomes of it whatever happens to it, to the disk and to the processes that use it."""

from __future__ import annotations

import errno
import fcntl
import json
import multiprocessing
import os
import resource
import shutil
import sqlite3
import stat
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from fractions import Fraction
from pathlib import Path

import pytest

from fim_private import InputError, Ledger, UsageError
from fim_private.ledger import chain, store
from fim_private.ledger.chain import Event
from fim_private.plan import Plan
from tests import processes
from tests.ledger.charging import PROCESSES, charged_until_refused, ids, plan_for, three_charges, with_events
from tests.processes import side_by_side


def test_a_truncated_file_is_refused_and_never_read_as_less_than_was_spent(tmp_path: Path, tenth: Plan) -> None:
    ledger, names = three_charges(tmp_path)
    whole = ledger.path.read_bytes()
    for length in range(0, len(whole), 512):
        ledger.path.write_bytes(whole[:length])
        with pytest.raises(InputError) as refused:
            ledger.charge(tenth)
        assert "not a ledger" in refused.value.what or "damaged" in refused.value.what
        assert ledger.path.read_bytes() == whole[:length]
    ledger.path.write_bytes(whole)
    assert ids(ledger) == names


def changed(events: list[Event], kind: str, **values: object) -> list[Event]:
    """The ledger with other values in the events of one kind. A value of None is left out."""
    kept = {name for name, value in values.items() if value is not None}
    return [
        {name: value for name, value in {**event, **values}.items() if name in kept or name not in values}
        if event["event"] == kind
        else event
        for event in events
    ]


FIGURES = {"epsilon": "1/10", "delta": "0", "renyi": "0", "plain": "0", "failure": "0"}
FORGED: dict[str, Callable[[list[Event]], list[Event]]] = {
    "endless figure": lambda events: changed(events, "charged", charged={**FIGURES, "epsilon": "1e999999999"}),
    "division by 0": lambda events: changed(events, "charged", charged={**FIGURES, "renyi": "1/0"}),
    "negative figure": lambda events: changed(events, "charged", charged={**FIGURES, "epsilon": "-1"}),
    "number for text": lambda events: changed(events, "charged", charged={**FIGURES, "epsilon": 1}),
    "missing figure": lambda events: changed(events, "charged", charged={"epsilon": "1"}),
    "no figures": lambda events: changed(events, "charged", charged=None),
    "total out of range": lambda events: changed(events, "created", epsilon="101"),
    "no total": lambda events: changed(events, "created", epsilon=None),
    "share above 1": lambda events: changed(events, "charged", basic_share="2"),
    "order 0": lambda events: changed(events, "created", renyi_order="0"),
    "no relation": lambda events: changed(events, "charged", relation="SECRET-ITEM"),
    "unit is no name": lambda events: changed(events, "charged", unit_column=7),
    "unit is a list": lambda events: changed(events, "charged", unit_column=["SECRET-ITEM"]),
    "layout is text": lambda events: changed(events, "charged", layout="SECRET-ITEM"),
    "one id twice": lambda events: changed(events, "charged", id="same"),
    "id is a list": lambda events: changed(events, "charged", id=["SECRET-ITEM"]),
    "delivered, not charged": lambda events: [*events, {"event": "delivered", "id": "SECRET-ITEM", "time": ""}],
    "delivered twice": lambda events: [*events, *[{"event": "delivered", "id": events[1]["id"], "time": ""}] * 2],
    "another kind": lambda events: [*events, {"event": "refunded"}],
    "no kind": lambda events: [*events, {}],
    "created twice": lambda events: [*events, events[0]],
    "never created": lambda events: events[1:],
}


@pytest.mark.parametrize("forged", FORGED)
def test_what_cannot_be_is_refused_even_with_the_right_hashes(tmp_path: Path, tenth: Plan, forged: str) -> None:
    ledger, _ = three_charges(tmp_path)
    ledger.path.write_bytes(with_events(FORGED[forged](chain.read(ledger.path.read_bytes()).events)))
    for attempt in (ledger.state, ledger.history, lambda: ledger.charge(tenth), lambda: ledger.set_total(epsilon="2")):
        with pytest.raises(InputError, match="damaged or incomplete") as refused:
            attempt()
        assert "SECRET" not in str(refused.value)


def test_what_was_edited_is_refused(tmp_path: Path, tenth: Plan) -> None:
    ledger, _ = three_charges(tmp_path)
    edited = ledger.path.read_bytes().replace(b'"epsilon": "1/10"', b'"epsilon": "1/90"', 1)
    ledger.path.write_bytes(edited)
    for attempt in (ledger.state, ledger.history, lambda: ledger.charge(tenth), lambda: ledger.deliver("x")):
        with pytest.raises(InputError, match="damaged or incomplete"):
            attempt()
    assert ledger.path.read_bytes() == edited


def test_foreign_files_and_other_versions_are_left_as_they_are(tmp_path: Path, ledger: Ledger, tenth: Plan) -> None:
    other, text, older, newer = (tmp_path / name for name in ("other.db", "baskets.csv", "old.ledger", "new.ledger"))
    with sqlite3.connect(other) as connection:
        connection.execute("CREATE TABLE releases (id)")
    connection.close()
    text.write_text("SECRET-ITEM,milk\n" * 500)
    with sqlite3.connect(older) as connection:
        connection.execute(f"PRAGMA application_id = {int.from_bytes(b'FIML')}")
        connection.execute("CREATE TABLE releases (id)")
    connection.close()
    newer.write_bytes(ledger.path.read_bytes().replace(b"fim-private ledger 2:", b"fim-private ledger 3:"))
    said = {other: "not a ledger", text: "not a ledger", older: "older version", newer: "newer version"}
    for path, words in said.items():
        before = path.read_bytes()
        for attempt in (Ledger, lambda path: store.write(path, lambda _: {})):
            with pytest.raises(InputError, match=words) as refused:
                attempt(path)
            assert "SECRET" not in str(refused.value)
        assert path.read_bytes() == before
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    for path in (tmp_path, tmp_path / "absent.ledger", pipe):
        with pytest.raises(InputError, match="There is no ledger"):
            Ledger(path)
    with pytest.raises(InputError) as refused:
        Ledger(Path("our shop.ledger"))
    assert "fim-private budget create 'our shop.ledger' --epsilon" in refused.value.next_step
    assert "Ledger.create('our shop.ledger', epsilon=3" in str(refused.value)


def test_a_ledger_that_others_keep_busy_is_refused_after_a_while(
    ledger: Ledger, tenth: Plan, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(store, "PATIENCE", 0.2)
    with ledger.path.open("rb") as reader, ledger.path.open("rb") as writer:
        fcntl.flock(reader, fcntl.LOCK_SH)
        assert ledger.state().releases == 0  # several may read at once
        with pytest.raises(InputError, match="in use by other processes"):
            ledger.charge(tenth)
        fcntl.flock(reader, fcntl.LOCK_UN)
        fcntl.flock(writer, fcntl.LOCK_EX)
        with pytest.raises(InputError, match="in use by other processes"):
            ledger.state()
    ledger.charge(tenth)
    assert ledger.state().releases == 1


def test_a_file_system_without_locks_is_refused(ledger: Ledger, tenth: Plan, monkeypatch: pytest.MonkeyPatch) -> None:
    def no_locks(*_: object) -> None:
        raise OSError(errno.ENOLCK, "No locks available")

    monkeypatch.setattr(fcntl, "flock", no_locks)
    with pytest.raises(InputError, match=r"cannot lock files\. Keep the ledger on a local disk"):
        ledger.charge(tenth)


@pytest.mark.parametrize("moment", ["before it is locked", "before it is written"])
@pytest.mark.parametrize("replacement", ["a copy", "nothing"])
def test_a_ledger_that_is_replaced_while_it_is_used_charges_nobody_in_secret(
    ledger: Ledger, tenth: Plan, monkeypatch: pytest.MonkeyPatch, moment: str, replacement: str
) -> None:
    """What is written into the file that the name no longer leads to is lost: nothing may be released for it."""
    copy = ledger.path.with_name("copy")

    def replace_it() -> None:
        copy.write_bytes(ledger.path.read_bytes())
        copy.replace(ledger.path)
        if replacement == "nothing":
            ledger.path.unlink()

    name, real = ("_taken", store._taken) if moment == "before it is locked" else ("_put", store._put)

    def meanwhile(*given: object) -> object:
        monkeypatch.undo()
        replace_it()
        return real(*given)

    def charge() -> None:
        monkeypatch.setattr(store, name, meanwhile)
        ledger.charge(tenth)

    with pytest.raises(InputError, match=r"was removed, or another file was put in its place.*whether it was charged"):
        charge()
    if replacement == "a copy":
        assert ledger.state().releases == 0
        ledger.charge(tenth)


def refusing(
    monkeypatch: pytest.MonkeyPatch, error: int, *, refused: Callable[[int], bool], truncates: bool = True
) -> None:
    """Let the disk refuse to write at some places, and perhaps to take back what was written."""
    really = os.pwrite

    def write(file: int, data: bytes, at: int) -> int:
        written = really(file, data, at) if at >= 2 * chain.MARK else 0
        if refused(at):
            raise OSError(error, os.strerror(error))
        return written or really(file, data, at)

    def truncate(file: int, length: int) -> None:
        if os.fstat(file).st_size > length:
            raise OSError(error, os.strerror(error))

    monkeypatch.setattr(os, "pwrite", write)
    if not truncates:
        monkeypatch.setattr(os, "ftruncate", truncate)


ERRORS = [errno.EIO, errno.ENOSPC, errno.EACCES, errno.ENOLCK, errno.EINVAL]
CHARGED = "charged, not delivered: see `fim-private budget history`"


@pytest.mark.parametrize("error", ERRORS)
@pytest.mark.parametrize("moment", ["the mark", "the event, which stays"])
def test_a_charge_that_counts_is_said_whatever_the_disk_says_afterwards(
    ledger: Ledger, tenth: Plan, monkeypatch: pytest.MonkeyPatch, error: int, moment: str
) -> None:
    """Somebody may have seen the event; the next one goes after it."""
    if moment == "the mark":
        refusing(monkeypatch, error, refused=lambda at: at < 2 * chain.MARK)
    else:
        refusing(monkeypatch, error, refused=lambda at: at >= 2 * chain.MARK, truncates=False)
    with pytest.raises(InputError) as said:
        ledger.charge(tenth)
    monkeypatch.undo()
    assert CHARGED in str(said.value)
    assert "nothing was charged" not in str(said.value).lower()
    assert "Nothing was released" in said.value.next_step
    assert (ledger.state().releases, ledger.history()[-1].state) == (1, "charged")
    ledger.charge(tenth)
    assert (ledger.state().releases, len(set(ids(ledger)))) == (2, 2)


@pytest.mark.parametrize("error", ERRORS)
def test_what_could_be_taken_back_is_not_said_to_be_charged(
    ledger: Ledger, tenth: Plan, monkeypatch: pytest.MonkeyPatch, error: int
) -> None:
    refusing(monkeypatch, error, refused=lambda at: at >= 2 * chain.MARK)
    with pytest.raises(InputError) as said:
        ledger.charge(tenth)
    monkeypatch.undo()
    assert CHARGED not in str(said.value)
    assert ledger.state().releases == 0


def test_a_charge_is_good_though_the_file_does_not_close_well(
    ledger: Ledger, tenth: Plan, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It was on the disk before."""
    really = os.close

    def close(file: int) -> None:
        really(file)
        raise OSError(errno.EIO, "Input/output error")

    monkeypatch.setattr(os, "close", close)
    name = ledger.charge(tenth)
    monkeypatch.undo()
    assert ids(ledger) == [name]


def test_a_note_and_a_total_that_count_are_said_too(
    ledger: Ledger, tenth: Plan, monkeypatch: pytest.MonkeyPatch
) -> None:
    name = ledger.charge(tenth)
    refusing(monkeypatch, errno.EIO, refused=lambda at: at < 2 * chain.MARK)
    with pytest.raises(InputError, match=f"{name} was charged, handed over and noted as delivered"):
        ledger.deliver(name)
    with pytest.raises(InputError, match="The entry is in the ledger: see `fim-private budget history`"):
        ledger.set_total(epsilon="9")
    monkeypatch.undo()
    assert ledger.state().budget.epsilon == 9
    assert [entry.state for entry in ledger.history() if entry.what == "release"] == ["delivered"]


def test_a_ledger_that_was_made_is_said_to_be_there(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Some file systems do not say whether a name is kept."""
    really = os.fsync

    def fsync(file: int) -> None:
        if stat.S_ISDIR(os.fstat(file).st_mode):
            raise OSError(errno.EINVAL, "Invalid argument")
        really(file)

    monkeypatch.setattr(os, "fsync", fsync)
    path = tmp_path / "shop.ledger"
    with pytest.raises(InputError, match=r"was made, but .*budget show"):
        Ledger.create(path, epsilon="1", delta="0")
    assert Ledger(path).state().releases == 0


@pytest.mark.parametrize("links", [True, False])
def test_a_ledger_that_appears_meanwhile_is_not_replaced(
    tmp_path: Path, tenth: Plan, monkeypatch: pytest.MonkeyPatch, links: bool
) -> None:
    """Its charges would be lost."""
    path, put, first = tmp_path / "shop.ledger", store._put, [Ledger.create]

    def slowly(file: int, data: bytes, at: int) -> None:
        put(file, data, at)
        if first:
            first.pop()(path, epsilon=1, delta="1e-6").charge(tenth)

    if not links:
        without_links(monkeypatch)
    monkeypatch.setattr(store, "_put", slowly)
    with pytest.raises(UsageError, match="There is a file at"):
        Ledger.create(path, epsilon=1, delta="1e-6")
    assert Ledger(path).state().releases == 1
    assert list(tmp_path.iterdir()) == [path]


def test_a_ledger_that_gets_no_name_leaves_nothing_behind(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refused(*_: object) -> None:
        raise OSError(errno.EIO, "Input/output error")

    without_links(monkeypatch)
    monkeypatch.setattr(Path, "replace", refused)
    with pytest.raises(InputError, match="the disk is full or refuses"):
        Ledger.create(tmp_path / "shop.ledger", epsilon=1, delta="1e-6")
    assert list(tmp_path.iterdir()) == []


def without_links(monkeypatch: pytest.MonkeyPatch) -> None:
    """A file system without hard links, as vfat."""

    def refused(*_: object, **__: object) -> None:
        raise PermissionError(errno.EPERM, "no links on this file system")

    monkeypatch.setattr(os, "link", refused)


def test_a_spoilt_mark_is_mended_before_anything_is_written(ledger: Ledger, tenth: Plan) -> None:
    ledger.charge(tenth)
    for at in (0, chain.MARK):
        with ledger.path.open("r+b") as file:
            file.seek(at)
            file.write(b"x")
        with pytest.raises(UsageError):
            ledger.set_total(epsilon="1000")
        assert not chain.read(ledger.path.read_bytes()).is_spoilt
    assert ledger.state().releases == 1


@pytest.mark.parametrize("room", [1024, 15_000, 20_000])
def test_a_full_disk_loses_nothing(tmp_path: Path, tenth: Plan, room: int) -> None:
    """A limit on the size of files stands for the disk."""
    ledger, names = three_charges(tmp_path)
    ledger.set_total(epsilon="100")
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (room, limits[1]))
    try:
        for _ in range(40):
            names.append(ledger.charge(tenth))
        full = False
    except InputError as error:
        full = "disk is full" in error.what
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
    assert full
    assert ids(ledger)[: len(names)] == names
    assert len(ids(ledger)) <= len(names) + 1  # one that could not be told may have been charged, none was lost
    assert ledger.charge(tenth) in ids(ledger)


def test_a_ledger_is_made_in_a_folder(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("no folder")
    for nowhere in ("file", "absent", "name" * 100):
        with pytest.raises(UsageError, match="No file can be made"):
            Ledger.create(tmp_path / nowhere / "shop.ledger", epsilon=1, delta=0)


def test_a_link_to_nowhere_is_no_ledger_and_no_place_for_one(tmp_path: Path, tenth: Plan) -> None:
    link = tmp_path / "link"
    link.symlink_to("nothing")
    for use in (lambda: Ledger.create(link, epsilon=1, delta=0), lambda: Ledger(link).charge(tenth)):
        with pytest.raises(InputError, match="a link to a file that is not there"):
            use()
    assert [file.name for file in tmp_path.iterdir()] == ["link"]


@pytest.fixture
def small_disk(tmp_path: Path, request: pytest.FixtureRequest) -> Iterator[Path]:
    """One of so many kibibytes; only who may mount one has it."""
    mount, unmount = shutil.which("mount"), shutil.which("umount")
    command = [mount or "", "-t", "tmpfs", "-o", f"size={request.param}k", "tmpfs", str(tmp_path)]
    if mount is None or unmount is None or processes.run(command).returncode:
        pytest.skip("a small disk cannot be mounted here")
    yield tmp_path
    processes.run([unmount, "--lazy", str(tmp_path)], check=True)


@pytest.mark.parametrize("small_disk", range(4, 24, 4), indirect=True)
def test_a_ledger_is_made_whole_or_not_at_all(small_disk: Path) -> None:
    path = small_disk / "shop.ledger"
    with suppress(InputError):
        Ledger.create(path, epsilon=1, delta="1e-6")
    assert [file.name for file in small_disk.iterdir()] == ([path.name] if path.exists() else [])
    assert not path.exists() or Ledger(path).state().releases == 0


@pytest.mark.parametrize("small_disk", [24, 32], indirect=True)
def test_a_disk_that_fills_up_loses_nothing(small_disk: Path, tenth: Plan) -> None:
    ledger = Ledger.create(small_disk / "shop.ledger", epsilon=100, delta=0)
    names: list[str] = []

    def charge_until_full() -> None:
        while True:
            names.append(ledger.charge(tenth))

    for _ in range(3):
        with pytest.raises(InputError, match="disk is full"):
            charge_until_full()
        assert ids(ledger) == names
    assert names
    processes.run(["mount", "-o", "remount,size=64k", str(small_disk)], check=True)
    names.append(ledger.charge(tenth))
    assert ids(ledger) == names


@pytest.fixture
def open_folder() -> Iterator[Path]:
    """One that other users may enter."""
    folder = Path(tempfile.mkdtemp())
    folder.chmod(0o755)
    yield folder
    folder.chmod(0o755)
    shutil.rmtree(folder)


def read_only_attempts(path: Path, plan: Plan, answers: multiprocessing.Queue) -> None:
    if os.geteuid() == 0:
        os.setuid(65534)
    try:
        answers.put(Ledger(path).state().releases)
        Ledger(path).charge(plan)
    except InputError as error:
        answers.put(error.what)


def test_a_read_only_ledger_can_be_read_and_not_charged(open_folder: Path, tenth: Plan) -> None:
    ledger, names = three_charges(open_folder)
    ledger.path.chmod(0o444)
    open_folder.chmod(0o555)
    answers = PROCESSES.Queue()
    attempt = PROCESSES.Process(target=read_only_attempts, args=(ledger.path, tenth, answers))
    with side_by_side(attempt):
        assert answers.get(timeout=100) == 3
        assert "cannot be written to" in answers.get(timeout=100)
    assert ids(ledger) == names


# Many at once, and sudden ends.


def charge_until_refused(path: Path, plan: Plan, answers: multiprocessing.Queue) -> None:
    answers.put(charged_until_refused(Ledger(path), plan))


def test_processes_that_race_never_overspend(tmp_path: Path) -> None:
    ledger = Ledger.create(tmp_path / "shop.ledger", epsilon="1", delta="0")
    plan, answers = plan_for("0.03"), PROCESSES.Queue()
    racing = [PROCESSES.Process(target=charge_until_refused, args=(ledger.path, plan, answers)) for _ in range(8)]
    with side_by_side(*racing):
        charged = [answers.get(timeout=200) for _ in racing]
    assert sum(charged) == 33
    state = ledger.state()
    assert (state.releases, state.spent.epsilon) == (33, Fraction(99, 100))
    assert len(set(ids(ledger))) == 33


def charge_and_write(path: Path, plan: Plan, drawn: Path) -> None:
    """What `mine` does in this order: charge, draw, hand over, note."""
    ledger = Ledger(path)
    with drawn.open("a") as file:
        while True:
            name = ledger.charge(plan)
            file.write(name + "\n")
            file.flush()
            ledger.deliver(name)


def test_a_process_killed_at_any_moment_has_charged_what_it_released(tmp_path: Path) -> None:
    ledger = Ledger.create(tmp_path / "shop.ledger", epsilon="100", delta="0")
    plan, drawn = plan_for("0.001"), tmp_path / "drawn"
    drawn.touch()
    for attempt in range(12):
        running = PROCESSES.Process(target=charge_and_write, args=(ledger.path, plan, drawn))
        before = drawn.stat().st_size
        with side_by_side(running):
            while drawn.stat().st_size == before and running.is_alive():
                time.sleep(0.001)
            time.sleep(0.0017 * attempt)
            running.kill()
        released = drawn.read_text().split()
        charged = ids(ledger)
        assert set(released) <= set(charged)
        assert len(charged) - len(released) <= attempt + 1
        assert ledger.state().spent.epsilon == Fraction(len(charged), 1000)
        assert len(charged) == len(set(charged))
    undelivered = [entry.id for entry in ledger.history() if entry.state == "charged"]
    assert len(undelivered) <= 12
    assert json.loads(json.dumps(ledger.history()[1].plan)) == ledger.history()[1].plan
