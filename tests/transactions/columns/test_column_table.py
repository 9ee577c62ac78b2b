"""The name of a value depends on that value alone, whatever type the column has for the sake of others."""

from __future__ import annotations

import datetime
import io
from decimal import Decimal
from functools import cache
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet
import pytest

from fim_private.errors import InputError
from fim_private.transactions.columns.column_table import as_text
from fim_private.transactions.reading import read_transactions
from tests.transactions.reading import as_bytes, as_sets, by_unit, read

NOON = datetime.datetime(2020, 1, 1, 12, 0, 0, 500000)
DAY = datetime.date(2020, 1, 1)


def names(values: pl.Series) -> list[str | None]:
    return as_text(values, "an item").to_list()


@pytest.mark.parametrize("kind", [pl.Float32, pl.Float64])
def test_whole_numbers_are_named_alike_in_every_type(kind: type[pl.DataType]) -> None:
    numbers = [10, 0, -3, 16_777_215]
    expected = [str(number) for number in numbers]
    assert names(pl.Series(numbers, dtype=pl.Int64)) == expected
    assert names(pl.Series(numbers, dtype=pl.Decimal(20, 3))) == expected
    assert names(pl.Series([*numbers, 2.5, None, float("nan"), -0.0], dtype=kind)) == [
        *expected, "2.5", None, None, "0"
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("value", "kind"),
    [(b"SECRET\xff", pl.Binary), (2**63 - 1, pl.Datetime("ms")), (2**63 - 1, pl.Datetime("us")), (2**31 - 1, pl.Date)],
)
def test_a_value_without_a_name_is_not_blamed_on_the_type(value: Any, kind: Any) -> None:
    """Other values of the same type have names."""
    good = b"milk" if kind == pl.Binary else 0
    carrier = pl.Int32 if kind == pl.Date else None
    values = [pl.Series([found], dtype=carrier).cast(kind) for found in (good, value)]
    assert len(names(values[0])) == 1
    with pytest.raises(InputError, match="a value that has no name") as refused:
        names(pl.concat(values))
    assert "SECRET" not in str(refused.value)


def test_fractions_are_named_by_themselves() -> None:
    assert names(pl.Series([0.1, 1e-7, 100.5, -2.25])) == ["0.1", "1e-7", "100.5", "-2.25"]
    assert names(pl.Series([Decimal("1.50"), Decimal("100"), Decimal("0.001"), None])) == ["1.5", "100", "0.001", None]


@pytest.mark.parametrize(
    ("kind", "number"),
    [
        (pl.Float64, 2.0**53),
        (pl.Float64, -1e16),
        (pl.Float64, 1e300),
        (pl.Float64, float("inf")),
        (pl.Float32, 2.0**24),
    ],
)
def test_floats_that_leave_out_whole_numbers_are_no_names(kind: type[pl.DataType], number: float) -> None:
    """2^53 and 2^53 + 1 are one float: a missing value would make two customers one."""
    with pytest.raises(InputError, match=r"too large to be exact.*whole numbers or as text"):
        names(pl.Series([1.0, number], dtype=kind))
    assert names(pl.Series([2**53 + 1])) == ["9007199254740993"]


@pytest.mark.parametrize("unit", ["ms", "us", "ns"])
def test_times_are_named_alike_in_every_unit(unit: Any) -> None:
    midnight = datetime.datetime(2020, 1, 1)
    assert names(pl.Series([NOON, midnight, None], dtype=pl.Datetime(unit))) == [
        "2020-01-01 12:00:00.5", "2020-01-01", None
    ]  # fmt: skip
    zoned = pl.Series([NOON], dtype=pl.Datetime(unit, "UTC"))
    assert names(zoned) == names(zoned.dt.convert_time_zone("Asia/Tokyo")) == ["2020-01-01 12:00:00.5+00:00"]
    assert names(pl.Series([DAY])) == ["2020-01-01"]


ITEMS = pd.Series([10, 20, 10, 30])
ODD = [None, 2.5, "ten", True, Decimal("7.25"), DAY, NOON, b"raw", np.float32(2), 2**70, float("nan"), pd.NaT]


def baskets(items: pd.Series) -> pd.DataFrame:
    rows = len(items)
    return pd.DataFrame({"tid": ([1, 1, 2, 2] + [3] * rows)[:rows], "item": items})


