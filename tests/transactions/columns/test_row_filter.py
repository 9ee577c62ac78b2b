"""Row filters: what they keep, and that no row can see another."""

from __future__ import annotations

import re
from collections.abc import Callable
from itertools import pairwise
from typing import Any

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fim_private.errors import FimPrivateError, InputError, UsageError
from fim_private.transactions.columns.row_filter import RowFilter
from fim_private.transactions.columns.where_text import condition_of
from fim_private.transactions.layout import Layout
from fim_private.transactions.reading import read_transactions
from tests.cli.command import PROMISE, end_with, fim_private, succeed, words
from tests.transactions.reading import as_bytes, as_sets, by_unit, in_blocks, read
from tests.transactions.workbook import workbook

SALES = [
    ("536365", "milk", "6", "2010-12-01 08:26:00", "17850"),
    ("536365", "bread", "1", "2010-12-01 08:26:00", "17850"),
    ("536366", "tea", "2", "2011-01-05", "13047"),
    ("C536367", "milk", "-6", "2011-01-05 10:00", "17850"),
    ("536368", "POSTAGE", "1", "2011-02-01", "13047"),
    ("536368", "mug", "?", "2011-02-01", "13047"),
    ("536369", "mug", "", "2011-02-01", ""),
]
HEADER = ["InvoiceNo", "Description", "Quantity", "InvoiceDate", "Customer ID"]
TEXT = "\n".join(",".join(row) for row in [HEADER, *SALES]) + "\n"


def kept(where: str) -> list[int]:
    """Which of the sales a condition keeps."""
    columns = {name: pl.Series(cells) for name, cells in zip(HEADER, zip(*SALES, strict=True), strict=True)}
    return [place for place, holds in enumerate(RowFilter.of(where).holds(columns.__getitem__)) if holds]


@pytest.mark.parametrize(
    ("where", "rows"),
    [
        ("Quantity > 0", [0, 1, 2, 4]),
        ("NOT Quantity > 0", [3]),
        ("Quantity > 0 AND InvoiceNo NOT LIKE 'C%'", [0, 1, 2, 4]),
        ("quantity IS NULL OR 2 <= Quantity".replace("quantity", "Quantity"), [0, 2, 6]),
        ("Quantity IS NOT NULL", [0, 1, 2, 3, 4, 5]),
        ("Quantity = '?'", [5]),
        ("Quantity <> '?'", [0, 1, 2, 3, 4]),
        ("Quantity IN (1, 2, '?')", [1, 2, 4, 5]),
        ("Quantity NOT IN (1, 2)", [0, 3]),
        ("Quantity BETWEEN -6 AND +1.5", [1, 3, 4]),
        ("Quantity NOT BETWEEN 0 AND 1e1", [3]),
        ("InvoiceDate >= '2011-01-05 10:00:00'", [3, 4, 5, 6]),
        ("InvoiceDate BETWEEN '2011-01-01' AND '2011-01-05'", [2]),
        ("'2011-01-05' < InvoiceDate", [3, 4, 5, 6]),
        ('"Customer ID" = 17850.0', [0, 1, 3]),
        ("Description LIKE '%a%' and not (Quantity < 0 or Description = 'bread')", [2]),
        ("Description LIKE '_u_' AND Description != 'POSTAGE'", [5, 6]),
        ("Description LIKE 'm'", []),
        ("Description = 'it''s'", []),
        ("NOT NOT Quantity > 5", [0]),
    ],
)
def test_what_a_condition_keeps(where: str, rows: list[int]) -> None:
    assert kept(where) == rows


@pytest.mark.parametrize(
    "where", ["returned = FALSE", "returned <> 'True'", "false = returned", "returned IN ('FALSE')"]
)
@pytest.mark.parametrize("words", [("true", "false"), ("True", "False"), ("TRUE", "FALSE")])
def test_true_and_false_may_be_written_in_any_case(where: str, words: tuple[str, str]) -> None:
    """Otherwise a condition on typed columns, which hold `true`, would keep every row that is not to be `True`."""
    cells = pl.Series([words[0], words[1], "", "no"])
    assert RowFilter.of(where).holds(lambda _name: cells)[:2].to_list() == [False, True]
    frame = pl.DataFrame({"tid": [1, 1, 2], "item": ["milk", "tea", "tea"], "returned": [False, True, False]})
    assert as_sets(read(frame, where=where)) == [{"milk"}, {"tea"}]


