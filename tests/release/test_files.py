"""What is written is read back, whatever the names are; what a format cannot carry is refused before it costs."""

from __future__ import annotations

import gzip
import json
import os
import tempfile
import traceback
import tracemalloc
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

import polars as pl
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from fim_private.errors import FimPrivateError, InputError, UsageError
from fim_private.plan import make_plan
from fim_private.privacy import Budget, PrivacyUnit
from fim_private.release import FoundItem, Release, ReleasedItemset
from fim_private.release.files import (
    SUFFIXES,
    Itemsets,
    check_carries,
    comma_separated,
    fimi,
    json_document,
    json_lines,
    parquet,
    read_itemsets,
    read_release,
    spmf,
    write_release,
)
from tests.asking import planned

NASTY = (
    *(
        'a "b", c',
        "a\nb",
        "a\r\nb",
        "a\rb",
        "\\n",
        "\\",
        "a\\",
        "a b",
        " a",
        "a ",
        "\t",
        " ",
        "\u00a0",
        "\u2028",
        "\x85",
    ),
    *(
        "\x00",
        "\x1b[2J",
        "\ufeff",
        "\u202eklim",
        "é",
        "e\u0301",
        "牛奶",
        "🥛",
        "null",
        "None",
        "NaN",
        "nan",
        "true",
        "-",
    ),
    *(
        "(5)",
        "#SUP: 7",
        "# x",
        "@ITEM=1=x",
        "@",
        "%",
        "%20",
        "%%",
        "a=b",
        "=1+1",
        "1",
        "01",
        "1.0",
        ";",
        "'",
        "<b>&amp;",
    ),
)
NAMES = st.one_of(st.sampled_from(NASTY), st.text(min_size=1))
COUNTS = st.one_of(st.none(), st.integers(-(10**9), 10**9))


@st.composite
def releases(draw: st.DrawFn, *, counted: bool = False, seeded: bool | None = None) -> Release:
    lists = draw(st.lists(st.lists(NAMES, min_size=1, max_size=4, unique=True), max_size=6))
    itemsets = tuple(
        ReleasedItemset(rank=rank, items=tuple(items), count=draw(st.integers(-5, 10**12)))
        if counted
        else ReleasedItemset(
            rank=rank,
            items=tuple(items),
            count=draw(COUNTS),
            count_low=draw(COUNTS),
            count_high=draw(COUNTS),
            support=draw(st.none() | st.floats(0, 1)),
            expected=draw(COUNTS),
            lead=draw(COUNTS),
        )
        for rank, items in enumerate(lists, start=1)
    )
    found = draw(st.none() | st.tuples(st.builds(FoundItem, item=NAMES, count=st.floats(0, 1e9))))
    parts = draw(st.lists(st.lists(NAMES, min_size=1, max_size=3, unique=True), max_size=2))
    return Release(
        itemsets=itemsets,
        subsets=tuple(
            ReleasedItemset(rank=rank, items=tuple(items), count=draw(COUNTS))
            for rank, items in enumerate(parts, start=1)
        ),
        mechanism="items-first",
        privacy={"epsilon": 1.0, "unit": draw(NAMES)},
        plan={"size": 2},
        seeded=draw(st.booleans()) if seeded is None else seeded,
        version="0",
        command=draw(st.none() | NAMES),
        found=found,
    )


def there_and_back(release: Release, ending: str) -> tuple[tuple[ReleasedItemset, ...], bool]:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / f"release{ending}"
        write_release(release, path)
        read = read_itemsets(path)
    return read.itemsets, read.seeded


# Making a release takes longer than writing it, so that each is tried with all formats.


@pytest.mark.slow
@given(release=releases())
def test_whole_releases_come_back_whole(release: Release) -> None:
    for ending in (".json", ".parquet"):
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / f"release{ending}"
            write_release(release, path)
            assert read_release(path) == release, ending


@pytest.mark.slow
@given(release=releases())
def test_tables_come_back_with_every_column(release: Release) -> None:
    for ending in (".json", ".jsonl", ".csv", ".parquet"):
        itemsets, seeded = there_and_back(release, ending)
        assert itemsets == release.itemsets, ending
        if itemsets:  # an empty table has no row to bear the mark
            assert seeded is release.seeded, ending