PLAIN = {
    "int": pd.Series([10, 20, 10, 30]),
    "object": pd.Series([10, 20, 10, 30], dtype=object),
    "float": pd.Series([10.0, 20.0, 10.0, 30.5]),
    "bool": pd.Series([True, False, True, True]),
    "date": pd.Series([DAY, NOON.date(), DAY, datetime.date(2021, 5, 4)]),
    "time": pd.Series([pd.Timestamp(DAY), pd.Timestamp(NOON), pd.Timestamp(DAY), pd.Timestamp(DAY)]),
    "zone": pd.Series([pd.Timestamp(NOON, tz="Asia/Tokyo")] * 2 + [pd.Timestamp(DAY, tz="Asia/Tokyo")] * 2),
    "decimal": pd.Series([Decimal("1.5"), Decimal("2"), Decimal("1.5"), Decimal("3.00")]),
    "text": pd.Series(["10", "10.0", "10", "x"]),
    "int category": pd.Series([10, 20, 10, 30], dtype="category"),
    "category": pd.Series(["a", "b", "a", "c"], dtype="category"),
}


@cache
def before(plain: str) -> list[set[str]]:
    return as_sets(read_transactions(baskets(PLAIN[plain])))


@pytest.mark.parametrize("odd", ODD, ids=str)
@pytest.mark.parametrize("plain", PLAIN)
def test_one_value_of_a_pandas_column_renames_no_other(plain: str, odd: object) -> None:
    with_odd = pd.Series([*PLAIN[plain].tolist(), odd], dtype=object)
    inferred = with_odd.infer_objects()
    columns = [with_odd]
    columns += [inferred] if inferred.dtype != object else []
    columns += [with_odd.astype("category")] if odd is not pd.NaT else []
    for longer in columns:
        after = as_sets(read_transactions(baskets(longer)))
        assert after[:2] == before(plain)[:2]


def arrow(value: object, kind: pa.DataType) -> pd.Series:
    return pd.Series([value], dtype=pd.ArrowDtype(kind))


LATE = pd.Timestamp("2020-01-01 01:02:03.123456789")
TYPED = {
    "nanoseconds": pd.Series([LATE]),
    "nanoseconds of a zone": pd.Series([LATE.tz_localize("Europe/Berlin")]),
    "milliseconds": pd.Series([pd.Timestamp("2020-01-01 01:02:03.1")]).astype("datetime64[ms]"),
    "half precision": pd.Series([0.1], dtype="float16"),
    "single precision": pd.Series([0.1], dtype="float32"),
    "nullable single precision": pd.Series([0.1], dtype="Float32"),
    "double precision": pd.Series([1e-7, 123456.789, 1e15]),
    "sparse": pd.Series(pd.arrays.SparseArray([0.1])),
    "8 bits": pd.Series([5], dtype="int8"),
    "64 bits": pd.Series([2**63 + 5], dtype="uint64"),
    "nullable integer": pd.Series([5, None], dtype="Int64"),
    "bool": pd.Series([True]),
    "nullable bool": pd.Series([True, None], dtype="boolean"),
    "text": pd.Series(["a"], dtype="string"),
    "categories of integers": pd.Series([1, 2]).astype("category"),
    "categories of floats": pd.Series([1.0, 2.5, None]).astype("category"),
    "categories of single precision": pd.Series([0.1], dtype="float32").astype("category"),
    "categories of times": pd.Series([LATE]).astype("category"),
    "categories of anything": pd.Series([0.1, "a", LATE], dtype=object).astype("category"),
    "Arrow bool": arrow(True, pa.bool_()),
    "Arrow single precision": arrow(0.1, pa.float32()),
    "Arrow decimal": arrow(Decimal("1.10"), pa.decimal128(10, 2)),
    "Arrow long decimal": arrow(Decimal("1.10"), pa.decimal256(50, 2)),
    "Arrow time": arrow(datetime.time(1, 2, 3, 4), pa.time64("ns")),
    "Arrow date": arrow(DAY, pa.date32()),
    "Arrow date in milliseconds": arrow(DAY, pa.date64()),
    "Arrow nanoseconds": arrow(LATE, pa.timestamp("ns")),
    "Arrow nanoseconds of a zone": arrow(LATE.tz_localize("UTC"), pa.timestamp("ns", "Asia/Tokyo")),
}
ONE = {
    "text": pd.Series(["x"]),
    "missing": pd.Series([None], dtype=object),
    "fraction": pd.Series([0.25]),
    "half": pd.Series([0.25], dtype="float16"),
    "integer": pd.Series([7]),
    "nullable integer": pd.Series([7], dtype="Int64"),
    "long integer": pd.Series([2**70], dtype=object),
    "date": pd.Series([DAY], dtype=object),
    "time": pd.Series([pd.Timestamp(NOON)]),
    "time of a zone": pd.Series([pd.Timestamp(NOON, tz="UTC")]),
    "decimal": pd.Series([Decimal("3.25")], dtype=object),
    "bool": pd.Series([False]),
    "nullable bool": pd.Series([False], dtype="boolean"),
    "Arrow bool": arrow(False, pa.bool_()),
    "numpy": pd.Series([np.float32(0.25), np.datetime64("2021-01-01T00", "h")], dtype=object),
}


