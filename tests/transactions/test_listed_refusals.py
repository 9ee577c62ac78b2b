"""One more transaction may end a run, but only in a way that the promise lists: the holder of the data must know."""

from __future__ import annotations

import io
from typing import Any

import pandas as pd
import polars as pl
import pytest

from fim_private.errors import InputError
from fim_private.transactions.reading import read_transactions
from tests.conftest import ROOT
from tests.transactions.workbook import workbook

LISTED = " ".join(
    (ROOT / "docs" / "promise-and-limits.md")
    .read_text(encoding="utf-8")
    .partition("### When success depends on the data")[2]
    .partition("### The layout is public")[0]
    .split()
)
BASKET: dict[str, Any] = {"format": "basket"}
LONG: dict[str, Any] = {"format": "long", "transaction_column": "tid", "item_column": "item"}
BOUGHT = {**LONG, "unit_column": "who"}
ONE_HOT: dict[str, Any] = {"format": "one-hot"}


@pytest.mark.parametrize(
    ("data", "more", "layout", "listed"),
    [
        (b"a,b\nb,c\n", b'"a,b\n', BASKET, "A quote is left open in a line."),
        (b"a,b\nb,c\n", b"a" * 2**21, BASKET, "A line is longer than 1 MiB"),
        (b"a,b\nb,c\n", b"a\0\n", BASKET, "holds a NUL"),
        (b"a,b\nb,c\n", b"caf\xe9\n", BASKET, "is not text in the encoding"),
        (b"tid,item\n1,a\n", b"2,a,b\n", LONG, "They differ in their number of fields"),
        (b"tid,item\n1,a\n", b",a\n", LONG, "have an item and no transaction"),
        (b"tid,item,who\n1,a,x\n", b"2,a,\n", BOUGHT, "have no unit"),
        (b"tid,item,who\n1,a,x\n", b"1,b,y\n", BOUGHT, "or belong to two"),
        (b"a,b\n1,0\n", b"1,2\n", ONE_HOT, "A one-hot cell is neither 0 nor 1"),
        (b"tid,a\n1,0\n2,1\n", b"2,1\n", {**ONE_HOT, "transaction_column": "tid"}, "A transaction id stands twice"),
    ],
)
def test_one_more_line_ends_a_run_in_a_listed_way(
    data: bytes, more: bytes, layout: dict[str, Any], listed: str
) -> None:
    assert len(read_transactions(io.BytesIO(data), **layout))
    with pytest.raises(InputError):
        read_transactions(io.BytesIO(data + more), **layout)
    assert listed in LISTED


def test_a_value_beside_a_one_hot_sheet_ends_a_run_in_a_listed_way() -> None:
    rows: list[list[Any]] = [["milk", "tea"], [1, 0], [1, 1]]
    assert len(read_transactions(io.BytesIO(workbook({"sales": rows})), **ONE_HOT)) == 2
    with pytest.raises(InputError, match="no name"):
        read_transactions(io.BytesIO(workbook({"sales": [*rows, [0, 1, "x"]]})), **ONE_HOT)
    assert "A one-hot sheet of a workbook has a value in a column without a name." in LISTED


def test_an_odd_value_in_a_frame_ends_a_run_in_a_listed_way() -> None:
    def frame(*items: object) -> pl.DataFrame:
        return pl.DataFrame(
            [
                pl.Series("tid", list(range(len(items)))),
                pl.Series("item", list(items), dtype=pl.Object),
            ]
        )

    assert len(read_transactions(frame("a", 1), **LONG)) == 2
    with pytest.raises(InputError):
        read_transactions(frame("a", 1, ["b"]), **LONG)
    assert "in a frame, a value that is neither text nor number nor date" in LISTED


@pytest.mark.parametrize(
    ("more", "listed"),
    [
        ((1, ["b"]), "A transaction id stands twice in a one-hot table or beside lists."),
        ((2, "b"), "or no list among lists"),
    ],
)
def test_an_odd_row_of_lists_ends_a_run_in_a_listed_way(more: tuple[int, object], listed: str) -> None:
    lists = {"format": "lists", "transaction_column": "tid", "item_column": "items"}

    def frame(*rows: tuple[int, object]) -> pd.DataFrame:
        return pd.DataFrame(rows, columns=["tid", "items"])

    assert len(read_transactions(frame((0, ["a"]), (1, ["b"])), **lists)) == 2
    with pytest.raises(InputError):
        read_transactions(frame((0, ["a"]), (1, ["b"]), more), **lists)
    assert listed in LISTED
