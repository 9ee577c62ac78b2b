"""Spark reads what this process reads, as strictly, from one file or many."""

from __future__ import annotations

import gzip
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING, Any

import polars as pl
import pytest

pytest.importorskip("pyspark")

from fim_private.counting.spark.reading import read_with_spark
from fim_private.errors import FimPrivateError, InputError, UsageError
from fim_private.transactions.reading import read_transactions
from tests.spark.data import local_rows, rows_of
from tests.transactions.workbook import workbook

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

LONG = [
    (1, "milk", "ann"), (1, " bread ", "ann"), (2, "milk", "bob"), (1, "milk", "ann"), (3, "", "ann"),
    (4, "tea", "ann"), (2, "10", "bob"), (2, "9", "bob"), (5, "tea; green", "cy"), ("", "", "cy"),
]  # fmt: skip
QUOTED = {item: f'"{item}"' for _, item, _ in LONG if ";" in item}
LONG_TEXT = "invoice;item;customer\n\n" + "".join(
    f"{invoice};{QUOTED.get(item, item)};{customer}\n" for invoice, item, customer in LONG
)


def write_lists(path: Path) -> None:
    frame = pl.DataFrame(
        {"id": [1, 2, 3, 4], "basket": [["milk", " bread", "milk"], [], None, ["tea", ""]], "who": ["a", "b", "b", "a"]}
    )
    frame.write_parquet(path)


def write_one_hot(path: Path) -> None:
    pl.DataFrame(
        {"who": ["a", "b", "a"], "milk": [1, 0, 1], "bread": [0, 0, 1], "tea": [False, True, None]}
    ).write_parquet(path)


Case = tuple[str, bytes | Callable[[Path], None], dict[str, Any]]

CASES: dict[str, Case] = {
    "fimi": ("a.dat", b"1 2 3\n2 3\n\n10 9\n3 3 1\n", {}),
    "fimi of names": ("a.dat", b"x y\r\ny\tz x\r\n  \r\n007 7\r\n", {"format": "fimi"}),
    "basket": ("a.csv", b'milk,bread\n"jam, red",milk,,milk\n\n,,\ntea,\xc3\xa9clair\n', {}),
    "basket in latin-1": ("a.csv", b"caf\xe9,milk\nmilk,tea\n", {"encoding": "latin-1"}),
    "basket, gzip": ("a.csv.gz", gzip.compress(b"milk|bread\nbread|tea|milk\n" * 30), {}),
    "long": ("a.csv", LONG_TEXT.encode(), {}),
    "long below a line of a no-break space": ("a.csv", f"\u00a0\n{LONG_TEXT}".encode(), {}),
    "long with units": ("a.csv", LONG_TEXT.encode(), {"unit_column": "customer"}),
    "long without a header": (
        "a.csv",
        b"007,milk,K1\n7,tea, K1 \n8,milk,5.0\n9,milk,05\n",
        {"transaction_column": "1", "item_column": "2", "unit_column": "3"},
    ),
    "several transaction columns, and lists in cells": (
        "a.csv",
        b"day,tid,item,who\n1,1,\"ale, bun,\",x\n1,01,cod,x\n2,1,\"['dip', 'egg']\",y\n2,2,,y\n",
        {"transaction_column": "day,tid", "item_column": "item", "unit_column": "who", "item_separator": ","},
    ),
    "the same in Parquet": (
        "a.parquet",
        lambda path: pl.DataFrame(
            {"day": [1, 1, 2, 2], "tid": [1, 1, 1, 2], "item": ["ale, bun", "cod", "{dip,egg}", None]}
        ).write_parquet(path),
        {"transaction_column": "day,tid", "item_column": "item", "item_separator": ","},
    ),
    "lists in basket cells": ("a.csv", b'"{ale,bun}"\n"{cod}"\n', {"format": "basket", "item_separator": ","}),
    "basket without its first column": ("a.csv", b"1,milk,tea\n2,tea\n3\n", {"skip_columns": "1"}),
    "a unit that is nobody": (
        "a.csv",
        b"tid,item,who\n" + b"".join(b"%d,milk,%s\n" % (row, b"K%d" % row if row % 3 else b"NaN") for row in range(90)),
        {"unit_column": "who"},
    ),
    "long Parquet": (
        "a.parquet",
        lambda path: pl.DataFrame(LONG[:9], schema=["order_id", "item", "customer"], orient="row").write_parquet(path),
        {"unit_column": "customer"},
    ),
    "lists": ("a.parquet", write_lists, {}),
    "lists with units": ("a.parquet", write_lists, {"unit_column": "who", "transaction_column": "id"}),
    "one-hot": ("a.csv", b"milk,bread,tea\n1,0,1\n0,0,0\ntrue,?,\n", {"format": "one-hot"}),
    "one-hot with units": ("a.csv", b"who,milk,bread\nb,1,0\na,1,1\nb,0,1\n", {"unit_column": "who"}),
    "one-hot Parquet": ("a.parquet", write_one_hot, {"unit_column": "who"}),
    "one-hot without a total": (
        "a.csv",
        b"who,milk,bread,sum\nb,1,0,1\na,1,1,2\nb,0,1,1\n",
        {"unit_column": "who", "skip_columns": "4"},
    ),
    "one-hot Parquet without a column": ("a.parquet", write_one_hot, {"format": "one-hot", "skip_columns": "1"}),
    "one-hot Parquet without columns of other values": (
        "a.parquet",
        lambda path: pl.DataFrame(
            {"id": [1e17, 2e17, 3e17], "of": [[1], [2, 3], []], "milk": [1.0, 0.0, None], "tea": [True, True, False]}
        ).write_parquet(path),
        {"format": "one-hot", "skip_columns": "1,2"},
    ),
    "some rows of long": ("a.csv", LONG_TEXT.encode(), {"where": "invoice <> 2 AND item <> 'bread'"}),
    "some rows of long Parquet": (
        "a.parquet",
        lambda path: pl.DataFrame(LONG[:9], schema=["order_id", "item", "customer"], orient="row").write_parquet(path),
        {"unit_column": "customer", "where": "Order_ID < 5 AND customer IN ('ann', 'cy')"},
    ),
    "some rows of lists": ("a.parquet", write_lists, {"where": "id BETWEEN 2 AND 4"}),
    "some rows of lists with units": ("a.parquet", write_lists, {"unit_column": "who", "where": "NOT who LIKE 'b%'"}),
    "some rows of one-hot": ("a.csv", b"shop,milk,tea\nx,1,0\ny,0,1\nx,1,1\n", {"where": "shop = 'x'"}),
    "some rows of one-hot Parquet": ("a.parquet", write_one_hot, {"where": "who = 'a'"}),
}


