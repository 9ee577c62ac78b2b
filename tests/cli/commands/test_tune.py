from __future__ import annotations

import json
import subprocess
from pathlib import Path

import pytest

from fim_private.ledger import Ledger
from tests.cli.command import PROMISE, fim_private, succeed, words

CANDIDATES = """
size = 2
top = 2

[[candidate]]
mechanism = "limited-domain"

[[candidate]]
name = "few items"
mechanism = "items-first"
max_items = 3
"""


@pytest.fixture
def baskets(tmp_path: Path) -> Path:
    path = tmp_path / "baskets.csv"
    path.write_text("bread,milk,tea\n" * 900 + "bread,jam\n" * 40)
    (tmp_path / "candidates.toml").write_text(CANDIDATES)
    return path


def tune(baskets: Path, *more: object) -> subprocess.CompletedProcess[bytes]:
    candidates = baskets.with_name("candidates.toml")
    return fim_private("tune", baskets, "--candidates", candidates, "--runs", 8, *PROMISE, *more)


def test_it_says_what_was_chosen_and_what_it_cost(baskets: Path) -> None:
    done = succeed(
        "tune", baskets, "--candidates", baskets.with_name("candidates.toml"), "--runs", 8,
        "--epsilon", 6, "--delta", "1e-6", "--unit", "transaction", "--seed", 3, "-o", baskets.with_name("out.json"),
    )  # fmt: skip
    said = " ".join(words(done).split())
    assert "Chosen among 2 configurations. One run with its score costs epsilon 2, delta" in said
    assert "epsilon 6, delta 1e-6: three times a run's epsilon, by Theorem 3.2" in said
    assert "WARNING: seeded" in said
    # Whatever was chosen: any of the candidates may have been run.
    assert "Chosen: limited-domain" in said
    assert "and a limit of 65,536 items." in said
    assert b"bread + milk" in done.stdout
    release = json.loads(baskets.with_name("out.json").read_text())
    assert release["privacy"]["epsilon"] == 6
    assert release["plan"]["tuning"]["candidates"] == [
        "limited-domain, size 2, top 2",
        "few items",
    ]
    assert release["command"].startswith("fim-private tune baskets.csv --candidates candidates.toml")


def test_it_says_what_is_missing_and_what_was_tested(baskets: Path) -> None:
    candidates = baskets.with_name("candidates.toml")
    both = (f'[[candidate]]\nmechanism = "items-first"\nmax_items = {most}\n' for most in (3, 4))
    candidates.write_text("size = 2\ntop = 5\n" + "".join(both))
    said = " ".join(words(tune(baskets, "--seed", 1)).split())
    assert "Its run named 3 of 5 itemsets. No other was clear enough to name." in said
    assert "It did not test the itemsets." in said


@pytest.mark.slow
def test_nothing_reaches_too_high_a_threshold(baskets: Path) -> None:
    never = ("--threshold", 10**9, "--seed", 1)
    done = tune(baskets, *never, "-o", baskets.with_name("none.json"))
    assert done.returncode == 0
    assert b"No run reached the threshold" in done.stdout
    said = " ".join(words(done).split())
    assert "by Theorem 3.1" in said
    assert "none.json was not written" in said
    assert json.loads(tune(baskets, *never, "--json", "-q").stdout)["itemsets"] == []