def vocabulary(items: pd.Series) -> set[str]:
    frame = pd.DataFrame({"tid": range(len(items)), "item": items})
    return set(read_transactions(frame, format="long").vocabulary)


@cache
def alone(typed: str) -> set[str]:
    return vocabulary(TYPED[typed])


@pytest.mark.parametrize("one", ONE)
@pytest.mark.parametrize("typed", TYPED)
def test_one_value_renames_none_of_a_column_of_any_type(typed: str, one: str) -> None:
    both = pd.concat([TYPED[typed], ONE[one]], ignore_index=True)
    if typed == "64 bits" and both.dtype.kind == "f":  # where pandas rounds them, they are refused
        with pytest.raises(InputError, match="too large to be exact"):
            vocabulary(both)
    else:
        assert alone(typed) <= vocabulary(both)


@pytest.mark.parametrize("typed", TYPED)
def test_values_have_the_same_names_in_a_column_of_objects(typed: str) -> None:
    assert vocabulary(TYPED[typed].astype(object)) == alone(typed)


def test_times_that_differ_in_nanoseconds_are_two_transactions() -> None:
    times = pd.Series(pd.to_datetime([1_600_000_000_000_000_001, 1_600_000_000_000_000_002]))
    for column in (times, times.astype("category"), pd.Series([*times, "x"], dtype=object)):
        rows = len(column)
        assert len(read_transactions(pd.DataFrame({"tid": column, "item": ["a"] * rows}), format="long")) == rows


@pytest.mark.parametrize(
    "duration",
    [
        pd.Series(pd.to_timedelta([5])),
        pd.Series([pd.Timedelta(5), "x"], dtype=object),
        pd.Series([np.timedelta64(5, "s")], dtype=object),
        arrow(pd.Timedelta(5), pa.duration("ns")),
    ],
    ids=["pandas", "object", "numpy", "Arrow"],
)
def test_durations_are_no_names_in_any_column(duration: pd.Series) -> None:
    frame = pd.DataFrame({"tid": range(len(duration)), "item": duration})
    with pytest.raises(InputError, match="not text or numbers"):
        read_transactions(frame, format="long")
    assert len(read_transactions(frame.rename(columns={"item": "lasted"}).assign(item="a"))) == len(frame)


@pytest.mark.parametrize("file", [False, True])
def test_half_precision_keeps_its_fractions(file: bool) -> None:
    numbers = pl.Series([0.25, 0.5, 1.5, 2.0, float("nan")], dtype=pl.Float16)
    frame = pl.DataFrame({"tid": [1, 2, 3, 4, 5], "item": numbers})
    found = read(frame) if file else read_transactions(frame)
    assert found.vocabulary.to_list() == ["2", "0.25", "0.5", "1.5"]
    with pytest.raises(InputError, match="too large to be exact"):
        names(pl.Series([2048.0], dtype=pl.Float16))


def test_times_of_day_keep_their_fractions() -> None:
    times = [datetime.time(1, 2, 3, 4), datetime.time(1, 2, 3, 500_000), datetime.time(1, 2, 3), None]
    expected = ["01:02:03.000004", "01:02:03.5", "01:02:03", None]
    assert names(pl.Series(times)) == names(pl.Series(times, dtype=pl.Object)) == expected