@pytest.mark.parametrize(("name", "content", "options"), CASES.values(), ids=CASES)
def test_a_file_of_each_kind_is_read_as_on_one_machine(
    spark: SparkSession, tmp_path: Path, name: str, content: bytes | Callable[[Path], None], options: dict[str, Any]
) -> None:
    path = tmp_path / name
    if isinstance(content, bytes):
        path.write_bytes(content)
    else:
        content(path)
    local, database = read_transactions(path, **options), read_with_spark(spark, str(path), **options)
    assert database.vocabulary.to_list() == local.vocabulary.to_list()
    rows = rows_of(database)
    assert sorted((items for _, items in rows), key=sorted) == local_rows(local)
    for note in ("layout", "blanks", "duplicates", "empty", "rows_without_unit", "nobody"):
        assert getattr(database.notes, note) == getattr(local.notes, note), note
    assert database.has_units == (local.units is not None)
    if local.units is not None:
        sizes = sorted(local.units.tolist().count(unit) for unit in set(local.units.tolist()))
        names = [unit for unit, _ in rows]
        assert sorted(names.count(unit) for unit in set(names)) == sizes
    assert "hidden" in repr(database)


def test_filters_that_do_not_fit_are_refused(spark: SparkSession, tmp_path: Path) -> None:
    path = tmp_path / "long.csv"
    path.write_bytes(LONG_TEXT.encode())
    for where in ("invoice > AVG(invoice)", "price > 0"):
        with pytest.raises(FimPrivateError, match=r"AVG|no column 'price'"):
            read_with_spark(spark, str(path), where=where)
    with pytest.raises(InputError, match="No item was found") as refused:
        read_with_spark(spark, str(path), where="invoice > 99")
    assert "--where" in refused.value.next_step
    write_lists(tmp_path / "lists.parquet")
    with pytest.raises(UsageError, match="cannot be filtered"):
        read_with_spark(spark, str(tmp_path / "lists.parquet"), transaction_column="id", where="id > 1")


