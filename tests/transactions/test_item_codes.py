from __future__ import annotations

from collections import deque

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fim_private.errors import InputError, UsageError
from fim_private.transactions import compressed_rows, item_codes
from fim_private.transactions.compressed_rows import sorted_rows
from fim_private.transactions.item_codes import Coder, in_name_order, name_order, transactions_from_lists
from fim_private.transactions.layout import Layout
from tests.transactions.reading import as_sets, stripped

BASKETS = Layout(format="basket", separator=",")

NAME = st.text(st.sampled_from("019a,\u00e9\u6f22\U0001f956\n "), max_size=4) | st.integers(0, 10**20).map(str)


def test_names_are_ordered_as_documented():
    names = [
        "b",
        "10",
        "9",
        "010",
        "",
        "0",
        "00",
        "a",
        "Z",
        "\U0001f956",
        "\uffee",
        "1" * 18,
        "1" * 19,
        "7\n",
        "٣",
        "-1",
    ]
    expected = [
        "0",
        "9",
        "10",
        "1" * 18,
        "",
        "-1",
        "00",
        "010",
        "1" * 19,
        "7\n",
        "Z",
        "a",
        "b",
        "٣",
        "\uffee",
        "\U0001f956",
    ]
    assert sorted(names, key=name_order) == expected
    assert in_name_order(pl.Series(names)).to_list() == expected


@given(st.lists(NAME, unique=True))
def test_a_series_is_ordered_by_the_key(names):
    assert in_name_order(pl.Series(names, dtype=pl.String)).to_list() == sorted(names, key=name_order)


@pytest.mark.slow
@given(st.lists(st.lists(NAME, max_size=5), max_size=8), st.lists(NAME, max_size=5))
def test_the_order_of_two_items_does_not_depend_on_other_data(lists, more):
    def places(data):
        return {name: place for place, name in enumerate(transactions_from_lists(data).vocabulary.to_list())}

    few, many = places(lists), places([*lists, more])
    assert sorted(few, key=few.__getitem__) == sorted(few, key=many.__getitem__)


@given(st.lists(st.lists(NAME, max_size=6), max_size=8))
def test_lists_become_the_sets_they_stand_for(lists):
    transactions = transactions_from_lists(lists)
    sets = [{stripped(name) for name in names} - {""} for names in lists]
    assert as_sets(transactions) == [names for names in sets if names]
    occurrences = sum(len(names) for names in lists)
    blanks = sum(not stripped(name) for names in lists for name in names)
    notes = transactions.notes
    assert (notes.blanks, notes.empty) == (blanks, sum(not names for names in sets))
    assert notes.duplicates == occurrences - blanks - sum(map(len, sets))


@given(st.lists(st.lists(st.lists(NAME, max_size=5), max_size=5), max_size=4), st.integers(1, 30), st.booleans())
def test_runs_add_up(runs, run, small):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(item_codes, "RUN", run)
        patch.setattr(compressed_rows, "SMALL", 1 << 16 if small else 0)
        coder = Coder()
        for lists in runs:
            names = pl.Series([name for names in lists for name in names], dtype=pl.String)
            coder.add(names, np.array([len(names) for names in lists], dtype=np.int64))
        transactions = coder.finish(layout=BASKETS)
    sets = [{stripped(name) for name in names} - {""} for lists in runs for names in lists]
    assert as_sets(transactions) == [names for names in sets if names]
    assert transactions.vocabulary.to_list() == sorted(set().union(*sets), key=name_order)
    blanks = sum(not stripped(name) for lists in runs for names in lists for name in names)
    occurrences = sum(len(names) for lists in runs for names in lists)
    expected = (occurrences - blanks - sum(map(len, sets)), blanks, sum(not names for names in sets), BASKETS)
    notes = transactions.notes
    assert (notes.duplicates, notes.blanks, notes.empty, notes.layout) == expected


@given(st.lists(st.tuples(st.integers(0, 5), st.integers(0, 9)), max_size=40), st.booleans())
def test_pairs_may_come_in_any_order(pairs, in_order):
    pairs = sorted(pairs) if in_order else pairs
    coder = Coder()
    codes = coder.vocabulary.codes(pl.Series([str(item) for _, item in pairs], dtype=pl.String))
    coder.add_pairs(codes, np.array([row for row, _ in pairs], dtype=np.int64), 6)
    transactions = coder.finish(layout=BASKETS)
    expected = [{str(item) for row, item in pairs if row == wanted} for wanted in range(6)]
    assert as_sets(transactions) == [names for names in expected if names]
    assert transactions.notes.empty == sum(not names for names in expected)


