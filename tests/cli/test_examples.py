"""Every command has an example in its help, and each of them does what it says, on small data."""

from __future__ import annotations

import hashlib
import shlex
from pathlib import Path

import pytest
import typer

from fim_private.cli.help import examples
from tests.cli.command import PROMISE, succeed, words
from tests.cli.test_manners import commands

SMALL_COMPARISON = shlex.split("--sizes 1 --tops 1 --epsilons 1 --trials 2 --mechanisms limited-domain --processes 1")
"""Given after the example's own options: what takes minutes is not what is tried here."""

EXAMPLES = [(called, example) for called, command in commands().items() for example in examples(command.help or "")]


@pytest.fixture
def shop(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with the files that the examples speak of."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "baskets.csv").write_text("bread,milk\n" * 2000 + "tea,jam,bread\n" * 900)
    (tmp_path / "invoices.csv").write_text("InvoiceNo,Description\n1,bread\n1,milk\n")
    (tmp_path / "retail.dat").write_text("1 2 3\n1 2\n")
    candidates = "[[candidate]]\nmechanism = 'limited-domain'\n[[candidate]]\nmechanism = 'lmm'\n"
    (tmp_path / "candidates.toml").write_text(f"size = 2\ntop = 1\n{candidates}")
    return tmp_path


def test_every_command_has_an_example() -> None:
    assert {called for called, _ in EXAMPLES} == set(commands())
    for called, example in EXAMPLES:
        assert shlex.split(example)[: len(called) + 1] == ["fim-private", *called]


def catalogue_with_a_small_file(folder: Path) -> Path:
    checksum = hashlib.sha256((folder / "retail.dat").read_bytes()).hexdigest()
    (folder / "catalogue.toml").write_text(
        f'[retail]\ntitle = "t"\ndescription = "d"\nfile = "retail.dat"\nformat = "f"\nlicence = "l"\n'
        f'citation = "c"\nsha256 = "{checksum}"\ntransactions = 2\nitems = 3\nmean_length = 2.5\n'
    )
    return folder / "catalogue.toml"


@pytest.mark.parametrize(
    ("called", "example"),
    [
        pytest.param(called, example, marks=pytest.mark.slow if called[0] in {"audit", "compare"} else ())
        for called, example in EXAMPLES
    ],
    ids=[" ".join(called) for called, _ in EXAMPLES],
)
def test_examples_work(shop: Path, monkeypatch: pytest.MonkeyPatch, called: tuple[str, ...], example: str) -> None:
    # Where nobody can be asked, a raised total needs a yes.
    asked = [*shlex.split(example)[1:], *(["--yes"] if called == ("budget", "set") else [])]
    if "shop.ledger" in asked and called != ("budget", "create"):
        succeed("budget", "create", "shop.ledger", "--epsilon", 3, "--delta", "1e-5")
    if "release.json" in asked and "-o" not in asked:
        question = ("--size", 2, "--top", 2, "--release-counts")
        succeed("mine", "baskets.csv", *question, *PROMISE, "-o", "release.json")
    if called == ("datasets", "fetch"):  # what is here already is not downloaded
        monkeypatch.setenv("FIM_PRIVATE_CATALOGUE", str(catalogue_with_a_small_file(shop)))
    # Figures take longer than all the rest; tests/cli/commands/test_compare.py draws them.
    monkeypatch.setattr("fim_private.report.comparison.report.write_report", lambda _material, _folder: None)
    # A server runs until it is ended; tests/browser/test_desk.py starts one.
    monkeypatch.setattr("fim_private.cli.desk.serve.serve", lambda *, browser: typer.echo("an address"))
    done = succeed(*asked, *(SMALL_COMPARISON if called == ("compare",) else ()))
    assert done.stdout
    assert "Error" not in words(done)