def sqlite_file() -> bytes:
    with closing(sqlite3.connect(":memory:")) as connection:
        connection.execute("CREATE TABLE sales (SECRET)")
        return connection.serialize()


NOT_READ: dict[str, tuple[str, bytes, dict[str, Any], str, str]] = {
    "a query": ("a.csv", b"SECRET,b\n", {"query": "SELECT 1"}, "asks no database", "export the table"),
    "a server": ("postgresql://me:SECRET@host/shop", b"", {}, "asks no database", "export the table"),
    "a file of a database": ("a.db", sqlite_file(), {}, "SQLite database", "export the table"),
    "standard input": ("-", b"", {}, "not standard input", "Give a path"),
    "a sheet": ("a.csv", b"SECRET,b\n", {"sheet": "1"}, "Excel", "Save the sheet as CSV"),
    "a workbook": ("a.xlsx", workbook({"one": [["a", "SECRET"]] * 9}), {}, "Excel", "save the table as CSV"),
    "lines to leave out": ("a.csv", b"SECRET\na,b\n", {"skip_lines": 1}, "first lines", "out of the file"),
    "a line that names the separator": ("a.csv", b"sep=;\nSECRET;b\n", {}, "first lines", "out of the file"),
    "units in lines": (
        "a.csv",
        b"SECRET,b,c\n" * 9,
        {"format": "basket", "unit_column": "1"},
        "have no unit column",
        "one item per row",
    ),
}


@pytest.mark.parametrize(("name", "content", "options", "what", "instead"), NOT_READ.values(), ids=NOT_READ)
def test_what_spark_does_not_read_is_refused_with_what_to_do_instead(
    spark: SparkSession, tmp_path: Path, name: str, content: bytes, options: dict[str, Any], what: str, instead: str
) -> None:
    if content:
        (tmp_path / name).write_bytes(content)
        name = str(tmp_path / name)
    with pytest.raises(FimPrivateError, match=what) as refused:
        read_with_spark(spark, name, **options)
    assert "SECRET" not in str(refused.value)
    assert instead in refused.value.next_step
    assert name.endswith(".xlsx") or "eave out --engine spark" in refused.value.next_step


def test_several_files_are_named_each_once(spark: SparkSession, tmp_path: Path) -> None:
    for number in range(3):
        (tmp_path / f"part{number}.csv").write_text(f"invoice,item\n1,i{number}\n2{number},i{number}\n")
    named = [str(tmp_path / "part0.csv"), str(tmp_path / "part[12].csv")]
    rows = [items for _, items in rows_of(read_with_spark(spark, named))]
    assert sorted(rows, key=len)[-1] == {"i0", "i1", "i2"}
    assert len(rows) == 4
    with pytest.raises(UsageError, match="named twice"):
        read_with_spark(spark, [*named, str(tmp_path / "part1.csv")])
    for number in range(2):
        pl.DataFrame({"tid": [1, number], "item": ["a", f"b{number}"]}).write_parquet(tmp_path / f"{number}.parquet")
    rows = [items for _, items in rows_of(read_with_spark(spark, [str(tmp_path / f"{at}.parquet") for at in (0, 1)]))]
    assert sorted(map(sorted, rows)) == [["a", "b1"], ["b0"]]


def test_many_files_are_read_each_with_its_header(spark: SparkSession, tmp_path: Path) -> None:
    for number in range(3):
        rows = "".join(f"{number}-{row},item{row % 3},c{row % 2}\n" for row in range(20))
        (tmp_path / f"part{number}.csv").write_text("invoice,item,customer\n" + rows)
    database = read_with_spark(spark, str(tmp_path), unit_column="customer", drop_rows_without_unit=True)
    rows = rows_of(database)
    assert len(rows) == 60
    assert {unit for unit, _ in rows} == {"c0", "c1"}
    (tmp_path / "part3.csv").write_text("invoice,customer,item\n1,2,SECRET\n")
    with pytest.raises(InputError, match="same header"):
        read_with_spark(spark, str(tmp_path))


