"""The name of a value depends on that value alone, whatever type the column has for the sake of others."""

from __future__ import annotations

import datetime
import io
from decimal import Decimal
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet
import pytest

from fim_private.errors import InputError
from fim_private.transactions import read_transactions
from fim_private.transactions.columnar import as_text
from tests.transactions.reading import as_sets, by_unit, read

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


@pytest.mark.parametrize("odd", ODD, ids=str)
@pytest.mark.parametrize(
    "plain",
    [
        pd.Series([10, 20, 10, 30]),
        pd.Series([10, 20, 10, 30], dtype=object),
        pd.Series([10.0, 20.0, 10.0, 30.5]),
        pd.Series([True, False, True, True]),
        pd.Series([DAY, NOON.date(), DAY, datetime.date(2021, 5, 4)]),
        pd.Series([pd.Timestamp(DAY), pd.Timestamp(NOON), pd.Timestamp(DAY), pd.Timestamp(DAY)]),
        pd.Series([pd.Timestamp(NOON, tz="Asia/Tokyo")] * 2 + [pd.Timestamp(DAY, tz="Asia/Tokyo")] * 2),
        pd.Series([Decimal("1.5"), Decimal("2"), Decimal("1.5"), Decimal("3.00")]),
        pd.Series(["10", "10.0", "10", "x"]),
        pd.Series([10, 20, 10, 30], dtype="category"),
        pd.Series(["a", "b", "a", "c"], dtype="category"),
    ],
    ids=["int", "object", "float", "bool", "date", "time", "zone", "decimal", "text", "int category", "category"],
)
def test_one_value_of_a_pandas_column_renames_no_other(plain: pd.Series, odd: object) -> None:
    before = as_sets(read_transactions(baskets(plain)))
    with_odd = pd.Series([*plain.tolist(), odd], dtype=object)
    for longer in (with_odd, with_odd.infer_objects(), with_odd.astype("category") if odd is not pd.NaT else with_odd):
        after = as_sets(read_transactions(baskets(longer)))
        assert after[:2] == before[:2]


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


def test_dictionaries_of_arrow() -> None:
    buffer = io.BytesIO()
    table = pa.table({"tid": [1, 1, 2], "item": pa.array([10.0, 2.5, None]).dictionary_encode()})
    pa.parquet.write_table(table, buffer)
    for source in (table, io.BytesIO(buffer.getvalue())):
        assert as_sets(read_transactions(source)) == [{"10", "2.5"}]
