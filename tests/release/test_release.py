from __future__ import annotations

import csv
import json
from pathlib import Path

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fim_private.errors import InputError, UsageError
from fim_private.release import Release, ReleasedItemset
from fim_private.release.files import check_writable, write_release


def release(*, seeded: bool = False, names: tuple[str, ...] = ("milk", 'a "b", c')) -> Release:
    return Release(
        itemsets=(ReleasedItemset(rank=1, items=names), ReleasedItemset(rank=2, items=("x", "ä\n"), count=5)),
        mechanism="lmm",
        privacy={"epsilon": 1.0, "delta": 1e-6, "neighbours": "add-remove", "unit": "one transaction"},
        plan={"size": 2, "top": 10},
        seeded=seeded,
        version="0",
        command="fim-private mine",
    )


@given(st.tuples(st.text(), st.text()), st.booleans())
def test_json_round_trip(names: tuple[str, str], seeded: bool) -> None:
    one = release(seeded=seeded, names=names)
    assert Release.from_json(one.to_json()) == one


@pytest.mark.parametrize("text", ["", "[]", "{}", '{"itemsets": 3}', '{"itemsets": [{"rank": 1}]}', "nonsense"])
def test_what_is_no_release_is_refused(text: str) -> None:
    with pytest.raises(InputError, match="not a release"):
        Release.from_json(text)


@pytest.mark.parametrize("seeded", [True, False])
def test_every_format_holds_the_release_and_its_mark(tmp_path: Path, seeded: bool) -> None:
    one = release(seeded=seeded)
    for suffix in (".json", ".csv", ".parquet", ".jsonl"):
        write_release(one, tmp_path / f"out{suffix}")
    assert Release.from_json((tmp_path / "out.json").read_text("utf-8")) == one
    assert ("not private" in (tmp_path / "out.json").read_text("utf-8")) is seeded

    with (tmp_path / "out.csv").open(newline="", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    assert [(row["item_1"], row["item_2"]) for row in rows] == [itemset.items for itemset in one.itemsets]
    assert [row["count"] for row in rows] == ["", "5"]
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
    assert (tmp_path / "out.csv").read_text() == "rank,item_1,item_2,item_3,count,lead,seeded\n"
    assert len(pl.read_parquet(tmp_path / "out.parquet")) == 0


def test_where_nothing_can_be_written(tmp_path: Path) -> None:
    check_writable(tmp_path / "fine.json")
    (tmp_path / "folder.json").mkdir()
    for path in (tmp_path / "release.txt", tmp_path / "absent" / "out.json", tmp_path / "folder.json"):
        with pytest.raises(UsageError):
            check_writable(path)
    with pytest.raises(InputError, match="could not be written"):
        write_release(release(), tmp_path / "absent" / "out.json")


def test_an_existing_file_is_replaced_whole_or_not_at_all(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "out.json"
    path.write_text("the release before")

    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr("fim_private.release.files._write", full)
        with pytest.raises(InputError, match="No space left"):
            write_release(release(), path)
    assert path.read_text() == "the release before"
    assert [path.name for path in tmp_path.iterdir()] == ["out.json"]
    write_release(release(), path)
    assert Release.from_json(path.read_text("utf-8")) == release()