@pytest.mark.parametrize("text", ["milk,tea\nmilk,jam\n", "tid,item\n1,milk\n1,tea\n2,milk\n2,jam\n"])
def test_the_first_part_may_be_empty(spark: SparkSession, tmp_path: Path, text: str) -> None:
    (tmp_path / "part-0.csv").write_text("")
    (tmp_path / "part-1.csv").write_text(text)
    rows = [items for _, items in rows_of(read_with_spark(spark, str(tmp_path)))]
    assert sorted(map(sorted, rows)) == [["jam", "milk"], ["milk", "tea"]]


def test_a_file_that_looks_unlike_the_first_is_not_read_as_its_baskets(spark: SparkSession, tmp_path: Path) -> None:
    for name, text in (("a", "milk,tea\nmilk,tea,jam\n"), ("b", ""), ("c", "jam,tea,milk\nmilk\n")):
        (tmp_path / f"{name}.csv").write_text(text * 3)
    assert len(rows_of(read_with_spark(spark, str(tmp_path)))) == 12
    (tmp_path / "d.csv").write_text("tid,item\n1,SECRET\n")
    with pytest.raises(InputError, match=r"d\.csv looks unlike the first file, which is read as basket CSV") as said:
        read_with_spark(spark, str(tmp_path))
    assert "SECRET" not in str(said.value)
    assert len(rows_of(read_with_spark(spark, str(tmp_path), format="basket"))) == 14


def test_rows_without_a_unit_are_refused_or_left_out(spark: SparkSession, tmp_path: Path) -> None:
    path = tmp_path / "long.csv"
    path.write_text(
        "invoice,item,customer\n" + "".join(f"{row},i{row % 3},{'x' if row % 4 else ''}\n" for row in range(40))
    )
    with pytest.raises(InputError, match="Some rows have no unit"):
        read_with_spark(spark, str(path), unit_column="customer")
    database = read_with_spark(spark, str(path), unit_column="customer", drop_rows_without_unit=True)
    assert database.notes.rows_without_unit == 10
    assert len(rows_of(database)) == 30


Refusal = tuple[str, bytes, dict[str, Any], type[FimPrivateError], str]

HEAD = b"a,b\n" * 3000
REFUSALS: dict[str, Refusal] = {
    "an open quote far down": ("a.csv", HEAD + b'"SECRET,b\n', {}, InputError, "A line of .* unbalanced quotes"),
    "an open quote far down a table": (
        "a.csv",
        b"invoice,item\n" + b"1,x\n" * 2500 + b'2,"SECRET\n3,nail 5"\n',
        {},
        InputError,
        "A line of .* unbalanced quotes",
    ),
    "no UTF-8 far down": ("a.csv", HEAD + b"SECRET\xe9,b\n", {}, InputError, "not a text in utf-8: somewhere"),
    "a transaction of two units": (
        "a.csv",
        b"invoice,item,customer\n" + b"1,SECRET,x\n" * 2500 + b"1,milk,y\n",
        {"unit_column": "customer"},
        InputError,
        "two different units",
    ),
    "an item of no transaction": (
        "a.csv",
        b"invoice,item\n" + b"1,SECRET\n" * 2500 + b",milk\n",
        {},
        InputError,
        "item but no transaction",
    ),
    "a ragged table": (
        "a.csv",
        b"invoice,item\n" + b"1,x\n" * 2500 + b"1,x,SECRET\n",
        {},
        InputError,
        "number of fields",
    ),
    "a cell that is none": (
        "a.csv",
        b"milk,tea\n" + b"1,0\n" * 2500 + b"1,SECRET\n",
        {},
        InputError,
        "neither yes nor no",
    ),
    "one item a line": ("a.csv", b"SECRET\n" * 50, {}, InputError, "one item"),
    "no item": ("a.csv", b",,\n,\n", {"format": "basket"}, InputError, "No item"),
    "nothing": ("a.csv", b"", {}, InputError, "empty"),
    "blanks": ("a.csv", b" \n\n", {}, InputError, "nothing but blanks"),
    "binary": ("a.dat", b"\0\1SECRET\0" * 30, {}, InputError, "NUL"),
    "UTF-16": ("a.csv", "a,b\n".encode("utf-16"), {"encoding": "utf-16"}, UsageError, "does not split"),
    "UTF-16 that is not named": (
        "a.csv",
        "SECRET,b\n".encode("utf-16"),
        {},
        InputError,
        "begins like a text in utf-16",
    ),
    "a title": ("a.csv", b"SECRET\n" + HEAD, {}, InputError, "skip_lines=1"),
    "numbers that begin again": (
        "a.csv",
        b"tid,Date,item\n1,1.3.24,SECRET\n1,2.3.24,b\n",
        {},
        InputError,
        "several dates",
    ),
    "a second header far down": (
        "a.csv",
        b"tid,item\n1,x\n" + b"2,y\n" * 3000 + b"tid,item\n",
        {},
        InputError,
        "header",
    ),
    "gzip by another name": ("a.csv", gzip.compress(b"SECRET,b\n"), {}, UsageError, "ending .gz"),
    "Parquet that is none": ("a.parquet", b"PAR1 SECRET \0 PAR1", {}, InputError, "cannot read"),
}


