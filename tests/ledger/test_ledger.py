"""The ledger on disk: what it admits, what it refuses in which words, and what becomes of it whatever happens."""

from __future__ import annotations

import json
import multiprocessing
import os
import resource
import shutil
import sqlite3
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import suppress
from fractions import Fraction
from pathlib import Path

import pytest

from fim_private import Budget, BudgetError, InputError, Ledger, PrivacyUnit, Universe, UsageError, make_plan, mine
from fim_private.ledger import store
from fim_private.plan import Plan
from fim_private.privacy import NeighbouringRelation
from fim_private.transactions import transactions_from_lists

PROCESSES = multiprocessing.get_context("forkserver")
PROCESSES.set_forkserver_preload(["fim_private.ledger", "fim_private.plan"])


def plan_for(epsilon: str, delta: str = "0", *, top: int = 1, mechanism: str = "exponential", **options) -> Plan:
    options = {"unit": PrivacyUnit(), "universe": Universe(items=1000), **options}
    return make_plan(size=2, top=top, budget=Budget(epsilon, delta), mechanism=mechanism, **options)


@pytest.fixture(scope="module")
def tenth() -> Plan:
    return plan_for("0.1")


@pytest.fixture
def ledger(tmp_path: Path) -> Ledger:
    return Ledger.create(tmp_path / "shop.ledger", epsilon="1", delta="0", dataset="shop 2026")


def test_what_was_charged_is_there(ledger: Ledger, tenth: Plan) -> None:
    name = ledger.charge(tenth, command="fim-private mine baskets.csv")
    assert ledger.state().undelivered == 1
    ledger.deliver(name)
    total, entry = Ledger(ledger.path).history()
    assert (total.what, total.epsilon, total.delta) == ("total", 1, 0)
    assert (entry.id, entry.state, entry.epsilon, entry.delta) == (name, "delivered", Fraction(1, 10), 0)
    assert entry.mechanism == "exponential"
    assert entry.command == "fim-private mine baskets.csv"
    assert entry.losses == [{"loss": "BoundedRange", "epsilon": "1/10", "times": 1}]
    assert entry.plan is not None
    assert entry.plan["privacy"]["neighbours"] == "add-remove"
    assert entry.time.endswith("+00:00")
    state = ledger.state()
    assert (state.dataset, state.releases, state.undelivered, state.spent.epsilon) == (
        "shop 2026",
        1,
        0,
        Fraction(1, 10),
    )
    with pytest.raises(InputError):
        ledger.deliver(name)
    assert sorted(path.name for path in ledger.path.parent.iterdir()) == ["shop.ledger"]


def test_ten_tenths_are_one_and_an_eleventh_is_refused(ledger: Ledger, tenth: Plan) -> None:
    for _ in range(10):
        ledger.charge(tenth)
    assert ledger.state().spent.epsilon == 1
    with pytest.raises(BudgetError) as refused:
        ledger.charge(tenth)
    assert "requested epsilon 0.1, delta 0; remaining epsilon 0, delta 0; too much by epsilon 0.1" in str(refused.value)
    assert ledger.state().releases == 10


def test_a_refusal_says_what_would_fit(ledger: Ledger) -> None:
    ledger.charge(plan_for("0.7"))
    began = time.monotonic()
    with pytest.raises(BudgetError) as refused:
        ledger.check(plan_for("0.5"))
    assert time.monotonic() - began < 10  # two seconds on a machine that is not busy
    assert refused.value.exit_code == 4
    assert "requested epsilon 0.5, delta 0; remaining epsilon 0.3, delta 0; too much by epsilon 0.2." in str(
        refused.value
    )
    assert "--epsilon 0.3, the largest at this delta" in refused.value.next_step
    ledger.charge(plan_for("0.3"))


def test_what_would_fit_by_renyi_composition_fits(tmp_path: Path) -> None:
    ledger = Ledger.create(tmp_path / "shop.ledger", epsilon="2", delta="1e-5")
    asked = {"delta": "1e-7", "top": 50}
    for _ in range(3):
        ledger.charge(plan_for("0.8", **asked))
    assert ledger.state().spent.epsilon > 2  # by adding up it would not fit
    with pytest.raises(BudgetError) as refused:
        ledger.charge(plan_for("1.9", **asked))
    assert "adding guarantees up leaves epsilon 0," in refused.value.what
    epsilon = refused.value.next_step.split("--epsilon ")[1].split(",")[0]
    assert 0.4 < float(epsilon) < 1.9
    ledger.check(plan_for(epsilon, **asked))
    with pytest.raises(BudgetError):
        ledger.check(plan_for(str(float(epsilon) * 1.03), **asked))


