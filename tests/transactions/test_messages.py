"""No error message holds data, whatever is wrong with the file."""

from __future__ import annotations

import io
import traceback
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fim_private.errors import FimPrivateError, UsageError
from fim_private.transactions.files.source import load
from fim_private.transactions.reading import read_transactions

SECRET = "zwieback"
PIECES = st.sampled_from(
    [
        SECRET,
        f"{SECRET} 2",
        ",",
        ";",
        '"',
        '""',
        "\n",
        "\n",
        "\r\n",
        " ",
        "\t",
        "1",
        "0",
        "?",
        "tid,item\n",
        "{",
        "\xff",
    ]
)
OPTIONS = st.fixed_dictionaries(
    {},
    optional={
        "format": st.sampled_from(["auto", "fimi", "basket", "long", "one-hot", "lists"]),
        "separator": st.sampled_from([",", ";", " ", "::"]),
        "encoding": st.sampled_from(["utf-8", "ascii", "utf-16-le"]),
        "transaction_column": st.sampled_from(["tid", "1", "", "tid,item", "1,2"]),
        "item_column": st.sampled_from(["item", "0", "2"]),
        "unit_column": st.sampled_from(["item", "customer", "3"]),
        "skip_lines": st.sampled_from([0, 1, 5]),
        "skip_columns": st.sampled_from(["1", "2,3"]),
        "item_separator": st.sampled_from([",", " ", "::"]),
    },
)


def refusal(data: bytes, **options: Any) -> str:
    """What a user would see of the refusal, chained errors included; nothing if the file is read."""
    try:
        read_transactions(io.BytesIO(data), **options)
    except FimPrivateError as error:
        return "".join(traceback.format_exception(error)).split("Error: ", 1)[1]
    return ""


@given(st.lists(PIECES, max_size=40).map("".join), OPTIONS, st.sampled_from(["utf-8", "latin-1"]))
def test_random_files_are_read_or_refused_without_showing_them(data, options, encoding):
    # A table that the user calls long has a header, which is shown: the one place where a planted name may stand.
    allowed = data.lstrip().split("\n")[0] if options.get("format") == "long" else ""
    assert SECRET in allowed or SECRET not in refusal(data.encode(encoding), **options)


@pytest.mark.parametrize("header", ["tid,item", "milk,egg"])
@pytest.mark.parametrize("rows", ["{0},{0},{0}\n", '"{0}\n', '"{0}" {0},1\n', ",{0}\n"])
@pytest.mark.parametrize("format_name", ["long", "one-hot"])
def test_planted_names_are_never_shown(header, rows, format_name):
    data = f"{header}\n{rows.format(SECRET) * 30}"
    message = refusal(data.encode(), format=format_name, **({"item_column": "it"} if format_name == "long" else {}))
    assert message
    assert SECRET not in message


@pytest.mark.parametrize(
    "mistyped",
    [
        " postgresql://me:zwieback@host/shop",
        "postgresql:me:zwieback@host",
        "host=h password=zwieback dbname=x",
        "sqlite:///nowhere.db?key=zwieback",
        "postgres:/me:zwie/zwieback@host/db?sslmode=require",
        "jdbc:postgresql://host/db?user=me&pwd=zwieback",
    ],
)
@pytest.mark.parametrize("query", [None, "SELECT tid, item FROM sales"])
def test_no_message_holds_the_password_of_a_mistyped_address(mistyped: str, query: str | None) -> None:
    with pytest.raises(FimPrivateError) as refused:
        read_transactions(mistyped, query=query)
    assert SECRET not in str(refused.value)


@pytest.mark.parametrize("text", [f"tid,item\n1,{SECRET}\n", f"{SECRET}\r\n" * 9999, f"[{SECRET}]\n*\n"])
def test_a_text_in_place_of_a_path_is_not_shown(text: str) -> None:
    with pytest.raises(FimPrivateError, match="holds line ends") as refused:
        read_transactions(text)
    assert SECRET not in str(refused.value)


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ({"unit_column": 2}, "unit_column is not a text"),
        ({"transaction_column": 1, "item_column": 2}, "transaction_column is not a text"),
        ({"transaction_column": ["tid", "day"]}, r'transaction_column is not a text.*"1,3"'),
        ({"skip_columns": 1}, "skip_columns is not a text"),
        ({"item_separator": 1}, "item_separator is not a text"),
        ({"query": 1}, "query is not a text"),
        ({"where": len}, "where is not a text"),
        ({"separator": 5}, "separator is not a text"),
        ({"skip_lines": "2"}, "no whole number.*skip_lines=1"),
        ({"format": None}, "no format None"),
        ({"encoding": None}, "no encoding called None"),
    ],
)
def test_options_of_another_type_are_refused_in_words(options: dict[str, Any], says: str) -> None:
    with pytest.raises(UsageError, match=says):
        read_transactions(io.BytesIO(b"tid,item\n1,milk\n1,egg\n"), **options)


def test_what_is_no_file_is_refused_in_words() -> None:
    with pytest.raises(UsageError, match=r"no file.*path.*binary"):
        load({})  # type: ignore[arg-type]