def test_a_name_with_two_codes_is_one_name():
    coder = Coder()
    coder.vocabulary.add(pl.Series(["7", "a"]))
    coder.add(pl.Series(["7", "b"]), np.array([2]))
    coder.add_coded(np.array([0, 1], np.int32), np.array([2]))
    assert as_sets(coder.finish(layout=BASKETS)) == [{"7", "b"}, {"7", "a"}]


@pytest.mark.parametrize("repeated", [True, False])
@pytest.mark.parametrize("length", [1, 9, 10, 11, 100, 256, 257, 3000])
def test_long_rows_are_sorted(length, repeated):
    generator = np.random.default_rng(length)
    if repeated:
        codes = generator.integers(0, length, size=70_000, dtype=np.int32)
    else:
        codes = np.concatenate([generator.permutation(length) for _ in range(70_000 // length + 1)])[:70_000]
        codes = codes.astype(np.int32)
    lengths = np.full(70_000 // length + 1, length, dtype=np.int32)
    lengths[-1] = 70_000 % length
    new_code = generator.permutation(length).astype(np.int32)
    offsets, items, filled = sorted_rows(deque([(codes, lengths)]), new_code)
    expected = [np.unique(new_code[row]) for row in np.split(codes, np.cumsum(lengths)[:-1]) if len(row)]
    assert np.array_equal(items, np.concatenate(expected))
    assert np.array_equal(np.diff(offsets), [len(row) for row in expected])
    assert np.array_equal(filled, lengths > 0)


def test_numbers_become_names_and_missing_items_are_counted():
    transactions = transactions_from_lists([[7, "7", None, np.int32(8)], iter(["milk"])])
    assert as_sets(transactions) == [{"7", "8"}, {"milk"}]
    assert transactions.notes.blanks == 1


def test_units_of_empty_lists_leave_no_gap():
    transactions = transactions_from_lists([["a"], [], ["b"], ["c"]], units=["Ann", "Bob", "Cid", "Ann"])
    assert as_sets(transactions) == [{"a"}, {"b"}, {"c"}]
    assert transactions.units.tolist() == [0, 1, 0]


def test_no_transactions_at_all_have_an_empty_vocabulary():
    transactions = transactions_from_lists([], units=[])
    assert as_sets(transactions) == []
    assert transactions.vocabulary.dtype == pl.String


@pytest.mark.parametrize(
    ("lists", "units", "error"),
    [
        (["milk"], None, "single string"),
        ([b"milk"], None, "single string"),
        ([1, 2], None, "A transaction is no list"),
        ([None], None, "A transaction is no list"),
        (None, None, "no lists"),
        (pl.DataFrame({"milk": ["1"], "egg": ["0"]}), None, "no lists.*read_transactions"),
        ([[1.5]], None, "neither text nor a whole number"),
        ([[True]], None, "neither text nor a whole number"),
        ([["a"]], [1, 2], "differ in number"),
        ([["a"]], 1, "units are no list"),
    ],
)
def test_faulty_lists_are_refused(lists, units, error):
    with pytest.raises(UsageError, match=error):
        transactions_from_lists(lists, units)


@pytest.mark.parametrize("missing", [None, float("nan"), "", " ", np.datetime64("NaT"), pd.NA, pd.NaT, True])
def test_a_missing_unit_is_refused(missing: object):
    """It would be a unit of its own, and promise what is not there."""
    with pytest.raises(InputError, match="unit of a transaction is missing"):
        transactions_from_lists([["a"], ["b"]], units=[1, missing])


def test_units_are_told_apart_as_those_of_files():
    units = iter(["a", "a ", 7, "7", np.int64(7), "b"])
    transactions = transactions_from_lists([["x"]] * 6, units)
    assert transactions.units.tolist() == [0, 0, 1, 1, 1, 2]
    with pytest.raises(UsageError, match="differ in number"):
        transactions_from_lists([["x"]] * 2, "ab")


def test_transactions_show_no_items_when_printed():
    transactions = transactions_from_lists([["zwieback"]])
    assert "zwieback" not in f"{transactions} {transactions!r} {transactions.notes!r}"


@pytest.mark.parametrize("item", ["zwieback \ud800", 10**5000], ids=["text", "number"])
def test_items_that_cannot_be_written_are_refused(item):
    with pytest.raises(UsageError, match=r"half a character|neither text nor a whole number") as caught:
        transactions_from_lists([["milk", item]])
    assert "zwieback" not in str(caught.value)
    assert caught.value.__context__ is None or caught.value.__suppress_context__


def test_units_that_cannot_be_written_are_refused():
    with pytest.raises(InputError, match="neither text nor a whole number"):
        transactions_from_lists([["milk"]], units=[10**5000])