@pytest.mark.parametrize(
    ("composition", "spent"),
    [("renyi", {"delta": "1e-7", "mechanism": "limited-domain"}), ("both", {"delta": "5e-6", "top": 50})],
)
def test_what_only_renyi_composition_allows_is_told_too(tmp_path: Path, composition: str, spent: dict) -> None:
    """Where guarantees leave room in epsilon and none in delta."""
    ledger = Ledger.create(tmp_path / "shop.ledger", epsilon="4", delta="1e-5", composition=composition)
    ledger.charge(plan_for("1.5", **spent))
    with pytest.raises(BudgetError) as refused:
        ledger.check(plan_for("3.9", "1e-6", top=50))
    assert "for this question (adding guarantees up leaves epsilon 2.5, delta 0); too much by epsilon" in str(
        refused.value
    )
    epsilon = refused.value.next_step.split("--epsilon ")[1].split(",")[0]
    ledger.check(plan_for(epsilon, "1e-6", top=50))


def test_a_smaller_top_and_a_smaller_delta_are_told_where_they_help(tmp_path: Path) -> None:
    ledger = Ledger.create(tmp_path / "shop.ledger", epsilon="4", delta="1e-6", composition="basic")
    ledger.charge(plan_for("1", "9e-7", top=50))
    with pytest.raises(BudgetError) as refused:
        ledger.check(plan_for("1", "2e-7", top=50))
    assert "remaining epsilon 3, delta 1e-7; too much by delta 1e-7." in refused.value.what
    assert (
        refused.value.next_step == "What would fit: --top 2, the largest at this epsilon and delta."
    )  # needs no delta
    ledger.check(plan_for("1", "2e-7", top=2))
    with pytest.raises(BudgetError, match="smaller --delta"):
        ledger.check(plan_for("1", "2e-7", top=50, mechanism="limited-domain", universe=None))


def test_the_budget_can_be_divided_evenly(tmp_path: Path) -> None:
    """Whoever divides epsilon and delta alike gets all of it: the first release says that half of delta will not do."""
    for parts, epsilon, delta in ((1, "1", "1e-6"), (2, "0.5", "5e-7"), (4, "0.25", "2.5e-7")):
        ledger = Ledger.create(tmp_path / f"{parts}.ledger", epsilon="1", delta="1e-6")
        plan = plan_for(epsilon, delta, mechanism="limited-domain", universe=None)
        for _ in range(parts):
            ledger.charge(plan)
        with pytest.raises(BudgetError):
            ledger.charge(plan)


def charged_until_refused(ledger: Ledger, plan: Plan) -> int:
    for charged in range(100):
        try:
            ledger.charge(plan)
        except BudgetError:
            return charged
    raise AssertionError("never refused")


def test_many_small_releases_cost_less_than_their_sum(tmp_path: Path) -> None:
    ledger = Ledger.create(tmp_path / "shop.ledger", epsilon="1", delta="1e-5")
    basic = Ledger.create(tmp_path / "basic.ledger", epsilon="1", delta="1e-5", composition="basic")
    plan = plan_for("0.2", "1e-8", top=20)
    assert charged_until_refused(basic, plan) == 5
    assert charged_until_refused(ledger, plan) > 15


def test_releases_of_another_kind_are_refused(ledger: Ledger, tenth: Plan) -> None:
    ledger.charge(tenth)
    with pytest.raises(UsageError, match="different promises"):
        ledger.charge(plan_for("0.1", unit=PrivacyUnit(column="customer")))
    with pytest.raises(UsageError, match="add-remove neighbours"):
        ledger.charge(plan_for("0.1", relation=NeighbouringRelation.REPLACE))
    assert ledger.state().releases == 1


def test_the_total_can_be_raised_and_not_set_below_what_was_spent(ledger: Ledger) -> None:
    ledger.charge(plan_for("0.7"))
    with pytest.raises(BudgetError, match=r"More was spent already: epsilon 0\.7"):
        ledger.set_total(epsilon="0.69")
    assert ledger.set_total(epsilon="0.7").budget.epsilon == Fraction(7, 10)
    with pytest.raises(BudgetError):
        ledger.charge(plan_for("0.1"))
    ledger.set_total(epsilon="2", delta="1e-6")
    ledger.charge(plan_for("1.3"))
    totals = [(entry.epsilon, entry.delta) for entry in ledger.history() if entry.what == "total"]
    assert totals == [(1, 0), (Fraction(7, 10), 0), (2, Fraction(1, 10**6))]


