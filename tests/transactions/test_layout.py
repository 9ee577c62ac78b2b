"""The layout is a public parameter: what is typed is obeyed without a look at the data, what is guessed is told."""

from __future__ import annotations

import json
from typing import Any

import pandas as pd
import polars as pl
import pytest

from fim_private.errors import InputError
from fim_private.transactions.item_codes import transactions_from_lists
from fim_private.transactions.layout import IN_MEMORY, Layout
from fim_private.transactions.reading import read_transactions
from tests.transactions.reading import as_bytes, as_sets, read

HALF = "milk,bread\n" * 500
OTHER_HALF = "tea;mug\n" * 500
NEIGHBOURS = (HALF + OTHER_HALF, HALF + "tea;mug\n" * 501, "milk,bread\n" * 499 + OTHER_HALF)

LONG = "tid;item;who\n1;milk;ann\n1;bread;ann\n2;milk;bob\n"
ONE_HOT = "id|milk|bread\n1|1|0\n2|1|1\n"
FRAME = pl.DataFrame({"tid": [1, 1, 2], "item": ["milk", "bread", "milk"], "who": ["ann", "ann", "bob"]})


@pytest.mark.parametrize("data", NEIGHBOURS)
def test_a_typed_format_is_read_alike_whatever_the_other_lines_are(data: str) -> None:
    """One line more made the separator of all lines a semicolon."""
    found = as_sets(read(data, format="basket"))
    assert found[0] == {"milk", "bread"}
    assert found[-1] == {"tea;mug"}
    assert read(data, format="basket").notes.layout == Layout(format="basket", separator=",", encoding="utf-8")


def test_a_guess_may_hang_on_one_line_and_is_told() -> None:
    layouts = [read(data).notes.layout for data in NEIGHBOURS]
    assert {layout.separator for layout in layouts} == {",", ";"}
    assert {layout.guessed for layout in layouts} == {("format", "separator")}


@pytest.mark.parametrize("first", NEIGHBOURS)
@pytest.mark.parametrize("second", NEIGHBOURS)
def test_the_layout_of_one_reading_reads_the_other_file_alike(first: str, second: str) -> None:
    layout = read(first).notes.layout
    assert as_sets(read(second, **layout.settings())) == [
        set(line.split(layout.separator)) for line in second.splitlines()
    ]
    assert read(second, **layout.settings()).notes.layout.guessed == ()


@pytest.mark.parametrize("format_name", ["long", "one-hot"])
def test_tables_have_commas_unless_they_are_typed(format_name: str) -> None:
    for data in (LONG, ONE_HOT):
        with pytest.raises(InputError, match="commas"):
            read(data, format=format_name)
    commas = (LONG if format_name == "long" else ONE_HOT.replace("id|", "").replace("1|1|0", "1|0")).replace(";", ",")
    assert read(commas.replace("|", ",").replace("2,1,1", "1,1"), format=format_name).notes.layout.separator == ","


CASES: dict[str, tuple[Any, dict[str, str], dict[str, Any], str, str]] = {
    "fimi": (
        "1 2\n3\n",
        {},
        {"format": "fimi", "encoding": "utf-8", "guessed": ("format",)},
        "FIMI: items separated by blanks, one transaction per line",
        "one line",
    ),
    "basket": (
        "1\t2\nx\n",
        {"separator": r"\t", "encoding": "latin1"},
        {"format": "basket", "separator": "\t", "encoding": "iso8859-1", "guessed": ("format",)},
        "basket CSV, separated by tabs (iso8859-1)",
        "one line",
    ),
    "long": (
        LONG,
        {"item_column": "ITEM"},
        {
            "format": "long",
            "separator": ";",
            "encoding": "utf-8",
            "transaction_column": "tid",
            "item_column": "item",
            "guessed": ("format", "separator", "transaction_column"),
        },
        "long CSV, separated by semicolons: transaction column 'tid', item column 'item'",
        "all rows with the same value of column 'tid'",
    ),
    "one-hot": (
        ONE_HOT,
        {"format": "one-hot", "separator": "|", "transaction_column": "id"},
        {"format": "one-hot", "separator": "|", "encoding": "utf-8", "transaction_column": "id"},
        "one-hot CSV, separated by pipes: one column per item, transaction column 'id'",
        "one row",
    ),
    "long frame": (
        FRAME,
        {"unit_column": "who"},
        {
            "format": "long",
            "kind": "Parquet",
            "transaction_column": "tid",
            "item_column": "item",
            "unit_column": "who",
            "guessed": ("format", "transaction_column", "item_column"),
        },
        "long Parquet: transaction column 'tid', item column 'item', unit column 'who'",
        "all rows with the same value of column 'tid'",
    ),
    "lists": (
        pl.DataFrame({"things": [["milk"], ["tea", "milk"]]}),
        {"format": "lists"},
        {"format": "lists", "kind": "Parquet", "item_column": "things", "guessed": ("item_column",)},
        "Parquet with lists: item column 'things'",
        "one row",
    ),
    "one-hot frame": (
        pl.DataFrame({"milk": [True, True], "bread": [1, 0]}),
        {},
        {"format": "one-hot", "kind": "Parquet", "guessed": ("format",)},
        "one-hot Parquet: one column per item",
        "one row",
    ),
}


@pytest.mark.parametrize("case", CASES)
def test_what_was_read_says_its_layout(case: str) -> None:
    data, options, parts, words, transaction = CASES[case]
    transactions = read(data, **options)
    layout = transactions.notes.layout
    assert layout == Layout(**parts)
    assert (layout.describe(), layout.transaction) == (words, transaction)
    unit = {"unit_column": options["unit_column"]} if "unit_column" in options else {}
    again = read(data, **layout.settings(), **unit)
    assert as_sets(again) == as_sets(transactions)
    assert again.notes.layout == Layout(**{**parts, "guessed": ()})
    assert Layout.of_record(json.loads(json.dumps(layout.record()))) == layout


def test_frames_and_lists_in_memory_have_a_layout_too() -> None:
    layout = read_transactions(FRAME.to_pandas()).notes.layout
    assert (layout.kind, layout.transaction_column, layout.guessed) == (
        "frame", "tid", ("format", "transaction_column", "item_column")
    )  # fmt: skip
    assert read_transactions(pd.DataFrame({"milk": [1]}), format="one-hot").notes.layout.guessed == ()
    layout = transactions_from_lists([["milk"]]).notes.layout
    assert layout == IN_MEMORY
    assert (layout.describe(), layout.transaction, layout.settings()) == ("lists in memory", "one list", {})


def test_what_was_guessed_is_shown_as_it_is_typed() -> None:
    assert read("a b\tc\nd\n", format="basket", separator=r"\t").notes.layout.guesses_as_typed() == ""
    assert read("a b\tc\nd\n").notes.layout.guesses_as_typed() == r"--format basket --separator '\t'"
    assert read(as_bytes(FRAME), format="long", transaction_column="tid").notes.layout.guesses_as_typed() == (
        "--item-column item"
    )


RECORD = Layout(format="basket", separator=",").record()


@pytest.mark.parametrize(
    "record",
    [
        None,
        "basket",
        {},
        {**RECORD, "more": None},
        {name: value for name, value in RECORD.items() if name != "separator"},
        {**RECORD, "format": None},
        {**RECORD, "separator": 1},
        {**RECORD, "guessed": "format"},
        {**RECORD, "guessed": [1]},
        {**RECORD, "guessed": None},
    ],
    ids=str,
)
def test_what_is_no_record_of_a_layout(record: object) -> None:
    assert Layout.of_record(record) is None
