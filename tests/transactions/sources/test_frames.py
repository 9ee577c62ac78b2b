"""Frames in memory are read as the same table in a file is, and no library but Polars is needed for it."""

from __future__ import annotations

import sys
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fim_private.errors import InputError, UsageError
from fim_private.transactions.reading import read_transactions
from tests import processes
from tests.conftest import ROOT
from tests.transactions.reading import as_sets, by_unit, read

LONG = pl.DataFrame(
    {"invoice": [7, 7, 8, 9], "item": ["milk", "bread", "milk", None], "customer": ["ann", "ann", "bob", "bob"]}
)
LISTS = pl.DataFrame({"who": ["a", "b", "c"], "basket": [["milk", "bread"], [], ["milk", None]]})
ONE_HOT = pl.DataFrame({"milk": [True, True, False], "bread": [1, 0, 0]})


class Capsule:
    """Arrow data of a library that nobody knows."""

    def __init__(self, table: pa.Table) -> None:
        self.table = table

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        return self.table.__arrow_c_stream__(requested_schema)


def shapes(frame: pl.DataFrame) -> dict[str, Any]:
    return {
        "polars": frame,
        "pandas": frame.to_pandas(),
        "pandas with pyarrow types": frame.to_pandas(use_pyarrow_extension_array=True),
        "pyarrow": frame.to_arrow(),
        "pyarrow batches": pa.RecordBatchReader.from_batches(frame.to_arrow().schema, frame.to_arrow().to_batches()),
        "anybody's": Capsule(frame.to_arrow()),
    }


@pytest.mark.parametrize("shape", shapes(LONG))
@pytest.mark.parametrize("frame", [LONG, LISTS, ONE_HOT], ids=["long", "lists", "one-hot"])
def test_a_frame_is_read_as_its_file_is(frame: pl.DataFrame, shape: str) -> None:
    expected, found = read(frame), read_transactions(shapes(frame)[shape])
    assert as_sets(found) == as_sets(expected)
    assert found.notes.layout.describe() == expected.notes.layout.describe().replace("Parquet", "frame")
    assert (found.notes.blanks, found.notes.empty) == (expected.notes.blanks, expected.notes.empty)


@pytest.mark.parametrize("shape", shapes(LONG))
def test_units_are_read_too(shape: str) -> None:
    assert by_unit(read_transactions(shapes(LONG)[shape], unit_column="customer")) == {
        frozenset({frozenset({"milk", "bread"})}),
        frozenset({frozenset({"milk"})}),
    }


@pytest.mark.slow
@given(
    st.lists(st.lists(st.text()), min_size=1).filter(lambda lists: any(name.strip() for row in lists for name in row))
)
def test_any_lists_are_read_alike_from_every_library(lists: list[list[str]]) -> None:
    frame = pl.DataFrame({"items": lists}, schema={"items": pl.List(pl.String)})
    try:
        expected = as_sets(read(frame))
    except InputError as error:
        with pytest.raises(InputError, match=error.what):
            read_transactions(frame.to_pandas())
        return
    for shape in ("polars", "pandas", "pyarrow"):
        assert as_sets(read_transactions(shapes(frame)[shape])) == expected


def test_a_pandas_index_is_no_column() -> None:
    frame = pd.DataFrame({"items": [["a", "b"], ["a"]]}, index=pd.Index(["x", "y"], name="transaction"))
    assert as_sets(read_transactions(frame)) == [{"a", "b"}, {"a"}]


@pytest.mark.parametrize("collected", [list, tuple, set, frozenset, np.array, pd.Series, pd.Series.unique])
def test_a_pandas_column_of_any_collections_holds_lists(collected: Any) -> None:
    """As `groupby` makes them of a long table, also as a Series."""
    baskets = [collected(pd.Series(names)) for names in (["milk", "bread"], ["milk", "milk"])]
    column = pd.Series([*baskets, None], index=[7, 8, 9], name="item", dtype=object)
    for frame in (column, column.reset_index()):
        assert as_sets(read_transactions(frame)) == [{"milk", "bread"}, {"milk"}]