def test_the_first_charge_decides_how_delta_is_shared_and_no_later_one(tmp_path: Path) -> None:
    """Were a later one to decide, what was answered before could have a say."""
    for first, later, share in ((("1", "1e-6"), ("0.1", "1e-6"), "1"), (("1", "1e-7"), ("0.1", "5e-7"), "1/2")):
        ledger = Ledger.create(tmp_path / f"{share[0]}{share[-1]}.ledger", epsilon="2", delta="2e-6")
        assert ledger.state().basic_share is None
        with pytest.raises(BudgetError):
            ledger.charge(plan_for("3", "1e-7"))
        assert ledger.state().basic_share is None
        for epsilon, delta in (first, later):
            ledger.charge(plan_for(epsilon, delta, mechanism="limited-domain", universe=None))
            assert ledger.state().basic_share == Fraction(share)


def test_what_cannot_be_made(tmp_path: Path, ledger: Ledger) -> None:
    before = ledger.path.read_bytes()
    with pytest.raises(UsageError, match="a file at"):
        Ledger.create(ledger.path, epsilon="3", delta="0")
    assert ledger.path.read_bytes() == before
    with pytest.raises(UsageError, match="folder"):
        Ledger.create(tmp_path / "absent" / "shop.ledger", epsilon="3", delta="0")
    for choice in ({"epsilon": "0"}, {"delta": "1"}, {"composition": "best"}, {"composition": "renyi", "delta": "0"}):
        with pytest.raises(UsageError):
            Ledger.create(tmp_path / "other.ledger", **{"epsilon": "1", "delta": "1e-6", **choice})
    assert sorted(path.name for path in tmp_path.iterdir()) == ["shop.ledger"]


def test_mining_in_python(ledger: Ledger) -> None:
    baskets = transactions_from_lists([["milk", "bread"]] * 3000)
    asked = {"size": 2, "top": 1, "budget": Budget("0.6", "0"), "unit": PrivacyUnit(), "universe": Universe(items=9)}
    release = mine(baskets, ledger=ledger, **asked)
    assert release.id == ledger.history()[-1].id
    assert ledger.history()[-1].state == "delivered"
    assert type(release).from_json(release.to_json()) == release
    with pytest.raises(BudgetError):
        mine(baskets, ledger=ledger, **asked)
    with pytest.raises(UsageError, match="seeded"):
        mine(baskets, ledger=ledger, seed=1, **asked)
    with pytest.raises(InputError, match="more items"):
        mine(
            transactions_from_lists([["milk", "bread", "tea"]] * 9),
            ledger=ledger,
            **{**asked, "universe": Universe(items=2), "budget": Budget("0.1", "0")},
        )
    assert ledger.state().releases == 1


# Whatever happens to the file.


def three_charges(folder: Path) -> tuple[Ledger, list[str]]:
    ledger = Ledger.create(folder / "shop.ledger", epsilon="1", delta="0")
    plan = plan_for("0.1")
    return ledger, [ledger.charge(plan) for _ in range(3)]


def ids(ledger: Ledger) -> list[str | None]:
    return [entry.id for entry in ledger.history() if entry.what == "release"]


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


@pytest.mark.parametrize(
    "change",
    [
        "UPDATE releases SET epsilon = '1e999999999'",
        "UPDATE releases SET renyi = '1/0'",
        "UPDATE releases SET epsilon = '-1'",
        "UPDATE releases SET plan = '{'",
        "UPDATE totals SET epsilon = '101'",
        "UPDATE ledger SET basic_share = '2'",
        "UPDATE ledger SET relation = 'SECRET-ITEM'",
        "UPDATE releases SET delta = CAST(x'ff' AS TEXT)",
        "ALTER TABLE releases DROP COLUMN failure",
        "DELETE FROM totals",
    ],
)
def test_a_ledger_that_was_tampered_with_is_refused_and_not_believed(tmp_path: Path, tenth: Plan, change: str) -> None:
    ledger, _ = three_charges(tmp_path)
    connection = sqlite3.connect(ledger.path)
    connection.execute(change)
    connection.commit()
    connection.close()
    for attempt in (ledger.history,) if "plan" in change else (ledger.state, lambda: ledger.charge(tenth)):
        with pytest.raises(InputError, match="damaged or incomplete") as refused:
            attempt()
        assert "SECRET" not in str(refused.value)


