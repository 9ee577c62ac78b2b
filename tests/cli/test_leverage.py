"""Pairs by leverage on the command line: the question, the record, the statement, and the same question again."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import pytest

from tests.cli.command import PROMISE, end_with, fim_private, succeed, words

BASKETS = (
    "bags,milk\n" * 12000 + "bags\n" * 8000 + "milk\n" * 4000 + "ink,paper\n" * 6000 + "bags,milk,ink,paper\n" * 800
)
ASKED = ("--size", 2, "--top", 1, "--by", "leverage", *PROMISE)


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "baskets.csv").write_text(BASKETS)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_the_pair_that_goes_together_is_found_and_the_release_says_how(here: Path) -> None:
    mined = succeed("mine", "baskets.csv", *ASKED, "-o", "release.json", "--format", "basket", "--explain")
    release = json.loads((here / "release.json").read_text("utf-8"))
    assert [itemset["items"] for itemset in release["itemsets"]] == [["ink", "paper"]]
    assert (release["mechanism"], release["plan"]["by"]) == ("items-first", "leverage")
    assert "--by leverage" in release["command"]
    assert "Pairs are ranked by leverage: how many more transactions hold both" in words(mined)
    assert "add --release-counts --public-transactions N" in " ".join(words(mined).split())
    assert "expected" not in release["itemsets"][0]
    counts = ("--release-counts", "--public-transactions", 30_800)
    counted = succeed("mine", "baskets.csv", *ASKED, *counts, "-o", "counts.csv", "--format", "basket")
    assert "Leverage and lift" not in words(counted)
    asked = ("mine", "baskets.csv", *ASKED, *counts, "--with-subsets", "-o", "more.csv", "--format", "basket")
    assert "no place for the counts of subsets" in words(end_with(2, *asked))
    (line,) = csv.DictReader((here / "counts.csv").read_text("utf-8").splitlines())
    assert int(line["expected"]) == pytest.approx(6800 * 6800 / 30_800, rel=0.2)
    again = succeed("mine", "--config", "release.json", "--json")
    assert json.loads(again.stdout)["plan"] == release["plan"]
    shown = fim_private("show", "release.json", "--html", "page.html", "--explain")
    assert "ranked by leverage" in " ".join(shown.stderr.decode().split())
    assert "1 pair of items that goes together" in (here / "page.html").read_text("utf-8")


def test_the_plan_is_that_of_the_release_and_says_what_is_ranked() -> None:
    shown = " ".join(fim_private("plan", *ASKED).stdout.decode().split())
    assert shown.startswith("The top itemset of size 2 by leverage, protecting one transaction.")
    assert "items-first: " in shown
    assert "noisy counts of items, which name them: " in shown
    assert "the most frequent items once more, picks: " in shown
    assert " % of the budget (rho " in shown
    assert "of leverage over itemsets that do not occur" in shown


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (("--by", "lift"), "Choose --by count or leverage"),
        (("--by", "leverage", "--must-contain", "milk"), "Leave out --must-contain"),
        (
            ("--by", "leverage", "--mechanism", "exponential", "--universe-items", 9),
            "goes with --mechanism items-first",
        ),
    ],
)
def test_what_cannot_be_ranked_by_leverage_is_refused(here: Path, options: tuple[object, ...], said: str) -> None:
    done = end_with(2, "mine", here / "baskets.csv", "--size", 2, "--top", 1, *PROMISE, *options)
    assert said in words(done)
