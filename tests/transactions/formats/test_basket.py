from __future__ import annotations

import csv
import io

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fim_private.errors import InputError
from fim_private.transactions import compressed_rows, known_names
from fim_private.transactions.formats import basket
from tests.transactions.reading import as_sets, in_blocks, outcome, read, stripped

NAME = st.text(
    st.sampled_from(list("ab ,;\"\t|'éß漢🥖\u00a0\u200b")) | st.characters(codec="utf-8", exclude_characters="\0\r\n"),
    max_size=8,
)


@given(st.lists(st.lists(NAME, max_size=6), min_size=1, max_size=10), st.sampled_from(",;\t|"), st.booleans())
def test_what_the_csv_module_writes_is_read_back(rows, separator, quote_all):
    quoting = csv.QUOTE_ALL if quote_all else csv.QUOTE_MINIMAL
    buffer = io.StringIO()
    csv.writer(buffer, delimiter=separator, quoting=quoting).writerows(rows)
    expected = [names for row in rows if (names := {stripped(name) for name in row} - {""})]
    data = buffer.getvalue()
    if not expected or data.startswith("\ufeff"):
        return
    assert as_sets(read(data, format="basket", separator=separator)) == expected


def test_everything_dropped_is_counted():
    transactions = read(" milk ,bread,,milk\n\n , \nbread\n\u2003egg\u00a0,\r\n")
    assert as_sets(transactions) == [{"milk", "bread"}, {"bread"}, {"egg"}]
    assert (transactions.notes.blanks, transactions.notes.duplicates, transactions.notes.empty) == (4, 1, 2)


def test_a_quoted_field_may_hold_separators_and_quotes():
    data = 'milk,"bread, white","5"" nail"\n6" nail,milk\n "a b" , "c"\n'
    assert as_sets(read(data)) == [{"milk", "bread, white", '5" nail'}, {'6" nail', "milk"}, {"a b", "c"}]


@pytest.mark.parametrize("bad", ['"zwieback,milk', 'milk,"zwieback', '"zwieback" x,milk', '"zwieback\nmilk"'])
def test_unbalanced_quotes_name_the_line_and_nothing_else(bad):
    with pytest.raises(InputError, match=r"Line 3 of .* has unbalanced quotes") as caught:
        read(f'milk\n"bread",egg\n{bad}\nmilk,egg\n', format="basket")
    assert "zwieback" not in str(caught.value)


def test_lines_with_and_without_quotes_keep_their_order():
    data = "".join(f'"{row}, x",b{row}\n' if row % 3 else f"{row},b{row},c\n" for row in range(50))
    expected = [{f"{row}, x", f"b{row}"} if row % 3 else {str(row), f"b{row}", "c"} for row in range(50)]
    assert as_sets(read(data, format="basket")) == expected


def test_padded_lines_of_a_spreadsheet_add_no_items():
    transactions = read("milk,bread,\nmilk,,\n,,\n")
    assert as_sets(transactions) == [{"milk", "bread"}, {"milk"}]
    assert (transactions.notes.blanks, transactions.notes.empty) == (6, 1)


PIECES = st.sampled_from(
    [
        *(
            "a",
            "bb",
            "12345678",
            "123456789",
            "a long name of several words",
            "a long name of several wards",
            "é",
            "\u00a0",
        ),
        *("\u2003egg", '"', '""', '"a"', '"a, b"', ' "bb" ', '5" nail', "", " ", "\t", "\x0b", "\x1c", "\x1f"),
    ]
)
GAPS = st.sampled_from([",", ",", ",", "\t", " ", ";", "\n", "\n", "\r\n", "", ", "])


@given(
    st.lists(st.tuples(PIECES, GAPS), max_size=40),
    st.sampled_from([",", "\t", " ", ";", ", ", "é"]),
    st.integers(1, 60),
    st.integers(0, 10),
)
def test_compiled_reading_is_the_same_as_splitting_strings(
    pieces: list[tuple[str, str]], separator: str, block: int, small: int
) -> None:
    data = "".join(piece + gap for piece, gap in pieces)
    slow = outcome(data, format="basket", separator=separator)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(basket, "SMALL", small)
        patch.setattr(compressed_rows, "SMALL", 0)
        patch.setattr(known_names, "_FIRST", {"names": 1, "letters": 1})
        in_blocks(patch, block)
        assert outcome(data, format="basket", separator=separator) == slow


def test_names_that_find_no_place_in_the_table_are_read_all_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    """A table is never full, so a hostile choice of names is made here by a table of one slot."""
    data = "".join(f"item {number},{number}\n" for number in range(300)) * 3
    slow = read(data, format="basket")
    monkeypatch.setattr(basket, "SMALL", 0)
    in_blocks(monkeypatch, 1000)
    monkeypatch.setattr(
        known_names,
        "_empty_table",
        lambda names, letters: known_names._Table(
            np.zeros(2, np.uint64), np.zeros(names + 1, np.int64), np.zeros(letters, np.uint8)
        ),
    )
    fast = read(data, format="basket")
    assert fast.vocabulary.to_list() == slow.vocabulary.to_list()
    assert as_sets(fast) == as_sets(slow)