def test_foreign_and_newer_files_are_left_as_they_are(tmp_path: Path, ledger: Ledger, tenth: Plan) -> None:
    other = tmp_path / "other.db"
    with sqlite3.connect(other) as connection:
        connection.execute("CREATE TABLE releases (id)")
    connection.close()
    text = tmp_path / "baskets.csv"
    text.write_text("SECRET-ITEM,milk\n" * 500)
    for path in (other, text):
        before = path.read_bytes()
        with pytest.raises(InputError, match="not a ledger") as refused:
            Ledger(path)
        assert "SECRET" not in str(refused.value)
        assert path.read_bytes() == before
    for path in (tmp_path, tmp_path / "absent.ledger"):
        with pytest.raises(InputError, match="There is no ledger"):
            Ledger(path)
    connection = sqlite3.connect(ledger.path)
    connection.execute("PRAGMA user_version = 2")
    connection.close()
    with pytest.raises(InputError, match="newer version"):
        ledger.charge(tenth)


def test_a_ledger_that_others_keep_busy(ledger: Ledger, tenth: Plan, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(store, "PATIENCE", 0.2)
    other = sqlite3.connect(ledger.path, isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    assert ledger.state().releases == 0  # looking is possible
    with pytest.raises(InputError, match="in use by other processes"):
        ledger.charge(tenth)
    other.execute("ROLLBACK")
    other.close()
    ledger.charge(tenth)


@pytest.mark.parametrize("room", [1024, 33_000, 40_000])
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


@pytest.fixture
def small_disk(tmp_path: Path, request: pytest.FixtureRequest) -> Iterator[Path]:
    """One of so many kibibytes; only who may mount one has it."""
    mount, unmount = shutil.which("mount"), shutil.which("umount")
    command = [mount or "", "-t", "tmpfs", "-o", f"size={request.param}k", "tmpfs", str(tmp_path)]
    if mount is None or unmount is None or subprocess.run(command, capture_output=True, check=False).returncode:
        pytest.skip("a small disk cannot be mounted here")
    yield tmp_path
    subprocess.run([unmount, "--lazy", str(tmp_path)], check=True)


@pytest.mark.parametrize("small_disk", range(32, 80, 4), indirect=True)
def test_a_ledger_is_made_whole_or_not_at_all(small_disk: Path) -> None:
    """Its log may find room where the file does not, and then the file is made of the log too late."""
    path = small_disk / "shop.ledger"
    with suppress(InputError):
        Ledger.create(path, epsilon=1, delta="1e-6")
    left = [file.name for file in small_disk.iterdir() if not file.name.endswith(("-wal", "-shm"))]
    assert left == ([] if not path.exists() else [path.name])
    assert not path.exists() or Ledger(path).state().releases == 0


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
    attempt.start()
    assert answers.get(timeout=100) == 3
    assert "cannot be written to" in answers.get(timeout=100)
    attempt.join()
    assert ids(ledger) == names


# Many at once, and sudden ends.


def charge_until_refused(path: Path, plan: Plan, answers: multiprocessing.Queue) -> None:
    answers.put(charged_until_refused(Ledger(path), plan))


def test_processes_that_race_never_overspend(tmp_path: Path) -> None:
    ledger = Ledger.create(tmp_path / "shop.ledger", epsilon="1", delta="0")
    plan, answers = plan_for("0.03"), PROCESSES.Queue()
    racing = [PROCESSES.Process(target=charge_until_refused, args=(ledger.path, plan, answers)) for _ in range(8)]
    for process in racing:
        process.start()
    charged = [answers.get(timeout=200) for _ in racing]
    for process in racing:
        process.join()
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
        running.start()
        before = drawn.stat().st_size
        while drawn.stat().st_size == before and running.is_alive():
            time.sleep(0.001)
        time.sleep(0.0017 * attempt)
        running.kill()
        running.join()
        released = drawn.read_text().split()
        charged = ids(ledger)
        assert set(released) <= set(charged)
        assert len(charged) - len(released) <= attempt + 1
        assert ledger.state().spent.epsilon == Fraction(len(charged), 1000)
        assert len(charged) == len(set(charged))
    undelivered = [entry.id for entry in ledger.history() if entry.state == "charged"]
    assert len(undelivered) <= 12
    assert json.loads(json.dumps(ledger.history()[1].plan)) == ledger.history()[1].plan