def test_objects_are_not_given_to_arrow_as_they_are() -> None:
    """Which ended the process."""
    items = pd.Series([np.datetime64("2020-01-01"), np.float32(1.5)], dtype=object)
    for column in (items, items.astype("category")):
        frame = pd.DataFrame({"tid": [1, 2], "item": column})
        assert as_sets(read_transactions(frame, format="long")) == [{"2020-01-01"}, {"1.5"}]
    lists = pd.DataFrame({"items": [[np.datetime64("2020-01-01"), np.float32(1.5)], [True, 1, 1.0]]})
    assert as_sets(read_transactions(lists)) == [{"2020-01-01", "1.5"}, {"true", "1"}]


@pytest.mark.parametrize(
    "value",
    [
        *(Decimal(digits) for digits in ("1" * 39, "1E39", "1E999999999", "0." + "1" * 39, "Infinity")),
        *(
            "\ud800",
            b"\xff",
            10**5000,
            np.longdouble("0.1"),
            1j,
            object(),
            {"a": 1},
            datetime.time(1, tzinfo=datetime.UTC),
        ),
        *(pd.Timestamp(np.datetime64("12000-01-01", "s")), np.datetime64("12000-01-01"), pd.Period("2020"), 2.0**53),
    ],
    ids=lambda value: type(value).__name__,
)
def test_values_without_a_name_are_refused_and_nothing_is_printed(value: object, capfd: Any) -> None:
    frame = pd.DataFrame({"tid": [1, 2], "item": pd.Series([value, "zwieback"], dtype=object)})
    with pytest.raises(InputError, match=r"not text or numbers|too large to be exact") as caught:
        read_transactions(frame, format="long")
    assert "zwieback" not in str(caught.value)
    lists = pd.DataFrame({"items": [[value, "zwieback"]]})
    with pytest.raises(InputError, match=r"without lists|not text or numbers|too large to be exact"):
        read_transactions(lists)
    assert len(read_transactions(frame.rename(columns={"item": "other"}).assign(item="a"))) == 2
    assert capfd.readouterr().err == ""


def test_a_missing_value_renames_no_item_of_frames_and_files(tmp_path: Any) -> None:
    """pandas turns a column of whole numbers into floats where one is missing."""
    full = baskets(ITEMS)
    short = baskets(pd.Series([10, 20, 10, None]))
    assert str(short["item"].dtype) == "float64"
    short.to_parquet(tmp_path / "short.parquet")
    assert as_sets(read_transactions(full)) == [{"10", "20"}, {"10", "30"}]
    for source in (short, pa.Table.from_pandas(short), tmp_path / "short.parquet", short.astype({"item": "float32"})):
        assert as_sets(read_transactions(source)) == [{"10", "20"}, {"10"}]


def test_customers_are_one_unit_as_whole_numbers_and_as_floats() -> None:
    frame = pl.DataFrame({"tid": [1.0, 2.0, 3.0], "item": ["a", "b", "c"], "who": [17850.0, 17850.0, 12.0]})
    whole = frame.with_columns(pl.col("tid", "who").cast(pl.Int64))
    mixed = frame.to_pandas().astype({"who": object})
    mixed.loc[1, "who"] = 17850
    expected = {frozenset({frozenset({"a"}), frozenset({"b"})}), frozenset({frozenset({"c"})})}
    for source in (frame, whole, mixed):
        assert by_unit(read_transactions(source, unit_column="who")) == expected


def test_lists_of_numbers_are_named_alike() -> None:
    for rows in ([[10.0, 2.5], [10.0]], [[10, 2.5], [10]]):
        assert as_sets(read(pl.DataFrame({"items": rows}, strict=False))) == [{"10", "2.5"}, {"10"}]
    mixed = pd.DataFrame({"items": [[10, 20], [10.0, "x"], None, [], np.array([20.0, np.nan]), (True, 10)]})
    assert as_sets(read_transactions(mixed)) == [{"10", "20"}, {"10", "x"}, {"20"}, {"true", "10"}]


def test_columns_of_one_hot_frames_are_named_alike() -> None:
    frame = pd.DataFrame([[1, 0], [1, 1]], columns=pd.Index([10.0, 2.5]))
    assert as_sets(read_transactions(frame)) == [{"10"}, {"10", "2.5"}]


def test_dictionaries_of_arrow_are_named_by_their_values() -> None:
    table = pa.table({"tid": [1, 1, 2], "item": pa.array([10.0, 2.5, None]).dictionary_encode()})
    for source in (table, io.BytesIO(as_bytes(table))):
        assert as_sets(read_transactions(source)) == [{"10", "2.5"}]
