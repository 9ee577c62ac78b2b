from __future__ import annotations

import fcntl
import json
import re
import sys
from fractions import Fraction
from pathlib import Path

import pytest

from fim_private import Ledger
from fim_private.ledger import store
from fim_private.plan import make_plan
from fim_private.privacy import Budget, PrivacyUnit
from tests import processes
from tests.cli.command import PROMISE, end_with, fim_private, succeed, words

ASKED = ("--size", 2, "--top", 1, *PROMISE)


@pytest.fixture
def baskets(tmp_path: Path) -> Path:
    path = tmp_path / "baskets.csv"
    path.write_text("bread,milk\n" * 2000 + "SECRET-ITEM,bread\n")
    return path


@pytest.fixture
def ledger(tmp_path: Path) -> Path:
    path = tmp_path / "shop.ledger"
    succeed("budget", "create", path, "--epsilon", 2, "--delta", "1e-5", "--dataset", "shop 2026")
    return path


def history(ledger: Path) -> list[dict]:
    done = succeed("budget", "history", ledger, "--json")
    return json.loads(done.stdout)


@pytest.mark.slow
def test_a_new_ledger_charges_releases_until_it_refuses_one(ledger: Path, baskets: Path) -> None:
    released = []
    for _ in range(2):
        done = succeed("mine", baskets, *ASKED, "--ledger", ledger, "--json", "--quiet")
        released.append(json.loads(done.stdout))
    refused = end_with(4, "mine", baskets, *ASKED, "--ledger", ledger)
    assert refused.stdout == b""
    assert "requested epsilon 1, delta 1e-6; remaining epsilon 0, delta 3e-6; too much by epsilon 1." in words(refused)
    total, *charged = history(ledger)
    assert (total["what"], total["epsilon"], total["delta"]) == ("total", "2", "1/100000")
    assert [entry["id"] for entry in charged] == [release["id"] for release in released]
    assert all(entry["state"] == "delivered" for entry in charged)
    assert all(entry["command"] == released[0]["command"] for entry in charged)
    assert "--ledger shop.ledger" in released[0]["command"]  # no folders
    shown = fim_private("budget", "show", ledger).stdout.decode()
    assert "shop 2026" in shown
    assert "epsilon 2, delta 1e-5" in shown
    assert "one transaction, add-remove neighbours" in shown
    record = json.loads(fim_private("budget", "show", ledger, "--json").stdout)
    assert Fraction(record["spent"]["epsilon"]) == 2
    table = fim_private("budget", "history", ledger).stdout.decode().splitlines()
    assert table[0].split()[:2] == ["time", "(UTC)"]
    assert len(table) == 5
    recorded = ledger.read_bytes()
    for secret in (b"SECRET-ITEM", b"bread", b"milk"):
        assert secret not in recorded


def test_what_is_left_stands_beside_what_there_was(tmp_path: Path) -> None:
    def created(composition: str) -> str:
        options = ("--epsilon", 3, "--delta", "1e-6", "--composition", composition)
        return fim_private("budget", "create", tmp_path / composition, *options).stdout.decode()

    assert "epsilon 0, delta 0 spent; epsilon 3 of 3, delta 1e-6 of 1e-6 left" in created("basic")
    assert "epsilon 0, delta 0 spent; epsilon 3 of 3, delta 5e-7 of 5e-7 left" in created("both")
    # The first release may still get all of delta.
    undecided = created("auto")
    assert "the first release decides" in undecided
    assert "left" not in undecided


def test_what_renyi_composition_allows_beyond_the_sum_is_told(tmp_path: Path) -> None:
    made = Ledger.create(tmp_path / "shop.ledger", epsilon=3, delta="1e-5")
    for _ in range(4):
        plan = make_plan(size=1, top=3, budget=Budget("1", "1e-6"), unit=PrivacyUnit(), mechanism="limited-domain")
        made.charge(plan)
    shown = fim_private("budget", "show", tmp_path / "shop.ledger").stdout.decode()
    assert "nothing is left this way, though the total holds: the releases are proved to cost less together" in shown
    assert re.search(r"or by Renyi +8\d\.\d* % of what it allows is spent", shown)


def test_a_total_so_high_that_renyi_composition_ends_is_told(tmp_path: Path) -> None:
    made = Ledger.create(tmp_path / "shop.ledger", epsilon=3, delta="0.01")
    made.charge(make_plan(size=2, top=10, budget=Budget("0.3", "1e-6"), unit=PrivacyUnit(), mechanism="lmm"))
    ends = "or by Renyi  nothing is left while epsilon is above 3, the total at the first release"
    above = "Above epsilon 3, the total at the first release, costs are only added up."
    assert above in words(end_with(2, "budget", "set", tmp_path / "shop.ledger", "--epsilon", 4)), "before it asks"
    for epsilon, told in ((4, True), (3, False)):
        done = succeed("budget", "set", tmp_path / "shop.ledger", "--epsilon", epsilon, "--yes")
        shown = done.stdout.decode()
        assert (above in words(done)) is told
        assert (ends in shown) is told
        assert ("of what it allows is spent" in shown) is not told


@pytest.mark.slow
def test_the_largest_that_fits_fits(ledger: Path, baskets: Path) -> None:
    asked = ("--size", 2, "--top", 20, "--delta", "1e-6", "--unit", "transaction", "--ledger", ledger)
    succeed("mine", baskets, *asked, "--epsilon", "1.8")
    refused = end_with(4, "mine", baskets, *asked, "--epsilon", "1.9")
    epsilon = words(refused).split("--epsilon ")[1].split(",")[0]
    succeed("mine", baskets, *asked, "--epsilon", epsilon)


