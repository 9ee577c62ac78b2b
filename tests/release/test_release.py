from __future__ import annotations

import csv
import json
import os
from pathlib import Path

import polars as pl
import pytest

from fim_private.errors import InputError, UsageError
from fim_private.plan import Universe
from fim_private.plan.record import plan_record
from fim_private.privacy import Budget, PrivacyUnit
from fim_private.release import Layout, Release, ReleasedItemset
from fim_private.release.files import check_writable, write_release
from fim_private.release.terms import privacy_record
from tests.asking import planned


def release(*, seeded: bool = False, names: tuple[str, ...] = ("milk", 'a "b", c')) -> Release:
    return Release(
        itemsets=(ReleasedItemset(rank=1, items=names), ReleasedItemset(rank=2, items=("x", "ä\n"), count=5, lead=3)),
        mechanism="lmm",
        privacy={"epsilon": 1.0, "delta": 1e-6, "neighbours": "add-remove", "unit": "one transaction"},
        plan={"size": 2, "top": 10},
        seeded=seeded,
        version="0",
        command="fim-private mine",
    )


@pytest.mark.parametrize(
    "text",
    [
        "",
        "[]",
        "{}",
        '{"itemsets": 3}',
        '{"itemsets": [{"rank": 1}]}',
        "nonsense",
        "[" * 100_000,
        '{"itemsets": ' + "[" * 100_000,
    ],
)
def test_what_is_no_release_is_refused(text: str) -> None:
    with pytest.raises(InputError, match="not a release"):
        Release.from_json(text)


