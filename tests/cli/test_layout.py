"""The layout of the file is part of what a release promises: printed, recorded, on the page, and replayed."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from tests.cli.command import PROMISE, end_with, fim_private, succeed, words

ASKED = ("--size", 2, "--top", 1, *PROMISE)
HALVES = {"one.csv": (500, 501), "other.csv": (501, 500)}
"""Lines `milk,bread` and `tea;mug`: one of either more decides which separator is guessed."""


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for name, (commas, semicolons) in HALVES.items():
        (tmp_path / name).write_text("milk,bread\n" * commas + "tea;mug\n" * semicolons)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def mined(*arguments: object) -> tuple[dict[str, Any], str]:
    done = succeed("mine", *arguments, "--explain", "--json")
    return json.loads(done.stdout), " ".join(words(done).split())


def items(release: dict[str, Any]) -> list[list[str]]:
    return [itemset["items"] for itemset in release["itemsets"]]


@pytest.mark.parametrize("file", HALVES)
def test_a_typed_format_names_the_same_items_with_one_line_more_or_less(here: Path, file: str) -> None:
    release, said = mined(file, *ASKED, "--format", "basket")
    assert items(release) == [["bread", "milk"]]
    assert release["privacy"]["layout"]["separator"] == ","
    assert release["privacy"]["layout"]["guessed"] == []
    assert (
        "The layout of the file is taken as public: basket CSV, separated by commas. A transaction is one line." in said
    )
    assert "Guessed" not in said


def test_a_guess_is_promised_recorded_shown_and_replayed(here: Path) -> None:
    """With the file's own guess the release would name other items, after one line more."""
    succeed("mine", "one.csv", *ASKED, "-o", "release.json")
    release, said = mined("one.csv", *ASKED)
    assert items(release) == [["mug", "tea"]]
    assert release["privacy"]["layout"] == {
        "format": "basket",
        "kind": "text",
        "separator": ";",
        "encoding": "utf-8",
        "transaction_column": None,
        "item_column": None,
        "unit_column": None,
        "guessed": ["format", "separator"],
    }
    promised = (
        "The layout of the file is taken as public: basket CSV, separated by semicolons. A transaction is one line. "
        "The program guessed from the data: format and separator. The promise covers only data that lead to the same "
        "guess. Give --format basket --separator ';' to lift this condition."
    )
    assert promised in said
    assert "Read as basket CSV, separated by semicolons." in said
    assert promised in " ".join(words(fim_private("show", "release.json", "--explain")).split())
    succeed("show", "release.json", "--html", "page.html")
    assert "basket CSV, separated by semicolons. A transaction is one line." in Path("page.html").read_text("utf-8")

    assert items(mined("other.csv", *ASKED)[0]) == [["bread", "milk"]]
    replayed, said = mined("other.csv", "--config", "release.json")
    assert items(replayed) == [["mug", "tea"]]
    assert replayed["privacy"]["layout"] == release["privacy"]["layout"], "a guess stays one"
    assert "--format basket --separator ';'" in replayed["command"]
    assert "guessed from the data: format and separator." in said


def test_a_ledger_refuses_another_guess_than_its_first_and_takes_what_is_typed(here: Path) -> None:
    succeed("budget", "create", "shop.ledger", "--epsilon", 9, "--delta", "1e-4")
    charged = ("--ledger", "shop.ledger")
    assert items(mined("one.csv", *ASKED, *charged)[0]) == [["mug", "tea"]]
    refused = end_with(2, "mine", "other.csv", *ASKED, *charged)
    assert "--format basket --separator ';'" in words(refused)
    assert "milk" not in words(refused)
    assert items(mined("other.csv", *ASKED, *charged, "--format", "basket", "--separator", ";")[0]) == [["mug", "tea"]]
    assert items(mined("other.csv", *ASKED, *charged, "--format", "basket")[0]) == [["bread", "milk"]]
    succeed("mine", "other.csv", *ASKED, "-o", "guess.json")
    replayed = fim_private("mine", "other.csv", "--config", "guess.json", *charged)
    assert replayed.returncode == 2, "a guess of an earlier release is a guess"


