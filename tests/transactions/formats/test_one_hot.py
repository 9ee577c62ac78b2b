from __future__ import annotations

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fim_private.errors import InputError, UsageError
from fim_private.transactions.formats import one_hot
from tests.transactions.reading import as_sets, by_unit, read

NAMES = ["milk", "bread", "egg"]
WANTED = [{"milk"}, {"bread", "egg"}, {"milk", "bread", "egg"}]


@pytest.mark.parametrize(
    ("yes", "no"),
    [("1", "0"), ("true", "FALSE"), ("t", "f"), ("Y", "n"), ("1", ""), ("t", "?"), ("1.0", "0.0"), ("yes", "no")],
)
@pytest.mark.parametrize("format_name", ["auto", "one-hot"])
def test_every_pair_of_yes_and_no_is_read(yes, no, format_name):
    rows = [",".join(yes if name in names else no for name in NAMES) for names in WANTED]
    transactions = read("\n".join([",".join(NAMES), *rows, ""]), format=format_name)
    assert as_sets(transactions) == WANTED
    assert transactions.vocabulary.to_list() == sorted(NAMES)


@pytest.mark.parametrize(
    ("yes", "no"),
    [(True, False), (True, None), (1, 0), (1, None), (1.0, float("nan")), (1.0, 0.0), ("t", "?"), ("1", None)],
)
@pytest.mark.parametrize("format_name", ["auto", "one-hot"])
def test_every_pair_of_yes_and_no_is_read_from_parquet(yes, no, format_name):
    frame = pl.DataFrame({name: [yes if name in names else no for names in WANTED] for name in NAMES})
    assert as_sets(read(frame, format=format_name)) == WANTED


@given(st.lists(st.lists(st.booleans(), min_size=5, max_size=5), min_size=1, max_size=9), st.booleans())
def test_a_one_hot_table_comes_back_as_it_was_written(rows, as_parquet):
    names = ["9", "10", "b", "a", "é"]
    expected = [chosen for row in rows if (chosen := {name for name, yes in zip(names, row, strict=True) if yes})]
    if not expected:
        return
    frame = pl.DataFrame(rows, schema=names, orient="row")
    transactions = read(frame if as_parquet else frame.write_csv(), format="one-hot")
    assert as_sets(transactions) == expected
    assert transactions.notes.empty == len(rows) - len(expected)


@pytest.mark.parametrize("as_parquet", [True, False])
def test_columns_of_ids_and_units_are_no_items(as_parquet):
    frame = pl.DataFrame({"milk": [1, 0, 1], "id": ["x", "y", "z"], "egg": [0, 1, 1], "who": ["Ann", None, "Ann"]})
    data = frame if as_parquet else frame.write_csv()
    named = {"transaction_column": "ID", "unit_column": "who"}
    with pytest.raises(InputError, match="drop_rows_without_unit=True"):
        read(data, **named)
    transactions = read(data, drop_rows_without_unit=True, **named)
    assert by_unit(transactions) == {frozenset({frozenset({"milk"}), frozenset({"milk", "egg"})})}
    assert transactions.notes.rows_without_unit == 1


@pytest.mark.parametrize("as_parquet", [True, False])
@pytest.mark.parametrize("format_name", ["auto", "one-hot"])
def test_columns_are_left_out_by_number(format_name, as_parquet):
    frame = pl.DataFrame({"Customer": ["a", "b", "a"], "egg": [1, 0, 1], "all": [3, 1, 2], "milk": [1, 1, 0], "tea": 0})
    data = frame if as_parquet else frame.write_csv(separator=";")
    options = {"format": format_name, **({} if as_parquet else {"separator": ";"})}
    found = read(data, skip_columns="1,3", **options)
    assert as_sets(found) == [{"egg", "milk"}, {"milk"}, {"egg"}]
    assert found.notes.unused_unit == "Customer"
    assert "without columns 1, 3" in found.notes.layout.describe()
    assert as_sets(read(data, **found.notes.layout.settings())) == as_sets(found)
    for skipped in ("3", "1,3"):
        by_customer = read(data, skip_columns=skipped, unit_column="customer", **options)
        assert by_unit(by_customer) == {
            frozenset({frozenset({"milk"})}),
            frozenset(map(frozenset, (["egg", "milk"], ["egg"]))),
        }
        assert by_customer.notes.unused_unit is None
    with pytest.raises(InputError, match="has only 5 columns"):
        read(data, skip_columns="1,3,6", **{**options, "format": "one-hot"})
    with pytest.raises(InputError, match=r"skip_columns=.1,3."):
        read(data, skip_columns="1", **{**options, "format": "one-hot"})
    with pytest.raises(UsageError, match=r"skip_columns= takes numbers from 1 on, no names of columns"):
        read(data, skip_columns="total", **options)
    doubts = []
    noted = read(data, on_doubt=doubts.append)
    assert as_sets(noted) == as_sets(found)
    assert doubts[0].stays.options == {**options, "format": "one-hot", "skip_columns": "1,3"}


