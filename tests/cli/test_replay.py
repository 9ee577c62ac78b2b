"""The same run once more: from a TOML file, from a release, and what a release says of the command that made it."""

from __future__ import annotations

import json
import shlex
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from fim_private import Ledger
from fim_private.cli.replay import REPLAYED, TYPED
from tests.cli.command import PROMISE, end_with, fim_private, succeed, words

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
    done = succeed("mine", "--config", "run.toml", "--top", 2, "-q")
    release = json.loads(done.stdout)
    assert (release["plan"]["top"], release["privacy"]["epsilon"]) == (2, 0.5)
    assert release == json.loads((here / "release.json").read_text("utf-8"))
    assert release["command"].startswith("fim-private mine baskets.csv ")
    assert " --size 2 --top 2 " in release["command"]
    assert "run.toml" not in release["command"]


def test_a_toml_file_writes_options_as_they_may_be_typed(here: Path) -> None:
    """Either name of an option, and a share behind --release-counts."""
    (here / "goods.txt").write_text("milk\nbread\n")
    (here / "run.toml").write_text('items_file = "goods.txt"\nrelease-counts = 0.5\nseparator = ";"\n')
    asked = ("--size", 2, "--top", 1, *PROMISE)
    done = succeed("mine", "baskets.csv", *asked, "--config", "run.toml", "--json")
    typed = ("--separator", ";", "--items-file", "goods.txt", "--release-counts", 0.5)
    assert (
        json.loads(done.stdout)["plan"]
        == json.loads(succeed("mine", "baskets.csv", *asked, *typed, "--json").stdout)["plan"]
    )


def test_what_is_typed_stands_instead_of_its_alternatives_too(here: Path) -> None:
    rows = (f"{row},{item},{row}\n" for row in range(900) for item in ("milk", "tea"))
    (here / "sales.csv").write_text("invoice,item,customer\n" + "".join(rows))
    asked = ("--size", 1, "--top", 1, "--epsilon", 1, "--delta", "1e-6", "--unit-column", "customer", "--merge")
    succeed("mine", "sales.csv", *asked, "-o", "customers.json")
    done = succeed("mine", "--config", "customers.json", "--unit", "transaction", "--sizes", "1-2", "--json")
    release = json.loads(done.stdout)
    assert release["privacy"]["unit"].startswith("one transaction")
    assert " --unit transaction" in release["command"]
    assert not {"--unit-column", "--merge", "--size"} & set(release["command"].split())


def test_a_release_says_what_makes_it_again(here: Path) -> None:
    baskets = here / "baskets.csv"
    output = here / "release.json"
    options = ("--neighbours", "replace", "--separator", ";", "--mechanism", "lmm", "--no-fallback")
    succeed("mine", baskets, *ASKED, *options, "-o", output)
    command = shlex.split(json.loads(output.read_text("utf-8"))["command"])
    assert str(here) not in " ".join(command)
    before = output.read_bytes()
    again = succeed("mine", "--config", output, "--json")
    assert f"With the settings of {output}: fim-private mine baskets.csv" in words(again)
    assert json.loads(again.stdout)["plan"] == plan_of(output)
    assert output.read_bytes() == before  # the release is not written over
    succeed(*command[1:], "-o", here / "third.json")
    assert plan_of(here / "third.json") == plan_of(output)


def test_a_replay_is_charged_to_the_ledger_that_is_typed(here: Path) -> None:
    ledger = Ledger.create(here / "shop.ledger", epsilon="2", delta="1e-5")
    succeed("mine", "baskets.csv", *ASKED, "--ledger", ledger.path, "-o", "release.json")
    refused = end_with(2, "mine", "--config", "release.json")
    assert "release.json was made by a run that charged a ledger" in words(refused)
    assert "Add --ledger" in words(refused)
    assert ledger.state().releases == 1
    succeed("mine", "--config", "release.json", "--ledger", ledger.path)
    assert ledger.state().releases == 2
    assert fim_private("mine", "--config", "release.json", "--ledger", ledger.path).returncode == 4


def with_command(path: Path, more: str, *, seeded: bool | None = None) -> Path:
    """A release whose file was changed by somebody."""
    fields = json.loads(path.read_text("utf-8"))
    fields["command"] += more
    if seeded is not None:
        fields["seeded"] = seeded
    changed = path.with_name("changed.json")
    changed.write_text(json.dumps(fields))
    return changed