def test_what_is_no_column_of_names_is_told_how_to_become_one() -> None:
    lines = [[{"sku": "milk", "quantity": 2}], [{"sku": "bread", "quantity": 1}]]
    table = {"invoice": [7, 8], "items": lines}
    for frame in (pl.DataFrame(table), pd.DataFrame(table)):
        with pytest.raises(InputError, match="take the names out of this one, as text"):
            read_transactions(frame, transaction_column="invoice", item_column="items")
    with pytest.raises(InputError, match=r"The index of a pandas frame is not read: reset_index\(\)"):
        read_transactions(pd.DataFrame({"ware": ["ale", "bun"]}, index=pd.Index([1, 1], name="invoice")))


def test_a_pandas_column_of_mixed_types_is_text() -> None:
    """Spreadsheets give such columns: invoice numbers are digits, and a letter and digits for returned goods."""
    frame = pd.DataFrame(
        {"InvoiceNo": pd.Series([536, 536, "C7", None], dtype=object), "StockCode": ["a", "b", "a", None]}
    ).set_axis([3, 1, 4, 1])
    assert as_sets(read_transactions(frame)) == [{"a", "b"}, {"a"}]
    items = pd.DataFrame({"tid": [1, 1, 2], "item": pd.Series([5, "five", float("nan")], dtype=object)})
    assert as_sets(read_transactions(items)) == [{"5", "five"}]


def test_one_hot_frames_as_mlxtend_makes_them() -> None:
    from mlxtend.preprocessing import TransactionEncoder

    baskets = [["milk", "bread"], ["milk"], ["tea", "bread"]]
    encoder = TransactionEncoder()
    dense = pd.DataFrame(encoder.fit(baskets).transform(baskets), columns=encoder.columns_)
    sparse = pd.DataFrame.sparse.from_spmatrix(encoder.transform(baskets, sparse=True), columns=encoder.columns_)
    numbered = pd.DataFrame(np.array([[1, 0], [1, 1]]), columns=[10, 20])
    assert as_sets(read_transactions(dense)) == as_sets(read_transactions(sparse)) == [set(row) for row in baskets]
    assert as_sets(read_transactions(numbered)) == [{"10"}, {"10", "20"}]


def test_pyarrow_is_not_needed_for_pandas() -> None:
    program = """
import sys
sys.modules["pyarrow"] = None
import pandas as pd
from fim_private import read_transactions
from tests.transactions.reading import as_sets
long = pd.DataFrame({"invoice": [7, 7, 8, 9], "item": ["milk", "bread", "milk", None]})
lists = pd.DataFrame({"basket": [["milk", "bread"], [], ["milk", None]]})
one_hot = pd.DataFrame({"milk": [True, True], "bread": [1, 0]})
assert [as_sets(read_transactions(frame)) for frame in (long, lists, one_hot)] == [[{"milk", "bread"}, {"milk"}]] * 3
"""
    done = processes.run([sys.executable, "-c", program], cwd=ROOT, text=True)
    assert done.returncode == 0, done.stderr


def test_frames_that_cannot_be_read_are_refused_without_their_data() -> None:
    twice = pd.DataFrame([["zwieback", "zwieback"]], columns=["item", "item"])
    for frame in (twice, pa.table([pa.array(["zwieback"])] * 2, names=["item", "item"])):
        with pytest.raises(InputError, match="distinct names") as caught:
            read_transactions(frame)
        assert "zwieback" not in str(caught.value)
    with pytest.raises(InputError, match="in memory is a table without lists"):
        read_transactions(pl.DataFrame({"zwieback": ["rye"]}))
    with pytest.raises(InputError, match="No item was found"):
        read_transactions(LISTS.clear())


def test_calls_that_cannot_be_meant_are_refused() -> None:
    for options in ({"format": "basket"}, {"format": "fimi"}):
        with pytest.raises(InputError, match="not lines of text"):
            read_transactions(LISTS, **options)
    with pytest.raises(UsageError, match="no separator"):
        read_transactions(LISTS, separator=",")
    with pytest.raises(UsageError, match="no rows yet"):
        read_transactions(LISTS.lazy())
    with pytest.raises(UsageError, match="transactions_from_lists"):
        read_transactions([["milk", "bread"]])
