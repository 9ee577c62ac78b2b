from __future__ import annotations

import json
import math
import re
from pathlib import Path

from fim_private.mechanisms.registry import REGISTRY
from tests import processes
from tests.cli.command import PROMISE, end_with, fim_private, succeed, words


def test_plan_reads_nothing_and_compares() -> None:
    done = succeed("plan", "--size", 2, "--top", 10, *PROMISE)
    shown = done.stdout.decode()
    for name, row in REGISTRY.items():
        assert (f"\n{name} " in shown) is not (row.needs_universe or row.needs_cap)
    assert shown.splitlines()[2].endswith("lead over the bulk  or lead over the next place")
    assert "\nlook-first: " in shown
    assert "chosen because it needs the smallest lead over the bulk of the ranking among" in " ".join(shown.split())
    options = ("--size", 2, "--top", 10, *PROMISE, "--universe-items", 16470, "--max-items", 10)
    with_universe = fim_private("plan", *options).stdout.decode()
    assert all(f"\n{name} " in with_universe for name in REGISTRY)
    assert "search for a margin: epsilon 0.2" in fim_private("plan", *options, "--mechanism", "lmm").stdout.decode()


def test_plan_says_what_mine_does(tmp_path: Path) -> None:
    path = tmp_path / "baskets.csv"
    path.write_text("bread,milk\n" * 900 + "tea,milk\n" * 30)
    options = ("--size", 2, "--top", 3, *PROMISE, "--neighbours", "replace")
    (planned,) = json.loads(fim_private("plan", *options, "--mechanism", "lmm", "--json").stdout)
    mined = json.loads(fim_private("mine", path, *options, "--mechanism", "lmm", "--json").stdout)
    assert planned["plan"] == mined["plan"]
    # What a transaction is, and how it is read, is known when there is a file.
    assert mined["privacy"].pop("layout")["separator"] == ","
    assert mined["privacy"].pop("unit") == planned["privacy"].pop("unit") + " (a basket, one line)"
    assert planned["privacy"] == mined["privacy"]
    assert math.isclose(planned["plan"]["spending"][0]["epsilon"], 0.1)


def test_plan_without_delta_leaves_what_needs_none(tmp_path: Path) -> None:
    options = ("--size", 2, "--top", 2, "--epsilon", 1, "--delta", 0, "--unit", "transaction")
    assert fim_private("plan", *options).returncode == 4
    done = end_with(4, "plan", *options, "--universe-items", 100, "--mechanism", "exponential")
    assert "names are revealed" in words(done)
    listed = tmp_path / "items.txt"
    listed.write_text("".join(f"item {number}\n" for number in range(100)))
    done = succeed("plan", *options, "--universe-file", listed)
    assert "\nexponential " in done.stdout.decode()
    assert "\npermute-and-flip: " in done.stdout.decode()
    told = " ".join(words(done).split())
    assert "look-first, stable-max cannot be used, for the same reason: This mechanism needs a delta. Give" in told
    assert "Give --delta, such as 1e-6" in told
    assert told.count("needs a delta") == 1
    assert "delta=" not in words(done)


def test_inspect_is_for_the_curator(tmp_path: Path) -> None:
    path = tmp_path / "long.csv"
    rows = ("1,milk,x,2", "1,bread,x,1", "1,milk,x,-1", "2,milk,x,1", "3,tea,y,1", "3,milk,y,1")
    path.write_text("\n".join(["invoice,item,customer,quantity", *rows]))
    done = succeed("inspect", path, "--unit-column", "customer")
    assert words(done).startswith("EXACT FIGURES, NOT PRIVATE")
    assert "'quantity' may mark returns or cancelled sales: by numbers below 0" in " ".join(words(done).split())
    shown = " ".join(done.stdout.decode().split())
    for fact in (
        "transactions 3",
        "different items 3",
        "repeated items merged 1",
        "units 2",
        "items per unit, merged 2 to 2",
        "What bounds drop (exact, not private)",
        "none (--together) 0 ( 0.0 %) 0 ( 0.0 %) x 1 1 1 (33.3 %) 1 (50.0 %) x 1 2 0 ( 0.0 %) 0 ( 0.0 %) x 2",
        "units that hold it in one basket itemset of size 1",
        "2 milk",
        "1 milk + tea",
    ):
        assert fact in shown
    larger = succeed("inspect", path, "--unit-column", "customer", "--sizes", "2-3").stdout.decode()
    assert [f"itemset of size {size}" in larger for size in (1, 2, 3)] == [False, True, True]


