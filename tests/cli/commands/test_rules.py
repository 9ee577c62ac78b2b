from __future__ import annotations

import csv
import json
from dataclasses import replace
from pathlib import Path

import polars as pl
import pytest

from fim_private.release import FoundItem
from fim_private.release.files import write_release
from fim_private.rules import association_rules
from tests.cli.command import fim_private, succeed, words
from tests.rules.releases import released

COUNTS = {("milk",): 600, ("bread, sliced",): 400, ("milk", "bread, sliced"): 400, ("tea",): 90, ("tea", "milk"): 60}
RELEASE = released(COUNTS, total=1000, half=20)


@pytest.fixture
def file(tmp_path: Path) -> Path:
    write_release(RELEASE, tmp_path / "release.json")
    return tmp_path / "release.json"


def test_rules_are_printed_in_a_table(file: Path) -> None:
    done = succeed("rules", file)
    head, _, first, *others = done.stdout.decode().splitlines()
    assert head.split() == ["rule", "confidence", "lift", "leverage", "conviction", "count"]
    # Two intervals of 20 either side hold together as intervals of 25: (400 - 25) / (400 + 25).
    assert first.startswith("bread, sliced -> milk  1.000 [0.882, 1.000]")
    assert "inf [" in first
    assert len(others) == 2
    assert "cost no privacy" in words(done)
    assert "holds the true value of its rule and measure with at least 95 % probability" in " ".join(
        words(done).split()
    )
    assert words(fim_private("rules", file, "--quiet")) == ""


def test_rules_are_printed_as_json_and_read_from_any_release(file: Path, tmp_path: Path) -> None:
    write_release(RELEASE, tmp_path / "release.parquet")
    for source in (file, tmp_path / "release.parquet"):
        rows = json.loads(fim_private("rules", source, "--json", "--min-confidence", "0.9").stdout)
        assert [(row["antecedents"], row["consequents"]) for row in rows] == [(["bread, sliced"], ["milk"])]
        assert rows[0]["conviction"] == rows[0]["conviction_high"] == "Infinity"
        assert rows[0]["lift"] == pytest.approx(1000 / 600)


@pytest.mark.parametrize("ending", [".csv", ".json", ".jsonl", ".parquet"])
def test_rules_are_written_with_everything(file: Path, tmp_path: Path, ending: str) -> None:
    path = tmp_path / f"rules{ending}"
    done = succeed("rules", file, "-o", path, "--min-lift", "1.1")
    assert f"Written to {path}" in words(done)
    frame = association_rules(RELEASE, min_lift=1.1).to_polars()
    if ending == ".parquet":
        assert pl.read_parquet(path).equals(frame)
        return
    if ending == ".csv":
        with path.open(newline="", encoding="utf-8") as lines:
            rows = [{**row, "antecedents": json.loads(row["antecedents"])} for row in csv.DictReader(lines)]
    else:
        text = path.read_text("utf-8")
        rows = json.loads(text) if ending == ".json" else [json.loads(line) for line in text.splitlines()]
    assert list(rows[0]) == frame.columns
    assert [row["antecedents"] for row in rows] == frame["antecedents"].to_list()
    assert [float(row["confidence_low"]) for row in rows] == frame["confidence_low"].to_list()


def test_no_side_of_a_rule_is_a_formula(tmp_path: Path) -> None:
    write_release(released({("tea;=1",): 90, ("tea;=1", "-2"): 80, ("-2",): 85}), tmp_path / "release.json")
    path = tmp_path / "rules.csv"
    succeed("rules", tmp_path / "release.json", "-o", path)
    assert ";=" not in path.read_text("utf-8")
    with path.open(newline="", encoding="utf-8") as lines:
        sides = {json.loads(row["antecedents"])[0] for row in csv.DictReader(lines)}
    assert sides == {"tea;=1", "-2"}


def test_what_is_not_known_is_said(tmp_path: Path) -> None:
    write_release(released({("a", "b"): 9}), tmp_path / "pairs.json")
    done = succeed("rules", tmp_path / "pairs.json")
    assert done.stdout.decode() == "No rule reaches the thresholds.\n"
    said = " ".join(words(done).split())
    assert "Left out: 2 rules of which the released counts say nothing" in said
    assert "--with-subsets" in said
    assert "a confidence of at least 0.5 are shown. A smaller --min-confidence may show more." in said
    write_release(released({("a",): 9, ("b",): 9}), tmp_path / "items.json")
    items = succeed("rules", tmp_path / "items.json")
    assert items.stdout.decode() == "The release has no itemsets of two items or more, so it has no rules.\n"
    assert "--min-confidence" not in words(items)
    write_release(released({("a", "b"): 90, ("a", "c"): 30, ("c",): 40}, half=4), tmp_path / "some.json")
    some = fim_private("rules", tmp_path / "some.json", "--min-confidence", 0)
    assert "a -> c" in some.stdout.decode()
    assert "[0.000, 1.000]" not in some.stdout.decode()
    assert "rules is unknown" in words(some)
    assert "--public-transactions" in words(some)


def test_a_release_without_itemsets_says_that_it_has_none(tmp_path: Path) -> None:
    empty = replace(released({}, total=1000), found=(FoundItem(item="milk", count=600.0),))
    write_release(empty, tmp_path / "empty.json")
    done = succeed("rules", tmp_path / "empty.json", "--html", tmp_path / "empty.html")
    assert done.stdout.decode() == "The release has no itemsets, so it has no rules.\n"
    assert "The release has no itemsets" in (tmp_path / "empty.html").read_text("utf-8")
    assert "rough" not in words(done), "there are no counts"


