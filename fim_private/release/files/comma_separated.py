"""CSV: rank, item_1 to item_r for the largest itemset, then all numbers of an itemset, and seeded.

Smaller itemsets leave their last item columns blank. A column is blank if its value was not released. An item with an
empty name would look like no item: no reader of transactions gives one, and the writer here refuses it.

Spreadsheets run a field that begins with = + - @, a tab or a carriage return, and may split fields at another
separator. The writer puts an apostrophe before such a beginning, and before a leading apostrophe, so that names can be
read back.
"""

from __future__ import annotations

import csv
import io
import json
import re
from collections.abc import Sequence
from pathlib import Path

import polars as pl

from fim_private.errors import InputError
from fim_private.release.files.format import Format, Itemsets, itemsets_of
from fim_private.release.release import OF_ITEMSET, Release

NUMBERS = {name: float if float in kinds else int for name, kinds in OF_ITEMSET.items()}

SEPARATORS = r",;|\t\r\n"
STARTS = r"=+\-@\t\r＝＋－＠"  # the wide ones are those that East Asian programs take for the same
CELL = rf"(?:\A|(?<=[{SEPARATORS}]))"
BLANKS = r'(?:[^\S\t\r\n]|")*+'  # with quotes, which go where a field is split inside them
FORMULA = re.compile(rf"{CELL}(?={BLANKS}[{STARTS}'])")
GUARD = re.compile(rf"{CELL}'(?={BLANKS}[{STARTS}'])")
START_IN_JSON = re.compile(rf"(?<=[{SEPARATORS}])({BLANKS})([{STARTS}])")


def guarded(name: str) -> str:
    """A name that no spreadsheet takes for a formula.

    >>> guarded("=1+1"), guarded("'s"), guarded("tea;-1"), guarded("milk")
    ("'=1+1", "''s", "tea;'-1", 'milk')
    """
    return FORMULA.sub("'", name)


def unguarded(text: str) -> str:
    """The name that `guarded` was given."""
    return GUARD.sub("", text)


def json_cell(names: Sequence[str]) -> str:
    r"""Names as a list in JSON that no spreadsheet takes for a formula, and that any reader of JSON takes for these.

    >>> print(json_cell(["tea;=1"]))
    ["tea;\u003d1"]
    """
    text = json.dumps(names, ensure_ascii=False)
    return START_IN_JSON.sub(lambda match: f"{match[1]}\\u{ord(match[2]):04x}", text)


def _write(release: Release, path: Path) -> None:
    if any(not item for itemset in release.itemsets for item in itemset.items):
        raise InputError("An item has no name, which CSV cannot tell from no item.", "Write JSON.")
    frame = release.to_polars()
    width = max((len(itemset.items) for itemset in release.itemsets), default=1)
    names = [tuple(map(guarded, itemset.items)) for itemset in release.itemsets]
    items = [
        pl.Series(f"item_{place + 1}", [row[place] if place < len(row) else None for row in names], dtype=pl.String)
        for place in range(width)
    ]
    frame.select("rank", *items, pl.exclude("rank", "items")).write_csv(path)


def _read(data: bytes) -> Itemsets:
    # Spreadsheets put a byte order mark first.
    rows = csv.DictReader(io.StringIO(data.decode("utf-8-sig"), newline=""), strict=True)
    if not {"rank", "item_1"} <= set(rows.fieldnames or ()):
        raise ValueError("the header is missing")
    return itemsets_of(list(map(_fields, rows)))


def _fields(row: dict[str, str]) -> dict[str, object]:
    """The fields of a line, converted to their types.

    Raises:
        ValueError: the line is longer or shorter than the header, or a field is not a number.
    """
    if None in row or None in row.values():
        raise ValueError("the line does not fit the header")
    items: list[str] = []
    while text := row.get(f"item_{len(items) + 1}"):
        items.append(unguarded(text))
    numbers = {name: kind(row[name]) for name, kind in NUMBERS.items() if row.get(name)}
    return {**numbers, "items": items, "seeded": row.get("seeded", "").lower() == "true"}


FORMAT = Format(name="CSV", ending=".csv", write=_write, read=_read)
