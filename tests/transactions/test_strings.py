from __future__ import annotations

from decimal import Decimal

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fim_private.transactions.item_codes import transactions_from_lists
from fim_private.transactions.strings import identities, joined_identities
from tests.transactions.reading import by_unit, read

MILK, BREAD = frozenset({"milk"}), frozenset({"bread"})
SAME = [("17850", "17850.0"), ("007", "7"), (" K1", "K1"), ("-0", "0"), ("7.00", "07."), ("+5", "5.")]
DIFFERENT = [
    ("K1", "k1"),
    ("K1", "K01"),
    ("1.5", "15"),
    ("3.1", "3.10"),
    ("-5", "5"),
    ("1e3", "1000"),
    ("1,0", "1"),
    ("1.2.0", "1.2"),
]


@given(st.lists(st.none() | st.text("0157.+-K ", max_size=8), max_size=20))
def test_names_are_the_same_if_they_are_equal_whole_numbers_or_equal_texts(names: list[str | None]) -> None:
    def alone(name: str | None) -> str | Decimal | None:
        name = None if name is None else name.strip(" ")
        plain = name is not None and name.lstrip("+-")[:1].isdigit() and name.count("+") + name.count("-") <= 1
        if name is None or not plain or not name.lstrip("+-").replace(".", "", 1).isdecimal():
            return name
        number = Decimal(name)
        return number if number == number.to_integral_value() else name

    found = identities(pl.Series(names, dtype=pl.String)).to_list()
    assert found == [identities(pl.Series([name], dtype=pl.String)).item() for name in names], "each by itself"
    for name, one in zip(names, found, strict=True):
        for other, another in zip(names, found, strict=True):
            assert (one == another) == (alone(name) == alone(other)), (name, other)


@pytest.mark.parametrize(("names", "units"), [*((pair, 1) for pair in SAME), *((pair, 2) for pair in DIFFERENT)])
def test_customers_with_equal_numbers_are_one_unit(names: tuple[str, str], units: int) -> None:
    one, other = names
    expected = {frozenset({MILK, BREAD})} if units == 1 else {frozenset({MILK}), frozenset({BREAD})}
    rows = f'tid,item,who\nA,milk,"{one}"\nB,bread,"{other}"\n'
    assert by_unit(read(rows, unit_column="who")) == expected
    wide = f'milk,bread,who\n1,0,"{one}"\n0,1,"{other}"\n'
    assert by_unit(read(wide, unit_column="who")) == expected
    frame = pl.DataFrame({"items": [["milk"], ["bread"]], "who": [one, other]})
    assert by_unit(read(frame, unit_column="who")) == expected
    assert by_unit(transactions_from_lists([["milk"], ["bread"]], units=[one, other])) == expected


def test_transaction_numbers_that_are_equal_are_one_transaction() -> None:
    assert len(read("tid,item\n7,milk\n7.0,bread\n007,tea\n")) == 1
    assert len(read("tid,item\n7,milk\n7a,bread\n")) == 2
    assert len(read("tid,item\n3.1,milk\n3.10,bread\n3.100,tea\n")) == 3, "receipts of till 3"


def test_items_keep_their_names_as_written() -> None:
    assert read("tid,item\n1,7\n1,007\n1,7.0\n").vocabulary.to_list() == ["7", "007", "7.0"]


def test_no_two_lists_of_names_are_one_identity() -> None:
    """Whatever stands in the cells: rows of two transactions are never one."""
    parts = ["", "a", "\x1f", "\x1e", "a\x1f", "\x1fa", "\x1e0", "\x1e1", "\x1e\x1f"]
    lists = [(one, other) for one in parts[1:] for other in parts[1:]]
    joined = joined_identities([pl.Series(column) for column in zip(*lists, strict=True)])
    assert joined.n_unique() == len(lists)
    for one, other in lists:
        assert joined_identities([pl.Series([one]), pl.Series([other])]).item() in joined
    assert joined_identities([pl.Series(["a"]), pl.Series([""])]).to_list() == [None]