def test_what_fails_before_the_charge_costs_nothing(ledger: Path, baskets: Path, tmp_path: Path) -> None:
    broken = tmp_path / "broken.csv"
    broken.write_bytes(b"\x00\x01\x02" * 50)
    for options, code in (
        ((broken, *ASKED), 3),
        ((baskets, *ASKED, "--seed", 3), 2),
        ((baskets, *ASKED, "-o", tmp_path / "absent" / "release.json"), 2),
        ((baskets, *ASKED, "--mechanism", "exponential", "--universe-items", 2), 3),
        ((baskets, *ASKED[:-2], "--unit-column", "customer"), 3),
    ):
        done = fim_private("mine", *options, "--ledger", ledger)
        assert done.returncode == code, words(done)
        assert done.stdout == b""
    assert len(history(ledger)) == 1


@pytest.mark.slow
def test_what_was_not_delivered_can_be_told_apart(ledger: Path, baskets: Path, tmp_path: Path) -> None:
    command = [sys.executable, "-m", "fim_private", "mine", baskets, *ASKED, "--ledger", ledger]
    with Path("/dev/full").open("w") as full:
        for output, state in (((), "charged"), (("-o", tmp_path / "release.json"), "delivered")):
            done = processes.run([*map(str, (*command, *output))], stdout=full)
            assert done.returncode == 3
            assert history(ledger)[-1]["state"] == state
    table = fim_private("budget", "history", ledger).stdout.decode()
    assert table.count("charged, not delivered") == 1
    assert "1 of them charged, not delivered" in fim_private("budget", "show", ledger).stdout.decode()


def test_an_interruption_after_the_charge_is_said(ledger: Path, baskets: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(*_: object, **__: object) -> None:
        raise MemoryError

    monkeypatch.setattr("fim_private.mining.searches.pass_through", interrupted)
    done = end_with(3, "mine", baskets, *ASKED, "--ledger", ledger, "--mechanism", "limited-domain")
    (_, entry) = history(ledger)
    assert f"its history shows {entry['id']} as charged, not delivered" in words(done)
    assert entry["state"] == "charged"


def test_whoever_waits_for_the_ledger_is_told(ledger: Path, baskets: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(store, "SILENT", 0.05)
    monkeypatch.setattr(store, "PATIENCE", 0.1)
    commands = [
        *(("budget", name, ledger) for name in ("show", "history")),
        ("budget", "set", ledger, "--epsilon", 1),
        ("mine", baskets, *ASKED, "--ledger", ledger),
    ]
    with ledger.open("rb") as other:
        fcntl.flock(other, fcntl.LOCK_EX)
        for command in commands:
            told = words(end_with(3, *command))
            assert told.count("Another process uses the ledger") == 1
            assert "in use by other processes for 0.1 seconds" in told
            assert "Another process" not in words(end_with(3, *command, "--quiet"))
    assert "Another process" not in words(succeed("budget", "show", ledger))


def test_the_total_is_changed_on_the_record(ledger: Path, baskets: Path) -> None:
    succeed("mine", baskets, *ASKED, "--ledger", ledger)
    refused = end_with(4, "budget", "set", ledger, "--epsilon", "0.5")
    assert "More was spent already" in words(refused)
    assert "goes from" not in words(refused)
    unsure = end_with(2, "budget", "set", ledger, "--epsilon", 4)
    assert "goes from epsilon 2, delta 1e-5 to epsilon 4, delta 1e-5" in words(unsure)
    assert "Add --yes" in words(unsure)
    assert "epsilon 4" in fim_private("budget", "set", ledger, "--epsilon", 4, "--yes").stdout.decode()
    assert [entry["epsilon"] for entry in history(ledger) if entry["what"] == "total"] == ["2", "4"]
    assert fim_private("budget", "set", ledger).returncode == 2
    assert "ledger is empty" in words(end_with(2, "budget", "show", ""))


def test_every_command_can_be_quiet(tmp_path: Path) -> None:
    path = tmp_path / "shop.ledger"
    for command in (
        ("create", path, "--epsilon", 2, "--delta", 0),
        ("show", path),
        ("history", path),
        ("set", path, "--epsilon", 3, "--yes"),
    ):
        done = succeed("budget", *command, "-q")
        assert done.stdout
        assert words(done) == ""
    asked = words(end_with(2, "budget", "set", path, "--epsilon", 4, "--quiet"))
    assert "goes from epsilon 3, delta 0 to epsilon 4" in asked, "a question says what about"


def test_a_total_that_was_cut_meanwhile_is_not_raised_unasked(ledger: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """From 2, 1.5 is a cut. From the 1 that another process sets before the lock is taken, it is a raise."""
    monkeypatch.setattr("fim_private.cli.commands.budget.say", lambda _, **__: Ledger(ledger).set_total(epsilon="1"))
    refused = end_with(3, "budget", "set", ledger, "--epsilon", "1.5")
    assert "another process changed the total" in words(refused)
    assert Ledger(ledger).state().budget.epsilon == 1


def test_a_ledger_that_cannot_be_used_is_refused_without_its_content(
    ledger: Path, baskets: Path, tmp_path: Path
) -> None:
    end_with(2, "budget", "create", ledger, "--epsilon", 9, "--delta", 0)
    assert Ledger(ledger).state().budget.epsilon == 2
    for path in (baskets, tmp_path / "absent.ledger"):
        for command in (("budget", "show", path), ("mine", baskets, *ASKED, "--ledger", path)):
            done = end_with(3, *command)
            assert done.stdout == b""
            assert "SECRET" not in words(done)
            assert "Traceback" not in words(done)
    assert "which is a folder. Give the ledger's file" in " ".join(
        words(end_with(3, "budget", "show", tmp_path)).split()
    )
