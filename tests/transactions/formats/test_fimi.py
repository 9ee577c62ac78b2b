from __future__ import annotations

import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fim_private.transactions import compressed_rows
from fim_private.transactions.formats import fimi
from tests import processes
from tests.transactions.reading import as_sets, in_blocks, outcome, read, stripped


def test_numbers_may_be_separated_by_any_blanks():
    data = " 1  2\t3 \x0c4\x0b5 \r\n\r\n6 \n \t\n7"
    transactions = read(data, format="fimi")
    assert as_sets(transactions) == [{"1", "2", "3", "4", "5"}, {"6"}, {"7"}]
    assert transactions.notes.empty == 2
    assert transactions.notes.blanks == 0


def test_names_may_be_separated_by_any_blanks():
    data = " a  b\tc \x0cd\x0be \r\n\r\nf\u00a0g \n \t\nh"
    transactions = read(data, format="fimi")
    assert as_sets(transactions) == [{"a", "b", "c", "d", "e"}, {"f", "g"}, {"h"}]
    assert transactions.notes.empty == 2


def test_repeated_items_are_merged_and_counted():
    transactions = read("3 1 3 3\n2 2\n")
    assert as_sets(transactions) == [{"1", "3"}, {"2"}]
    assert transactions.notes.duplicates == 3


@pytest.mark.parametrize(
    "token", ["007", "00", "1234567890123456789", "99999999999999999999999", "-1", "+1", "1.0", "٣"]
)
def test_what_is_no_canonical_integer_stays_a_name(token):
    transactions = read(f"7 0 {token}\n1 999999999999999999\n")
    assert as_sets(transactions) == [{"7", "0", token}, {"1", "999999999999999999"}]
    assert transactions.vocabulary.to_list() == ["0", "1", "7", "999999999999999999", token]


@given(st.lists(st.lists(st.integers(0, 10**18 - 1) | st.integers(0, 9), max_size=5), min_size=1, max_size=8))
def test_integers_round_trip(rows):
    data = "".join(" ".join(map(str, row)) + "\n" for row in rows)
    if not data.strip():
        return
    assert as_sets(read(data, format="fimi")) == [{str(item) for item in row} for row in rows if row]


TOKEN = st.text(max_size=4).filter(lambda name: name and not any(stripped(letter) == "" for letter in name))


@pytest.mark.slow
@given(st.lists(st.lists(TOKEN.filter(lambda name: "\0" not in name), max_size=5), min_size=1, max_size=8))
def test_names_round_trip(rows):
    data = "".join(" ".join(row) + "\n" for row in rows)
    if not data.strip() or data.startswith("\ufeff"):
        return
    assert as_sets(read(data, format="fimi")) == [set(row) for row in rows if row]


PIECES = st.sampled_from(
    ["1", "7", "0", "00", "12", "16777215", "16777216", "9" * 18, "9" * 19, "a", "é", "٣", "-", " "]
)
GAPS = st.sampled_from([" ", "\t", "\x0b", "\x0c", "\n", "\r", "\r\n", "\x1c", "\u00a0", ""])


@pytest.mark.slow
@given(st.lists(st.tuples(PIECES, GAPS), max_size=40), st.integers(1, 40), st.integers(0, 10))
def test_compiled_reading_is_the_same_as_reading_tokens(tokens, block, small):
    data = "".join(piece + gap for piece, gap in tokens)
    slow = outcome(data, format="fimi")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(fimi, "SMALL", small)
        patch.setattr(compressed_rows, "SMALL", 0)
        in_blocks(patch, block)
        assert outcome(data, format="fimi") == slow


@pytest.mark.slow
def test_numbers_are_read_by_compiled_code_and_few_of_them_without():
    program = (
        "import io, sys; from fim_private import read_transactions as r\n"
        "r(io.BytesIO(b'1 2 3\\n' * 1000), format='fimi'); few = 'numba' in sys.modules\n"
        "r(io.BytesIO(b'milk,bread\\n' * 1000)); names = 'numba' in sys.modules\n"
        "r(io.BytesIO(b'1 2 3\\n' * 100_000)); print(few, names, 'numba' in sys.modules)"
    )
    done = processes.run([sys.executable, "-c", program], text=True, check=True)
    assert done.stdout.split() == ["False", "False", "True"]