@pytest.mark.parametrize(
    "where",
    [
        "Quantity > AVG(Quantity)",
        "Quantity > (SELECT AVG(Quantity) FROM self)",
        "Quantity = MAX(Quantity)",
        "COUNT(*) > 5",
        "ROW_NUMBER() OVER () < 10",
        "ROW_NUMBER() OVER (PARTITION BY CustomerID ORDER BY InvoiceDate) = 1",
        "RANK() OVER (ORDER BY Quantity) <= 5",
        "Quantity > LAG(Quantity) OVER (ORDER BY InvoiceDate)",
        "SUM(Quantity) OVER () > 0",
        "CUM_SUM(Quantity) < 100",
        "InvoiceNo IN (SELECT InvoiceNo FROM self GROUP BY InvoiceNo HAVING COUNT(*) > 1)",
        "EXISTS (SELECT 1)",
        "Quantity > ALL (SELECT 1)",
        "DISTINCT InvoiceNo",
        "Quantity > 0 LIMIT 10",
        "Quantity > 0 ORDER BY Quantity",
        "Quantity > 0 GROUP BY Quantity",
        "Quantity > 0; DROP TABLE self",
        "Quantity > 0 UNION SELECT 1",
        "RANDOM() < 0.5",
        "RAND() < 0.5",
        "NOW() > '2011-01-01'",
        "Quantity > (Quantity)",
        "Quantity = Quantity",
        "Quantity + 1 > 2",
        "Quantity OVER () > 0",
        "FIRST_VALUE(Quantity) = Quantity",
        "self.Quantity > 0",
        "Quantity -- comment",
        "Quantity /* AVG */ > 0",
        "CASE WHEN Quantity > 0 THEN 1 END = 1",
        "CAST(Quantity AS INT) > 0",
        "Quantity::int > 0",
        "pl.col('Quantity').mean() > 0",
        "`Quantity` > 0",
        "Quantity > $1",
        "Quantity > ?",
    ],
)
def test_whatever_could_see_other_rows_is_refused(where: str) -> None:
    with pytest.raises(UsageError) as refused:
        condition_of(where)
    assert "each row must be decided by itself" in refused.value.next_step


@pytest.mark.parametrize(
    ("where", "word"),
    [
        ("", "ends in the middle"),
        ("  ", "ends in the middle"),
        ("Quantity", "ends in the middle"),
        ("Quantity >", "ends in the middle"),
        ("Quantity > 0 AND", "ends in the middle"),
        ("(Quantity > 0", "ends in the middle"),
        ("Quantity > 0)", "does not go on"),
        ("Quantity NOT > 0", "does not go on"),
        ("Quantity IN ()", "does not go on"),
        ("Quantity LIKE 5", "does not go on"),
        ("Quantity > - 'a'", "does not go on"),
        ("5 > 4", "does not go on"),
        ("Price > 1,5", "not 1,5"),
        ("Price BETWEEN 1 AND 2,5", "not 1,5"),
        ("1,5 < Price", "not 1,5"),
        ("Day >= 2025-01-10", "dates in quotes, as in '2025-12-31'"),
        ("Bon-Nr IS NOT NULL", "double quotes around names that are not one word"),
        ("Unit price > 1", 'as in "Unit price" > 1.5 AND'),
        ("Quantity > 5x", "cannot be read from character 11"),
        ("Quantity > 1.2.3", "cannot be read from character 11"),
        ("Quantity > 'a", "cannot be read"),
        ('"" > 5', "cannot be read"),
        ("Quantity = NULL", "Nothing equals NULL"),
        ("Quantity <> NULL", "Nothing equals NULL"),
        ("Quantity = UNKNOWN", "does not go on"),
        ("Quantity = ''", "no cell equals a blank text"),
        ("Description LIKE ' '", "no cell equals a blank text"),
        ("Description > 'M'", "order of texts"),
        ("InvoiceDate > '12/1/2010'", "order of texts"),
        ("Quantity > 9007199254740993", "too large to be exact"),
        ("Quantity > 1e999", "too large to be exact"),
        ("(" * 60 + "Quantity > 0" + ")" * 60, "too many parentheses"),
        ("Quantity > 0 OR " * 1000 + "Quantity > 0", "too long"),
    ],
)
def test_what_is_no_condition_says_where(where: str, word: str) -> None:
    with pytest.raises(UsageError, match=re.escape(word)):
        condition_of(where)


