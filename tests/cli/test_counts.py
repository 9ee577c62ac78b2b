"""Released counts from the command line."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import pytest

from fim_private.ledger import Ledger
from tests.cli.command import PROMISE, end_with, fim_private, succeed, words

QUESTION = ("--size", 2, "--top", 2, *PROMISE)


def share_in(*arguments: object) -> str | None:
    done = succeed(*arguments, "--json", "--quiet")
    counts = json.loads(done.stdout)["plan"]["counts"]
    return counts and counts["share"]


@pytest.mark.slow
def test_the_share_may_follow_and_a_file_is_no_share(baskets: Path) -> None:
    assert share_in("mine", baskets, *QUESTION) is None
    assert share_in("mine", "--release-counts", baskets, *QUESTION) == "1/5"
    assert share_in("mine", baskets, *QUESTION, "--release-counts") == "1/5"
    assert share_in("mine", "--release-counts", "0.4", baskets, *QUESTION) == "2/5"
    assert share_in("mine", baskets, *QUESTION, "--release-counts", "1/4") == "1/4"
    assert share_in("mine", baskets, *QUESTION, "--count-share", ".5") == "1/2"


def test_counts_are_printed_written_and_explained(baskets: Path, tmp_path: Path) -> None:
    output = tmp_path / "release.csv"
    done = fim_private(
        "mine", baskets, *QUESTION, "--release-counts", "--public-transactions", 2900, "--max-items", 40, "-o", output,
        "--explain",
    )  # fmt: skip
    head, _, first, _ = done.stdout.decode().splitlines()
    assert head.split() == ["rank", "itemset", "count", "at", "least", "at", "most", "support"]
    assert first.split()[1:4] == ["bread", "+", "milk"]
    with output.open(newline="") as file:
        rows = list(csv.DictReader(file))
    for row in rows:
        assert int(row["count_low"]) < int(row["count"]) < int(row["count_high"])
        assert float(row["support"]) == pytest.approx(int(row["count"]) / 2900)
    said = " ".join(words(done).split())
    reach = int(rows[0]["count_high"]) - int(rows[0]["count"])
    assert "after at most 40 items of each were kept, with discrete Gaussian noise of its own. The interval" in said
    assert f"(within {reach} of the noisy count, cut off at 0) holds that number with 95 % chance" in said
    assert "Taken as public: the number of transactions, 2,900" in said
    assert "none is above that of a subset" in said
    raw = fim_private("mine", baskets, *QUESTION, "--release-counts", "--raw-counts", "--explain")
    assert "shown as they were drawn" in " ".join(words(raw).split())


def test_merged_units_are_said(tmp_path: Path) -> None:
    path = tmp_path / "long.csv"
    path.write_text("invoice,item,customer\n" + "".join(f"{n},{item},{n}\n" for n in range(900) for item in "ab"))
    question = ("--size", 2, "--top", 1, "--epsilon", 2, "--delta", "1e-6", "--unit-column", "customer", "--explain")
    together = fim_private("mine", path, *question, "--release-counts")
    assert "units that hold the itemset in at least one transaction, with" in " ".join(words(together).split())
    merged = fim_private("mine", path, *question, "--together", "unit", "--release-counts")
    assert "after a unit's were merged into one, with" in " ".join(words(merged).split())
    capped = fim_private("mine", path, *question, "--max-transactions", 3, "--release-counts")
    assert "after at most 3 of a unit were kept, with" in " ".join(words(capped).split())


@pytest.mark.slow
def test_plan_shows_what_counts_cost_and_how_far_they_are_off() -> None:
    options = ("plan", *QUESTION, "--release-counts", "--mechanism", "lmm")
    (record,) = json.loads(fim_private(*options, "--json").stdout)
    shown = " ".join(fim_private(*options).stdout.decode().split())
    assert "counts, with discrete Laplace noise: epsilon 0.2" in shown
    assert f"off by at most {record['plan']['counts']['half_width']}, 19 times in 20" in shown
    large = " ".join(fim_private("plan", *QUESTION, "--top", 50, "--count-share", 0.2).stdout.decode().split())
    assert "counts, with discrete Gaussian noise: " in large
    assert " % of the budget (rho " in large


def test_weighted_counts_are_not_explained_where_fresh_ones_stand(baskets: Path) -> None:
    options = ("mine", baskets, *QUESTION, "--select", "counts")
    assert "in long transactions tend to be too low" in " ".join(words(fim_private(*options)).split())
    assert "tend to be too low" not in " ".join(words(fim_private(*options, "--release-counts")).split())


@pytest.mark.parametrize(
    ("options", "code", "said"),
    [
        (("--raw-counts",), 2, "--release-counts"),
        (("--public-transactions", 9), 2, "--release-counts"),
        (("--release-counts", "1"), 2, "share of the counts is out of range"),
        (("--release-counts", "--public-transactions", 0), 2, "public number of transactions"),
        (
            ("--release-counts", "--epsilon", "1e-6", "--unit-column", "c", "--max-transactions", 10**6),
            4,
            "nothing but",
        ),
    ],
)
def test_a_faulty_call_is_refused_without_the_data(
    baskets: Path, options: tuple[object, ...], code: int, said: str
) -> None:
    question = QUESTION[:-2] if "--unit-column" in options else QUESTION
    done = fim_private("mine", baskets, *question, *options)
    assert done.returncode == code
    assert said in " ".join(words(done).split())
    assert "bread" not in words(done)


@pytest.mark.slow
def test_a_ledger_is_charged_for_the_counts_too(baskets: Path, tmp_path: Path) -> None:
    path = tmp_path / "shop.ledger"
    Ledger.create(path, epsilon="1.5", delta="1e-5")
    succeed("mine", baskets, *QUESTION, "--release-counts", "--mechanism", "lmm", "--ledger", path)
    entry = Ledger(path).history()[-1]
    assert float(entry.epsilon) == pytest.approx(1, abs=1e-6)
    assert entry.losses[-1]["loss"] == "PureDP"
    assert entry.plan["plan"]["counts"]["share"] == "1/5"
    refused = end_with(4, "mine", baskets, *QUESTION, "--release-counts", "--ledger", path)
    assert "What would fit: --epsilon 0." in words(refused)


def test_counts_of_subsets_make_rules_with_confidences(baskets: Path, tmp_path: Path) -> None:
    output = tmp_path / "release.json"
    hinted = fim_private("mine", baskets, *QUESTION, "--release-counts")
    assert "add --release-counts --with-subsets" in " ".join(words(hinted).split())
    done = succeed("mine", baskets, *QUESTION, "--release-counts", "--with-subsets", "--explain", "-o", output)
    assert "Their subsets" in done.stdout.decode()
    said = " ".join(words(done).split())
    assert "Counts of itemsets and all their subsets: each is the number of transactions" in said
    assert "add --release-counts --with-subsets" not in said
    rules = fim_private("rules", output, "--json")
    assert all(rule["confidence"] is not None for rule in json.loads(rules.stdout))
    assert json.loads(rules.stdout)
    page = tmp_path / "page.html"
    succeed("show", output, "--html", page)
    assert "other subsets of these itemsets" in page.read_text("utf-8")
    lost = end_with(2, "mine", baskets, *QUESTION, "--release-counts", "--with-subsets", "-o", tmp_path / "release.csv")
    assert "no place for the counts of subsets" in words(lost)
    assert not (tmp_path / "release.csv").exists()
