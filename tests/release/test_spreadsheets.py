"""No name becomes a formula in a spreadsheet, and every name comes back."""

from __future__ import annotations

import csv
import json
import re
import tempfile
from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from fim_private.release import Release, ReleasedItemset
from fim_private.release.files import read_itemsets, write_release
from fim_private.release.files.comma_separated import guarded, json_cell, unguarded

FORMULAS = (
    *("=1+1", "+1", "-1", "@SUM(A1)", "\t=1", "\r=1", "＝1", "＋1", "－1", "＠1", " =1"),
    *("a;=1", 'a,"=1', "a\t=1", "a|-1"),
)
NAMES = st.text(st.sampled_from(" \u3000'\"=+-@＝,;|\t\r\nab\\"), min_size=1, max_size=8)


def cells(line: str) -> list[str]:
    """What a spreadsheet may make of a text, whatever separator it is told, and whether it heeds quotes or not."""
    return [part.strip(' "\u3000\xa0') for part in re.split(r"[,;|\t\r\n]", line)]


def is_formula(cell: str) -> bool:
    return cell.startswith(tuple("=+-@＝＋－＠"))


@given(NAMES)
@example("'=1")
@example("''")
@example("' =1")
@example(",\t=")
@example(";'")
def test_any_name_comes_back_and_is_no_formula(name: str) -> None:
    assert unguarded(guarded(name)) == name
    assert not any(map(is_formula, cells(guarded(name))))
    assert guarded(name)[0] not in "\t\r"
    assert json.loads(json_cell([name, "b"])) == [name, "b"]
    assert not any(map(is_formula, cells(json_cell([name, "b"]))))


@pytest.mark.parametrize("name", FORMULAS)
def test_what_is_a_formula_is_guarded(name: str) -> None:
    assert is_formula(name.strip(' "\t\r')) or any(map(is_formula, cells(name)))
    assert guarded(name) != name


@pytest.mark.parametrize("name", ["milk", "7", "d'accord", "a=b", "a-b", "a, b", "tea;mug", "x@y", 'a "b"'])
def test_other_names_stay_as_they_are(name: str) -> None:
    assert guarded(name) == unguarded(name) == name


def test_an_apostrophe_that_others_wrote_stays() -> None:
    assert unguarded("'s-Hertogenbosch") == "'s-Hertogenbosch"


@given(st.lists(NAMES.filter(lambda name: name.strip() != ""), min_size=1, max_size=4))
@example(list(FORMULAS))
def test_files_hold_no_formulas_and_give_the_names_back(names: list[str]) -> None:
    itemsets = (ReleasedItemset(rank=1, items=tuple(names)), ReleasedItemset(rank=2, items=("plain",)))
    release = Release(itemsets=itemsets, mechanism="lmm", privacy={}, plan={}, seeded=False, version="0")
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "release.csv"
        write_release(release, path)
        assert read_itemsets(path).itemsets == itemsets
        text = path.read_bytes().decode()
        with path.open(newline="", encoding="utf-8") as file:
            fields = [field for row in csv.reader(file) for field in row]
    assert not any(map(is_formula, cells(text)))
    assert not any(is_formula(field) or field[:1] in {"\t", "\r"} for field in fields if field)
