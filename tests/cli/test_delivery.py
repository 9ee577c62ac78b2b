"""What was paid for is handed over, whatever becomes of the streams, the file and what lies around."""

from __future__ import annotations

import errno
import importlib
import os
import signal
import stat
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from fim_private.cli.options import Delivery
from fim_private.cli.run import hand_over
from fim_private.errors import InputError
from fim_private.ledger import Ledger, store
from fim_private.release import Release
from fim_private.release.files import read_release
from tests import processes
from tests.cli.command import PROMISE, end_with, fim_private, standard_output, succeed, words
from tests.release.test_release import release

ASKED = ("--size", 2, "--top", 1, *PROMISE, "--mechanism", "limited-domain")
CANDIDATES = """
[[candidate]]
size = 2
top = 1
mechanism = "limited-domain"
[[candidate]]
size = 2
top = 2
mechanism = "limited-domain"
"""


@pytest.fixture
def baskets(tmp_path: Path) -> Path:
    path = tmp_path / "baskets.csv"
    path.write_text("bread,milk,tea\n" * 900)
    (tmp_path / "candidates.toml").write_text(CANDIDATES)
    return path


@pytest.fixture
def ledger(tmp_path: Path) -> Ledger:
    return Ledger.create(tmp_path / "books.ledger", epsilon=9, delta="1e-4")


class CountingLedger:
    """A run's ledger that only counts what it is told."""

    def __init__(self) -> None:
        self.delivered = 0

    def deliver(self) -> None:
        self.delivered += 1


def in_a_shell(redirected: str, *arguments: object) -> subprocess.CompletedProcess[bytes]:
    program = [sys.executable, "-m", "fim_private", *map(str, arguments)]
    return processes.run(["bash", "-c", f'"$@" {redirected}', "bash", *program])


@pytest.mark.slow
@pytest.mark.parametrize("errors", ["2>/dev/full", "2>&-", "2> >(true)"])
def test_notes_that_nobody_takes_lose_nothing(baskets: Path, ledger: Ledger, tmp_path: Path, errors: str) -> None:
    output = tmp_path / "out.json"
    done = in_a_shell(errors, "mine", baskets, *ASKED, "--ledger", ledger.path, "-o", output)
    assert done.returncode == 0, done.stderr
    # Nor do they end up among what is printed.
    assert b"Written to" not in done.stdout
    assert len(read_release(output).itemsets) == 1
    assert (ledger.state().releases, ledger.state().undelivered) == (1, 0)


@pytest.mark.slow
@pytest.mark.skipif(os.name != "posix", reason="signals")
@pytest.mark.parametrize("number", [signal.SIGTERM, pytest.param(signal.SIGHUP, marks=pytest.mark.slow)])
@pytest.mark.parametrize(("place", "charged"), [("writing._keep", False), ("mining.searches.pass_through", True)])
def test_a_run_that_is_ended_leaves_no_half_of_a_file_and_says_what_was_charged(
    baskets: Path, ledger: Ledger, tmp_path: Path, number: signal.Signals, place: str, charged: bool
) -> None:
    program = f"""
import os, time
import fim_private.mining.searches, fim_private.writing
def end(*_, **__):
    os.kill(os.getpid(), {number.value})
    time.sleep(60)
fim_private.{place} = end
from fim_private.cli.app import run
run()
"""
    before = sorted(tmp_path.iterdir())
    command = ["mine", baskets, *ASKED, "--ledger", ledger.path, "-o", tmp_path / "out.json"]
    done = processes.run([sys.executable, "-c", program, *map(str, command)])
    assert done.returncode == 128 + number
    assert b"Interrupted. What was not printed was not released." in done.stderr
    assert (b"as charged, not delivered" in done.stderr) is charged
    assert (ledger.state().undelivered == 1) is charged
    assert sorted(tmp_path.iterdir()) == before


def test_without_a_standard_output_nothing_is_charged(baskets: Path, ledger: Ledger) -> None:
    done = in_a_shell(">&-", "mine", baskets, *ASKED, "--ledger", ledger.path)
    assert done.returncode == 2
    assert b"Standard output is closed" in done.stderr
    assert ledger.state().releases == 0


@pytest.mark.slow
def test_a_closed_standard_input_is_said() -> None:
    done = in_a_shell("<&-", "mine", "-", *ASKED)
    assert (done.returncode, done.stdout) == (3, b"")
    assert b"Standard input is closed" in done.stderr


@pytest.mark.parametrize("failure", [OSError(28, "full"), InputError("no", "x"), RuntimeError(), KeyboardInterrupt()])
def test_one_way_that_fails_does_not_stop_the_other(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], failure: BaseException
) -> None:
    def fail(*_: object, **__: object) -> Any:
        raise failure

    run_ledger: Any = CountingLedger()
    output = tmp_path / "out.json"
    with pytest.raises(type(failure)):
        hand_over(fail, run_ledger, Delivery(output=output), release())
    assert read_release(output) == release()
    assert run_ledger.delivered == 1
    monkeypatch.setattr("fim_private.release.files.write_release", fail)
    with pytest.raises(type(failure)):
        hand_over(lambda: "the table", run_ledger, Delivery(output=tmp_path / "other.json"), release())
    assert capsys.readouterr().out == "the table\n"
    assert run_ledger.delivered == 2


