from __future__ import annotations

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fim_private.errors import InputError, UsageError
from fim_private.transactions.encode import Coder, in_name_order, name_order, transactions_from_lists
from tests.transactions.reading import as_sets, stripped

NAME = st.text(st.sampled_from("019a,\u00e9\u6f22\U0001f956\n "), max_size=4) | st.integers(0, 10**20).map(str)


def test_the_order_of_names():
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


@given(
    st.lists(st.lists(st.tuples(st.integers(0, 5), NAME), max_size=6), max_size=4),
    st.lists(st.tuples(st.integers(0, 5), st.integers(0, 10**18 - 1) | st.integers(0, 3)), max_size=6),
)
def test_runs_add_up(runs, numbers):
    coder = Coder()
    expected: list[set[str]] = [set() for _ in range(6)]
    for run in runs:
        coder.add(
            pl.Series([name for _, name in run], dtype=pl.String), np.array([row for row, _ in run], dtype=np.int64)
        )
        for row, name in run:
            expected[row] |= {stripped(name)} - {""}
    coder.add_integers(*(np.array([pair[at] for pair in numbers], dtype=np.int64) for at in (1, 0)))
    for row, number in numbers:
        expected[row].add(str(number))
    transactions = coder.finish(row_count=6, read_as="runs")
    assert as_sets(transactions) == [names for names in expected if names]
    assert transactions.notes.format == "runs"


def test_numbers_and_missing_items():
    transactions = transactions_from_lists([[7, "7", None, np.int32(8)], iter(["milk"])])
    assert as_sets(transactions) == [{"7", "8"}, {"milk"}]
    assert transactions.notes.blanks == 1


def test_units_of_lists():
    transactions = transactions_from_lists([["a"], [], ["b"], ["c"]], units=["Ann", "Bob", "Cid", "Ann"])
    assert as_sets(transactions) == [{"a"}, {"b"}, {"c"}]
    assert transactions.units is not None
    assert transactions.units.tolist() == [0, 1, 0]


def test_no_transactions_at_all():
    transactions = transactions_from_lists([], units=[])
    assert as_sets(transactions) == []
    assert transactions.vocabulary.dtype == pl.String


@pytest.mark.parametrize(
    ("lists", "units", "error"),
    [
        (["milk"], None, "single string"),
        ([[1.5]], None, "neither text nor a whole number"),
        ([[True]], None, "neither text nor a whole number"),
        ([["a"]], [1, 2], "differ in number"),
    ],
)
def test_wrong_lists(lists, units, error):
    with pytest.raises(UsageError, match=error):
        transactions_from_lists(lists, units)


def test_a_missing_unit():
    with pytest.raises(InputError, match="no unit"):
        transactions_from_lists([["a"], ["b"]], units=[1, None])


def test_nothing_is_shown():
    transactions = transactions_from_lists([["zwieback"]])
    assert "zwieback" not in f"{transactions} {transactions!r} {transactions.notes!r}"
