"""What the reports, the pages and the planner recommend is what the cells say."""

from __future__ import annotations

import math
import re
from functools import cache

import polars as pl
import pytest

from fim_private.comparison.settings import ALL_SIZES
from fim_private.mechanisms.registry import AUTO, find
from fim_private.plan import Universe
from fim_private.report.comparison.choice import ASKED, HARDLY, beside_the_best, nearest, take
from fim_private.report.comparison.results import averages
from fim_private.report.comparison.sections.answer import uses_list, where_it_fails
from tests.asking import planned
from tests.conftest import ROOT

REPORTS = {"retail": 16_470, "groceries": 169, "online-retail-customers": 3_885}
"""The items of each data set."""


@cache
def cells(data: str) -> pl.DataFrame:
    table = pl.read_parquet(ROOT / "reports" / data / "results.parquet")
    return averages(table.filter(pl.col("size") != ALL_SIZES))


def open_cells(data: str) -> pl.DataFrame:
    return cells(data).filter(~pl.col("padded") & pl.col("universe_items").is_null())


def runs(mechanism: str, precision: list[float], top: int = 10) -> pl.DataFrame:
    return pl.DataFrame(
        {
            "data": "shop",
            "mechanism": mechanism,
            "size": 2,
            "top": top,
            "epsilon": "1",
            "universe_items": None,
            "padded": False,
            "ran": mechanism,
            "precision": precision,
            "precision_named": precision,
            **dict.fromkeys(("false_negative_rate", "rank_loss", "count_loss", "empty", "named", "count_error"), 0.0),
            "seconds": 1.0,
        },
        schema_overrides={"universe_items": pl.Int64},
    )


def test_fewer_itemsets_are_advised_only_where_fewer_are_found() -> None:
    none, short = runs(AUTO, [0.1] * 30), pl.concat([runs(AUTO, [0.9] * 30, top=5), runs(AUTO, [0.1] * 30)])
    assert where_it_fails({"pairs": averages(none)}, ["1"]) == (
        "Do not ask for any pairs at epsilon 1: no mechanism without a list clearly finds half of them. Spend more "
        "epsilon."
    )
    assert where_it_fails({"pairs": averages(short)}, ["1"]).startswith(
        "Do not ask for 10 or more pairs at epsilon 1: "
    )
    assert where_it_fails({"pairs": averages(short)}, ["1"]).endswith("Ask for fewer, or spend more epsilon.")


def test_intervals_are_wilson_s_for_yes_or_no_and_student_s_elsewhere() -> None:
    right = averages(runs("lmm", [1.0] * 30, top=1)).row(0, named=True)
    assert right["precision_low"] == pytest.approx(0.8865, abs=1e-4)  # as tables of the Wilson score have it
    assert right["precision_high"] == 1
    half = averages(runs("lmm", [0.4, 0.6] * 15)).row(0, named=True)
    deviation = 0.1 * math.sqrt(30 / 29)
    assert half["precision_high"] - 0.5 == pytest.approx(2.04523 * deviation / math.sqrt(30), rel=1e-4)
    assert 0.5 - half["precision_low"] == pytest.approx(half["precision_high"] - 0.5)


def test_the_error_of_counts_is_that_of_most_runs_or_none() -> None:
    many = runs("lmm", [0.0] * 30).with_columns(count_error=pl.Series([0.5] * 15 + [None] * 15))
    assert averages(many)["count_error"].to_list() == [0.5]
    few = many.with_columns(count_error=pl.Series([16.65, *[None] * 29]))
    assert averages(few)["count_error"].to_list() == [None]


def test_what_auto_took_and_auto_itself_are_one_sample() -> None:
    took = runs(AUTO, [0.2] * 10).with_columns(ran=pl.lit("limited-domain"))
    table = pl.concat(
        [took, runs("limited-domain", [0.6] * 30), runs("lmm", [0.9] * 30), runs(AUTO, [0.8] * 30, top=20)]
    )
    found = {(row["mechanism"], row["top"]): row for row in averages(table).iter_rows(named=True)}
    for name in (AUTO, "limited-domain"):
        assert found[name, 10]["precision"] == pytest.approx(0.5)
        assert found[name, 10]["trials"] == 40
    assert (found["lmm", 10]["trials"], found[AUTO, 20]["trials"]) == (30, 30)
    elsewhere = took.with_columns(universe_items=pl.lit(100, pl.Int64))
    apart = averages(pl.concat([elsewhere, runs("limited-domain", [0.6] * 30)]))
    assert sorted(apart["trials"].to_list()) == [10, 30]


@pytest.mark.parametrize("data", REPORTS)
def test_no_interval_leaves_the_shares(data: str) -> None:
    found = cells(data)
    for column in ("precision_low", "precision_high"):
        assert found[column].is_between(0, 1).all()
    assert (found["precision_low"] <= found["precision"]).all()
    assert (found["precision_high"] >= found["precision"]).all()