@pytest.mark.slow
def test_the_ledger_is_charged_once(baskets: Path) -> None:
    path = baskets.with_name("shop.ledger")
    ledger = Ledger.create(path, epsilon="1.5", delta="1e-5")
    done = tune(baskets, "--ledger", path, "--quiet")
    assert done.returncode == 0, words(done)
    (entry,) = [entry for entry in ledger.history() if entry.what == "release"]
    assert (entry.mechanism, entry.state) == ("tune", "delivered")
    assert 0.99 < entry.epsilon <= 1
    refused = tune(baskets, "--ledger", path)
    assert refused.returncode == 4
    assert "requested epsilon" in words(refused)
    shown = fim_private("budget", "history", path)
    assert b"tune" in shown.stdout or b"release" in shown.stdout
    other = baskets.with_name("other.ledger")
    Ledger.create(other, epsilon="1.5", delta="1e-5")
    replaced = tune(baskets, "--ledger", other, "--neighbours", "replace")
    assert replaced.returncode == 0, words(replaced)
    assert Ledger(other).state().relation == "replace"
    assert 0.99 < Ledger(other).state().spent.epsilon <= 1
    mixed = tune(baskets, "--ledger", path, "--neighbours", "replace")
    assert mixed.returncode == 2
    assert "add-remove neighbours" in words(mixed)
    seeded = tune(baskets, "--ledger", path, "--seed", 1)
    assert seeded.returncode == 2


@pytest.mark.parametrize(
    ("text", "code", "what"),
    [
        ("size = 2\ntop = 3\n", 2, "0 configurations to choose among"),
        ("[[candidate]]\ntop = 3\n", 2, "no size"),
        ("size = 2\ntop = 3\ncolour = 1\n[[candidate]]\n", 2, "unknown settings: colour"),
        ('size = "2"\ntop = 3\n[[candidate]]\n', 2, "size is not a whole number"),
        ("release_counts = 1\n[[candidate]]\n", 2, "release_counts is not true, or a share"),
        (
            "size = 2\ntop = 3\nrelease_counts = 1.5\n[[candidate]]\nname = 'a'\n[[candidate]]\n",
            2,
            "share of the counts",
        ),
        ("candidate = 3\n", 2, "not a list of tables"),
        ("size = \n", 3, "not TOML"),
        ("size = 2\ntop = 3\n[[candidate]]\n[[candidate]]\n", 2, "have the same name"),
    ],
)
def test_faulty_candidates_are_refused(baskets: Path, text: str, code: int, what: str) -> None:
    baskets.with_name("candidates.toml").write_text(text)
    done = tune(baskets)
    assert done.returncode == code
    assert what in words(done)


def test_a_missing_candidates_file_is_an_input_error(baskets: Path) -> None:
    baskets.with_name("candidates.toml").unlink()
    done = tune(baskets)
    assert done.returncode == 3
    assert "cannot be read" in words(done)


def test_what_the_output_cannot_carry_is_said_before_anything_is_spent(baskets: Path) -> None:
    path = baskets.with_name("shop.ledger")
    ledger = Ledger.create(path, epsilon="1.5", delta="1e-5")
    done = tune(baskets, "--ledger", path, "-o", baskets.with_name("release.spmf"))
    assert done.returncode == 2
    assert "has a count on each line" in words(done)
    assert ledger.state().releases == 0
    over = tune(baskets, "-o", baskets.with_name("candidates.toml"))
    assert over.returncode == 2


@pytest.mark.slow
def test_counts_can_be_asked_for(baskets: Path) -> None:
    """With their cost within that of a run: there is a ledger with room for exactly what was asked."""
    baskets.with_name("candidates.toml").write_text(
        "release_counts = 0.4\n" + CANDIDATES.replace("max_items = 3", "release_counts = true")
    )
    path, out = baskets.with_name("shop.ledger"), baskets.with_name("release.spmf")
    ledger = Ledger.create(path, epsilon="6", delta="1e-6")
    done = succeed(
        "tune", baskets, "--candidates", baskets.with_name("candidates.toml"), "--runs", 8,
        "--epsilon", 6, "--delta", "1e-6", "--unit", "transaction", "--ledger", path, "-o", out, "--explain",
    )  # fmt: skip
    assert "Counts: each is the number of transactions" in words(done)
    assert 5.9 < ledger.state().spent.epsilon <= 6
    assert all("#SUP:" in line for line in out.read_text().splitlines() if not line.startswith("@"))