@pytest.mark.parametrize("noted", [False, True])
@pytest.mark.parametrize("to_file", [False, True])
def test_a_release_that_was_handed_over_is_not_called_lost_if_the_ledger_fails_afterwards(
    baskets: Path, ledger: Ledger, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, to_file: bool, noted: bool
) -> None:
    calls, put = iter(range(100)), store._put
    last = 3 if noted else 2  # the charge and its mark, and perhaps the note of the delivery

    def disk_that_fails(*arguments: Any) -> None:
        if next(calls) >= last:
            raise OSError(errno.EIO, "no")
        put(*arguments)

    monkeypatch.setattr(store, "_put", disk_that_fails)
    output = tmp_path / "out.json"
    given = ("-o", output) if to_file else ()
    done = fim_private("mine", baskets, *ASKED, "--ledger", ledger.path, *given)
    assert (done.returncode, output.exists()) == (3, to_file)
    assert b"+" in done.stdout
    assert "handed over" in words(done)
    assert "lost" not in words(done)
    assert "not delivered" not in words(done)
    assert ledger.state().undelivered == (not noted)


def test_a_ledger_that_is_rolled_back_during_a_run_is_told(
    baskets: Path, ledger: Ledger, monkeypatch: pytest.MonkeyPatch
) -> None:
    before, charged = ledger.path.read_bytes(), ""

    def roll_back(*_: object, **__: object) -> None:
        nonlocal charged
        charged = ledger.history()[-1].id or ""
        ledger.path.write_bytes(before)

    monkeypatch.setattr("fim_private.cli.run.print_release", roll_back)
    told = words(end_with(3, "mine", baskets, *ASKED, "--ledger", ledger.path))
    assert f"knows no release {charged}, or" in told
    assert "an older copy of the file was put in its place" in told
    assert "not delivered" not in told


