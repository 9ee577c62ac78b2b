from __future__ import annotations

import csv
import io
import re

import polars as pl
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from fim_private.errors import InputError
from fim_private.transactions.columns.text_table import text_table
from fim_private.transactions.files.text import Text
from fim_private.transactions.formats import long
from tests.transactions.reading import as_sets, by_unit, in_blocks, outcome, read, stripped
from tests.transactions.workbook import workbook

LINES = "bill;who;thing\nA;Ann;milk\nB;Bob;bread\nA;Ann;bread\nA;Ann;milk\n"
FRAME = pl.read_csv(io.StringIO(LINES), separator=";")
CHOSEN = {"transaction_column": "bill", "item_column": "thing"}


@pytest.mark.parametrize(
    ("data", "options"),
    [
        (LINES, {}),
        (LINES, {"format": "long", "separator": ";"}),
        (LINES.replace(";", ","), {"format": "long"}),
        (FRAME, {}),
        (FRAME, {"format": "long"}),
    ],
)
def test_rows_of_one_transaction_need_not_be_adjacent(data, options):
    transactions = read(data, **options, **CHOSEN)
    assert as_sets(transactions) == [{"milk", "bread"}, {"bread"}]
    assert transactions.notes.duplicates == 1
    assert transactions.units is None


@pytest.mark.parametrize("data", [LINES, FRAME], ids=["csv", "parquet"])
def test_a_column_of_units_is_read(data):
    transactions = read(data, unit_column="who", **CHOSEN)
    assert by_unit(transactions) == {frozenset({frozenset({"milk", "bread"})}), frozenset({frozenset({"bread"})})}
    assert transactions.notes.layout.describe().endswith(
        "transaction column 'bill', item column 'thing', unit column 'who'"
    )


RETURNS = pl.DataFrame(
    {
        "bill": ["A", "B", "C"],
        "thing": ["milk", "-1", "tea"],
        "pieces": [6, None, -2],
        "euro": [1.5, -0.25, -0.0],
        "added": [0.0, 1.0, -0.0],
        "place": ["shelf 3", "-5", ""],
        "when": pl.Series(["2011-01-05"] * 3).str.to_date(),
        "tags": [["-1"], [], None],
    }
)
TEXT = RETURNS.drop("when", "tags").write_csv()
SHEET = workbook({"sales": [list(row) for row in csv.reader(io.StringIO(TEXT))]})


@pytest.mark.parametrize("data", [TEXT, SHEET, RETURNS], ids=["csv", "xlsx", "parquet"])
def test_columns_with_numbers_below_0_are_noted(data):
    assert read(data, **CHOSEN).notes.returns == ("pieces", "euro")
    assert read(data, where="pieces > 0", **CHOSEN).notes.returns == ()
    assert read(data, transaction_column="euro", item_column="thing").notes.returns == ("pieces",)


def test_of_missing_numbers_and_columns_without_a_name_of_their_own_nothing_is_noted():
    table = pl.DataFrame({"bill": ["A", "B"], "item": ["m", "t"], "a": [-2.0, float("nan")], "b": [float("nan"), 1.0]})
    assert read(table, transaction_column="bill", item_column="item").notes.returns == ("a",)
    text = b"bill,item,q,q,,z\nA,m,-1,-1,-1,-1\nB,t,1,1,1,1\n"
    assert read(text, transaction_column="bill", item_column="item").notes.returns == ("z",)