def test_inspect_shows_what_caps_drop(tmp_path: Path) -> None:
    path = tmp_path / "baskets.csv"
    path.write_text(",".join(f"item{number}" for number in range(8)) + "\na,b\n")
    shown = " ".join(fim_private("inspect", path).stdout.decode().split())
    assert "5 3 (30.0 %) 1 (50.0 %) 10 0 ( 0.0 %) 0 ( 0.0 %)" in shown
    assert "--max-transactions" not in shown


def test_inspect_shows_what_was_read_and_what_is_odd(tmp_path: Path) -> None:
    path = tmp_path / "long.csv"
    path.write_text("1000,Butter\n1000,butter\n1001,Butter\n1002,Tea\n1002,Milk\n1003,Bread\n")
    done = fim_private("inspect", path)
    shown = " ".join(done.stdout.decode().split())
    assert "as they were read: items - ------------- 2 1000 | Butter 2 1000 | butter 2 1001 | Butter What" in shown
    assert "items that differ from another in case, leading zeros or Unicode form alone 2" in shown
    assert "Odd, so `mine` stops here" in words(done)
    assert "--transaction-column 1 --item-column 2" in " ".join(words(done).split())
    ledger = tmp_path / "shop.ledger"
    fim_private("budget", "create", ledger, "--epsilon", 9, "--delta", "1e-4")
    refused = end_with(3, "mine", path, "--size", 2, "--top", 1, *PROMISE, "--ledger", ledger)
    assert "--transaction-column 1 --item-column 2" in words(refused)
    assert "Butter" not in words(refused)
    spent = json.loads(fim_private("budget", "show", ledger, "--json").stdout)
    assert not spent["releases"]
    path.write_text(",".join(f"item {number}" for number in range(30)) + "\n1,2\n" * 3)
    done = fim_private("inspect", path, "--format", "basket")
    assert "item 0 | item 1 | item 10 |" in done.stdout.decode()
    assert "and 20 more" in done.stdout.decode()


def test_a_customer_who_is_nobody_is_told_to_the_curator_alone(tmp_path: Path) -> None:
    path = tmp_path / "long.csv"
    rows = ((row, "NA" if row < 900 else f"K{row}") for row in range(2000))
    path.write_text("tid,item,who\n" + "".join(f"{row},milk,{who}\n{row},tea,{who}\n" for row, who in rows))
    told = "the unit 'NA' has 900 transactions"
    assert told in " ".join(words(fim_private("inspect", path, "--unit-column", "who")).split())
    promise = ("--epsilon", 1, "--delta", "1e-6", "--unit-column", "who")
    done = succeed("mine", path, "--size", 2, "--top", 1, *promise, "-o", tmp_path / "release.json")
    assert told in words(done)
    assert "'NA'" not in (tmp_path / "release.json").read_text()


def test_demo_runs_and_is_honest() -> None:
    done = succeed("demo")
    named = len(done.stdout.decode().splitlines()) - 2
    assert 0 <= named <= 5  # the certificate cuts about one list in eighty
    (right,) = re.findall(r"(\d) of the pairs above are among the true top 5", " ".join(words(done).split()))
    assert int(right) <= named


def test_the_program_says_its_version() -> None:
    import fim_private as package

    assert fim_private("--version").stdout.decode().strip() == package.__version__


def test_an_unforeseen_fault_shows_no_data(tmp_path: Path) -> None:
    """A bug is reported by kind and place; its message and its traceback may hold baskets."""
    import sys

    program = (
        "import sys, fim_private.cli.app as app, fim_private.transactions.reading as t\n"
        "class Part:\n"
        "    def __del__(self):\n"
        "        raise ValueError('SECRET-ITEM')\n"
        "def broken(*a, **k):\n"
        "    Part()\n"
        "    raise RuntimeError('SECRET-ITEM')\n"
        "t.read_transactions = broken\n"
        f"sys.argv = ['fim-private', 'inspect', {str(tmp_path)!r}]\n"
        "app.run()\n"
    )
    done = processes.run([sys.executable, "-c", program])
    assert done.returncode == 1
    assert "SECRET-ITEM" not in words(done)
    assert "Traceback" not in words(done)
    assert "RuntimeError" in words(done)
