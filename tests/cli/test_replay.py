"""The same run once more: from a TOML file, from a release, and what a release says of the command that made it."""

from __future__ import annotations

import json
import shlex
from pathlib import Path

import pytest

from fim_private import Ledger
from tests.cli.command import PROMISE, fim_private, words

ASKED = ("--size", 2, "--top", 2, *PROMISE)


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "baskets.csv").write_text("bread;milk\n" * 2000 + "tea;jam\n" * 900)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def plan_of(release: Path) -> dict:
    return json.loads(release.read_text("utf-8"))["plan"]


def test_a_toml_file_stands_in_for_what_is_not_typed(here: Path) -> None:
    (here / "run.toml").write_text(
        'file = "baskets.csv"\nsize = 2\ntop = 1\nepsilon = 0.5\ndelta = "1e-6"\nunit = "transaction"\n'
        'drop-rows-without-unit = false\njson = true\noutput = "release.json"\nseparator = ";"\n'
    )
    done = fim_private("mine", "--config", "run.toml", "--top", 2, "-q")
    assert done.returncode == 0, words(done)
    release = json.loads(done.stdout)
    assert (release["plan"]["top"], release["privacy"]["epsilon"]) == (2, 0.5)
    assert release == json.loads((here / "release.json").read_text("utf-8"))
    assert release["command"].startswith("fim-private mine baskets.csv ")
    assert " --size 2 --top 2 " in release["command"]
    assert "run.toml" not in release["command"]


def test_a_release_says_what_makes_it_again(here: Path) -> None:
    baskets = here / "baskets.csv"
    output = here / "release.json"
    options = ("--neighbours", "replace", "--separator", ";", "--mechanism", "lmm", "--no-fallback")
    assert fim_private("mine", baskets, *ASKED, *options, "-o", output).returncode == 0
    command = shlex.split(json.loads(output.read_text("utf-8"))["command"])
    assert str(here) not in " ".join(command)
    before = output.read_bytes()
    again = fim_private("mine", "--config", output, "--json")
    assert again.returncode == 0, words(again)
    assert f"With the settings of {output}: fim-private mine baskets.csv" in words(again)
    assert json.loads(again.stdout)["plan"] == plan_of(output)
    assert output.read_bytes() == before  # the release is not written over
    assert fim_private(*command[1:], "-o", here / "third.json").returncode == 0
    assert plan_of(here / "third.json") == plan_of(output)


def test_a_replay_is_charged_again(here: Path) -> None:
    ledger = Ledger.create(here / "shop.ledger", epsilon="2", delta="1e-5")
    assert fim_private("mine", "baskets.csv", *ASKED, "--ledger", ledger.path, "-o", "release.json").returncode == 0
    assert fim_private("mine", "--config", "release.json").returncode == 0
    assert ledger.state().releases == 2
    assert fim_private("mine", "--config", "release.json").returncode == 4


@pytest.mark.parametrize(
    ("text", "code", "said"),
    [
        ("epsilom = 1", 2, "settings that do not exist: 'epsilom'.\nDid you mean epsilon? There are: file, size"),
        ("as_json = true", 2, "Did you mean json?"),
        ("config = 'other.toml'", 2, "settings that do not exist"),
        ("[mine]\nsize = 2", 2, "settings that do not exist"),
        ("size = [2]", 2, "size is not a text or a number"),
        ("size = true", 2, "size is not a text or a number"),
        ("size = {a = 1}", 2, "size is neither a value nor a plain list"),
        ("json = 1", 2, "json is neither true nor false"),
        ("size = 'SECRET'\nsize = 2\n", 3, "is not TOML: see line 2"),
        ("SECRET-ITEM,milk", 3, "is not TOML: see line 1"),
        ("size = " + "[" * 5000, 3, "is not TOML"),
        ("# " + "x" * (1 << 20), 3, "over a mebibyte"),
        ("\xff", 3, "not a text in UTF-8"),
        (None, 3, "No such file"),
    ],
)
def test_settings_that_cannot_be_used(here: Path, text: str | None, code: int, said: str) -> None:
    if text is not None:
        (here / "run.toml").write_text(text, encoding="latin-1")
    done = fim_private("mine", "baskets.csv", *ASKED, "--config", "run.toml")
    assert done.returncode == code, words(done)
    assert said in words(done)
    assert "SECRET" not in words(done)
    assert done.stdout == b""


@pytest.mark.parametrize(
    ("command", "said"),
    [
        (None, "does not say which command"),
        ("rm -r folder", "does not say which command"),
        ("fim-private mine baskets.csv --brand-new 3", "does not understand"),
        ("fim-private mine a b c", "does not understand"),
        ("fim-private mine 'open", "is not a release"),
    ],
)
def test_releases_that_cannot_be_replayed(here: Path, command: str | None, said: str) -> None:
    assert fim_private("mine", "baskets.csv", *ASKED, "-o", "release.json").returncode == 0
    fields = json.loads((here / "release.json").read_text("utf-8"))
    text = json.dumps({**fields, "command": command})
    (here / "changed.json").write_text(text[:-9] if "release" in said else text)
    done = fim_private("mine", "--config", "changed.json")
    assert done.returncode == 3, words(done)
    assert said in words(done)
