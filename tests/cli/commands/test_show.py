from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from fim_private.release.files import read_itemsets, read_release, write_release
from fim_private.release.filters import filtered
from fim_private.report.tables import release_bars
from tests.cli.command import PROMISE, end_with, fim_private, in_own_process, succeed, words
from tests.rules.releases import released

RELEASE = released({("milk",): 600, ("milk", "bread"): 300, ("tea",): 0}, total=1000, half=20)


@pytest.fixture
def file(tmp_path: Path) -> Path:
    write_release(RELEASE, tmp_path / "release.json")
    return tmp_path / "release.json"


def test_show_prints_the_table_and_the_promise(file: Path) -> None:
    done = succeed("show", file)
    assert [line.split() for line in done.stdout.decode().splitlines()] == [
        ["Items"],
        [],
        ["rank", "itemset", "count", "at", "least", "at", "most", "support"],
        ["----", "-------", "-----", "--------", "-------", "-------"],
        ["1", "milk", "600", "580", "620", "0.6000"],
        ["3", "tea", "0", "0", "20", "0.0000"],
        [],
        ["Pairs"],
        [],
        ["rank", "itemset", "count", "at", "least", "at", "most", "support"],
        ["----", "------------", "-----", "--------", "-------", "-------"],
        ["2", "milk", "+", "bread", "300", "280", "320", "0.3000"],
    ]
    said = " ".join(words(done).split())
    assert "Each interval held the true count with 95 % chance" in said
    assert "protects every basket" in said
    assert "The promise protects one transaction" in words(fim_private("show", file, "--explain"))
    assert words(fim_private("show", file, "-q")) == ""


def test_show_says_that_itemsets_were_left_out(tmp_path: Path) -> None:
    write_release(filtered(RELEASE, "maximal"), tmp_path / "maximal.json")
    done = succeed("show", tmp_path / "maximal.json")
    assert "Only maximal itemsets are listed: an itemset was left out if" in " ".join(words(done).split())


def test_bars_are_drawn_on_request(file: Path, tmp_path: Path) -> None:
    assert "█" not in fim_private("show", file).stdout.decode()
    bars = fim_private("show", file, "--plot").stdout.decode().split("\n\n")[-1].splitlines()
    assert [line.count("█") for line in bars] == [0, 0, 60, 0, 30]
    assert release_bars(RELEASE, block="#").splitlines()[2].endswith("  " + "#" * 60)
    write_release(released({}), tmp_path / "empty.json")
    assert "no counts to draw" in words(fim_private("show", tmp_path / "empty.json", "--plot"))


def test_show_writes_a_page_that_loads_nothing(file: Path, tmp_path: Path) -> None:
    page = tmp_path / "page.html"
    done = succeed("show", file, "--html", page)
    assert f"Written to {page}" in words(done)
    text = page.read_text("utf-8")
    assert "milk + bread" in text
    assert "default-src 'none'" in text
    assert "http" not in text.replace('http-equiv="Content', "").replace("http://www.w3.org/2000/svg", "")


@pytest.mark.parametrize("ending", [".json", ".parquet", ".csv", ".jsonl", ".spmf", ".fimi"])
def test_show_writes_a_release_in_another_format(file: Path, tmp_path: Path, ending: str) -> None:
    other = tmp_path / f"other{ending}"
    succeed("show", file, "-o", other)
    assert [(line.items, line.count) for line in read_itemsets(other).itemsets] == [
        (line.items, line.count) for line in RELEASE.itemsets
    ]


@pytest.mark.parametrize(
    ("ending", "name"),
    [
        (".json", None),
        (".parquet", None),
        (".csv", "CSV"),
        (".jsonl", "JSON Lines"),
        (".spmf", "SPMF"),
        (".fimi", "FIMI"),
    ],
)
def test_show_says_how_many_counts_of_subsets_a_format_leaves_out(
    tmp_path: Path, ending: str, name: str | None
) -> None:
    subsets = released({("bread",): 400, ("jam",): 90}).itemsets
    release, output = tmp_path / "release.json", tmp_path / f"other{ending}"
    write_release(replace(RELEASE, subsets=subsets), release)
    said = words(succeed("show", release, "-o", output))
    lost = f"{name} output has no place for the counts of subsets: it leaves out 2."
    # The desk shows the first paragraph.
    assert said.strip().split("\n\n")[0] == f"Written to {output}." + (f"\n{lost}" if name else "")
    assert words(succeed("show", release, "-o", output, "--overwrite", "--quiet")) == ""