def test_long_conditions_are_read() -> None:
    where = "Quantity IN (" + ", ".join(map(str, range(1000))) + ")"
    assert kept(where) == [0, 1, 2, 4]
    assert kept("NOT " * 500 + "Quantity > 0") == [0, 1, 2, 4]
    assert kept(" OR ".join(["Quantity=5"] * 700 + ["Quantity=6"])) == [0]
    assert kept("(" * 50 + "Quantity > 0" + ")" * 50) == [0, 1, 2, 4]


# What a condition says, row by row and by brute force: each condition comes with what it says of a row.

Row = dict[str, str]
Said = tuple[str, Callable[[Row], bool | None]]


def negated(found: bool | None) -> bool | None:
    return None if found is None else not found


def both(found: set[bool | None]) -> bool | None:
    return False if False in found else None if None in found else True


def either(found: set[bool | None]) -> bool | None:
    return negated(both(set(map(negated, found))))


def compared(cell: str, sign: str, typed: str) -> bool | None:
    """A cell compared with a value, as it is typed."""
    left: Any
    right: Any
    left, right = cell.strip(), typed.strip("'")
    if not left:
        return None
    if not typed.startswith("'"):
        if not re.fullmatch(r"[+-]?([0-9]+(\.[0-9]*)?|\.[0-9]+)([eE][+-]?[0-9]+)?", left):
            return None
        left, right = float(left), float(right)
    elif sign not in ("=", "<>", "!=") and not re.fullmatch(r"[0-9]{4}-[0-9]{2}-[0-9]{2}", left):
        return None
    return {
        "=": left == right,
        "<>": left != right,
        "!=": left != right,
        "<": left < right,
        "<=": left <= right,
        ">": left > right,
        ">=": left >= right,
    }[sign]


def comparison(column: str, sign: str, value: str) -> Said:
    return f"{column} {sign} {value}", lambda row: compared(row[column], sign, value)


def turned(value: str, sign: str, column: str) -> Said:
    said = {"<": ">", ">": "<", "<=": ">=", ">=": "<=", "=": "="}[sign]
    return f"{value} {sign} {column}", lambda row: compared(row[column], said, value)


def like(column: str, pattern: str) -> Said:
    wanted = "".join({"%": ".*", "_": "."}.get(mark, re.escape(mark)) for mark in pattern)

    def holds(row: Row) -> bool | None:
        cell = row[column].strip()
        return re.fullmatch(wanted, cell, re.DOTALL) is not None if cell else None

    return f"{column} LIKE '{pattern}'", holds


def listed(column: str, *values: str) -> Said:
    words = f"{column} IN ({', '.join(values)})"
    return words, lambda row: either({compared(row[column], "=", value) for value in values})


def between(column: str) -> Said:
    words = f"{column} BETWEEN -1 AND 1"
    return words, lambda row: both({compared(row[column], ">=", "-1"), compared(row[column], "<=", "1")})


def is_null(column: str) -> Said:
    return f"{column} IS NULL", lambda row: not row[column].strip()


def unlike(said: Said, word: str) -> Said:
    """The opposite of a condition, which is written with NOT before one of its words."""
    words, holds = said
    return words.replace(f" {word} ", f" NOT {word} "), lambda row: negated(holds(row))


def not_null(column: str) -> Said:
    return f"{column} IS NOT NULL", lambda row: bool(row[column].strip())


def joined(one: Said, word: str, other: Said) -> Said:
    decide = both if word == "AND" else either
    return f"({one[0]}) {word} ({other[0]})", lambda row: decide({one[1](row), other[1](row)})