@given(release=releases(counted=True))
def test_spmf_comes_back_with_items_counts_and_the_mark(release: Release) -> None:
    assert there_and_back(release, ".spmf") == (release.itemsets, release.seeded)


@given(release=releases(counted=True, seeded=False))
def test_fimi_comes_back_with_items_and_counts(release: Release) -> None:
    assert there_and_back(release, ".fimi") == (release.itemsets, False)


def counted(*itemsets: tuple[tuple[str, ...], int], seeded: bool = False) -> Release:
    return Release(
        itemsets=tuple(ReleasedItemset(rank=r, items=i, count=c) for r, (i, c) in enumerate(itemsets, start=1)),
        mechanism="items-first",
        privacy={},
        plan={},
        seeded=seeded,
        version="0",
    )


def test_each_format_is_written_to_the_byte(tmp_path: Path) -> None:
    one = counted((("bread", "milk"), 12), (("milk",), 5), (("10", "bread", "skimmed milk"), 3))
    for ending in (".spmf", ".fimi", ".csv"):
        write_release(one, tmp_path / f"out{ending}")
    assert (tmp_path / "out.spmf").read_text() == (
        "@CONVERTED_FROM_TEXT\n@ITEM=1=10\n@ITEM=2=bread\n@ITEM=3=milk\n@ITEM=4=skimmed milk\n"
        "2 3 #SUP: 12\n3 #SUP: 5\n1 2 4 #SUP: 3\n"
    )
    assert (tmp_path / "out.fimi").read_text() == "bread milk (12)\nmilk (5)\n10 bread skimmed%20milk (3)\n"
    head, first, second, third = (tmp_path / "out.csv").read_text().splitlines()
    assert head == "rank,item_1,item_2,item_3,count,count_low,count_high,support,expected,lead,seeded"
    assert (first, second) == ("1,bread,milk,,12,,,,,,false", "2,milk,,,5,,,,,,false")
    assert third == "3,10,bread,skimmed milk,3,,,,,,false"


def test_files_of_other_programs_are_read(tmp_path: Path) -> None:
    (tmp_path / "a.fimi").write_text("1 2 3  (4)\r\n2 (7)\n\n")
    assert [(i.items, i.count) for i in read_itemsets(tmp_path / "a.fimi").itemsets] == [
        (("1", "2", "3"), 4),
        (("2",), 7),
    ]
    (tmp_path / "a.spmf").write_text(
        "@CONVERTED_FROM_TEXT\n@ITEM=1=a\\new\n# remark\n1 2 #SUP: 4 #TID: 1 2\n1  #SUP: 9\n"
    )
    assert [(i.items, i.count) for i in read_itemsets(tmp_path / "a.spmf").itemsets] == [
        (("a\\new", "2"), 4),
        (("a\\new",), 9),
    ]
    (tmp_path / "a.csv").write_bytes("\ufeffrank,item_1,item_2\r\n1,milk,\r\n".encode())
    assert read_itemsets(tmp_path / "a.csv").itemsets == (ReleasedItemset(rank=1, items=("milk",)),)
    packed = tmp_path / "a.csv.gz"
    packed.write_bytes(gzip.compress((tmp_path / "a.csv").read_bytes()))
    assert read_itemsets(packed).itemsets == (ReleasedItemset(rank=1, items=("milk",)),)


