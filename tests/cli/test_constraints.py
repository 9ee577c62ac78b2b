"""Constraints as they are typed."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.cli.command import PROMISE, end_with, fim_private, succeed, words

PAIRS = ("--size", 2, "--top", 1, *PROMISE)


@pytest.fixture
def baskets(tmp_path: Path) -> Path:
    path = tmp_path / "baskets.csv"
    path.write_text("bread,milk,SECRET-ITEM\n" * 900 + "bread,milk\n" * 2000 + "tea,jam\n" * 900 + "tea,milk\n" * 600)
    return path


def test_only_itemsets_with_the_wanted_items_are_named(baskets: Path, tmp_path: Path) -> None:
    output = tmp_path / "release.json"
    done = succeed("mine", baskets, *PAIRS, "--must-contain", "tea", "--exclude", "jam", "-o", output, "--explain")
    assert done.stdout.decode().splitlines()[-1].split(maxsplit=1) == ["1", "milk + tea"]
    assert "The question asks for itemsets that contain tea, and not jam" in words(done)
    release = json.loads(output.read_text())
    assert release["plan"]["must_contain"] == ["tea"]
    assert "--must-contain tea --exclude jam" in release["command"]
    both = fim_private("mine", baskets, *PAIRS, "--size", 3, "--must-contain", "milk", "--must-contain", "SECRET-ITEM")
    assert "SECRET-ITEM + bread + milk" in both.stdout.decode()


def test_a_file_of_items_is_a_declared_universe(baskets: Path, tmp_path: Path) -> None:
    items = tmp_path / "items.txt"
    items.write_text("tea\njam\nmilk\n")
    asked = (*PAIRS, "--mechanism", "exponential", "--seed", 1, "--json")
    one, other = (
        json.loads(fim_private("mine", baskets, *asked, f"--{name}-file", items).stdout)
        for name in ("items", "universe")
    )
    assert one["command"].replace("--items-file", "--universe-file") == other["command"]
    del one["command"], other["command"]
    assert one == other
    assert one["itemsets"][0]["items"] == ["jam", "tea"]


def test_the_plan_shows_what_is_saved() -> None:
    planned = fim_private(
        "plan", *PAIRS, "--universe-items", 1000, "--max-items", 10, "--must-contain", "milk", "--mechanism", "choosing"
    ).stdout.decode()
    assert planned.startswith("The top itemset of size 2 that contain milk, protecting one transaction.")
    assert "searches 1,000 itemsets instead of 499,500" in " ".join(planned.split())
    (record,) = json.loads(fim_private("plan", *PAIRS, "--exclude", "milk", "--mechanism", "lmm", "--json").stdout)
    assert record["plan"]["exclude"] == ["milk"]


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (("--must-contain", "milk", "--must-contain", "tea"), "nothing beside the items"),
        (("--must-contain", "milk", "--exclude", "milk"), "required and excluded"),
        (("--exclude", " "), "has no name"),
    ],
)
def test_a_faulty_call_is_refused_without_the_data(baskets: Path, options: tuple[str, ...], said: str) -> None:
    for command in (("mine", baskets), ("plan",)):
        done = end_with(2, *command, *PAIRS, *options)
        assert said in words(done)
        assert "milk" not in words(done)


def test_an_item_that_does_not_occur_stops_the_run_before_it_is_charged(baskets: Path, tmp_path: Path) -> None:
    ledger, release = tmp_path / "shop.ledger", tmp_path / "release.json"
    succeed("budget", "create", ledger, "--epsilon", 9, "--delta", "1e-4")
    asked = ("mine", baskets, *PAIRS, "--must-contain", "Milk", "--ledger", ledger, "-o", release)
    refused = end_with(3, *asked)
    assert "'Milk' (--must-contain) does not occur in the data: nothing was charged." in words(refused)
    assert "--allow-absent-items" in words(refused)
    assert "milk" not in words(refused).replace("Milk", "")
    assert not release.exists()
    assert json.loads(fim_private("budget", "show", ledger, "--json").stdout)["releases"] == 0
    done = succeed(*asked, "--allow-absent-items")
    assert "does not occur" not in words(done) + release.read_text()
    replayed = fim_private("mine", baskets, "--config", release, "--ledger", ledger)
    assert replayed.returncode == 3, "a stranger's release does not allow it"


def test_other_names_that_do_not_occur_are_told_to_the_curator(baskets: Path, tmp_path: Path) -> None:
    items = tmp_path / "items.txt"
    items.write_text("tea\njam\nSCONE\n")
    done = fim_private("mine", baskets, *PAIRS, "--exclude", "Jam", "--items-file", items)
    told = words(done).split("Read as")[0]
    assert "1 of the 3 items of the public list does not occur in the data." in told
    assert "'Jam' (--exclude) does not occur in the data." in told
    assert "SCONE" not in words(done)
    untested = "Names of your list need no test. If no itemset stands out in the data, the list is a random choice"
    counted = fim_private("mine", baskets, *PAIRS, "--items-file", items, "--release-counts")
    assert untested in " ".join(words(done).split())
    assert "random choice" not in words(counted)
    items.write_text("TEA\nJAM\nMILK\n")
    refused = end_with(3, "mine", baskets, *PAIRS, "--items-file", items)
    assert "No item of the public list occurs" in words(refused)
    assert "A line is one name, without other columns. One line is 'TEA'." in words(refused)
    assert "--allow-absent-items" in words(refused)
    items.write_text("tea,jam,bread\n")
    refused = end_with(2, "mine", baskets, *PAIRS, "--items-file", items)
    assert "too few items for an itemset of this size: 1." in words(refused)
    assert "A list has one item per line." in words(refused)
    items.write_text('"tea"\n"jam"\n')
    assert "does not occur" not in words(succeed("mine", baskets, *PAIRS, "--items-file", items)), "quotes do no harm"


@pytest.mark.parametrize("option", ["--must-contain", "--exclude"])
def test_words_do_not_tell_whether_an_item_occurs(baskets: Path, option: str) -> None:
    """The same words for an item that stands out and for one that does not occur."""
    said = []
    listed = baskets.with_name("items.txt")
    listed.write_text("".join(f"item {number}\n" for number in range(98)) + "SECRET-ITEM\nSECRET-ITEM-2\n")
    for name in ("SECRET-ITEM", "SECRET-ITEM-2"):
        asked = (*PAIRS, option, name, "--mechanism", "exponential", "--items-file", listed)
        done = succeed("mine", baskets, *asked, "--allow-absent-items")
        assert len(done.stdout.decode().splitlines()) == 3
        said.append(" ".join(words(done).replace(name, "NAME").split()))
    assert said[0] == said[1]


def test_what_is_kept_is_checked_before_anything_is_read(tmp_path: Path) -> None:
    for keep, said in (("closed", "not released"), ("frequent", "Choose one of: closed")):
        done = end_with(2, "mine", tmp_path / "absent.csv", *PAIRS, "--keep", keep)
        assert said in words(done)


def test_what_is_kept_is_recorded(baskets: Path) -> None:
    for keep in ("closed", "non-redundant", "maximal"):
        done = succeed("mine", baskets, *PAIRS, "--select", "counts", "--keep", keep, "--json")
        release = json.loads(done.stdout)
        assert release["plan"]["keep"] == keep
        assert [line["items"] for line in release["itemsets"]] == [["bread", "milk"]]
        assert "Left out" not in words(done)  # of one size all are kept


@pytest.mark.slow
@pytest.mark.parametrize(("option", "lacking"), [("--with-subsets", False), ("--per-size", True)])
def test_rules_lack_what_is_left_out_unless_subsets_were_counted(
    baskets: Path, tmp_path: Path, option: str, *, lacking: bool
) -> None:
    output = tmp_path / "release.json"
    asked = ("--sizes", "1-2", "--top", 3, *PROMISE, "--release-counts", "--keep", "maximal", option)
    mined = words(succeed("mine", baskets, *asked, "-o", output))
    done = succeed("rules", output, "--json", "--min-confidence", 0)
    rules = json.loads(done.stdout)
    assert rules
    assert any(rule["confidence"] is None for rule in rules) is lacking
    assert ("--keep left out some of them: `fim-private rules` can say" in " ".join(mined.split())) is lacking
    assert ("--keep left out the counts of itemsets" in " ".join(words(done).split())) is lacking