@pytest.mark.parametrize(("name", "content", "options", "kind", "said"), REFUSALS.values(), ids=REFUSALS)
def test_faulty_data_are_refused_as_on_one_machine(
    spark: SparkSession,
    tmp_path: Path,
    name: str,
    content: bytes,
    options: dict[str, Any],
    kind: type[FimPrivateError],
    said: str,
) -> None:
    path = tmp_path / name
    path.write_bytes(content)
    with pytest.raises(kind, match=said) as caught:
        read_with_spark(spark, str(path), **options)
    assert "SECRET" not in str(caught.value)
    assert caught.value.__cause__ is None


def test_a_source_that_is_not_there_is_refused(spark: SparkSession, tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no file"):
        read_with_spark(spark, str(tmp_path / "absent.csv"))
    with pytest.raises(UsageError, match="not standard input"):
        read_with_spark(spark, "-")
    with pytest.raises(UsageError, match="no format"):
        read_with_spark(spark, "a.csv", format="excel")


def test_lists_whose_ids_repeat_are_refused(spark: SparkSession, tmp_path: Path) -> None:
    path = tmp_path / "a.parquet"
    pl.DataFrame({"id": [*range(1500), 1], "basket": [["a", "b"]] * 1501}).write_parquet(path)
    with pytest.raises(InputError, match="same value twice"):
        read_with_spark(spark, str(path), transaction_column="id")


COLUMNS: dict[str, tuple[dict[str, Any], dict[str, Any]]] = {
    "one lacks a column": ({"invoice": [1], "item": ["SECRET"], "customer": ["x"]}, {"invoice": [2], "item": ["a"]}),
    "one has a column more": ({"invoice": [1], "item": ["SECRET"]}, {"invoice": [2], "item": ["a"], "b": ["x"]}),
    "one-hot of other items": ({"tea": [1], "SECRET": [0]}, {"tea": [1], "milk": [1]}),
    "names that differ in case": ({"SECRET": [1, 0], "tea": [1, 1]}, {"Secret": [1, 0], "tea": [1, 1]}),
    "types that differ": ({"invoice": [1], "item": [1]}, {"invoice": [2], "item": [1.5]}),
}


@pytest.mark.parametrize(("one", "other"), COLUMNS.values(), ids=COLUMNS)
@pytest.mark.parametrize("turned", [False, True])
def test_parquet_files_of_different_columns_are_refused(
    spark: SparkSession, tmp_path: Path, one: dict[str, Any], other: dict[str, Any], *, turned: bool
) -> None:
    """Spark would take the columns of one file, and fill in blanks or leave out what the others hold."""
    for name, columns in zip("ba" if turned else "ab", (one, other), strict=True):
        pl.DataFrame(columns).write_parquet(tmp_path / f"{name}.parquet")
    with pytest.raises(InputError, match="do not have the same columns") as caught:
        read_with_spark(spark, str(tmp_path))
    assert "SECRET" not in str(caught.value)
    for options in ({"unit_column": "customer"}, {"unit_column": "customer", "drop_rows_without_unit": True}):
        with pytest.raises(InputError, match="do not have the same columns"):
            read_with_spark(spark, str(tmp_path / "*.parquet"), **options)


def test_parquet_files_may_have_their_columns_in_any_order(spark: SparkSession, tmp_path: Path) -> None:
    pl.DataFrame({"invoice": [1, 1], "item": ["a", "b"]}).write_parquet(tmp_path / "1.parquet")
    pl.DataFrame({"item": ["c"], "invoice": [2]}).write_parquet(tmp_path / "2.parquet")
    rows = rows_of(read_with_spark(spark, str(tmp_path)))
    assert sorted(sorted(items) for _, items in rows) == [["a", "b"], ["c"]]


@pytest.mark.parametrize("ending", ["csv", "parquet"])
@pytest.mark.parametrize("inner", [["A=0", "A=1"], [".", "A=1"], [".", "inner"], ["inner", "inner/most"]])
def test_folders_inside_a_folder_are_refused(
    spark: SparkSession, tmp_path: Path, ending: str, inner: list[str]
) -> None:
    """Of folders named A=1 Spark makes a column A, and files of other folders it leaves out."""
    for number, name in enumerate(inner):
        (tmp_path / name).mkdir(parents=True, exist_ok=True)
        frame = pl.DataFrame({"invoice": [2 * number, 2 * number + 1], "item": ["a", f"b{number}"]})
        (frame.write_csv if ending == "csv" else frame.write_parquet)(tmp_path / name / f"part.{ending}")
    with pytest.raises(UsageError, match="folders inside"):
        read_with_spark(spark, str(tmp_path))
    database = read_with_spark(spark, str(tmp_path / inner[1] / "*"))
    assert database.vocabulary.to_list() == ["a", "b1"]


def test_folders_are_read_where_each_is_named(spark: SparkSession, tmp_path: Path) -> None:
    for name in ("date=1", "date=2"):
        (tmp_path / name).mkdir()
        pl.DataFrame({"tea": [1], "milk": [1]}).write_parquet(tmp_path / name / "part.parquet")
    assert read_with_spark(spark, str(tmp_path / "*")).vocabulary.to_list() == ["milk", "tea"]


@pytest.mark.parametrize("name", ["of May.csv", "50%25 off.csv", "a[1]{b}?*.csv", "tea+é.csv"])
def test_files_are_read_whatever_their_names(spark: SparkSession, tmp_path: Path, name: str) -> None:
    (tmp_path / name).write_text("milk,bread\ntea,milk\n")
    assert read_with_spark(spark, str(tmp_path)).vocabulary.to_list() == ["bread", "milk", "tea"]


def test_no_file_is_left_out_whatever_the_session_allows(spark: SparkSession, tmp_path: Path) -> None:
    """A session may skip files that cannot be read. Data would be missing, and nobody would know."""
    (tmp_path / "a.csv").write_text("milk,bread\n" * 50)
    packed = gzip.compress(b"tea,milk\n" * 5000)
    (tmp_path / "b.csv.gz").write_bytes(packed[: len(packed) // 2])
    spark.conf.set("spark.sql.files.ignoreCorruptFiles", "true")
    try:
        with pytest.raises(FimPrivateError):
            read_with_spark(spark, str(tmp_path))
        pl.DataFrame({"tea": [1]}).write_parquet(tmp_path / "a.parquet")
        (tmp_path / "b.parquet").write_bytes(b"PAR1 SECRET \0 PAR1")
        with pytest.raises(InputError, match="cannot read"):
            read_with_spark(spark, str(tmp_path / "*.parquet"))
    finally:
        spark.conf.unset("spark.sql.files.ignoreCorruptFiles")


def test_columns_may_have_any_names(spark: SparkSession, tmp_path: Path) -> None:
    path = tmp_path / "a.parquet"
    names = ["in`voice", "the.item", "who `is` it"]
    pl.DataFrame({names[0]: [1, 1, 2], names[1]: ["a", "b", "c"], names[2]: ["x", "x", "y"]}).write_parquet(path)
    options = {"transaction_column": names[0], "item_column": names[1], "unit_column": names[2]}
    assert [unit for unit, _ in rows_of(read_with_spark(spark, str(path), **options))] == ["x", "y"]
    pl.DataFrame({names[0]: [1, 2], names[1]: [["a"], ["b", "c"]], names[2]: ["x", "y"]}).write_parquet(path)
    assert [unit for unit, _ in rows_of(read_with_spark(spark, str(path), **options))] == ["x", "y"]