@pytest.mark.parametrize("left", [None, b"", b"something else", b"half"])
def test_a_ledger_that_is_removed_or_spoilt_during_a_run_may_lack_the_charge_too(
    baskets: Path, ledger: Ledger, monkeypatch: pytest.MonkeyPatch, left: bytes | None
) -> None:
    def spoil(*_: object, **__: object) -> None:
        whole = ledger.path.read_bytes()
        ledger.path.unlink()
        if left is not None:
            ledger.path.write_bytes(whole[: len(whole) // 2] if left == b"half" else left)

    monkeypatch.setattr("fim_private.cli.run.print_release", spoil)
    told = words(end_with(3, "mine", baskets, *ASKED, "--ledger", ledger.path))
    assert "was charged and handed over, but not noted as delivered" in told
    assert "If the ledger's history lacks it, put back a copy with all releases in it." in " ".join(told.split())
    assert "only" not in told


@pytest.mark.parametrize("ending", ["json", "parquet", "csv"])
def test_a_library_that_fails_to_write_is_told_in_our_words(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], ending: str
) -> None:
    def fail(*_: object, **__: object) -> Any:
        raise TypeError("an unexpected keyword argument")

    monkeypatch.setattr(Release, "to_polars", fail)
    monkeypatch.setattr(Release, "to_json", fail)
    run_ledger: Any = CountingLedger()
    with pytest.raises(InputError, match="could not be written"):
        hand_over(lambda: "the table", run_ledger, Delivery(output=tmp_path / f"out.{ending}"), release())
    assert capsys.readouterr().out == "the table\n"
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("command", ["mine", "tune"])
def test_a_file_that_is_there_is_not_replaced(baskets: Path, ledger: Ledger, tmp_path: Path, command: str) -> None:
    output = tmp_path / "out.json"
    output.write_text("paid for")
    asked = ASKED if command == "mine" else ("--candidates", tmp_path / "candidates.toml", *PROMISE)
    done = fim_private(command, baskets, *asked, "--ledger", ledger.path, "-o", output)
    assert (done.returncode, done.stdout) == (2, b"")
    assert "--overwrite" in words(done)
    assert output.read_text() == "paid for"
    assert ledger.state().releases == 0


def test_a_file_that_appears_meanwhile_is_not_replaced(
    baskets: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    mining = importlib.import_module("fim_private.mining.mine")
    output, mined = tmp_path / "out.json", mining.mine_as_planned

    def slowly(*arguments: Any, **named: Any) -> Release:
        output.write_text("somebody else's")
        return mined(*arguments, **named)

    monkeypatch.setattr(mining, "mine_as_planned", slowly)
    done = succeed("mine", baskets, *ASKED, "-o", output)
    assert output.read_text() == "somebody else's"
    assert len(read_release(tmp_path / "out-2.json").itemsets) == 1
    assert f"The release is in {tmp_path / 'out-2.json'}" in words(done)


def test_what_can_be_made_again_never_replaces_a_release_or_a_ledger(
    baskets: Path, ledger: Ledger, tmp_path: Path
) -> None:
    shown, paid, table = (tmp_path / name for name in ("r.json", "paid.json", "paid.parquet"))
    for output in (shown, paid, table):
        counts = "--release-counts"
        succeed("mine", baskets, *ASKED, counts, "--epsilon", 5, "-o", output)
    for there in (paid, table, ledger.path):
        before = there.read_bytes()
        for command in (
            ("show", shown, "--html", there, "--overwrite"),
            ("plan", "--size", 2, "--top", 1, *PROMISE, "--html", there, "--overwrite"),
            *([("rules", shown, "-o", there, "--overwrite")] if there.suffix != ".ledger" else []),
            ("show", shown, "-o", there) if there.suffix != ".ledger" else ("show", shown, "--html", there),
        ):
            done = fim_private(*command)
            assert done.returncode == 2, (command, words(done))
            assert there.read_bytes() == before
    for _ in range(2):
        succeed("show", shown, "--html", tmp_path / "page.html", "--overwrite")
        succeed("rules", shown, "-o", tmp_path / "rules.json", "--overwrite")


@pytest.mark.skipif(os.geteuid() != 0, reason="only root makes devices")
def test_a_device_stays_one(baskets: Path, tmp_path: Path) -> None:
    null = tmp_path / "null.json"
    try:
        os.mknod(null, 0o666 | stat.S_IFCHR, os.makedev(1, 3))
        null.write_text("gone")
    except PermissionError:
        pytest.skip("devices may not be made or used here")
    output = tmp_path / "r.json"
    succeed("mine", baskets, *ASKED, "--release-counts", "-o", output)
    for command in (
        ("mine", baskets, *ASKED, "-o", null),
        ("show", output, "--html", null),
        ("show", output, "-o", null),
        ("plan", "--size", 2, "--top", 1, *PROMISE, "--html", null),
        ("rules", output, "-o", null),
    ):
        succeed(*command)
        assert stat.S_ISCHR(null.stat().st_mode), command


def test_a_link_to_standard_output_is_standard_output(baskets: Path, tmp_path: Path) -> None:
    output, link, printed = tmp_path / "r.json", tmp_path / "link.json", tmp_path / "printed"
    succeed("mine", baskets, *ASKED, "-o", output)
    link.symlink_to("/proc/self/fd/1")
    in_a_shell(f"> {printed}", "show", output, "--html", link)
    text = printed.read_text()
    assert "<html" in text
    assert text.index("</html>") < text.rindex(" + ")
    assert link.is_symlink()


@pytest.mark.slow
def test_no_output_replaces_a_ledger_the_data_or_what_is_printed(baskets: Path, ledger: Ledger, tmp_path: Path) -> None:
    books = tmp_path / "books.json"
    books.write_bytes(ledger.path.read_bytes())
    charged = ("--ledger", ledger.path, "--overwrite")
    assert fim_private("mine", baskets, *ASKED, *charged, "-o", books).returncode == 2
    data = tmp_path / "data.csv"
    data.write_bytes(baskets.read_bytes())
    in_a_shell(f"< {data}", "mine", "-", "--format", "basket", *ASKED, *charged, "-o", data)
    assert data.read_bytes() == baskets.read_bytes()
    printed = tmp_path / "printed.json"
    with standard_output(printed):
        assert fim_private("mine", baskets, *ASKED, *charged, "-o", printed).returncode == 2
    assert printed.read_bytes() == b""
    long, loop = tmp_path / ("a" * 251 + ".json"), tmp_path / "loop.json"
    loop.symlink_to(loop)
    for output in (long, loop):
        assert fim_private("mine", baskets, *ASKED, *charged, "-o", output).returncode == 2
    assert ledger.state().releases == 0


@pytest.mark.parametrize("quiet", [True, False])
def test_what_is_printed_to_the_null_device_was_not_delivered(baskets: Path, ledger: Ledger, quiet: bool) -> None:
    with standard_output(Path("/dev/null")):
        done = succeed("mine", baskets, *ASKED, "--ledger", ledger.path, *["-q"] * quiet)
    entry = ledger.history()[-1]
    assert entry.state == "charged"
    lines = [line for line in done.stderr.decode().splitlines() if "not delivered" in line]
    assert len(lines) == 1
    assert f"{entry.id} as charged, not delivered" in lines[0]
    assert "null device" in lines[0]
    assert not quiet or done.stderr.decode().splitlines() == lines


def test_what_is_in_a_file_was_delivered_whatever_is_printed(baskets: Path, ledger: Ledger, tmp_path: Path) -> None:
    output = tmp_path / "out.json"
    with standard_output(Path("/dev/null")):
        done = succeed("mine", baskets, *ASKED, "--ledger", ledger.path, "-q", "-o", output)
    assert done.stderr == b""
    assert ledger.history()[-1].state == "delivered"