CELLS = st.sampled_from(
    [
        *("", " ", "0", "1", " 1", "-1", "1.0", "+1", "1e0", ".5", "5.", "1e", "1,5", "nan", "inf", "1_0", "0x1", "٣"),
        *("x", "X", "a.b", "axb", "a\\b", "[a]", "a%", "é", "2011-01-05", "2011-01-06", "NULL"),
    ]
)
COLUMN = st.sampled_from(["a", "b"])
VALUE = st.sampled_from(["0", "1", "-1", "0.5", "'x'", "'1'", "'a.b'", "'2011-01-05'"])
NUMBER = st.sampled_from(["0", "1", "-1", "0.5", "'2011-01-05'"])
PATTERN = st.sampled_from(["%", "a.b", "a_b", "_"])
LISTED = st.one_of(
    COLUMN.map(lambda column: listed(column, "1", "'x'")), COLUMN.map(lambda column: listed(column, "'a%'"))
)
SIMPLE = st.one_of(
    st.builds(comparison, COLUMN, st.sampled_from(["=", "<>", "!="]), VALUE),
    st.builds(comparison, COLUMN, st.sampled_from(["<", ">", "<=", ">="]), NUMBER),
    st.builds(turned, NUMBER, st.sampled_from(["<", ">", "<=", ">=", "="]), COLUMN),
    st.builds(like, COLUMN, PATTERN),
    st.builds(unlike, st.builds(like, COLUMN, PATTERN), st.just("LIKE")),
    LISTED,
    st.builds(unlike, LISTED, st.just("IN")),
    st.builds(between, COLUMN),
    st.builds(unlike, st.builds(between, COLUMN), st.just("BETWEEN")),
    st.builds(is_null, COLUMN),
    st.builds(not_null, COLUMN),
)
CONDITIONS = st.recursive(
    SIMPLE,
    lambda inner: st.one_of(
        st.builds(joined, inner, st.sampled_from(["AND", "OR"]), inner),
        inner.map(lambda said: (f"NOT ({said[0]})", lambda row: negated(said[1](row)))),
    ),
    max_leaves=5,
)


def test_and_goes_before_or() -> None:
    assert kept("Quantity = 6 OR Quantity = 1 AND Description = 'bread'") == [0, 1]
    assert kept("Description = 'bread' AND Quantity = 1 OR Quantity = 6") == [0, 1]
    assert kept("(Quantity = 6 OR Quantity = 1) AND Description = 'bread'") == [1]
    assert kept("NOT Quantity = 6 AND Description = 'milk'") == [3]


@given(CONDITIONS, st.lists(st.tuples(CELLS, CELLS), max_size=8))
def test_each_row_is_decided_by_itself(said: Said, rows: list[tuple[str, str]]) -> None:
    """As brute force decides it, and as it is decided where no other row is there."""
    where, holds = said
    rows_read = RowFilter.of(where)

    def decided(some: list[tuple[str, str]]) -> list[bool | None]:
        columns = {name: pl.Series([row[at] for row in some], dtype=pl.String) for at, name in enumerate("ab")}
        return rows_read.holds(columns.__getitem__).to_list()

    together = decided(rows)
    assert together == [decided([row])[0] for row in rows]
    assert together == [holds({"a": row[0], "b": row[1]}) for row in rows]
    assert decided(rows[::-1]) == together[::-1]


@pytest.mark.slow
@given(CONDITIONS, st.lists(st.tuples(st.sampled_from("pqr"), CELLS, CELLS), max_size=8), st.sampled_from("pqr"))
def test_a_filter_changes_the_rows_of_one_unit_only(said: Said, rows: list[tuple[str, str, str]], gone: str) -> None:
    """The sensitivity: without a unit's rows, everybody else's baskets are the same."""
    where, _ = said

    def baskets(some: list[tuple[str, str, str]]) -> set[Any]:
        frame = pl.DataFrame(
            [(unit, f"{unit}{place % 3}", f"i{place}", a, b) for place, (unit, a, b) in some],
            schema=dict.fromkeys(("who", "tid", "item", "a", "b"), pl.String),
            orient="row",
        )
        try:
            return set(by_unit(read_transactions(frame, format="long", unit_column="who", where=where)))
        except InputError:
            return set()

    numbered = list(enumerate(rows))
    everybody, others = baskets(numbered), baskets([row for row in numbered if row[1][0] != gone])
    assert others <= everybody
    assert len(everybody - others) <= 1


