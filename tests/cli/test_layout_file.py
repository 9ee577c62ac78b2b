"""A layout in a file: written by `inspect -o`, taken by `--layout`."""

from __future__ import annotations

import json
import sqlite3
import tomllib
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from typer.main import get_command

from fim_private.cli.app import app
from fim_private.cli.layout_file import MARK, SWITCH, TEXTS, layout_text
from fim_private.cli.option_groups import names_of
from fim_private.cli.options import Reading
from fim_private.report.comparison.results import ComparisonResults
from fim_private.transactions.layout import TYPED, Layout
from tests.cli.command import end_with, fim_private, succeed, words

ASKED = ("--size", 2, "--top", 1, "--epsilon", 1, "--delta", "1e-6")
COLUMNS = ("--transaction-column", "Beleg", "--item-column", "Ding", "--where", "Menge > 0 AND Ding <> 'Tüte'")


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    rows = [f"{number};{item};k{number};1" for number in range(900) for item in ("Milch", "Brot")]
    text = "\n".join(["Beleg;Ding;Kunde;Menge", *rows, "9999;Brot;;1", "9998;Tüte;k1;1"])
    for name in ("a.csv", "b.csv"):
        (tmp_path / name).write_text(text + "\n", encoding="latin-1")
    return tmp_path


def inspected(*options: object) -> dict[str, Any]:
    done = succeed("inspect", "a.csv", *options, "-o", "shop.toml", "--overwrite")
    assert "Written to shop.toml." in words(done)
    return tomllib.loads(Path("shop.toml").read_text("utf-8"))


def mined(*arguments: object) -> tuple[dict[str, Any], str]:
    done = succeed("mine", *arguments, *ASKED, "--json")
    return json.loads(done.stdout), " ".join(words(done).split())


def test_what_inspect_writes_mine_takes(here: Path) -> None:
    options = (*COLUMNS, "--encoding", "latin-1", "--unit-column", "kunde", "--drop-rows-without-unit")
    written = inspected(*options)
    assert written == {
        "format": "long",
        "separator": ";",
        "encoding": "iso8859-1",
        "transaction_column": "Beleg",
        "item_column": "Ding",
        "unit_column": "Kunde",
        "where": "Menge > 0 AND Ding <> 'Tüte'",
        "drop_rows_without_unit": True,
        "guessed": ["format", "separator"],
    }
    release, said = mined("b.csv", "--layout", "shop.toml")
    assert release["itemsets"][0]["items"] == ["Brot", "Milch"]
    layout = release["privacy"]["layout"]
    assert (layout["unit_column"], layout["where"]) == ("Kunde", written["where"])
    assert layout["guessed"] == ["format", "separator"], "a guess that is written down is still one"
    assert "rows without a unit left out (1)" in said
    assert "shop.toml" not in release["command"]
    assert "--transaction-column Beleg" in release["command"]
    assert "--unit-column Kunde" in release["command"]


def test_a_layout_that_somebody_confirmed_is_no_guess(here: Path) -> None:
    inspected(*COLUMNS, "--encoding", "latin-1")
    text = Path("shop.toml").read_text("utf-8")
    kept = [line for line in text.splitlines() if not line.startswith(MARK)]
    Path("shop.toml").write_text("\n".join(kept), "utf-8")
    release, said = mined("b.csv", "--layout", "shop.toml", "--unit", "transaction")
    assert release["privacy"]["layout"]["guessed"] == []
    assert "The program guessed" not in said


def test_options_on_the_command_line_override_the_file(here: Path) -> None:
    inspected(*COLUMNS, "--encoding", "latin-1", "--unit-column", "Kunde", "--drop-rows-without-unit")
    release, _ = mined("b.csv", "--layout", "shop.toml", "--where", "Ding IS NOT NULL", "--separator", ";")
    assert release["privacy"]["layout"]["where"] == "Ding IS NOT NULL"
    assert release["privacy"]["layout"]["guessed"] == ["format"]
    # Who protects transactions needs no unit.
    release, said = mined("b.csv", "--layout", "shop.toml", "--unit", "transaction")
    assert release["plan"]["unit_column"] is None
    assert "rows without a unit" not in said


