"""Several files in one call are read like one file with all their lines or rows."""

from __future__ import annotations

import json
import os
import re
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fim_private.errors import InputError, UsageError
from fim_private.transactions.reading import read_transactions
from fim_private.transactions.sources.several import files_named
from tests.cli.command import PROMISE, fim_private, succeed, words
from tests.transactions.reading import as_sets, by_unit, read
from tests.transactions.workbook import workbook

SALES = [
    ("tid", "item", "who", "n"),
    ("1", "milk", "ann", "1"),
    ("1", "bread", "ann", "-1"),
    ("2", "tea", "bob", "2"),
    ("1", "jam", "ann", "3"),
    ("3", "milk", "bob", "x"),
]


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def write_csv(path: Path, rows: list[Any]) -> None:
    path.write_text("".join(",".join(row) + "\n" for row in rows))


def write_parquet(path: Path, rows: list[Any]) -> None:
    pl.DataFrame(rows[1:], schema=list(rows[0]), orient="row").write_parquet(path)


def write_workbook(path: Path, rows: list[Any]) -> None:
    path.write_bytes(workbook({"a": [list(row) for row in rows]}))


@pytest.mark.usefixtures("sheets_read_here")
@pytest.mark.parametrize("write", [write_csv, write_parquet, write_workbook])
@pytest.mark.parametrize("options", [{}, {"where": "n > 0"}, {"where": "who = 'bob'"}])
def test_rows_are_joined_before_transactions_and_units_are_formed(
    here: Path, write: Any, options: dict[str, str]
) -> None:
    write(here / "all", SALES)
    for number, part in enumerate((SALES[1:3], SALES[3:4], SALES[4:])):
        write(here / f"part{number}", [SALES[0], *part])
    whole = read_transactions("all", unit_column="who", **options)
    parts = read_transactions(["part0", here / "part1", "part2"], unit_column="who", **options)
    assert as_sets(parts) == as_sets(whole)
    assert by_unit(parts) == by_unit(whole)
    assert parts.notes.layout == whole.notes.layout
    assert (parts.notes.files, whole.notes.files) == (3, 1)
    assert parts.notes.rows_left_out == whole.notes.rows_left_out
    assert as_sets(read_transactions("part*", unit_column="who", **options)) == as_sets(whole)


@pytest.mark.parametrize(
    ("parts", "options"),
    [
        (["1 2\n3\n", "2 3\n", "1 9"], {"format": "fimi"}),
        (["milk,bread\nmilk\n", "tea\n", '"a, b",tea'], {"format": "basket"}),
        (["milk;bread\nmilk\n", "tea;mug\n"], {}),
        (["milk,tea\n1,0\n", "milk,tea\n1,1\n0,1\n"], {"format": "one-hot"}),
    ],
)
def test_lines_are_joined(here: Path, parts: list[str], options: dict[str, str]) -> None:
    for number, part in enumerate(parts):
        (here / f"{number}.txt").write_text(part)
    found = as_sets(read_transactions("*.txt", **options))
    assert found == [names for part in parts for names in as_sets(read(part, **options))]


def test_lists_are_joined_whatever_the_order_of_their_columns(here: Path) -> None:
    pl.DataFrame({"basket": [["milk"]], "who": ["ann"]}).write_parquet("a")
    pl.DataFrame({"who": ["bob", "ann"], "basket": [["tea"], ["jam", "milk"]]}).write_parquet("b")
    transactions = read_transactions(["a", "b"], unit_column="who")
    assert as_sets(transactions) == [{"milk"}, {"tea"}, {"jam", "milk"}]
    assert transactions.units.tolist() == [0, 1, 0]


@pytest.mark.slow
@given(st.lists(st.lists(st.sampled_from(["a,b", "c", "", " a"]), min_size=1), min_size=1, max_size=4))
def test_any_lines_are_read_as_from_one_file(tmp_path_factory: pytest.TempPathFactory, files: list[list[str]]) -> None:
    folder = tmp_path_factory.mktemp("files")
    paths = [folder / f"{number}.csv" for number in range(len(files))]
    for path, lines in zip(paths, files, strict=True):
        path.write_text("x,y\n" + "\n".join(lines) + "\n")
    whole = "".join(path.read_text() for path in paths)
    assert as_sets(read_transactions(paths, format="basket")) == as_sets(read(whole, format="basket"))


