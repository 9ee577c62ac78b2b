"""Several sizes from the command line."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import pytest

from fim_private.cli.question_options import itemset_sizes
from fim_private.errors import UsageError
from tests.cli.command import PROMISE, end_with, fim_private, succeed, words


@pytest.mark.parametrize(
    ("text", "sizes"),
    [("1-3", (1, 2, 3)), ("2", (2,)), ("3,1", (1, 3)), ("1, 3-4 ,2-3", (1, 2, 3, 4)), ("1 - 2", (1, 2))],
)
def test_typed_sizes_are_read(text: str, sizes: tuple[int, ...]) -> None:
    assert itemset_sizes(None, text) == sizes


@pytest.mark.parametrize("text", ["", "3-1", "a", "1-", "-2", "1,,2", "1-2-3", "9999", "٣"])
def test_sizes_that_cannot_be_read_are_refused(text: str) -> None:
    with pytest.raises(UsageError, match="sizes cannot be read"):
        itemset_sizes(None, text)


def test_several_sizes_are_mined_together_from_file_to_file(baskets: Path, tmp_path: Path) -> None:
    output = tmp_path / "release.csv"
    succeed("mine", baskets, "--sizes", "1-3", "--top", 3, *PROMISE, "--seed", 1, "-o", output)
    with output.open(newline="") as file:
        rows = {(row["item_1"], row["item_2"]) for row in csv.DictReader(file)}
    assert rows == {("bread", ""), ("milk", ""), ("bread", "milk")}
    one = json.loads(fim_private("mine", baskets, "--sizes", "2", "--top", 1, *PROMISE, "--json").stdout)
    assert (one["plan"]["size"], one["plan"]["sizes"]) == (2, [2])


def test_plan_says_of_which_sizes() -> None:
    shown = fim_private("plan", "--sizes", "1,3", "--top", 5, *PROMISE).stdout.decode()
    assert shown.startswith("The top 5 itemsets of sizes 1 and 3 together, protecting one transaction.")
    assert "\nitems-first" in shown
    assert "\nlimited-domain" in shown
    single = fim_private("plan", "--size", 3, "--top", 5, *PROMISE).stdout.decode()
    assert single.startswith("The top 5 itemsets of size 3, protecting")
    assert "items-first" in single


@pytest.mark.slow
def test_each_size_can_be_mined_by_itself(baskets: Path) -> None:
    options = ("--sizes", "1,2", "--per-size", "--top", 1, *PROMISE)
    release = json.loads(fim_private("mine", baskets, *options, "--json").stdout)
    found = [itemset["items"] for itemset in release["itemsets"]]
    assert found == [["bread"], ["bread", "milk"]]
    (record,) = json.loads(fim_private("plan", *options, "--mechanism", "auto", "--json").stdout)
    assert record["plan"] == release["plan"]
    shown = fim_private("plan", *options).stdout.decode()
    assert shown.startswith("The top itemset of each of the sizes 1 and 2, protecting one transaction.")
    assert "\nitems-first " in shown


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ((), "Give either --size, such as 2, or --sizes"),
        (("--size", 2, "--sizes", "1-2"), "given twice"),
        (("--sizes", "0-2"), "size is out of range"),
        (("--sizes", "1-2", "--min-count", 5, "--mechanism", "lmm"), "counts"),
    ],
)
@pytest.mark.parametrize("command", ["mine", "plan"])
def test_a_faulty_call_is_refused_with_its_reason(
    baskets: Path, command: str, options: tuple[object, ...], said: str
) -> None:
    file = (baskets,) if command == "mine" else ()
    done = end_with(2, command, *file, "--top", 3, *PROMISE, *options)
    assert said in " ".join(words(done).split())


def test_a_least_support_is_a_share_of_the_public_number_of_transactions(tmp_path: Path) -> None:
    path = tmp_path / "baskets.csv"
    path.write_text("bread,milk\n" * 900 + "tea\n" * 100)
    options = ("--sizes", "1-2", *PROMISE, "--format", "basket", "--separator", ",")
    done = succeed("mine", path, *options, "--min-support", "0.3", "--public-transactions", 1000, "--json", "--seed", 1)
    release = json.loads(done.stdout)
    assert release["plan"]["min_count"] == 299  # at least 300, so above 299
    assert {tuple(itemset["items"]) for itemset in release["itemsets"]} == {("bread",), ("milk",), ("bread", "milk")}
    assert all(itemset["support"] == min(1, itemset["count"] / 1000) for itemset in release["itemsets"])
    for wrong, said in (
        (("--min-support", "0.3"), "their exact number is secret"),
        (("--min-support", "1.1", "--public-transactions", 1000), "out of range"),
        (("--min-support", "0.3", "--public-transactions", 1000, "--min-count", 5), "Give one of them"),
    ):
        refused = end_with(2, "mine", path, *options, *wrong)
        assert said in words(refused)