@pytest.mark.parametrize("first", ["--config", "--layout"])
def test_a_layout_goes_before_a_file_of_settings(here: Path, first: str) -> None:
    inspected(*COLUMNS, "--encoding", "latin-1")
    Path("run.toml").write_text(
        'size = 2\ntop = 1\nwhere = "Menge > 99"\nepsilon = 1\ndelta = "1e-6"\nunit = "transaction"\n'
    )
    files = {"--config": "run.toml", "--layout": "shop.toml"}
    order = [first, *(option for option in files if option != first)]
    done = succeed("mine", "b.csv", *(word for option in order for word in (option, files[option])), "--json")
    assert json.loads(done.stdout)["privacy"]["layout"]["where"] == "Menge > 0 AND Ding <> 'Tüte'"


def test_inspect_takes_and_writes_the_same_again(here: Path) -> None:
    first = inspected(*COLUMNS, "--encoding", "latin-1")
    before = Path("shop.toml").read_text("utf-8")
    succeed("inspect", "b.csv", "--layout", "shop.toml", "-o", "again.toml")
    assert tomllib.loads(Path("again.toml").read_text("utf-8")) == first
    assert Path("again.toml").read_text("utf-8") == before
    refused = fim_private("inspect", "b.csv", "--layout", "shop.toml", "-o", "shop.toml", "--overwrite")
    assert "is named twice" in words(refused)
    for output in ("again.toml", "a.csv"):
        assert fim_private("inspect", "a.csv", "-o", output).returncode == 2
    assert Path("shop.toml").read_text("utf-8") == before


@pytest.mark.parametrize(
    ("text", "said", "code"),
    [
        ('formt = "long"', "unknown settings: 'formt'", 2),
        ("epsilon = 1", "unknown settings: 'epsilon'", 2),
        ('file = "a.csv"', "unknown settings: 'file'", 2),
        ('engine = "spark"', "unknown settings: 'engine'", 2),
        ("format = true", "format is not a text", 2),
        ('where = ["a"]', "where is not a text", 2),
        ('drop_rows_without_unit = "yes"', "neither true nor false", 2),
        ('guessed = "format"', "guessed is not a list of settings", 2),
        ('guessed = ["epsilon"]', "guessed is not a list of settings", 2),
        ("format = {}", "neither a value nor a plain list", 2),
        ("format: long", "is not TOML", 3),
    ],
)
def test_what_is_no_layout_is_refused(here: Path, text: str, said: str, code: int) -> None:
    Path("shop.toml").write_text(text)
    done = fim_private("mine", "a.csv", "--layout", "shop.toml", *ASKED, "--unit", "transaction")
    assert said in words(done)
    assert done.returncode == code
    missing = fim_private("inspect", "a.csv", "--layout", "nowhere.toml")
    assert (missing.returncode, "Correct --layout" in words(missing)) == (3, True)


def test_any_layout_comes_back() -> None:
    odd = 'a "quoted"\\name\t\x7f\x01 é 漢'
    layout = Layout(
        format="long",
        separator="\t",
        encoding="utf-8",
        sheet="2010",
        where=odd,
        query=odd,
        unit_column=odd,
        skip_lines=2,
        skip_columns="1,3",
        item_separator=";",
    )
    found = tomllib.loads(layout_text(layout, drop_rows_without_unit=False))
    assert found == {**layout.settings(), "unit_column": odd}
    assert set(TYPED) <= set(TEXTS)
    assert SWITCH not in found


def test_every_command_that_reads_baskets_takes_the_same_options() -> None:
    commands = get_command(app).commands
    readers = {"mine": set(), "inspect": {"engine", "master"}, "tune": {"engine", "master"}}
    for name, without in {**readers, "compare": {"engine", "master"}}.items():
        assert names_of(Reading) - {param.name for param in commands[name].params} == without, name