def test_a_table_needs_no_more_than_rank_and_items(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("rank,item_1\n1,milk\n")
    assert read_itemsets(tmp_path / "a.csv").itemsets == (ReleasedItemset(rank=1, items=("milk",)),)


@pytest.mark.parametrize(
    ("ending", "text"),
    [
        (".csv", "rank,item_1,item_2\n1,milk\n"),
        (".csv", "rank,item_1\n1,milk,egg\n"),
        (".jsonl", '{"rank": 1, "items": ["\\ud800"]}\n'),
        (".spmf", " #SUP: 4\n"),
        (".spmf", "1 2\n"),
        (".spmf", "1 #SUP: many\n"),
    ],
)
def test_a_line_that_does_not_fit_is_refused(tmp_path: Path, ending: str, text: str) -> None:
    (tmp_path / f"a{ending}").write_text(text)
    with pytest.raises(InputError, match="does not hold itemsets"):
        read_itemsets(tmp_path / f"a{ending}")


@pytest.mark.parametrize("marks", [(True, False), (False, True)])
def test_one_line_marked_as_seeded_marks_the_list(tmp_path: Path, marks: tuple[bool, bool]) -> None:
    lines = [json.dumps({"rank": rank, "items": ["a"], "seeded": mark}) for rank, mark in enumerate(marks, start=1)]
    (tmp_path / "a.jsonl").write_text("\n".join(lines))
    assert read_itemsets(tmp_path / "a.jsonl").seeded


PLAN = planned(mechanism="lmm")
COUNTING = make_plan(size=2, min_count=9, budget=Budget("1", "1e-6"), unit=PrivacyUnit(), mechanism="items-first")


@pytest.mark.parametrize("ending", SUFFIXES)
def test_what_a_format_cannot_carry_is_refused_before_anything_is_spent(ending: str) -> None:
    path = Path(f"out{ending}")
    check_carries(path, COUNTING, seeded=False)
    if ending in {".spmf", ".fimi"}:
        with pytest.raises(UsageError, match="a count on each line"):
            check_carries(path, PLAN, seeded=False)
    else:
        check_carries(path, PLAN, seeded=True)
    if ending == ".fimi":
        with pytest.raises(UsageError, match=r"seeded.*\.spmf"):
            check_carries(path, COUNTING, seeded=True)
    else:
        check_carries(path, COUNTING, seeded=True)


def test_which_formats_cannot_carry_what() -> None:
    every = [module.FORMAT for module in (comma_separated, fimi, json_document, json_lines, parquet, spmf)]
    assert {one.ending for one in every if one.needs_counts} == {".spmf", ".fimi"}
    assert {one.ending for one in every if not one.marks_seeded} == {".fimi"}
    assert not Itemsets(itemsets=()).seeded


def test_what_a_format_cannot_carry_is_never_written(tmp_path: Path) -> None:
    uncounted = replace(counted(), itemsets=(ReleasedItemset(rank=1, items=("a",)),))
    for release, ending, error in (
        (uncounted, ".spmf", UsageError),
        (uncounted, ".fimi", UsageError),
        (counted((("a",), 1), seeded=True), ".fimi", UsageError),
        (counted((("a", ""), 1)), ".csv", InputError),
    ):
        with pytest.raises(error):
            write_release(release, tmp_path / f"out{ending}")
    assert list(tmp_path.iterdir()) == []


PIECES = st.sampled_from(
    b'1|"|,|\n|(|)|#SUP: |@ITEM=|rank|item_1|{|}|[|"rank":1,|"items":["a"]| '.split(b"|"),
)


@pytest.mark.parametrize("ending", SUFFIXES)
@given(data=st.binary() | st.text().map(str.encode) | st.lists(PIECES).map(b"".join))
@example(data=b"")
@example(data=b"rank,item_1,count\n1,zwieback,x\n")
@example(data=b'{"rank": 1, "items": ["zwieback"], "count": "5"}')
@example(data=b'{"rank": 1, "items": ["\\ud800"]}')
@example(data=b'{"rank": 1, "items": ["a"], "count": 1e400}')
@example(data=b"zwieback #SUP: many")
@example(data=b"zwieback (many)")
@example(data=b"PAR1zwieback\0PAR1")
@example(data=b"[" * 100_000)
def test_what_is_of_no_format_is_refused_without_its_text(ending: str, data: bytes) -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / f"file{ending}"
        path.write_bytes(data)
        for reader in (read_itemsets, read_release):
            with suppress(FimPrivateError):
                reader(path)
                continue
            with pytest.raises(FimPrivateError) as caught:
                reader(path)
            assert "zwieback" not in "".join(traceback.format_exception(caught.value, limit=0))


@pytest.mark.parametrize("ending", [".json", ".csv", ".parquet"])
def test_an_empty_file_is_no_list_where_lists_have_a_head(tmp_path: Path, ending: str) -> None:
    (tmp_path / f"empty{ending}").touch()
    with pytest.raises(InputError, match="does not hold itemsets"):
        read_itemsets(tmp_path / f"empty{ending}")


def test_a_record_that_is_no_whole_release_is_refused(tmp_path: Path) -> None:
    one = counted((("a",), 1))
    for ending in (".csv", ".jsonl", ".spmf", ".fimi"):
        write_release(one, tmp_path / f"out{ending}")
        with pytest.raises(InputError, match="not a release"):
            read_release(tmp_path / f"out{ending}")
    one.to_polars().write_parquet(tmp_path / "bare.parquet")
    with pytest.raises(InputError, match="no release in its metadata"):
        read_release(tmp_path / "bare.parquet")
    assert read_itemsets(tmp_path / "bare.parquet").itemsets == one.itemsets
    with pytest.raises(UsageError, match="does not name a format"):
        read_itemsets(tmp_path / "out.txt")
    with pytest.raises(InputError, match="no file"):
        read_release(tmp_path / "absent.json")


def test_what_begins_like_no_release_is_refused_before_it_is_loaded(tmp_path: Path) -> None:
    (tmp_path / "baskets.csv").touch()
    os.truncate(tmp_path / "baskets.csv", 1 << 28)
    tracemalloc.start()
    with pytest.raises(InputError, match="not a release"):
        read_release(tmp_path / "baskets.csv")
    assert tracemalloc.get_traced_memory()[1] < 1 << 24
    tracemalloc.stop()


@pytest.mark.parametrize(
    "change",
    [
        {"seeded": "no"},
        {"command": ["fim-private"]},
        {"privacy": []},
        {"privacy": {"epsilon": float("inf"), "delta": 0, "neighbours": "add-remove", "unit": "one"}},
        {"plan": None},
        {"mechanism": 3},
        {"found": [{"item": 1, "count": 2}]},
        {"itemsets": [{"rank": True, "items": ["a"]}]},
        {"itemsets": [{"rank": 0, "items": ["a"]}]},
        {"itemsets": [{"rank": 1, "items": []}]},
        {"itemsets": [{"rank": 1, "items": "ab"}]},
        {"itemsets": [{"rank": 1, "items": ["a", 3]}]},
        {"itemsets": [{"rank": 1, "items": ["a"], "count": "5"}]},
        {"itemsets": [{"rank": 1, "items": ["a"], "count": 2**63}]},
        {"itemsets": [{"rank": 1, "items": ["a"], "count": -(2**63) - 1}]},
        {"itemsets": [{"rank": 1, "items": ["a"], "support": float("nan")}]},
        {"itemsets": [{"rank": 1, "items": ["\ud800"]}]},
        {"itemsets": [{"rank": 1, "items": ["a"], "colour": "red"}]},
    ],
)
def test_values_of_other_types_are_no_release(change: dict[str, object]) -> None:
    fields = json.loads(counted((("a",), 1)).to_json())
    assert Release.from_json(json.dumps(fields)).itemsets
    with pytest.raises(InputError, match="not a release"):
        Release.from_json(json.dumps({**fields, **change}))


@pytest.mark.parametrize("count", [-(2**63), 2**63 - 1])
def test_counts_have_64_bits(count: int) -> None:
    one = counted((("a",), count))
    assert Release.from_json(one.to_json()) == one


def test_mlxtend_s_frame_needs_every_support() -> None:
    def supported(*supports: float | None) -> Release:
        lines = tuple(
            ReleasedItemset(rank=rank, items=(f"i{rank}",), support=support)
            for rank, support in enumerate(supports, start=1)
        )
        return replace(counted(), itemsets=lines)

    assert supported(0.5, 0.25).to_mlxtend()["support"].tolist() == [0.5, 0.25]
    for some in ((None,), (0.5, None)):
        with pytest.raises(UsageError, match="this release has none"):
            supported(*some).to_mlxtend()


def test_a_parquet_table_is_a_table_for_others(tmp_path: Path) -> None:
    one = counted((("a", "b"), 1))
    write_release(one, tmp_path / "out.parquet")
    assert pl.read_parquet(tmp_path / "out.parquet")["items"].to_list() == [["a", "b"]]


def test_a_format_that_cannot_be_written_here_is_refused_before_anything_is_spent(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def old(*_: object, **__: object) -> None:
        raise TypeError("write_parquet() got an unexpected keyword argument 'metadata'")

    monkeypatch.setattr(pl.DataFrame, "write_parquet", old)
    plan = planned(top=1)
    check_carries(tmp_path / "out.json", plan, seeded=False)
    with pytest.raises(InputError, match="Parquet output cannot be written"):
        check_carries(tmp_path / "out.parquet", plan, seeded=False)