def test_the_first_file_shows_the_layout_and_the_others_obey(here: Path) -> None:
    write_csv(here / "a.csv", SALES)
    (here / "b.csv").write_text("tid;item;who;n\n7;milk;ann;1\n")
    with pytest.raises(InputError, match=r"b\.csv does not have the same columns as the first file"):
        read_transactions(["a.csv", "b.csv"])
    (here / "c.csv").write_text("item,tid,who,n\nmilk,7,ann,1\n")
    with pytest.raises(InputError, match=r"c\.csv does not have the same columns"):
        read_transactions(["a.csv", "c.csv"])
    pl.DataFrame({"tid": [1], "item": ["a"]}).write_parquet("d")
    pl.DataFrame({"tid": ["1"], "item": ["a"]}).write_parquet("e")
    with pytest.raises(InputError, match="e does not have the same columns"):
        read_transactions(["d", "e"])
    for files, words_ in ((["a.csv", "d"], "d is Parquet, and the first file is text"), (["d", "a.csv"], "is text")):
        with pytest.raises(InputError, match=words_):
            read_transactions(files)


@pytest.mark.parametrize(
    ("first", "other"),
    [
        ("milk,tea\nmilk\nSECRET\n", "tid,item\n1,SECRET\n"),
        ("milk,tea\nmilk\nSECRET\n", "milk;SECRET\ntea;jam;milk\n"),
        ("1 2\n3\n", "2,1\n3,1,4\n"),
    ],
)
def test_a_file_that_looks_unlike_the_first_is_not_read_as_its_baskets(here: Path, first: str, other: str) -> None:
    (here / "a").write_text(first)
    (here / "b").write_text(other)
    with pytest.raises(
        InputError, match=r"b looks unlike the first file, which is read as .*If they are, give"
    ) as said:
        read_transactions(["a", "b"])
    assert "SECRET" not in str(said.value)
    kind = "basket" if "," in first else "fimi"
    assert len(read_transactions(["a", "b"], format=kind)) == len((first + other).splitlines())