def test_what_is_clearly_behind_is_not_taken_and_what_agrees_is_not_told_apart() -> None:
    good, near, poor = [0.9, 1.0] * 15, [0.89, 1.0] * 15, [0.5, 0.6] * 15
    three = averages(pl.concat([runs("lmm", near), runs("limited-domain", good), runs("certified-domain", poor)]))
    assert beside_the_best(three)["clearly"].to_list() == [False, False, True]
    assert take(three) == "limited-domain"
    with_auto = averages(pl.concat([runs("limited-domain", good), runs(AUTO, near)]))
    assert take(with_auto) == AUTO, "auto is taken where nothing is clearly better"
    both = pl.concat([runs("limited-domain", good), runs(AUTO, poor)])
    assert take(averages(both)) == "limited-domain", "clearly better than auto"
    even = pl.concat([both, runs("limited-domain", poor, top=20), runs(AUTO, good, top=20)])
    third = pl.concat([even, runs("certified-domain", good), runs("certified-domain", poor, top=20)])
    assert take(averages(third)) == AUTO, "nothing is clearly better than auto more often than it is clearly worse"
    hopeless = averages(pl.concat([runs("limited-domain", [0.04] * 30), runs(AUTO, [0.0] * 30)]))
    assert take(hopeless) == AUTO, "where nothing is of use, nothing is better"
    assert nearest((1, 3, 50), (10, 20, 100)) == (3, 50)


@pytest.mark.parametrize("data", REPORTS)
def test_a_report_recommends_what_its_cells_say(data: str) -> None:
    text = (ROOT / "reports" / data / "report.md").read_text(encoding="utf-8")
    asked = pl.col("epsilon").is_in(["1", "0.25"]) & pl.col("top").is_in([10, 20, 100]) & (pl.col("size") == 2)
    assert f"**No list of items: take `{take(open_cells(data).filter(asked))}`**" in text
    assert "30 runs may miss what happens in fewer than 1 run of 10, such as an empty list." in text
    padded = cells(data).filter(asked & pl.col("padded") & (pl.col("universe_items") >= 2 * REPORTS[data]))
    items = min(padded["universe_items"].to_list())
    listed = [name for name in padded["mechanism"].unique() if uses_list(name)]
    assert {AUTO, "items-first", "exponential"} <= set(listed), "whoever has a list may give it to auto as well"
    there = padded.filter((pl.col("universe_items") == items) & pl.col("mechanism").is_in(listed))
    assert f"**A public list of {items:,} items: take `{take(there)}`**" in text


@pytest.mark.parametrize("data", REPORTS)
def test_the_bold_cells_of_a_report_are_those_not_clearly_behind(data: str) -> None:
    text = (ROOT / "reports" / data / "report.md").read_text(encoding="utf-8")
    shown = {
        row["mechanism"]: not row["clearly"] and row["best"] >= HARDLY
        for row in beside_the_best(
            open_cells(data).filter(
                (pl.col("size") == 2) & (pl.col("epsilon") == "1") & (pl.col("top") == 10)
                & ~pl.col("mechanism").map_elements(lambda name: find(name).study, return_dtype=pl.Boolean)
            )
        ).iter_rows(named=True)
    }  # fmt: skip
    _, _, table = text.partition("| No list of items: only the baskets are needed ")
    first = dict(re.findall(r"^(?:\|  )?\| ([\w-]+) \| (\**)", table.partition("A public list")[0], re.MULTILINE))
    assert {name: bool(first[name]) for name in shown} == shown


def test_auto_is_seldom_clearly_behind() -> None:
    """Without a list it may be taken without a thought, which is what all pages say."""
    found = beside_the_best(pl.concat([open_cells(data) for data in REPORTS]))
    of_auto = found.filter(pl.col("mechanism") == AUTO)
    assert of_auto["clearly"].sum() <= len(of_auto) / 20


@pytest.mark.slow
def test_the_planner_takes_what_the_reports_measured() -> None:
    found = pl.concat([open_cells(data) for data in REPORTS])
    asked = found.filter((pl.col("mechanism") == AUTO) & (pl.col("size") == 2)).select("top", "epsilon", "ran").unique()
    for top, epsilon, ran in asked.iter_rows():
        plan = planned(top=top, epsilon=epsilon)
        assert plan.mechanism_name == ran


@pytest.mark.slow
@pytest.mark.parametrize("data", REPORTS)
def test_with_a_list_the_planner_takes_what_is_seldom_clearly_behind(data: str) -> None:
    listed = Universe(items=REPORTS[data], listed=True)
    found = beside_the_best(cells(data).filter(~pl.col("padded") & pl.col("universe_items").is_not_null()))
    behind: dict[int, list[bool]] = {1: [], 2: [], 3: []}
    for size, top, epsilon in found.select(ASKED[1:4]).unique().iter_rows():
        plan = planned(size=size, top=top, epsilon=epsilon, universe=listed)
        asked = (pl.col("size") == size) & (pl.col("top") == top) & (pl.col("epsilon") == epsilon)
        here = found.filter(asked & (pl.col("mechanism") == plan.mechanism_name))
        # The reports run neither look-first by itself, nor limited-domain with a list.
        assert len(here) == (plan.mechanism_name not in {"look-first", "limited-domain"})
        behind[size] += here["clearly"].to_list()
    assert len(behind[1]) >= 3 * 5  # k = 1, 5 and 10
    assert len(behind[2]) >= 5
    for clearly in behind.values():
        assert sum(clearly) <= math.ceil(len(clearly) / 10)


@pytest.mark.parametrize(
    ("top", "mechanism"), [(2, "permute-and-flip"), (7, "permute-and-flip"), (10, "items-first"), (100, "items-first")]
)
def test_at_delta_0_the_planner_takes_what_the_pages_say(top: int, mechanism: str) -> None:
    plan = planned(top=top, delta="0", universe=Universe(items=1000, listed=True))
    assert plan.mechanism_name == mechanism
    page = (ROOT / "docs" / "choosing-a-mechanism.md").read_text(encoding="utf-8")
    assert (
        "**Delta must be 0:** you need a public list. `auto` takes `permute-and-flip` for a few itemsets, and "
        "`items-first` with Laplace noise" in page
    )
