from __future__ import annotations

import csv
import io

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fim_private.errors import InputError
from fim_private.transactions.files.fields import QUOTE, split_line, split_lines

TEXT = st.text(st.sampled_from('ab,;" \t'), max_size=6)


@given(st.lists(TEXT, min_size=1, max_size=6), st.sampled_from(",;\t|"))
def test_what_the_csv_module_writes_is_read_back(fields, separator):
    buffer = io.StringIO()
    csv.writer(buffer, delimiter=separator, lineterminator="").writerow(fields)
    found = split_line(buffer.getvalue(), separator)
    assert [field.strip(" ") for field in found] == [field.strip(" ") for field in fields]


@given(st.lists(st.text(st.sampled_from('ab"|'), max_size=5), min_size=1, max_size=5))
def test_a_separator_may_have_two_characters(fields):
    line = "::".join('"' + field.replace('"', '""') + '"' for field in fields)
    assert split_line(line, "::") == fields


@pytest.mark.parametrize(
    ("line", "fields"),
    [
        ('5" nail,6" nail', ['5" nail', '6" nail']),
        ('a, "b, c" ,d', ["a", "b, c", "d"]),
        ('"","a"', ["", "a"]),
        (',"a",', ["", "a", ""]),
        (',,"', None),
        ('a"b"', ['a"b"']),
        ('"Bob" shirt,milk', None),
        ('"open,milk', None),
        ('milk,"open', None),
        ('"a""', None),
        ('"""a"""', ['"a"']),
    ],
)
def test_quoted_fields_are_split_as_written(line, fields):
    assert split_line(line, ",") == fields


@pytest.mark.slow
@settings(max_examples=300)
@given(
    rows=st.lists(st.lists(st.text('ab", ;\x1f', max_size=5), min_size=1, max_size=5), min_size=1, max_size=4),
    separator=st.sampled_from([",", ";", " ", "::"]),
    proper=st.booleans(),
)
def test_many_lines_are_split_as_one_by_one(rows, separator, proper):
    if proper:
        rows = [[f'"{field.replace(QUOTE, QUOTE * 2)}"' if field[1:] else field for field in row] for row in rows]
    lines = [separator.join(row) for row in rows]
    expected = [split_line(line, separator) for line in lines]
    numbers = np.arange(len(lines)) + 1
    if None in expected:
        with pytest.raises(InputError, match=f"Line {expected.index(None) + 1} of it has unbalanced quotes"):
            split_lines(pl.Series(lines), separator, name="it", numbers=numbers)
    else:
        fields, widths = split_lines(pl.Series(lines), separator, name="it", numbers=numbers)
        assert fields.to_list() == [field for line in expected for field in line]
        assert widths.tolist() == [len(line) for line in expected]