@pytest.mark.parametrize("seeded", [True, False])
def test_every_format_holds_the_release_and_its_mark(tmp_path: Path, seeded: bool) -> None:
    one = release(seeded=seeded)
    for suffix in (".json", ".csv", ".parquet", ".jsonl"):
        write_release(one, str(tmp_path / f"out{suffix}"))
    assert Release.from_json((tmp_path / "out.json").read_text("utf-8")) == one
    assert ("not private" in (tmp_path / "out.json").read_text("utf-8")) is seeded

    with (tmp_path / "out.csv").open(newline="", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    assert [(row["item_1"], row["item_2"]) for row in rows] == [itemset.items for itemset in one.itemsets]
    assert [row["rank"] for row in rows] == ["1", "2"]
    assert [row["count"] for row in rows] == ["", "5"]
    assert [row["lead"] for row in rows] == ["", "3"]
    assert {row["seeded"] for row in rows} == {str(seeded).lower()}

    frame = pl.read_parquet(tmp_path / "out.parquet")
    assert frame.equals(one.to_polars())
    assert frame["seeded"].to_list() == [seeded] * 2
    assert Release.from_json(pl.read_parquet_metadata(tmp_path / "out.parquet")["fim_private"]) == one

    lines = [json.loads(line) for line in (tmp_path / "out.jsonl").read_text("utf-8").splitlines()]
    assert [tuple(line["items"]) for line in lines] == [itemset.items for itemset in one.itemsets]
    assert {line["seeded"] for line in lines} == {seeded}
    assert {path.name for path in tmp_path.iterdir()} == {"out.csv", "out.json", "out.jsonl", "out.parquet"}


def test_an_empty_release_can_be_written(tmp_path: Path) -> None:
    empty = Release(itemsets=(), mechanism="lmm", privacy={}, plan={"size": 3}, seeded=False, version="0")
    for suffix in (".json", ".csv", ".parquet", ".jsonl"):
        write_release(empty, tmp_path / f"out{suffix}")
    assert (tmp_path / "out.csv").read_text() == "rank,item_1,count,count_low,count_high,support,expected,lead,seeded\n"
    assert len(pl.read_parquet(tmp_path / "out.parquet")) == 0


def test_a_place_that_cannot_be_written_is_refused(tmp_path: Path) -> None:
    check_writable(tmp_path / "fine.json")
    (tmp_path / "folder.json").mkdir()
    for path in (tmp_path / "release.txt", tmp_path / "absent" / "out.json", tmp_path / "folder.json"):
        with pytest.raises(UsageError):
            check_writable(path)
    with pytest.raises(InputError, match="could not be written"):
        write_release(release(), tmp_path / "absent" / "out.json")


def test_a_folder_that_takes_no_files_is_refused_before_anything_is_spent(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("os.access", lambda _path, mode: mode != os.W_OK)
    with pytest.raises(UsageError, match="No file can be written"):
        check_writable(tmp_path / "out.json")


@pytest.mark.parametrize(
    ("name", "universe", "said"),
    [
        ("lmm", None, None),
        ("exponential", Universe(items=100), 100),
        ("exponential", Universe(names=tuple("abcdefgh")), None),
        ("items-first", Universe(items=100), 100),
        ("items-first", Universe(names=tuple("abcdefgh")), None),
        ("items-first", None, 65_536),
    ],
)
def test_what_the_promise_takes_as_public_is_said_where_it_takes_something(
    name: str, universe: Universe | None, said: int | None
) -> None:
    budget = Budget("1", "1e-6")
    plan = planned(budget=budget, mechanism=name, universe=universe)
    record = privacy_record(plan)
    assert "taken_as_public" not in record
    assert record.get("most_items") == said
    assert (record["epsilon"], record["delta"], record["neighbours"]) == (1.0, 1e-6, "add-remove")
    assert record["proved"]["epsilon"] == float(plan.guarantee.epsilon) <= 1
    assert record["proved"]["delta"] == float(plan.guarantee.delta) <= 1e-6


def test_the_promise_says_what_a_transaction_is_where_that_is_the_unit() -> None:
    layout = Layout(format="long", separator=",", transaction_column="receipt")
    for unit, said in ((PrivacyUnit(), True), (PrivacyUnit(column="customer"), False)):
        plan = planned(unit=unit)
        record = privacy_record(plan, layout)
        assert record["unit"] == unit.describe() + (f" (a basket, {layout.transaction})" if said else "")
        assert record["layout"] == layout.record()


@pytest.mark.parametrize("name", ["lmm", "items-first"])
def test_the_record_names_every_number_of_the_plan(name: str) -> None:
    """Epsilons of picks, rhos of measurements: each once, none made up where there is none; fractions as they are."""
    plan = planned(top=30, mechanism=name)
    record = plan_record(plan)
    assert len(record["spending"]) == len(plan.mechanism.spending)
    for line, spent in zip(record["spending"], plan.mechanism.spending, strict=True):
        assert (line["epsilon"] is None) == (spent.epsilon is None)
        assert (line["rho"] is None) == (spent.rho is None)
        assert line["epsilon"] is None or line["epsilon"] == float(spent.epsilon or 0) > 0
        assert line["rho"] is None or line["rho"] == float(spent.rho or 0) > 0
        assert line["times"] == spent.times
    assert record["failure_probability"] == float(plan.failure) > 0
    parameters = record["parameters"]
    assert parameters["top"] == 30
    if name == "lmm":
        assert parameters["search_epsilon"] == "1/5"
        assert parameters["fallback"]["candidates"] == 30_000


@pytest.mark.parametrize(
    ("once", "twice"),
    [
        ('"seeded": false', '"seeded": true, "seeded": false'),
        ('"epsilon": 1', '"epsilon": 1, "epsilon": 9'),
        ('"rank": 1', '"rank": 1, "rank": 1'),
    ],
)
def test_a_field_that_is_there_twice_is_refused(once: str, twice: str) -> None:
    """Programs differ in which of the two they take: it could be shown as private by one and as seeded by another."""
    text = release().to_json()
    assert once in text
    assert Release.from_json(text) == release()
    with pytest.raises(InputError, match="not a release"):
        Release.from_json(text.replace(once, twice, 1))