# Through the readers.

KINDS: dict[str, tuple[bytes, dict[str, Any]]] = {
    "text": (TEXT.encode(), {}),
    "Parquet of text": (as_bytes(pl.DataFrame(SALES, schema=HEADER, orient="row")), {}),
    "workbook": (workbook({"Sales": [HEADER, *map(list, SALES)]}), {}),
}


@pytest.mark.parametrize("kind", KINDS)
def test_all_readers_filter_alike(kind: str) -> None:
    data, options = KINDS[kind]
    where = "quantity > 0 AND InvoiceNo NOT LIKE 'C%' AND Description <> 'POSTAGE'"
    transactions = read(data, where=where, unit_column="Customer ID", **options)
    assert as_sets(transactions) == [{"milk", "bread"}, {"tea"}]
    notes = transactions.notes
    assert (notes.rows_left_out, notes.rows_undecided) == (4, 2)
    assert notes.layout.where == where
    assert notes.layout.describe().endswith(f"; only rows where {where}")
    assert Layout.of_record(notes.layout.record()) == notes.layout
    again = read(data, unit_column="Customer ID", **notes.layout.settings())
    assert as_sets(again) == as_sets(transactions)
    assert read(data).notes.layout.where is None


def test_typed_columns_are_filtered_like_their_text() -> None:
    frame = pl.DataFrame(
        {
            "tid": [1, 2, 3, 4],
            "item": ["milk", "tea", "mug", "jam"],
            "n": [1.0, None, float("nan"), 2.0],
            "sold": pl.Series(["2011-01-05", "2011-01-06", "2011-01-07", "2011-01-08"]).str.to_datetime(),
            "real": [True, True, False, True],
        }
    )
    for data in (frame, frame.to_pandas()):
        assert as_sets(read_transactions(data, where="n >= 1")) == [{"milk"}, {"jam"}]
        assert as_sets(read_transactions(data, where="n IS NULL")) == [{"tea"}, {"mug"}]
        assert as_sets(read_transactions(data, where="sold BETWEEN '2011-01-06' AND '2011-01-07'")) == [
            {"tea"},
            {"mug"},
        ]
        assert as_sets(read_transactions(data, where="real = 'true' AND tid <> 4")) == [{"milk"}, {"tea"}]


def test_lists_and_one_hot_tables_are_filtered_by_row() -> None:
    lists = pl.DataFrame({"basket": [["milk"], ["tea", "mug"], ["jam"]], "shop": ["x", "y", "x"]})
    assert as_sets(read(lists, where="shop = 'x'")) == [{"milk"}, {"jam"}]
    with pytest.raises(InputError, match="not text or numbers"):
        read(lists, where="basket = 'x'")
    one_hot = "shop,milk,tea\n" + "x,1,0\ny,0,1\nx,1,1\n" * 20
    transactions = read(one_hot, where="shop = 'x'")
    assert as_sets(transactions) == [{"milk"}, {"milk", "tea"}] * 20
    assert transactions.notes.layout.format == "one-hot"
    assert as_sets(read_transactions(pl.DataFrame({"shop": ["x", "y"], "tea": [1, 1]}), where="shop = 'y'")) == [
        {"tea"}
    ]


def test_the_first_rows_show_the_format_though_a_filter_leaves_them_out() -> None:
    frame = pl.DataFrame({"keep": [0] * 3000 + [1] * 3, "milk": [2] * 3000 + [1, 0, 1]})
    assert as_sets(read_transactions(frame, format="one-hot", where="keep = 1")) == [{"milk"}, {"milk"}]


@pytest.mark.parametrize("chunk", [16, 40, 1 << 20])
def test_a_text_is_filtered_whatever_its_blocks(monkeypatch: pytest.MonkeyPatch, chunk: int) -> None:
    in_blocks(monkeypatch, chunk)
    transactions = read(TEXT, where="Quantity = 1 OR Description = 'mug'")
    assert as_sets(transactions) == [{"bread"}, {"POSTAGE", "mug"}, {"mug"}]
    assert transactions.notes.rows_left_out == 3