@pytest.mark.parametrize("as_parquet", [True, False])
def test_repeated_ids_are_refused(as_parquet):
    frame = pl.DataFrame({"id": [1, 2, 1], "milk": [1, 1, 1], "egg": [0, 1, 1]})
    with pytest.raises(InputError, match="same value twice"):
        read(frame if as_parquet else frame.write_csv(), transaction_column="id")


@pytest.mark.parametrize("as_parquet", [True, False])
@pytest.mark.parametrize("cell", ["2", "17", "2.5"])
def test_a_quantity_is_refused_without_its_item(cell, as_parquet):
    frame = pl.DataFrame({"milk": ["1", "0"], "egg": ["1", cell]})
    data = frame.cast(pl.Float64) if as_parquet else frame.write_csv()
    place = "Column 2" if as_parquet else "Line 3, column 2"
    says = f"{place} of .* holds a quantity.*replace those above 1 by 1.*skip_columns=.2."
    with pytest.raises(InputError, match=says) as caught:
        read(data, format="one-hot")
    assert "egg" not in str(caught.value)


@pytest.mark.parametrize("as_parquet", [True, False])
@pytest.mark.parametrize("cell", ["-1", "zwieback", "maybe"])
def test_a_cell_that_is_neither_yes_nor_no_is_refused(cell, as_parquet):
    frame = pl.DataFrame({"milk": ["1", "0"], "egg": [cell, "1"]})
    with pytest.raises(InputError, match="neither yes nor no") as caught:
        read(frame if as_parquet else frame.write_csv(), format="one-hot")
    assert cell not in str(caught.value)


@pytest.mark.parametrize(
    ("header", "message"),
    [("egg,milk, milk", "Columns 2 and 3 .* same name"), ("milk,,egg", 'has no name.*skip_columns="2"')],
)
def test_a_faulty_header_is_refused_without_its_names(header, message):
    with pytest.raises(InputError, match=message) as caught:
        read(f"{header}\n1,0,1\n", format="one-hot")
    assert "milk" not in str(caught.value)


def test_row_numbers_of_pandas_may_be_the_ids():
    data = ",milk,egg\n0,1,0\n7,1,1\n"
    transactions = read(data, transaction_column="", format="one-hot")
    assert as_sets(transactions) == [{"milk"}, {"milk", "egg"}]
    assert as_sets(read(data, skip_columns="1", format="one-hot")) == as_sets(transactions)
    with pytest.raises(InputError, match='skip_columns="2,1"'):
        read(data, skip_columns="2", format="one-hot")


@pytest.mark.parametrize("as_parquet", [True, False])
def test_a_missing_column_does_not_show_the_items(as_parquet):
    frame = pl.DataFrame({"zwieback": [1, 0], "egg": [1, 1]})
    with pytest.raises(InputError, match="no column 'zwie'") as caught:
        read(frame if as_parquet else frame.write_csv(), transaction_column="zwie", format="one-hot")
    assert "zwieback" not in str(caught.value)
    with pytest.raises(InputError, match=r"separator= \(a comma if only format= is given\)"):
        read("tid;milk 1,5 %\n1;1,0\n", transaction_column="tid", format="one-hot")


def test_a_table_without_item_columns_is_refused():
    with pytest.raises(InputError, match="No column is left"):
        read(pl.DataFrame({"id": [1, 2]}), format="one-hot", transaction_column="id")


def test_wide_parquet_is_read_in_blocks(monkeypatch):
    monkeypatch.setattr(one_hot, "CELLS_AT_ONCE", 6)
    frame = pl.DataFrame({f"c{at}": [at % 2 == 0, at % 3 == 0] for at in range(10)})
    expected = [{f"c{at}" for at in range(10) if at % 2 == 0}, {f"c{at}" for at in range(10) if at % 3 == 0}]
    assert as_sets(read(frame)) == expected


def test_an_empty_table_is_refused():
    with pytest.raises(InputError, match=r"No item was found.*whether anything follows the header"):
        read("milk,egg\n", format="one-hot")
    with pytest.raises(InputError, match="No item was found"):
        read(pl.DataFrame({"milk": [False], "egg": [False]}))


@pytest.mark.parametrize(
    ("yes", "no"),
    [
        ("x", ""),
        ("✓", ""),
        ("x", "-"),
        ("WAHR", "FALSCH"),
        ("ja", "nein"),
        ("VRAI", "FAUX"),
        ("1", "NA"),
        ("1,0", "0,0"),
    ],
)
def test_cells_are_read_as_spreadsheets_write_them(yes, no):
    table = f"milk;egg;tea\n{yes};{no};{yes}\n{no};{yes};{no}\n{yes};{yes};{no}\n"
    assert as_sets(read(table)) == [{"milk", "tea"}, {"egg"}, {"milk", "egg"}]