def test_tuning_takes_a_layout_and_its_guesses(here: Path) -> None:
    written = inspected(*COLUMNS, "--encoding", "latin-1", "--unit-column", "Kunde", "--drop-rows-without-unit")
    Path("candidates.toml").write_text("size = 2\ntop = 1\n[[candidate]]\n[[candidate]]\nmechanism = 'lmm'\n")
    asked = ("--candidates", "candidates.toml", "--epsilon", 6, "--delta", "1e-6", "--runs", 8)
    done = succeed("tune", "b.csv", *asked, "--layout", "shop.toml", "--seed", 3, "--json")
    release = json.loads(done.stdout)
    layout = release["privacy"]["layout"]
    assert (layout["unit_column"], layout["where"]) == ("Kunde", written["where"])
    assert layout["guessed"] == ["format", "separator"]
    assert "shop.toml" not in release["command"]
    refused = fim_private("tune", "b.csv", *asked, "--layout", "shop.toml", "-o", "shop.toml", "--overwrite")
    assert "is named twice" in words(refused)


SMALL = ("--sizes", 2, "--tops", 1, "--epsilons", 1, "--trials", 2, "--mechanisms", "lmm", "--processes", 1)


@pytest.mark.slow
def test_a_comparison_takes_a_layout_and_goes_on_with_it(here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    written: list[ComparisonResults] = []
    monkeypatch.setattr("fim_private.report.comparison.report.write_report", lambda results, _: written.append(results))
    typed = (*COLUMNS, "--encoding", "latin-1", "--unit-column", "Kunde", "--drop-rows-without-unit")
    inspected(*typed)
    Path("confirmed.toml").write_text(Path("shop.toml").read_text().partition("# These were guessed")[0])
    (here / "folder").mkdir()
    Path("confirmed.toml").rename("folder/confirmed.toml")
    layout = ("--layout", "folder/confirmed.toml")
    # As `inspect` wrote them: also the guesses, and the encoding by its own name.
    settings = (*typed[:-3], "--unit-column", "Kunde", "--drop-rows-without-unit", "--format", "long")
    settings = (*settings, "--separator", ";", "--encoding", "iso8859-1")
    for options in (settings, layout):
        done = succeed("compare", "a.csv", *SMALL, *options, "--curator", "--seed", 1, "-o", "report")
    assert "2 runs, 1 at a time" not in words(done)
    assert written[0].table.equals(written[1].table)
    assert written[1].counts[0].transactions == 900
    assert written[1].settings.unit_column == "Kunde"


def test_a_comparison_does_not_take_a_written_guess_as_typed(here: Path) -> None:
    Path("shop.toml").write_text('format = "basket"\nseparator = ";"\nguessed = ["format", "separator"]\n')
    Path("table.csv").write_text("Beleg;Artikel\n" + "1;Milch\n1;Brot\n2;Tee\n2;Brot\n" * 9)
    refused = end_with(3, "compare", "table.csv", *SMALL, "--layout", "shop.toml", "--curator", "-o", "report")
    assert "looks like long CSV" in words(refused)
    assert "the format basket was guessed from earlier data" in words(refused)


@pytest.mark.slow
def test_a_comparison_asks_a_database(here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    written: list[ComparisonResults] = []
    monkeypatch.setattr("fim_private.report.comparison.report.write_report", lambda results, _: written.append(results))
    with closing(sqlite3.connect("shop.db")) as connection, connection:
        connection.execute("CREATE TABLE sales (beleg, ding, kunde)")
        rows = [(number, ding, number) for number in range(300) for ding in ("Milch", "Brot")]
        connection.executemany("INSERT INTO sales VALUES (?, ?, ?)", rows)
    columns = ("--transaction-column", "beleg", "--item-column", "ding", "--query", "SELECT * FROM sales")
    source = f"sqlite:///{here}/shop.db"
    for _ in range(2):
        succeed("compare", source, *SMALL, *columns, "--curator", "--seed", 1, "-o", "report")
    (first,), (second,) = (results.sources for results in written)
    assert (first.name, first.file) == ("shop", "shop.db")
    assert first == second
    assert str(here) not in written[0].command
    assert written[0].command.startswith("fim-private compare shop.db --sizes 2")
    refused = fim_private("compare", source, *SMALL, *columns, "-o", "report")
    assert "add --curator" in words(refused)
    with closing(sqlite3.connect("shop.db")) as connection, connection:
        connection.execute("DELETE FROM sales WHERE beleg = 7")
    other = fim_private("compare", source, *SMALL, *columns, "--curator", "--seed", 1, "-o", "report")
    assert "holds a comparison with other data" in words(other)