ROWS = 12
SIGNS = {
    "a letter before the number": {"bill": [f"{'C' * (row % 4 == 3)}{536365 + row}" for row in range(ROWS)]},
    "a prefix": {"bill": [f"{'GU' if row % 4 == 3 else 'RE'}-{row:05d}" for row in range(ROWS)]},
    "a status": {"state": ["gebucht", "Storno", ""] * 4},
    "the name of a column": {"is_returned": ["0", "1", "0", "0"] * 3},
    "a minus at the end": {"pieces": ["1", "2-", "1", ""] * 3},
    "brackets": {"euro": ["1.000,50 €", "(2,50 €)"] * 6},
    "a long minus": {"euro": ["$1,000.50", "−$2.50"] * 6},
    "a quantity of 0": {"Order Qty": ["1", "0", "12", ""] * 3},
    "another quantity of 0": {"Menge": ["1,0", "0,0"] * 6},
}
NO_SIGNS = {
    "letters of shops": {"bill": [f"{'NSW'[row % 3]}{row}" for row in range(ROWS)]},
    "hexadecimal numbers": {"bill": [f"{'0a1b2cd7e8f9'[row]}{row:03x}" for row in range(ROWS)]},
    "names of goods": {"label": [f"return bottle {row}" for row in range(ROWS)]},
    "a name above days": {"return_date": [f"2024-03-{row:02d}" for row in range(1, ROWS + 1)]},
    "a name above blanks": {"cancelled": [""] * ROWS},
    "a price of 0": {"price": ["1.50", "0.00"] * 6},
    "quantities alone": {"Menge": ["1", "10"] * 6},
    "ranges": {"ages": ["18-25", "60-"] * 6},
}