def test_what_mine_wrote_is_shown(tmp_path: Path) -> None:
    baskets = tmp_path / "baskets.csv"
    baskets.write_text("milk,bread\n" * 900)
    for ending in (".json", ".parquet"):
        release = tmp_path / f"release{ending}"
        succeed("mine", baskets, "--size", 2, "--top", 1, *PROMISE, "-o", release)
        shown = fim_private("show", release)
        assert shown.stdout.decode().splitlines()[-1].split() == ["1", "bread", "+", "milk"]
        assert read_release(release).command is not None


def test_formats_that_cannot_carry_the_plan_are_refused_before_anything_is_read(tmp_path: Path) -> None:
    absent = tmp_path / "absent.csv"
    done = end_with(2, "mine", absent, "--size", 2, "--top", 1, *PROMISE, "-o", tmp_path / "out.spmf")
    assert "a count on each line" in words(done)
    counted = ("mine", absent, "--size", 2, "--min-count", 5, *PROMISE, "-o", tmp_path / "out.fimi")
    assert fim_private(*counted).returncode == 3, "the format will do, and the file is missed"
    assert "no place to say" in words(fim_private(*counted, "--seed", 1))


def test_releases_are_read_from_standard_input(file: Path) -> None:
    done = in_own_process("show", "-", stdin=file.read_bytes())
    assert done.returncode == 0, words(done)
    assert b"milk + bread" in done.stdout


def test_whoever_gives_a_table_is_told_which_endings_hold_a_release(file: Path, tmp_path: Path) -> None:
    write_release(RELEASE, tmp_path / "release.csv")
    for command in ("show", "rules"):
        said = words(end_with(3, command, tmp_path / "release.csv"))
        assert "Give a .json or .parquet file that `fim-private mine -o` wrote." in said


def test_nothing_steers_the_terminal(tmp_path: Path) -> None:
    nasty = released({("a\x1b[2J", "b\u202e"): 5}, seeded=True)
    nasty.privacy["unit"] = "one \x1b[2J"
    write_release(nasty, tmp_path / "nasty.json")
    done = fim_private("show", tmp_path / "nasty.json", "--plot")
    assert done.stdout.startswith(b"*** seeded, not private")
    assert b"\x1b" not in done.stdout + done.stderr
    assert "\u202e" not in done.stdout.decode()
    assert "WARNING: seeded" in words(done)


def test_a_faulty_call_is_refused_and_changes_no_file(file: Path, tmp_path: Path) -> None:
    for code, arguments in (
        (2, ("show", file, "-o", file)),
        (2, ("show", file, "--html", file)),
        (2, ("show", file, "-o", tmp_path / "other.txt")),
        (2, ("show", file, "--html", tmp_path / "absent" / "page.html")),
        (3, ("show", tmp_path / "absent.json")),
        (3, ("show", __file__)),
    ):
        assert fim_private(*arguments).returncode == code, arguments
    assert json.loads(file.read_text("utf-8"))["itemsets"]


def test_plan_writes_a_page(tmp_path: Path) -> None:
    page = tmp_path / "plan.html"
    for options in ((), ("--mechanism", "lmm"), ("--json",)):
        page.unlink(missing_ok=True)
        done = succeed("plan", "--size", 2, "--top", 5, *PROMISE, *options, "--html", page)
        text = page.read_text("utf-8")
        assert "<h1" in text
        assert "No data was read, and nothing is spent." in text
        assert ("Other mechanisms" in text) == ("--mechanism" not in options)
    json.loads(done.stdout)
    assert fim_private("plan", "--size", 2, "--top", 5, *PROMISE, "--html", tmp_path / "no" / "p.html").returncode == 2
