from __future__ import annotations

import gzip
import io

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fim_private.errors import InputError, UsageError
from fim_private.transactions import compressed_rows
from fim_private.transactions.item_codes import name_order, transactions_from_lists
from fim_private.transactions.restriction import (
    containing,
    keep_items,
    read_item_names,
    restrict_to,
    without_items,
)
from tests.transactions.reading import as_sets

NAME = st.sampled_from(["1", "10", "9", "a", "b", "c"])


@pytest.mark.slow
@given(
    st.lists(st.tuples(st.sets(NAME), st.integers(0, 3)), max_size=8),
    st.sets(NAME | st.sampled_from(["x", "77"]), min_size=1),
)
def test_the_vocabulary_is_the_list_and_nothing_else_is_left(rows, names):
    units = [unit for _, unit in rows]
    restricted = restrict_to(transactions_from_lists([items for items, _ in rows], units), list(names))
    assert restricted.vocabulary.to_list() == sorted(names, key=name_order)
    left = [(items & names, unit) for items, unit in rows if items & names]
    assert as_sets(restricted) == [items for items, _ in left]
    same = [[a == b for b in restricted.units.tolist()] for a in restricted.units.tolist()]
    assert same == [[a == b for _, b in left] for _, a in left]
    assert restricted.notes.empty == len(rows) - len(left)


def test_names_are_stripped_and_may_repeat():
    restricted = restrict_to(transactions_from_lists([["a", "b"]]), [" b", "b ", "", "c"])
    assert restricted.vocabulary.to_list() == ["b", "c"]
    assert as_sets(restricted) == [{"b"}]


def test_an_empty_list_of_names_is_refused():
    with pytest.raises(UsageError, match="public items is empty"):
        restrict_to(transactions_from_lists([["a"]]), [" "])


@pytest.mark.parametrize("pack", [bytes, gzip.compress])
def test_names_are_read_a_line_each(pack):
    data = " whole milk \r\n\r\nbread, white\n\u2003egg\n7".encode()
    assert read_item_names(io.BytesIO(pack(data))) == ["whole milk", "bread, white", "egg", "7"]


def test_quotes_around_a_line_are_no_part_of_the_name():
    """As a spreadsheet saves a column. Nothing is charged for items that are called what nothing is called."""
    lines = ['"whole milk"', ' " rolls" ', '"bread, ""white"""', '""', '5" nail', '"tea" and "jam"', '"odd', "plain"]
    names = ["whole milk", "rolls", 'bread, "white"', '5" nail', '"tea" and "jam"', '"odd', "plain"]
    assert read_item_names(io.BytesIO("\n".join(lines).encode())) == names
    with pytest.raises(InputError, match=r"Line 2 of .* repeats a name"):
        read_item_names(io.BytesIO(b'milk\n"milk"\n'))
    with pytest.raises(InputError, match="holds no name"):
        read_item_names(io.BytesIO(b'""\n'))


def test_a_repeated_name_is_told_by_its_line():
    with pytest.raises(InputError, match=r"Line 5 of .* repeats a name") as caught:
        read_item_names(io.BytesIO(b"milk\n\n\nzwieback\n zwieback \nmilk\n"))
    assert "zwieback" not in str(caught.value)
    for names, told in (
        (b"a\nb\na\nb\n", "name, and so does line 4."),
        (b"a\n" * 20, "lines 3, 4, 5, 6, 7 and 13 more."),
    ):
        with pytest.raises(InputError, match=told):
            read_item_names(io.BytesIO(names))


@pytest.mark.parametrize("header", ["item", "\n Produkt", '"Name"', "id,Item name", "product;price", "N°\tDésignation"])
def test_a_header_above_the_names_is_refused(header):
    """It is no item, but mechanisms could name it."""
    with pytest.raises(InputError, match=r"begins with .*, which looks like a header"):
        read_item_names(io.BytesIO(f"{header}\nmilk\nbread\n".encode()))


@pytest.mark.parametrize("priced", ["{},1.99", "{};2,50 €", "4711\t{}\t$1,299.00", '"{}, 1 l", 3'])
def test_a_column_of_prices_behind_the_names_is_refused(priced):
    """No such name occurs in the data, which was said only when the data had been read."""
    text = "\n".join(priced.format(name) for name in ("milk", "bread", "tea"))
    with pytest.raises(InputError, match=r"ends with a number.*such as a price.*without other columns"):
        read_item_names(io.BytesIO(text.encode()))
    in_quotes = [line.replace('"', '""') for line in text.splitlines()]
    found = read_item_names(io.BytesIO("".join(f'"{line}"\n\n' for line in in_quotes).encode()))
    assert found == text.splitlines()
    others = [*text.splitlines(), "rye"]
    assert read_item_names(io.BytesIO("\n".join(others).encode())) == others


@pytest.mark.parametrize("names", [["item"], ["milk", "item"], ["item 7", "milk"], ["bread, white", "name"]])
def test_an_item_may_be_called_as_a_column_is(names):
    assert read_item_names(io.BytesIO("\n".join(names).encode())) == names


def test_a_file_without_names_is_refused(tmp_path):
    with pytest.raises(InputError, match="nothing but blanks"):
        read_item_names(io.BytesIO(b"\n \n"))
    with pytest.raises(InputError, match="no file"):
        read_item_names(tmp_path / "none")
    with pytest.raises(InputError, match=r"is a folder\. Give the path of a file\.$"):
        read_item_names(tmp_path)


@pytest.mark.slow
@given(st.lists(st.sets(st.integers(0, 9), min_size=1), max_size=20), st.sets(st.integers(0, 9)), st.integers(1, 9))
def test_items_are_kept_alike_however_many_at_once(lists, wanted, at_once):
    transactions = transactions_from_lists(lists, range(len(lists)))
    names = transactions.vocabulary.to_list()
    codes = np.array([code for code, name in enumerate(names) if int(name) in wanted], dtype=np.int32)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(compressed_rows, "AT_ONCE", at_once)
        kept = keep_items(transactions, codes)
    left = [{str(item) for item in items & wanted} for items in lists if items & wanted]
    assert as_sets(kept) == left
    assert kept.vocabulary.to_list() == [names[code] for code in codes]
    assert kept.units.tolist() == list(range(len(left)))


@pytest.mark.slow
@given(
    st.lists(st.tuples(st.sets(NAME, min_size=1), st.integers(0, 3)), max_size=9),
    st.sets(NAME | st.sampled_from(["x"]), min_size=1, max_size=3),
    st.integers(1, 9),
)
def test_transactions_with_the_items_are_kept_and_the_items_left_out(rows_given, names, at_once):
    transactions = transactions_from_lists([items for items, _ in rows_given], [unit for _, unit in rows_given])
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(compressed_rows, "AT_ONCE", at_once)
        left = containing(transactions, sorted(names))
    expected = [(items - names, unit) for items, unit in rows_given if items > names]
    assert as_sets(left) == [items for items, _ in expected]
    assert left.vocabulary.to_list() == [name for name in transactions.vocabulary if name not in names]
    same = [[a == b for b in left.units.tolist()] for a in left.units.tolist()]
    assert same == [[a == b for _, b in expected] for _, a in expected]


def test_items_to_leave_out_need_not_be_there():
    transactions = transactions_from_lists([["a", "b"], ["c"]])
    assert without_items(transactions.vocabulary, ["b", "x"]).tolist() == [0, 2]
    assert without_items(transactions.vocabulary, []).tolist() == [0, 1, 2]
    assert not len(containing(transactions, ["a", "x"]))