def test_what_is_typed_goes_before_what_was_guessed(here: Path) -> None:
    succeed("mine", "one.csv", *ASKED, "-o", "release.json")
    assert items(mined("one.csv", "--config", "release.json", "--separator", ",")[0]) == [["bread", "milk"]]
    assert items(mined("one.csv", "--config", "release.json", "--format", "basket")[0]) == [["mug", "tea"]]
    # Another format leaves nothing of the layout that was guessed: a separator would be refused.
    (here / "blanks.txt").write_text("milk bread\n" * 1000)
    assert items(mined("blanks.txt", "--config", "release.json", "--format", "fimi")[0]) == [["bread", "milk"]]


def test_a_guess_that_is_replayed_settles_no_doubt_about_other_data(here: Path) -> None:
    (here / "baskets.csv").write_text("milk,bread\ntea,milk,bread\n" * 500)
    succeed("mine", "baskets.csv", *ASKED, "-o", "release.json")
    # Prices with decimal commas would be mined as baskets of two items.
    (here / "table.csv").write_text("customer;item;price\n" + "7;milk;4,69\n8;tea;2,95\n" * 500)
    refused = words(end_with(3, "mine", "table.csv", "--config", "release.json"))
    assert "table.csv holds ';' in nearly all lines" in refused
    (here / "long.csv").write_text("order,item\n" + "".join(f"{at},milk\n{at},tea\n" for at in range(500)))
    refused = words(end_with(3, "mine", "long.csv", "--config", "release.json"))
    assert "The data looks like long CSV" in refused
    assert "give --format basket." in refused
    succeed("inspect", "baskets.csv", "-o", "shop.toml")
    for command in (("mine", *ASKED), ("inspect",)):
        end_with(3, command[0], "long.csv", *command[1:], "--layout", "shop.toml")
    succeed("mine", "long.csv", "--config", "release.json", "--format", "basket")


def test_the_columns_that_were_guessed_are_replayed(here: Path) -> None:
    rows = "".join(f"{row},{row // 2},{item},x\n" for row in range(2000) for item in ("milk", "bread"))
    (here / "long.csv").write_text("invoice,basket,item,product\n" + rows)
    succeed("mine", "long.csv", *ASKED, "-o", "release.json")
    # Well-known names of this file would be others: the column of transactions is called another way.
    (here / "next.csv").write_text("order,invoice,item,product\n" + rows)
    release, said = mined("next.csv", "--config", "release.json")
    assert release["privacy"]["layout"]["transaction_column"] == "invoice"
    assert release["privacy"]["unit"] == "one transaction (a basket, all rows with the same value of column 'invoice')"
    assert "protects one transaction (a basket, all rows with the same value of column 'invoice'): whether it" in said
    assert "The names of the columns are public too." in said


def test_a_release_of_an_older_version_is_replayed_by_its_command(here: Path) -> None:
    succeed("mine", "one.csv", *ASKED, "-o", "release.json")
    fields = json.loads(Path("release.json").read_text("utf-8"))
    for layout in (None, {"format": 1}, "basket"):
        fields["privacy"]["layout"] = layout
        Path("old.json").write_text(json.dumps(fields), "utf-8")
        assert mined("other.csv", "--config", "old.json")[0]["privacy"]["layout"]["guessed"] == ["format", "separator"]
        assert "layout of the file" not in words(fim_private("show", "old.json", "--explain"))


def test_the_header_of_a_one_hot_file_is_public(here: Path) -> None:
    (here / "one-hot.csv").write_text("milk,bread,jam\n" + "1,1,0\n" * 1000)
    release, said = mined("one-hot.csv", *ASKED)
    assert items(release) == [["bread", "milk"]]
    assert "The header, which names the items, is public too." in said