def test_a_release_chooses_neither_where_it_runs_nor_what_it_says_of_it(here: Path) -> None:
    succeed("mine", "baskets.csv", *ASKED, "--separator", ";", "-o", "release.json")
    more = " --engine spark --master spark://elsewhere:7077 --quiet --output elsewhere.json --exclude '\x1b[2J'"
    done = succeed("mine", "--config", with_command(here / "release.json", more))
    assert "Not taken from it: --engine, --master. Give them on the command line." in words(done)
    assert "protects every basket" in words(done)
    assert "\x1b" not in words(done)
    assert not (here / "elsewhere.json").exists()


@pytest.mark.parametrize(("more", "seeded"), [(" --seed 7", True), (" --seed 7", False), ("", True)])
def test_a_seeded_release_is_replayed_with_a_typed_seed_or_not_at_all(here: Path, more: str, *, seeded: bool) -> None:
    succeed("mine", "baskets.csv", *ASKED, "--separator", ";", "-o", "release.json")
    changed = with_command(here / "release.json", more, seeded=seeded)
    refused = end_with(2, "mine", "--config", changed)
    assert "had a seed, and so is not private" in words(refused)
    assert "Add --seed" in words(refused)
    done = succeed("mine", "--config", changed, "--seed", 8, "--json")
    assert json.loads(done.stdout)["seeded"] is True


@pytest.mark.parametrize(
    "more", [" --epsilon 100", " --delta 0.99", " --neighbours replace", " --unit-column customer"]
)
def test_a_release_asks_for_no_other_promise_than_it_states(here: Path, more: str) -> None:
    succeed("mine", "baskets.csv", *ASKED, "-o", "release.json")
    refused = end_with(3, "mine", "--config", with_command(here / "release.json", more))
    assert "another promise than its command" in words(refused)


def test_a_release_names_no_file_in_a_folder(here: Path) -> None:
    succeed("mine", "baskets.csv", *ASKED, "--separator", ";", "-o", "release.json")
    elsewhere = here / "elsewhere"
    elsewhere.mkdir()
    (elsewhere / "baskets.csv").write_text("bread;milk\n")
    release = here / "release.json"
    release.write_text(release.read_text("utf-8").replace("mine baskets.csv", "mine elsewhere/baskets.csv"), "utf-8")
    done = end_with(3, "mine", "--config", release)
    assert "names a file with a folder" in words(done)


def test_a_list_of_items_is_never_taken_from_a_release(here: Path) -> None:
    """Its lines are published as names of items: a stranger could name a file that nobody meant to publish."""
    succeed("mine", "baskets.csv", *ASKED, "--separator", ";", "-o", "release.json")
    (here / "secret.csv").write_text("Bob,diabetes\nEve,flu\n")
    crafted = with_command(here / "release.json", " --universe-file secret.csv --mechanism exponential")
    refused = end_with(2, "mine", "--config", crafted)
    assert "Add --universe-file" in words(refused)
    assert "Bob" not in words(refused)


def test_the_data_are_no_list_of_items(here: Path) -> None:
    refused = end_with(2, "mine", "baskets.csv", *ASKED, "--universe-file", "baskets.csv", "--mechanism", "exponential")
    assert "one file" in words(refused)


def test_every_option_is_either_replayed_or_typed() -> None:
    """A stranger's release chooses the question and how to read; every other option is typed."""
    from typer.main import get_command

    from fim_private.cli.app import app

    context = get_command(app)
    command = context.get_command(None, "mine")
    options = {param.name for param in command.params} - {"help"}
    assert options <= REPLAYED | TYPED, f"in neither list: {options - REPLAYED - TYPED}"
    assert not REPLAYED & TYPED
    assert options >= REPLAYED