@pytest.mark.usefixtures("sheets_read_here")
@pytest.mark.parametrize("write", [write_csv, write_parquet, write_workbook])
def test_numbers_that_begin_again_in_every_file_are_asked_about(here: Path, write: Any) -> None:
    for name, first in (("a", 1), ("b", 1), ("c", 90)):
        write(here / name, [("tid", "item"), *((str(first + row // 2), f"i{row % 5}") for row in range(80))])
    with pytest.raises(InputError, match=r"begin again in every file.*give format=.long"):
        read_transactions(["a", "b"])
    assert len(read_transactions(["a", "b"], format="long")) == 40
    assert len(read_transactions(["a", "c"])) == 80


@pytest.mark.usefixtures("sheets_read_here")
@pytest.mark.parametrize("write", [write_csv, write_parquet, write_workbook])
def test_they_are_asked_about_too_where_rows_are_left_out(here: Path, write: Any) -> None:
    for name, first, kept in (("none", 1, 9), ("a", 1, 0), ("b", 1, 0), ("c", 90, 0)):
        rows = ((str(first + row // 2), f"i{row % 5}", str(row % 2 + kept)) for row in range(80))
        write(here / name, [("tid", "item", "n"), *rows])
    for files in (["a", "b"], ["none", "a", "b"]):
        with pytest.raises(InputError, match=r"begin again in every file.*give format=.long"):
            read_transactions(files, where="n < 2")
    assert len(read_transactions(["none", "a", "c"], where="n < 2")) == 80, "what is left out shares no numbers"


def test_a_file_of_blanks_among_others_is_refused(here: Path) -> None:
    write_csv(here / "a.csv", SALES)
    for blank in ("\n", "\u00a0\n"):
        (here / "b.csv").write_text(blank)
        with pytest.raises(InputError, match=r"b\.csv holds nothing but blanks"):
            read_transactions(["a.csv", "b.csv"])


def test_a_message_names_the_file_and_its_line(here: Path) -> None:
    write_csv(here / "a.csv", SALES)
    (here / "b.csv").write_text("tid,item,who,n\n8,SECRET\n")
    with pytest.raises(InputError, match=r"^Line 2 of b\.csv differs from the header") as refused:
        read_transactions(["a.csv", "b.csv"])
    assert "SECRET" not in str(refused.value)
    (here / "c.csv").write_text('milk,tea\n"SECRET\n')
    with pytest.raises(InputError, match=r"^Line 2 of c\.csv has unbalanced quotes"):
        read_transactions(["a.csv", "c.csv"], format="basket")
    (here / "d.csv").write_text("")
    with pytest.raises(InputError, match=r"d\.csv is empty"):
        read_transactions(["a.csv", "d.csv"])
    (here / "e.csv").write_text("\n \n")
    with pytest.raises(InputError, match="nothing but blanks"):
        read_transactions(["a.csv", "e.csv"])
    with pytest.raises(InputError, match=r"There is no file nowhere\.csv"):
        read_transactions(["a.csv", "nowhere.csv"])


def test_a_file_that_is_named_twice_is_refused(here: Path) -> None:
    """A basket that counts twice is protected half as well."""
    write_csv(here / "a.csv", SALES)
    os.link("a.csv", "b.csv")
    (here / "c.csv").symlink_to("a.csv")
    for other in ("a.csv", "./a.csv", "b.csv", "c.csv", "*.csv"):
        with pytest.raises(UsageError, match="is named twice"):
            read_transactions(["a.csv", other])
    with pytest.raises(UsageError, match="- is named twice"):
        read_transactions(["-", "-"])


def test_which_files_a_glob_names(here: Path) -> None:
    for name in ("b1.csv", "a1.csv", "a[1].csv", ".hidden.csv", "x.txt"):
        (here / name).write_text("milk,tea\n")
    (here / "deep").mkdir()
    (here / "deep" / "a2.csv").write_text("milk,tea\n")
    assert files_named(["*.csv"]) == ["a1.csv", "a[1].csv", "b1.csv"]
    assert files_named(["a[1].csv"]) == ["a[1].csv"]
    assert files_named(["b?.csv", "a1.csv"]) == ["b1.csv", "a1.csv"]
    assert files_named([here / "**" / "a2.csv"]) == [str(here / "deep" / "a2.csv")]
    with pytest.raises(InputError, match=r"There is no file shop-\*\.csv"):
        files_named(["shop-*.csv"])
    with pytest.raises(InputError, match=r"is a folder\..* such as 'deep/\*\.csv'\."):
        read_transactions("d*p")
    assert files_named(["deep/*.csv"]) == ["deep/a2.csv"]
    with pytest.raises(UsageError, match="No file is named"):
        read_transactions([])
    with pytest.raises(UsageError, match="kind of value"):
        read_transactions([["milk", "tea"]])


def test_progress_goes_over_all_files(here: Path) -> None:
    for name in ("a", "b"):
        (here / name).write_text("milk,tea\n" * 1000)
    shares: list[float] = []
    read_transactions(["a", "b"], progress=shares.append)
    assert shares == sorted(shares)
    assert 0.5 in shares
    assert shares[-1] == 1


def test_the_command_reads_several_files_and_records_how_they_were_named(here: Path) -> None:
    folder = here / "shops"
    folder.mkdir()
    for number in range(3):
        (folder / f"shop-{number}.csv").write_text("milk,bread\n" * 300)
    asked = ("--size", 2, "--top", 1, *PROMISE)
    done = succeed("mine", "--explain", folder / "shop-0.csv", folder / "shop-[12].csv", *asked, "-o", "release.json")
    assert "bread + milk" in done.stdout.decode()
    assert "Read as basket CSV, separated by commas, from 3 files." in " ".join(words(done).split())
    release = json.loads((here / "release.json").read_text())
    assert release["command"].startswith("fim-private mine FILES --size 2")
    done = fim_private("mine", folder / "shop-[012].csv", *asked, "-o", "release.json", "--overwrite")
    release = json.loads((here / "release.json").read_text())
    os.chdir(folder)
    again = succeed("mine", "--config", here / "release.json", "--json")
    assert json.loads(again.stdout)["command"].startswith("fim-private mine 'shop-[012].csv' --size 2")
    succeed("mine", "shop-0.csv", "--config", here / "release.json")
    shown = fim_private("inspect", "shop-0.csv", "shop-1.csv").stdout.decode()
    assert re.search(r"^transactions +600$", shown, re.MULTILINE)
    os.chdir(here)
    (here / "run.toml").write_text('file = ["shops/shop-0.csv", "shops/shop-1.csv"]\nsize = 2\n')
    succeed("mine", "--config", "run.toml", "--top", 1, *PROMISE, "--json")
    changed = {**release, "command": release["command"].replace("'shop-", "'shops/shop-")}
    (here / "changed.json").write_text(json.dumps(changed))
    assert "names a file with a folder" in words(fim_private("mine", "--config", "changed.json"))


def test_no_output_replaces_one_of_several_files(here: Path) -> None:
    for name in ("a.csv", "b.csv"):
        (here / name).write_text("milk,bread\n" * 300)
    asked = ("--size", 2, "--top", 1, *PROMISE)
    assert "is named twice" in words(fim_private("mine", "a.csv", "b.csv", *asked, "-o", "b.csv", "--overwrite"))
    assert "among the data" in words(fim_private("mine", "*.csv", *asked, "-o", "c.csv"))
    refused = fim_private("mine", "a.csv", "b.csv", *asked, "--items-file", "b.csv")
    assert "The data and the list of items are one file" in words(refused)
    assert "Missing argument 'FILE'" in words(fim_private("mine", *asked))