def test_tuning_says_the_layout_too(here: Path) -> None:
    candidate = '[[candidate]]\nname = "{}"\nsize = 2\ntop = {}\n'
    (here / "ways.toml").write_text(candidate.format("one", 1) + candidate.format("two", 2))
    asked = ("--candidates", "ways.toml", "--epsilon", 3, "--delta", "1e-6", "--unit", "transaction")
    done = succeed("tune", "one.csv", *asked, "--explain", "--json")
    assert json.loads(done.stdout)["privacy"]["layout"]["separator"] == ";"
    assert "taken as public: basket CSV, separated by semicolons" in " ".join(words(done).split())


def test_a_line_that_names_the_separator_is_obeyed_recorded_and_replayed(here: Path) -> None:
    (here / "sep.csv").write_text("sep=;\n" + "milk;bread, white\n" * 1000)
    release, said = mined("sep.csv", *ASKED)
    assert items(release) == [["bread, white", "milk"]]
    assert "Give --format basket --separator ';' --skip-lines 1 to lift this condition." in said
    succeed("mine", "sep.csv", *ASKED, "-o", "release.json")
    replayed, _ = mined("sep.csv", "--config", "release.json")
    assert items(replayed) == items(release)
    assert replayed["privacy"]["layout"] == release["privacy"]["layout"]


def test_a_table_without_a_header_is_mined_by_number(here: Path) -> None:
    rows = "".join(f"{row},{item},K{row}\n" for row in range(1500) for item in ("milk", "bread"))
    (here / "rows.csv").write_text(rows)
    promise = ("--epsilon", 1, "--delta", "1e-6", "--unit-column", "3")
    columns = ("--transaction-column", "1", "--item-column", "2")
    assert fim_private("mine", "rows.csv", "--size", 2, "--top", 1, *PROMISE).returncode == 3
    release, said = mined("rows.csv", "--size", 2, "--top", 1, *promise, *columns)
    assert items(release) == [["bread", "milk"]]
    assert "no header, transaction column '1', item column '2', unit column '3'" in said


def test_a_customer_s_column_that_is_not_used_is_noted_before_anything_is_charged(tmp_path: Path) -> None:
    """The note tells of the names of the columns, and of no row."""
    file, other = tmp_path / "sales.csv", tmp_path / "bare.csv"
    rows = "".join(f"{row},{item},kim\n" for row in range(500) for item in ("milk", "bread"))
    file.write_text("InvoiceNo,Description,CustomerID\n" + rows)
    other.write_text("InvoiceNo,Description,Shelf\n" + rows)
    note = "The column 'CustomerID' was not named with --unit-column."
    lists = tmp_path / "lists.parquet"
    baskets = [["milk", "bread"]] * 500
    pl.DataFrame({"order": range(500), "CustomerID": ["kim"] * 500, "items": baskets}).write_parquet(lists)
    for name in (file, lists):
        said = words(fim_private("mine", name, *ASKED))
        assert note in " ".join(said.split())
        assert "kim" not in said
    same = ("mine", file, "--size", 2, "--top", 1, "--epsilon", 1, "--delta", "1e-6", "--unit-column", "InvoiceNo")
    assert note in " ".join(words(fim_private(*same)).split())
    for column in ("patient", "borrower_id", "Buyer"):
        file.write_text(f"InvoiceNo,Description,{column}\n" + rows)
        assert note.replace("CustomerID", column) in " ".join(words(fim_private("mine", file, *ASKED)).split())
    file.write_text("InvoiceNo,Description,CustomerID\n" + rows)
    for quiet in (
        ("mine", file, "--size", 2, "--top", 1, "--epsilon", 1, "--delta", "1e-6", "--unit-column", "CustomerID"),
        (*same[:-1], "CustomerID", "--transaction-column", "CustomerID,InvoiceNo"),
        ("mine", file, *ASKED, "--transaction-column", "CustomerID"),
        ("mine", file, *ASKED, "--quiet"),
        ("mine", other, *ASKED),
        ("mine", lists, "--size", 2, "--top", 1, "--epsilon", 1, "--delta", "1e-6", "--unit-column", "CustomerID"),
    ):
        assert note not in " ".join(words(fim_private(*quiet)).split())
