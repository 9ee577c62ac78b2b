"""--together from the command line to the files that it writes, and releases from before there was a choice."""

from __future__ import annotations

import json
import shlex
from pathlib import Path

import pytest

from fim_private import Ledger
from fim_private.release import Release
from fim_private.report.promise_text import promised
from tests.cli.command import end_with, fim_private, succeed, words

ASKED = ("--size", 2, "--top", 1, "--epsilon", 1, "--delta", "1e-6", "--mechanism", "limited-domain")
OWNED = ("--unit-column", "customer")


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Half of the customers buy milk with bread. All buy tea and, another day, a mug."""
    lines = ["basket,customer,item"]
    for customer in range(4000):
        lines += [f"a{customer},c{customer},tea", f"b{customer},c{customer},mug"]
        if customer % 2:
            lines += [f"c{customer},c{customer},milk", f"c{customer},c{customer},bread"]
    (tmp_path / "sales.csv").write_text("\n".join(lines) + "\n")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def said(done: object) -> str:
    return " ".join(words(done).split())


def test_the_release_says_what_was_counted(here: Path) -> None:
    question = ("mine", "sales.csv", *ASKED, *OWNED, "--release-counts", "--public-transactions", 4000, "--explain")
    ledger = Ledger.create(here / "shop.ledger", epsilon="5", delta="1e-5")
    done = succeed(*question, "-o", "together.json", "--ledger", ledger.path)
    release = Release.from_json((here / "together.json").read_text("utf-8"))
    assert release.itemsets[0].items == ("bread", "milk")
    assert release.itemsets[0].count is not None
    assert abs(release.itemsets[0].count - 2000) < 100
    assert release.plan["together"] == "basket"
    assert "protects one customer (column 'customer'), with all its transactions: whether" in said(done)
    assert "once for each unit that holds its items together in one transaction (one basket)" in said(done)
    assert "Counts: each is the number of units that hold the itemset in at least one transaction, with" in said(done)
    assert "the number of units, 4,000, as declared" in said(done)
    (entry,) = [entry for entry in ledger.history() if entry.what == "release"]
    assert entry.plan["plan"]["together"] == "basket"
    merged = fim_private(*question, "--together", "unit", "-o", "merged.json")
    assert Release.from_json((here / "merged.json").read_text("utf-8")).itemsets[0].items == ("mug", "tea")
    assert "with all its transactions merged into one: whether" in said(merged)
    assert "one basket" not in said(merged)
    same = fim_private(*question, "--merge", "--json")
    assert json.loads(same.stdout)["plan"] == json.loads((here / "merged.json").read_text("utf-8"))["plan"]


def test_pages_and_rules_speak_of_units(here: Path) -> None:
    more = ("--sizes", "1-2", *ASKED[2:], *OWNED, "--release-counts", "-o", "together.json")
    succeed("mine", "sales.csv", *more, "--top", 5)
    succeed("show", "together.json", "--html", "page.html")
    page = " ".join((here / "page.html").read_text("utf-8").split())
    assert "once for each unit that holds its items together in one transaction" in page
    rules = succeed("rules", "together.json", "--json")
    confidence = {(*rule["antecedents"], *rule["consequents"]): rule["confidence"] for rule in json.loads(rules.stdout)}
    assert confidence["milk", "bread"] > 0.9
    assert ("tea", "mug") not in confidence
    plan = fim_private("plan", *ASKED, *OWNED)
    assert "with all its transactions. No data is read" in " ".join(plan.stdout.decode().split())
    assert "a lead of about 25 units over place" in " ".join(plan.stdout.decode().split())
    (record,) = json.loads(fim_private("plan", *ASKED, *OWNED, "--together", "unit", "--json").stdout)
    assert record["plan"]["together"] == "unit"
    assert "merged into one" in record["privacy"]["unit"]


@pytest.mark.parametrize(
    ("options", "what"),
    [
        (("--unit", "transaction", "--together", "basket"), "each transaction is a unit"),
        ((*OWNED, "--max-transactions", 3, "--together", "unit"), "--max-transactions keeps some"),
        ((*OWNED, "--merge", "--together", "basket"), "--merge is the same as --together unit"),
        ((*OWNED, "--together", "ever"), "Choose --together basket or unit"),
    ],
)
@pytest.mark.usefixtures("here")
def test_contradictions_are_refused(options: tuple[object, ...], what: str) -> None:
    done = end_with(2, "mine", "sales.csv", *ASKED, *options)
    assert what in said(done)
    assert done.stdout == b""


def as_before(path: Path, **changed: object) -> Path:
    """The release as a version without the choice wrote it, when all units were merged."""
    fields = json.loads(path.read_text("utf-8"))
    del fields["plan"]["together"]
    words_now = shlex.split(fields["command"])
    fields["command"] = shlex.join(word for word in words_now if word not in ("--together", "unit"))
    older = path.with_name("older.json")
    older.write_text(json.dumps({**fields, **changed}), "utf-8")
    return older


def test_a_release_from_before_is_asked_again_as_it_was_made(here: Path) -> None:
    succeed("mine", "sales.csv", *ASKED, *OWNED, "--together", "unit", "-o", "merged.json")
    older = as_before(here / "merged.json")
    assert "merged into one" in promised(Release.from_json(older.read_text("utf-8")))[0]
    done = succeed("mine", "--config", older, "--json")
    again = json.loads(done.stdout)
    assert again["plan"] == json.loads((here / "merged.json").read_text("utf-8"))["plan"]
    assert again["plan"]["together"] == "unit"
    assert "--together unit" in again["command"]
    # What is typed counts.
    for typed, together in (
        (("--together", "basket"), "basket"),
        (("--merge",), "unit"),
        (("--max-transactions", 2), None),
    ):
        done = succeed("mine", "--config", older, *typed, "--json")
        assert json.loads(done.stdout)["plan"]["together"] == together


def test_a_release_is_asked_again_with_the_same_choice(here: Path) -> None:
    for options, together in (((), "basket"), (("--together", "basket"), "basket"), (("--merge",), "unit")):
        succeed("mine", "sales.csv", *ASKED, *OWNED, *options, "-o", "r.json", "--overwrite")
        again = succeed("mine", "--config", "r.json", "--json")
        assert json.loads(again.stdout)["plan"]["together"] == together
    changed = json.loads((here / "r.json").read_text("utf-8"))
    changed["plan"]["together"] = "basket"
    (here / "changed.json").write_text(json.dumps(changed), "utf-8")
    refused = end_with(3, "mine", "--config", "changed.json")
    assert "another promise than its command" in words(refused)


@pytest.mark.usefixtures("here")
def test_inspect_counts_as_mine_does() -> None:
    def shown(*options: object) -> str:
        done = succeed("inspect", "sales.csv", *OWNED, "--top", 1, *options)
        return " ".join(done.stdout.decode().split())

    assert shown().endswith("2,000 bread + milk")
    assert "units that hold it in one basket itemset of size 2" in shown("--together", "basket")
    assert shown("--together", "unit").endswith("4,000 mug + tea")
    refused = end_with(2, "inspect", "sales.csv", "--together", "unit")
    assert "--unit-column" in words(refused)


@pytest.mark.slow
def test_compare_counts_as_mine_does(here: Path) -> None:
    few = (
        "--sizes", 2, "--tops", 1, "--epsilons", 1, "--trials", 2, "--mechanisms", "limited-domain,look-first",
        "--curator", "--seed", 1, "-q",
    )  # fmt: skip
    for together, counts in (("basket", "units that hold them all in one transaction"), ("unit", "transactions that")):
        succeed("compare", "sales.csv", *OWNED, "--together", together, *few, "-o", here / together)
        report = (here / together / "report.md").read_text("utf-8")
        assert counts in " ".join(report.split())
        assert ("merged into one" in report) == (together == "unit")
        assert "4,000" in report
    (here / "run.toml").write_text('unit_column = "customer"\ntogether = "unit"\n')
    # The same settings: the finished cells are used.
    succeed("compare", "sales.csv", "--config", "run.toml", *few, "-o", here / "unit")
    end_with(2, "compare", "sales.csv", "--together", "unit", *few, "-o", here / "other")


def test_tune_counts_as_mine_does(here: Path) -> None:
    (here / "candidates.toml").write_text(
        'top = 1\nsize = 2\n[[candidate]]\nmechanism = "limited-domain"\n[[candidate]]\nmechanism = "lmm"\n'
    )
    for options, together, items in (
        ((), "basket", ["bread", "milk"]),
        (("--together", "unit"), "unit", ["mug", "tea"]),
    ):
        done = succeed(
            "tune", "sales.csv", "--candidates", "candidates.toml", "--epsilon", 6, "--delta", "1e-6", *OWNED, *options,
            "--seed", 3, "--json",
        )  # fmt: skip
        release = json.loads(done.stdout)
        assert release["plan"]["together"] == together
        assert release["itemsets"][0]["items"] == items