def test_whoever_counted_all_subsets_is_not_told_to(tmp_path: Path) -> None:
    counts = {"noise": "discrete-gaussian", "half_width": 30, "consistent": True, "with_subsets": True}
    release = released({("a", "b"): 9, ("a",): 0, ("b",): 0}, half=30)
    write_release(replace(release, plan={"counts": counts}), tmp_path / "release.json")
    said = " ".join(words(succeed("rules", tmp_path / "release.json")).split())
    assert "Left out: 2 rules of which the released counts say nothing" in said
    assert "mine with --release-counts --with-subsets" not in said
    assert "only less noise helps: a larger --epsilon, or fewer itemsets (--top)" in said


def test_rules_are_chosen_by_their_sides_and_ordered(file: Path) -> None:
    def rules(*options: object) -> list[str]:
        lines = fim_private("rules", file, "--min-confidence", 0, *options).stdout.decode().splitlines()[2:]
        return [line.split("  ")[0] for line in lines]

    assert rules("--rhs", "milk") == ["bread, sliced -> milk", "tea -> milk"]
    assert rules("--lhs", "milk", "--rhs", "tea") == ["milk -> tea"]
    assert rules("--lhs", "mug") == []
    assert "No itemset of this release holds 'Milk'. Did you mean milk?" in words(
        fim_private("rules", file, "--rhs", "Milk")
    )
    assert rules("--sort", "count")[0] == "bread, sliced -> milk"
    assert set(rules("--sort", "leverage")[:2]) == {"bread, sliced -> milk", "milk -> bread, sliced"}
    assert fim_private("rules", file, "--sort", "support").returncode == 2


def test_rules_make_a_page(file: Path, tmp_path: Path) -> None:
    page = tmp_path / "rules.html"
    succeed("rules", file, "--html", page, "--title", "Bread & more")
    text = page.read_text("utf-8")
    assert "Bread &amp; more" in text
    assert "bread, sliced → milk" in text
    assert "This answer protects every basket" in text
    assert " --" not in text[text.index('id="promise"') :].split("</section>")[0]
    assert fim_private("rules", file, "--html", file).returncode == 2


def test_seeded_releases_are_marked(tmp_path: Path) -> None:
    for counts in (COUNTS, {}):
        write_release(released(counts, seeded=True), tmp_path / "seeded.json")
        shown = fim_private("rules", tmp_path / "seeded.json").stdout.decode()
        assert shown.startswith("*** seeded, not private")
    assert "has no itemsets" in shown


def test_names_cannot_steer_the_terminal(tmp_path: Path) -> None:
    write_release(released({("a\x1b[2J",): 5, ("a\x1b[2J", "b\n"): 5}), tmp_path / "nasty.json")
    shown = fim_private("rules", tmp_path / "nasty.json").stdout
    assert b"\x1b" not in shown
    assert len(shown.splitlines()) == 3


def test_a_faulty_call_is_refused_and_changes_no_file(file: Path, tmp_path: Path) -> None:
    write_release(released({("a", "b"): 9}), tmp_path / "pairs.json")
    for code, arguments in (
        (2, ("rules",)),
        (2, ("rules", file, "--min-confidence", "2")),
        (2, ("rules", tmp_path / "pairs.json", "--min-lift", "1")),
        (2, ("rules", file, "-o", tmp_path / "rules.txt")),
        (2, ("rules", file, "-o", tmp_path / "absent" / "rules.csv")),
        (2, ("rules", file, "-o", file)),
        (3, ("rules", tmp_path / "absent.json")),
        (3, ("rules", __file__)),
    ):
        assert fim_private(*arguments).returncode == code, arguments
    assert json.loads(file.read_text("utf-8"))["itemsets"]


def test_rough_counts_and_those_of_a_part_are_said_to_be_so(tmp_path: Path) -> None:
    rough = replace(released(COUNTS, total=1000), found=(FoundItem(item="milk", count=600.0),))
    write_release(rough, tmp_path / "rough.json")
    assert "counts of this release are rough" in " ".join(words(fim_private("rules", tmp_path / "rough.json")).split())
    write_release(replace(RELEASE, plan={"max_items": 3}), tmp_path / "cut.json")
    for command in ("rules", "show"):
        said = " ".join(words(fim_private(command, tmp_path / "cut.json")).split())
        assert "are of what was left, after at most 3 items of each were kept" in said
        assert "rough" not in said


def test_a_number_of_transactions_below_the_counts_is_warned_of(file: Path, tmp_path: Path) -> None:
    assert "WARNING" not in words(fim_private("rules", file))
    page, wrong = tmp_path / "rules.html", tmp_path / "wrong.json"
    write_release(released(COUNTS, total=500, half=20), wrong)
    said = "the number of transactions was declared as 500, but released counts are larger"
    assert said in " ".join(words(fim_private("rules", wrong, "--html", page)).split())
    assert said in page.read_text()
    assert said in " ".join(words(fim_private("show", wrong)).split())
    # The noise explains 600 of 590, and any noise may explain it if its size is unknown. Of many 95 % intervals, some
    # lie above 570 by chance, as this one from 580 to 620.
    for total, half in ((590, 20), (570, 20), (500, None)):
        write_release(released(COUNTS, total=total, half=half), wrong, overwrite=True)
        assert "WARNING" not in words(fim_private("rules", wrong))
