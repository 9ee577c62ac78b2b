from __future__ import annotations

import polars as pl
import pyarrow as pa
import pyarrow.parquet
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fim_private.errors import InputError, UsageError
from tests.transactions.reading import as_bytes, as_sets, by_unit, read, stripped

FRAME = pl.DataFrame({"who": ["Ann", "Bob", "Ann"], "things": [["milk", "egg"], [" milk", None, ""], []]})


@given(st.lists(st.none() | st.lists(st.none() | st.text(max_size=4), max_size=5), max_size=8))
def test_lists_come_back_as_they_were_written(lists):
    expected = [names for row in lists if (names := {stripped(name or "") for name in row or ()} - {""})]
    if not expected:
        return
    frame = pl.DataFrame({"things": pl.Series(lists, dtype=pl.List(pl.String))})
    # Asked for by name, since an item may be called None.
    assert as_sets(read(frame, format="lists", item_column="things")) == expected


def test_blanks_are_counted():
    transactions = read(FRAME)
    assert as_sets(transactions) == [{"milk", "egg"}, {"milk"}]
    assert (transactions.notes.blanks, transactions.notes.empty) == (2, 1)
    assert transactions.notes.layout.describe() == "Parquet with lists: item column 'things'"


def test_lists_may_hold_numbers_and_be_arrays():
    assert as_sets(read(pl.DataFrame({"a": [[3, 1, 3], [2]]}))) == [{"1", "3"}, {"2"}]
    assert as_sets(read(pl.DataFrame({"a": pl.Series([[3, 1], [2, 2]], dtype=pl.Array(pl.Int64, 2))}))) == [
        {"1", "3"},
        {"2"},
    ]


def test_lists_that_arrow_writes_are_read():
    table = pa.table(
        {"a": pa.array([["milk", "egg"], None, ["milk"]], pa.large_list(pa.dictionary(pa.int32(), pa.string())))}
    )
    assert as_sets(read(table)) == [{"milk", "egg"}, {"milk"}]


def test_one_of_several_columns_of_lists_has_to_be_named():
    frame = FRAME.with_columns(others=pl.Series([["x"], ["y"], ["x"]]))
    with pytest.raises(UsageError, match=r"Several columns hold lists: 'things', 'others'.*item_column="):
        read(frame)
    assert as_sets(read(frame, item_column="Others")) == [{"x"}, {"y"}, {"x"}]


def test_lists_may_have_units_and_miss_none_unasked():
    transactions = read(FRAME, unit_column="who")
    assert by_unit(transactions) == {frozenset({frozenset({"milk", "egg"})}), frozenset({frozenset({"milk"})})}
    without = FRAME.with_columns(who=pl.Series(["Ann", None, "Ann"]))
    with pytest.raises(InputError, match="drop_rows_without_unit=True"):
        read(without, unit_column="who")
    transactions = read(without, unit_column="who", drop_rows_without_unit=True)
    assert as_sets(transactions) == [{"milk", "egg"}]
    assert transactions.notes.rows_without_unit == 1


def test_transaction_ids_must_not_repeat():
    with pytest.raises(InputError, match="same value twice"):
        read(FRAME, transaction_column="who")
    ids = FRAME.with_columns(bill=pl.Series([1, 2, 3]))
    assert as_sets(read(ids, transaction_column="bill")) == [{"milk", "egg"}, {"milk"}]


def test_a_column_that_holds_no_lists_is_refused():
    with pytest.raises(InputError, match="does not hold lists"):
        read(FRAME, format="lists", item_column="who")
    with pytest.raises(InputError, match="No column holds lists"):
        read(FRAME.select("who"), format="lists")
    with pytest.raises(UsageError, match="named twice"):
        read(FRAME, unit_column="things", item_column="things")
    with pytest.raises(InputError, match="not text"):
        read(pl.DataFrame({"a": [[[1]], [[2]]]}))


def test_formats_and_options_of_text_are_refused():
    for format_name in ("fimi", "basket"):
        with pytest.raises(InputError, match="is a table \\(Parquet\\)"):
            read(FRAME, format=format_name)
    with pytest.raises(UsageError, match="no separator"):
        read(FRAME, separator=",")


@pytest.mark.parametrize("data", [as_bytes(FRAME)[:-20], as_bytes(FRAME)[:40] + b"PAR1", b"PAR1PAR1", b"PAR1\0\0"])
def test_a_damaged_parquet_file_is_refused(data):
    with pytest.raises(InputError, match="cannot be read as one"):
        read(data)


@pytest.mark.parametrize("fill", [b"\0", b"A"])
def test_damaged_pages_of_parquet_are_refused(fill):
    data = as_bytes(FRAME)
    footer = 8 + int.from_bytes(data[-8:-4], "little")
    with pytest.raises(InputError, match="cannot be read as one"):
        read(b"PAR1" + fill * (len(data) - 4 - footer) + data[-footer:])


def test_columns_of_the_same_name_are_refused():
    table = pa.table([pa.array([["milk"]]), pa.array([["egg"]])], names=["a", "a"])
    with pytest.raises(InputError, match=r"cannot be read as one.*distinct column names"):
        read(table)


def test_a_table_without_rows_is_refused():
    with pytest.raises(InputError, match="No item was found"):
        read(FRAME.clear())


def test_an_unknown_table_is_not_guessed():
    with pytest.raises(InputError, match=r"well-known columns or one-hot cells.*save the table as CSV") as caught:
        read(pl.DataFrame({"zwieback": ["a", "b"], "price": [1, 2]}))
    assert "zwieback" not in str(caught.value)