def test_formats_without_columns_and_unknown_columns_are_refused_without_data() -> None:
    for format_name in ("fimi", "basket"):
        with pytest.raises(UsageError, match="no columns to choose from"):
            read(TEXT, format=format_name, where="Quantity > 0")
    with pytest.raises(InputError, match=r"There is no column 'Qty' \(where=\)") as refused:
        read(TEXT, where="Qty > 0")
    assert "milk" not in str(refused.value)
    assert "There are more columns. " in str(refused.value)
    assert "The names of the others may be data. Look for them in the file." in str(refused.value)
    with pytest.raises(InputError, match="No item was found") as refused:
        read(TEXT, where="Quantity > 1000")
    assert "whether any row meets --where" in refused.value.next_step
    with pytest.raises(UsageError):
        read_transactions(pl.DataFrame({"tid": [1], "item": ["a"]}), where="tid = MAX(tid)")


@given(st.text(max_size=30))
def test_any_text_is_a_condition_or_refused(text: str) -> None:
    try:
        names = RowFilter.of(text).columns
    except FimPrivateError:
        return
    assert names


def test_a_condition_that_no_cell_can_be_compared_with_says_how_numbers_are_written(tmp_path) -> None:
    path = tmp_path / "sales.csv"
    path.write_text("bon,artikel,preis\n" + "".join(f'{number},tea,"{number},50"\n' for number in range(20)))
    done = end_with(3, "mine", path, "--size", 1, "--top", 1, *PROMISE, "--where", "preis > 3")
    assert "No item was found" in words(done)
    assert "Numbers are written 1.5" in " ".join(words(done).split())


def test_times_with_a_time_zone_are_compared_as_the_error_says(tmp_path) -> None:
    path = tmp_path / "sales.csv"
    rows = (f"{day},tea,2025-12-{day}T08:00:00+01:00\n" for day in range(10, 30))
    path.write_text("bon,artikel,zeit\n" + "".join(rows))
    asked = ("inspect", path, "--where")
    assert "by LIKE '2025-12%'" in " ".join(words(end_with(3, *asked, "zeit >= '2025-12-20'")).split())
    assert re.search(r"transactions +10\n", succeed(*asked, "zeit LIKE '2025-12-2%'").stdout.decode())


def test_the_command_says_what_it_left_out_and_records_the_condition(tmp_path) -> None:
    path = tmp_path / "sales.csv"
    rows = [f"{number},{item},{1 if number % 2 else -1}" for number in range(1600) for item in ("tea", "mug")]
    path.write_text("order id,product,quantity\n" + "\n".join([*rows, "9999,tea,none"]) + "\n")
    where = "quantity > 0 AND product <> 'x; y'"
    asked = ("--size", 2, "--top", 1, *PROMISE, "--where", where)
    done = succeed("mine", "--explain", path, *asked, "-o", tmp_path / "release.json")
    said = " ".join(words(done).split())
    assert "rows left out by --where (1,601)" in said
    assert "--where left out 1 row because a cell is blank, or no number or date where one is needed. Numbers" in said
    assert f"item column 'product'; only rows where {where}. A transaction is" in said
    assert "Each row is read or left out by itself, before units are formed" in said
    again = fim_private("mine", path, "--config", tmp_path / "release.json", "--json")
    assert f'"where": "{where}"' in again.stdout.decode()
    shown = fim_private("inspect", path, "--where", where)
    assert re.search(r"rows left out by --where +1,601", shown.stdout.decode())
    refused = end_with(2, "mine", path, "--size", 2, "--top", 1, *PROMISE, "--where", "quantity > AVG(quantity)")
    assert "functions are not known there" in words(refused)


def test_no_line_is_lost_between_kept_ones() -> None:
    lines = "".join(f"{number},i{number % 7},{number}\n" for number in range(500))
    for low, high in pairwise([0, 3, 250, 499]):
        transactions = read("tid,item,n\n" + lines, where=f"n >= {low} AND n < {high}", format="long")
        assert len(transactions) == high - low