@pytest.mark.parametrize("sign", [*SIGNS, *NO_SIGNS])
def test_columns_that_mark_returns_are_noted(sign):
    usual = {"bill": [str(row) for row in range(ROWS)], "thing": ["milk", "tea"] * (ROWS // 2)}
    frame = pl.DataFrame({**usual, **(SIGNS | NO_SIGNS)[sign]})
    marked = tuple(SIGNS.get(sign, ()))
    for data in (frame, frame.write_csv()):
        assert read(data, **CHOSEN).notes.returns == marked
    days = frame.with_columns(day=pl.lit("1"))
    assert read(days, transaction_column="bill,day", item_column="thing").notes.returns == marked
    yes = frame.with_columns(voided=pl.col("thing") == "tea")
    assert read(yes, **CHOSEN).notes.returns == (*marked, "voided")
    assert "voided" not in read(yes, where="voided = FALSE", **CHOSEN).notes.returns


@pytest.mark.slow
@given(
    st.lists(st.tuples(st.integers(0, 4), st.text(max_size=4).filter(lambda name: "\0" not in name)), min_size=1),
    st.booleans(),
)
@example([(0, "item")], True)
@example([(0, "1E+5"), (0, "item")], False)
def test_a_table_comes_back_as_it_was_written(rows, as_parquet):
    if not as_parquet:  # where a line is a record
        rows = [(number, re.sub(r"[\r\n]", " ", name)) for number, name in rows]
    expected: dict[int, set[str]] = {}
    for number, name in rows:
        expected.setdefault(number, set()).add(stripped(name))
    sets = [names - {""} for names in expected.values() if names - {""}]
    if not sets:
        return
    if as_parquet:
        data = pl.DataFrame(rows, schema=["tid", "item"], orient="row")
    else:
        buffer = io.StringIO()
        csv.writer(buffer).writerows([("tid", "item"), *rows])
        data = buffer.getvalue()
    assert as_sets(read(data, on_doubt=lambda _doubt: None)) == sets


def test_column_names_are_found_in_any_case_if_there_is_one():
    data = "Bill,Thing,THING\n1,milk,x\n"
    assert as_sets(read(data, transaction_column="bill", item_column="Thing")) == [{"milk"}]
    with pytest.raises(InputError, match=r"More than one column is called 'thing' \(item_column=\)"):
        read(data, transaction_column="bill", item_column="thing")


def test_columns_of_the_same_name_are_refused_where_they_are_asked_for():
    with pytest.raises(InputError, match="More than one column is called 'bill'"):
        read("bill,bill,thing\n1,2,milk\n", **CHOSEN)
    assert as_sets(read("tid,price,price,item\n1,2,2,milk\n")) == [{"milk"}]


def test_a_missing_column_is_told_with_near_misses_among_well_known_names():
    with pytest.raises(InputError, match=r"no column 'bil' .*There is 'bill'\."):
        read(LINES, format="long", separator=";", transaction_column="bil", item_column="thing")
    with pytest.raises(InputError, match=r"no column 'zzz' .*There is 'bill'\."):
        read(FRAME, transaction_column="bill", item_column="zzz")
    with pytest.raises(InputError, match=r"no column 'thing no' .*There are 'thing_no', 'bill'\."):
        read("bill,thing_no\n1,zwieback\n", transaction_column="bill", item_column="thing no")
    with pytest.raises(InputError, match=r"no column 'thing,thing2' .*format=\"basket\" with skip_lines=1"):
        read("bill,thing,thing2\n1,zwieback,egg\n", transaction_column="bill", item_column="thing,thing2")
    with pytest.raises(InputError, match=r"no column 'zzz' \(unit_column=\)"):
        read(FRAME, unit_column="zzz", **CHOSEN)


def test_a_first_line_that_may_be_a_basket_is_not_shown():
    with pytest.raises(InputError) as caught:
        read("zwieback,milk\nmilk,egg\n", transaction_column="zwiebac", item_column="item")
    assert "zwieback'" not in str(caught.value)
    assert "milk" not in str(caught.value)


def test_columns_that_are_not_named_must_be_well_known():
    with pytest.raises(InputError, match=r"transaction_column=, and none has .*customer,date.*skip_lines="):
        read("a,item\n1,milk\n", format="long")
    with pytest.raises(InputError, match="item_column=, and none") as caught:
        read("tid,zwieback\n1,milk\n", transaction_column="tid")
    assert "zwieback" not in str(caught.value)


@pytest.mark.parametrize("blank", ["", " ", '""'])
def test_blank_items_are_dropped_and_blank_transactions_refused(blank):
    transactions = read(f"tid,item\n1,milk\n1,{blank}\n2,{blank}\n")
    assert as_sets(transactions) == [{"milk"}]
    assert (transactions.notes.blanks, transactions.notes.empty) == (2, 1)
    with pytest.raises(InputError, match=r"item but no transaction.*where='COLUMN IS NOT NULL'"):
        read(f"tid,item\n1,milk\n{blank},bread\n")
    assert as_sets(read(f"tid,item\n1,milk\n{blank},bread\n", where="tid IS NOT NULL")) == [{"milk"}]


def test_null_items_are_dropped_and_items_without_a_transaction_refused():
    frame = pl.DataFrame({"tid": [1, 1, 2, None], "item": ["milk", None, " ", None]})
    transactions = read(frame)
    assert as_sets(transactions) == [{"milk"}]
    with pytest.raises(InputError, match="item but no transaction"):
        read(pl.DataFrame({"tid": [1, None], "item": ["milk", "bread"]}))


@pytest.mark.parametrize(
    "data",
    [
        "tid,item,who\n1,milk,Ann\n2,milk,\n2,egg, \n3,egg,Ann\n",
        pl.DataFrame({"tid": [1, 2, 2, 3], "item": ["milk", "milk", "egg", "egg"], "who": ["Ann", None, " ", "Ann"]}),
        pl.DataFrame(
            {"tid": [1, 2, 2, 3], "item": ["milk", "milk", "egg", "egg"], "who": [7.0, None, float("nan"), 7]}
        ),
    ],
    ids=["csv", "parquet", "floats"],
)
def test_rows_without_a_unit_are_refused_or_left_out(data):
    with pytest.raises(InputError, match=r"no unit.*drop_rows_without_unit=True"):
        read(data, unit_column="who")
    transactions = read(data, unit_column="who", drop_rows_without_unit=True)
    assert as_sets(transactions) == [{"milk"}, {"egg"}]
    assert transactions.units.tolist() == [0, 0]
    assert transactions.notes.rows_without_unit == 2


def test_a_table_in_which_no_row_has_a_unit_is_refused():
    with pytest.raises(InputError, match="No item was found"):
        read("tid,item,who\n1,milk,\n", unit_column="who", drop_rows_without_unit=True)


def test_a_transaction_of_two_units_is_refused():
    with pytest.raises(InputError, match="two different units"):
        read("tid,item,who\n1,milk,Ann\n2,egg,Ann\n1,egg,Bob\n", unit_column="who")


def test_units_whose_transactions_are_empty_leave_no_gap():
    transactions = read("tid,item,who\n1,milk,Ann\n2,,Bob\n3,egg,Cid\n", unit_column="who")
    assert as_sets(transactions) == [{"milk"}, {"egg"}]
    assert transactions.units.tolist() == [0, 1]


@pytest.mark.parametrize("format_name", ["long", "auto"])
def test_an_open_quote_takes_in_no_other_line(format_name):
    """Closed by an inch mark 99 lines below, it would hide all transactions between."""
    rows = [*(f"{number},tea" for number in range(98)), '98,nail 5"', *(f"{number},jam" for number in range(200, 260))]
    with pytest.raises(InputError, match=r"unbalanced quotes.*blanks for line breaks"):
        read("\n".join(["tid,item", '7,"milk', *rows]), format=format_name)
    assert len(read("\n".join(["tid,item", *rows]), format="long")) == 159


@pytest.mark.slow
@pytest.mark.parametrize("columns", [["tid", "item"], ["milk", "tea"]], ids=["long", "one-hot"])
@given(
    st.lists(st.text(st.sampled_from('01 ,"'), max_size=6), max_size=6),
    st.text(st.sampled_from('01 ,"'), max_size=6),
    st.integers(0, 6),
)
def test_how_a_line_is_read_depends_on_that_line_alone(columns, lines, line, place):
    def parts(*body):
        """What the fields of the lines are; None if one is refused."""
        table = text_table(Text(name="it", blocks=["\n".join([",".join(columns), *body]).encode()]), ",")
        try:
            return [fields.to_list() for fields, _ in table.blocks()]
        except InputError:
            return None

    alone = [parts(one) for one in [*lines[:place], line, *lines[place:]]]
    together = parts(*lines[:place], line, *lines[place:])
    expected = None if None in alone else [field for one in alone if one for run in one for field in run]
    assert (together and [field for run in together for field in run]) == expected


def test_a_header_may_follow_blank_lines():
    data = '\n \n"tid","the item"\n1,milk\n\n2,egg\n'
    assert as_sets(read(data, item_column="the item")) == [{"milk"}, {"egg"}]


@pytest.mark.parametrize(
    ("data", "line"),
    [
        ("tid,item\n1,milk\n2,milk,zwieback\n", 3),
        ("tid,item\n\n1,milk\n\nzwieback\n", 5),
    ],
)
def test_ragged_rows_name_the_line(data, line):
    with pytest.raises(InputError, match=rf"Line {line} of .* number of fields\. Delete .* totals") as caught:
        read(data, format="long")
    assert "zwieback" not in str(caught.value)
    assert "basket" not in str(caught.value)  # which would read every id, date and price as an item


@pytest.mark.parametrize("chosen", [{}, {"format": "long"}, {"transaction_column": "tid", "item_column": "item"}])
def test_a_separator_that_ends_all_lines_but_the_header_is_named(chosen):
    below = "".join(f"{row},milk,\n" for row in range(9))
    with pytest.raises(InputError, match="If each line ends in the separator, write it at the end of the header too"):
        read(f"tid,item\n{below}", **chosen)
    assert as_sets(read(f"tid,item,\n{below}", **chosen)) == [{"milk"}] * 9


@pytest.mark.parametrize(
    ("data", "message"),
    [
        ('tid,item\n1,"milk\n2,egg\n', "Line 2 of .* unbalanced quotes"),
        ('tid,item\n1,milk\n2,"rye\r\nbread"\n', "Line 3 of .* unbalanced quotes"),
        ('"tid,item\n', "header of .* unbalanced quotes"),
    ],
)
def test_unbalanced_quotes_are_refused(data, message):
    with pytest.raises(InputError, match=message):
        read(data, format="long", separator=",")


def test_a_header_alone_is_refused():
    with pytest.raises(InputError, match="No item was found"):
        read("tid,item\n")
    with pytest.raises(InputError, match="No item was found"):
        read("tid,item", format="long")


def test_types_of_parquet_become_their_text():
    frame = pl.DataFrame({"tid": [1.0, 1.0, 2.5], "item": pl.Series(["a", "b", "a"], dtype=pl.Categorical)})
    assert as_sets(read(frame)) == [{"a", "b"}, {"a"}]
    frame = pl.DataFrame({"tid": pl.Series([0, 1]).cast(pl.Date), "item": [17850.0, float("nan")]})
    assert as_sets(read(frame)) == [{"17850"}]
    frame = pl.DataFrame({"tid": [b"x", b"x"], "item": [b"milk", b"egg"]})
    assert as_sets(read(frame)) == [{"milk", "egg"}]


@pytest.mark.parametrize(
    ("bad", "what"),
    [
        ([[1], [2]], "is of type .*not text"),
        ([{"a": 1}, {"a": 2}], "is of type .*not text"),
        ([b"\xff", b"\xfe"], "holds a value that has no name: bytes that are not text"),
    ],
    ids=["lists", "structs", "bytes"],
)
def test_types_and_values_that_are_no_text_are_refused(bad, what):
    with pytest.raises(InputError, match=f"column for item_column= {what}"):
        read(pl.DataFrame({"tid": [1, 2], "item": bad}), format="long")


FIELDS = st.text(st.sampled_from('ab1 ,"\n'), max_size=5)


@pytest.mark.slow
@given(
    st.lists(st.tuples(st.integers(0, 3), FIELDS, st.integers(0, 2)), max_size=20),
    st.sampled_from(["\n", "\r\n"]),
    st.lists(st.sampled_from(['"', "\n", 'x,"y', "1,a,2"]), max_size=2),
    st.integers(1, 30),
)
def test_tables_do_not_depend_on_where_the_blocks_are_cut(rows, end, faults, block):
    buffer = io.StringIO()
    csv.writer(buffer, lineterminator=end).writerows([("tid", "item", "customer"), *rows])
    data = buffer.getvalue() + end.join(faults)
    for unit in (None, "customer"):
        whole = outcome(data, format="long", separator=",", unit_column=unit)
        with pytest.MonkeyPatch.context() as patch:
            in_blocks(patch, block)
            assert outcome(data, format="long", separator=",", unit_column=unit) == whole


def test_a_parquet_table_is_text_a_piece_at_a_time(monkeypatch):
    frame = pl.DataFrame({"tid": [1, 1, 2, 2, 1, 3], "item": [7, None, 8, 7, 9, None], "customer": [1, 1, 2, 2, 1, 3]})
    for piece in (1, 2, 100):
        monkeypatch.setattr(long, "PIECE", piece)
        transactions = read(frame, unit_column="customer")
        assert as_sets(transactions) == [{"7", "9"}, {"8", "7"}]
        assert transactions.units.tolist() == [0, 1]
        assert (transactions.notes.blanks, transactions.notes.empty) == (2, 1)


def test_items_of_dropped_rows_are_no_items():
    data = "tid,item,customer\n1,milk,Ann\n2,zwieback,\n1,bread,Ann\n"
    transactions = read(data, unit_column="customer", drop_rows_without_unit=True)
    assert transactions.vocabulary.to_list() == ["bread", "milk"]