@pytest.mark.parametrize(
    ("text", "code", "said"),
    [
        ("epsilom = 1", 2, "unknown settings: 'epsilom'.\nDid you mean epsilon? The settings are: file, size"),
        ("as_json = true", 2, "Did you mean json?"),
        ("config = 'other.toml'", 2, "unknown settings"),
        ("[mine]\nsize = 2", 2, "unknown settings"),
        ("size = [2]", 2, "size is not a text or a number"),
        ("size = true", 2, "size is not a text or a number"),
        ("exclude = [true]", 2, "exclude is neither a value nor a plain list"),
        ("min-count = 5\nmin_count = 900", 2, "has a setting twice, with a hyphen and with an underscore"),
        ("items_file = 'a.txt'\nuniverse_file = 'b.txt'", 2, "universe_file is another name of it"),
        ("release_counts = 0.5\ncount_share = 0.9", 2, "count_share is another name of it"),
        ("size = {a = 1}", 2, "size is neither a value nor a plain list"),
        ("json = 1", 2, "json is neither true nor false"),
        ("size = 'SECRET'\nsize = 2\n", 3, "is not TOML: see line 2"),
        ("SECRET-ITEM,milk", 3, "is not TOML: see line 1"),
        ("size = " + "[" * 5000, 3, "is not TOML"),
        ("# " + "x" * (1 << 20), 3, "over 1 MiB"),
        ("\xff", 3, "not UTF-8 text"),
        (None, 3, "No such file"),
    ],
)
def test_settings_that_cannot_be_used_are_refused(here: Path, text: str | None, code: int, said: str) -> None:
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
        (None, "was not made by `fim-private mine`"),
        ("rm -r folder", "was not made by `fim-private mine`"),
        ("fim-private tune shop.csv --candidates shop.toml", "was not made by `fim-private mine`"),
        ("fim-private mine baskets.csv --brand-new 3", "does not understand"),
        ("fim-private mine 'open", "is not a release"),
    ],
)
def test_a_release_that_cannot_be_replayed_is_refused(here: Path, command: str | None, said: str) -> None:
    succeed("mine", "baskets.csv", *ASKED, "-o", "release.json")
    fields = json.loads((here / "release.json").read_text("utf-8"))
    text = json.dumps({**fields, "command": command})
    (here / "changed.json").write_text(text[:-9] if "release" in said else text)
    done = end_with(3, "mine", "--config", "changed.json")
    assert said in words(done)


def test_a_release_may_be_larger_than_settings_are(here: Path) -> None:
    succeed("mine", "baskets.csv", *ASKED, "-o", "release.json")
    fields = json.loads((here / "release.json").read_text("utf-8"))
    line = fields["itemsets"][0]
    fields["itemsets"] = [{**line, "rank": rank, "items": [f"{rank:200}", "b"]} for rank in range(1, 8000)]
    (here / "large.json").write_text(json.dumps(fields))
    assert (here / "large.json").stat().st_size > 1 << 21
    succeed("mine", "--config", "large.json", "--quiet")


def test_a_release_asks_no_database_even_if_it_says_that_its_query_was_guessed(here: Path) -> None:
    with closing(sqlite3.connect(here / "shop.db")) as connection, connection:
        connection.execute("CREATE TABLE staff (tid, item)")
        connection.executemany("INSERT INTO staff VALUES (?, 'Ann earns 9')", [(row,) for row in range(3000)])
    (here / "long.csv").write_text("tid,item\n" + "".join(f"{row},milk\n{row},tea\n" for row in range(3000)))
    asked = ("--size", 1, "--top", 1, *PROMISE)
    succeed("mine", "long.csv", *asked, "-o", "release.json")
    fields = json.loads((here / "release.json").read_text("utf-8"))
    layout = fields["privacy"]["layout"]
    layout |= {"query": "SELECT tid, item FROM staff", "guessed": [*layout["guessed"], "query"]}
    fields["command"] = fields["command"].replace("long.csv", "shop.db")
    (here / "crafted.json").write_text(json.dumps(fields))
    for named in ((), ("shop.db",)):
        refused = fim_private("mine", *named, "--config", "crafted.json")
        assert refused.returncode in {2, 3}
        assert b"Ann" not in refused.stdout + refused.stderr


def test_several_files_are_not_named_and_have_to_be_typed(here: Path) -> None:
    for name in ("ann", "bob"):
        (here / f"{name}.csv").write_text("bread;milk\n" * 2000)
    done = succeed("mine", "ann.csv", "bob.csv", *ASKED, "--separator", ";", "-o", "release.json", "--json")
    assert b"ann" not in done.stdout
    assert json.loads(done.stdout)["command"].startswith("fim-private mine FILES --size")
    refused = end_with(2, "mine", "--config", "release.json")
    assert "read several files, which it does not name" in words(refused)
    assert "Add FILE" in words(refused)
    succeed("mine", "ann.csv", "bob.csv", "--config", "release.json", "-q")
    pattern = fim_private("mine", "*.csv", *ASKED, "--separator", ";", "--json")
    assert json.loads(pattern.stdout)["command"].startswith("fim-private mine '*.csv' --size")
