from __future__ import annotations

import polars as pl
import pytest

from fim_private.transactions.curator_text import warnings
from fim_private.transactions.item_codes import transactions_from_lists
from tests.transactions.reading import read


def rows(name: str, missing: int, others: int) -> str:
    """Rows of one customer, and of others with two baskets each."""
    named = [name] * missing + [f"K{row // 2}" for row in range(others)]
    return "tid,item,who\n" + "".join(f"{row},milk,{who}\n" for row, who in enumerate(named))


@pytest.mark.parametrize("name", ["NA", "nan", "null", "None", "0", "0.0", "unknown", " #N/A ", "Laufkunde", "ANÓNIMO"])
def test_a_word_for_no_customer_with_very_many_baskets_is_noted(name: str) -> None:
    found = read(rows(name, 1000, 40), unit_column="who").notes.nobody
    assert found == (("0" if name == "0.0" else name.strip(), 1000),)


def test_a_customer_with_more_than_a_tenth_of_all_baskets_is_noted_whatever_the_name() -> None:
    assert read(rows("9999999", 45, 400), unit_column="who").notes.nobody == (("9999999", 45),)
    equal = "tid,item,who\n" + "".join(f"{row},milk,K{row % 5}\n" for row in range(200))
    assert read(equal, unit_column="who").notes.nobody == ()


@pytest.mark.parametrize(("name", "missing", "others"), [("NA", 19, 4), ("NA", 0, 40), ("K", 40, 400)])
def test_other_customers_are_not_noted(name: str, missing: int, others: int) -> None:
    assert read(rows(name, missing, others), unit_column="who").notes.nobody == ()


def test_a_short_name_among_customers_as_large_is_not_noted() -> None:
    names = ["NA"] * 30 + ["Bo"] * 30
    frame = pl.DataFrame({"items": [["milk"]] * 60, "who": names})
    assert read(frame, unit_column="who").notes.nobody == ()
    assert transactions_from_lists([["milk"]] * 60, units=names).notes.nobody == ()
    names = ["NA"] * 30 + [f"Bo{row}" for row in range(30)]
    assert transactions_from_lists([["milk"]] * 60, units=names).notes.nobody == (("NA", 30),)


def test_units_that_differ_in_case_or_zeros_alone_are_counted() -> None:
    frame = pl.DataFrame({"items": [["milk"]] * 5, "who": ["K1", "k1", "K01", "K2", "x"]})
    assert read(frame, unit_column="who").notes.alike_units == 3


def test_the_holder_of_the_data_is_told_of_units_that_may_be_one() -> None:
    """Split in two, a customer is protected at half the promise."""
    found = {who: read(rows(who, 1, 2), unit_column="who") for who in ("k0", "K1")}
    same = {who: warnings(one.notes, one.vocabulary) for who, one in found.items()}
    assert same["K1"] == []
    assert "2 units differ from another one in case, leading zeros or Unicode form alone" in same["k0"][0]


def test_the_holder_of_the_data_is_told_of_items_that_may_be_one() -> None:
    """As on a Mac, which writes \u00c4 as an A and two dots."""
    found = transactions_from_lists([["Milk", "tea"], ["milk"], ["007", "7"], ["\u00c4pfel"], ["A\u0308pfel"]])
    (note,) = warnings(found.notes, found.vocabulary)
    assert "6 items differ from another one in case, leading zeros or Unicode form alone, and count apart" in note
