"""Excel workbooks: what they hold, which sheet, and those that are made to do harm."""

from __future__ import annotations

import io
import sys
import zipfile
from datetime import date, datetime

import polars as pl
import pytest

from fim_private.errors import InputError, UsageError
from fim_private.transactions.files.source import Content
from fim_private.transactions.layout import Layout
from fim_private.transactions.reading import read_transactions
from fim_private.transactions.sources import excel
from fim_private.transactions.sources.excel import sheet_table
from fim_private.transactions.sources.sheet_reading import sheet_number
from tests.cli.command import PROMISE, end_with, fim_private, in_own_process, succeed, words
from tests.transactions.reading import as_sets, by_unit, read
from tests.transactions.workbook import sheet, workbook

SALES = [
    ["InvoiceNo", "Description", "Quantity", "InvoiceDate", "CustomerID"],
    [536365.0, "milk", 6.0, datetime(2011, 1, 4, 8, 26), 17850.0],
    [536365.0, "bread", 1.0, datetime(2011, 1, 4, 8, 26), 17850.0],
    [None, None, None, None, None],
    ["C536366", "milk", -1.0, date(2011, 1, 5), 13047.0],
]


def test_a_sheet_is_read_as_a_table_of_columns() -> None:
    transactions = read(workbook({"Sales": SALES}), unit_column="CustomerID")
    assert as_sets(transactions) == [{"milk", "bread"}, {"milk"}]
    assert by_unit(transactions) == {frozenset({frozenset({"milk", "bread"})}), frozenset({frozenset({"milk"})})}
    layout = transactions.notes.layout
    assert (layout.format, layout.kind, layout.sheet) == ("long", "Excel", None)
    assert layout.describe() == (
        "long Excel: transaction column 'InvoiceNo', item column 'Description', unit column 'CustomerID'"
    )
    one_hot = workbook({"Sheet1": [["milk", "bread"], [1.0, 0.0], [True, True], ["yes", None]]})
    assert as_sets(read(one_hot)) == [{"milk"}, {"milk", "bread"}, {"milk"}]


@pytest.mark.usefixtures("sheets_read_here")
def test_cells_have_the_names_of_typed_columns() -> None:
    """And each cell its own, whatever the others of its column are."""
    cells = [17850.0, 2.5, 0.1, True, date(2011, 1, 4), datetime(2011, 1, 4, 8, 26), " 007 ", "7", "NULL"]
    names = ["17850", "2.5", "0.1", "true", "2011-01-04", "2011-01-04 08:26:00", "007", "7", "NULL"]
    table = sheet_table(Content(name="x", data=workbook({"a": [["x"], *([cell] for cell in cells)]})), None)
    assert table.frame.to_dict(as_series=False) == {"x": names}
    for cell, name in zip(cells, names, strict=True):
        alone = sheet_table(Content(name="x", data=workbook({"a": [["x"], [cell]]})), None)
        assert alone.frame.item() == name


@pytest.mark.usefixtures("sheets_read_here")
def test_the_header_is_the_first_row_that_is_not_blank() -> None:
    rows = [[], [None, " "], [None, "tid", "", "item"], [None, 1.0, None, "milk"]]
    assert as_sets(read(workbook({"a": rows}))) == [{"milk"}]
    # A column without a name may hold row numbers. It is no item, so a one-hot table with it is refused.
    assert as_sets(read(workbook({"a": [["", "tid", "", "item"], [1.0, 1.0, 2.0, "milk"]]}))) == [{"milk"}]
    with pytest.raises(InputError, match="has no name"):
        read(workbook({"a": [["", "tid", "", "item"], [1.0, 1.0, 1.0, 1.0]]}), format="one-hot")
    with pytest.raises(InputError, match="two columns of the same name"):
        read(workbook({"a": [["tid", "item", "tid "], [1.0, "milk", 2.0]]}))
    for rows in ([], [[" "]]):
        with pytest.raises(InputError, match="nothing in this sheet"):
            read(workbook({"a": rows}))


@pytest.mark.usefixtures("sheets_read_here")
def test_titles_above_the_header_are_left_out_as_lines_of_a_text_are() -> None:
    titles = [["Sales of the shop"], [], ["made on", date(2011, 1, 6)]]
    book = workbook({"Sales": [*titles, *SALES]})
    with pytest.raises(InputError, match="skip_lines=N if N rows of titles"):
        read(book)
    transactions = read(book, skip_lines=2, unit_column="CustomerID")
    assert as_sets(transactions) == [{"milk", "bread"}, {"milk"}]
    layout = transactions.notes.layout
    assert layout.describe().startswith("long Excel: without 2 first lines, transaction column")
    assert Layout.of_record(layout.record()) == layout
    with pytest.raises(InputError, match="nothing in this sheet"):
        read(book, skip_lines=99)
    with pytest.raises(UsageError, match="left out by number"):
        read(book, skip_lines=2, skip_columns="1")


@pytest.mark.usefixtures("sheets_read_here")
def test_several_sheets_are_asked_about_without_their_names() -> None:
    other = [["InvoiceNo", "Description"], [1.0, "tea"]]
    both = workbook({"2010": SALES, "Müller & Söhne": other})
    for asked in (None, "3", "0", "Sales", "-1"):
        with pytest.raises(InputError, match="2 sheets" if asked is None else "no sheet") as refused:
            read(both, sheet=asked)
        assert "Müller" not in str(refused.value)
    assert "--sheet 1 to --sheet 2" in _refusal(both).next_step
    for asked in ("Müller & Söhne", "2", 2):
        transactions = read(both, sheet=asked)
        assert as_sets(transactions) == [{"tea"}]
        assert transactions.notes.layout.sheet == str(asked)
        assert read(both, **transactions.notes.layout.settings()).notes.layout.guessed == ()
    assert len(read(both, sheet="2010")) == 2
    with pytest.raises(UsageError, match="not an Excel workbook"):
        read("a,b\n", sheet="1")
    with pytest.raises(UsageError, match="not an Excel workbook"):
        read_transactions(pl.DataFrame({"tid": [1], "item": ["a"]}), sheet=1)


@pytest.mark.parametrize(
    ("names", "wanted", "number"),
    [
        (["a"], "", 0),
        (["a", "b"], "", None),
        (["a", "b"], "b", 1),
        (["2", "1"], "1", 1),  # a name comes first
        (["a", "b"], "2", 1),
        (["a", "b"], "02", 1),
        (["a"], "²", None),
        (["a", "a"], "a", None),
    ],
)
def test_a_sheet_is_chosen_by_name_or_by_number(names: list[str], wanted: str, number: int | None) -> None:
    assert sheet_number(names, wanted) == number


def _refusal(data: bytes, **options: str) -> InputError:
    with pytest.raises(InputError) as refused:
        read(data, **options)
    return refused.value


def test_without_its_library_the_message_says_how_to_get_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "fastexcel", None)
    with pytest.raises(UsageError, match="library that reads them is missing") as refused:
        read(workbook({"a": SALES}))
    assert "pip install 'fim_private[excel]'" in refused.value.next_step


def test_macros_are_refused_by_name() -> None:
    assert "with macros" in _refusal(workbook({"a": SALES}, **{"vbaProject.bin": b"macro"})).what


@pytest.mark.parametrize("cut", [40, 400, -400, -30, -1])
def test_a_broken_workbook_is_refused_without_its_content(cut: int) -> None:
    error = _refusal(workbook({"a": SALES})[:cut])
    assert "damaged" in error.what or "ZIP archive" in error.what
    assert "bread" not in str(error)


@pytest.mark.slow
def test_a_spoilt_workbook_is_refused_without_its_content(capfd: pytest.CaptureFixture[str]) -> None:
    good = workbook({"a": SALES})
    refused = []
    for at in range(0, len(good), len(good) // 20):
        try:
            read(good[:at] + b"\xff\x00\xff" + good[at + 3 :])
        except InputError as error:
            refused.append(str(error))
    assert len(refused) > 10
    assert "bread" not in "".join(refused)
    assert capfd.readouterr().err == ""


def test_another_archive_is_called_one() -> None:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        archive.writestr("baskets.csv", "milk,bread\n")
    assert "is a ZIP archive" in _refusal(buffer.getvalue()).what


def test_a_workbook_that_unpacks_to_too_much_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(excel, "UNPACKED_FREELY", 1 << 20)
    bomb = workbook({"a": SALES}, **{"media/image1.png": bytes(8 << 20)})
    assert "more than 200 times its size" in _refusal(bomb).what


@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere nobody limits a process's memory")
def test_a_cell_far_away_does_not_fill_the_memory() -> None:
    """Readers make room for all cells between the first and the last: here 400 GB."""
    far = sheet([], more='<row r="1"><c r="A1"><v>1</v></c></row><row r="1048576"><c r="XFD1048576"><v>1</v></c></row>')
    buffer = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(workbook({"a": SALES}))) as good, zipfile.ZipFile(buffer, "w") as archive:
        for name in good.namelist():
            archive.writestr(name, far if "sheet1" in name else good.read(name))
    assert "far more memory" in _refusal(buffer.getvalue()).what


@pytest.mark.usefixtures("sheets_read_here")
def test_no_format_of_lines_and_no_separator_fits_a_workbook() -> None:
    for format_name in ("fimi", "basket"):
        assert "is a table (Excel)" in _refusal(workbook({"a": SALES}), format=format_name).what
    with pytest.raises(UsageError, match="no separator"):
        read(workbook({"a": SALES}), separator=",")


@pytest.mark.slow
def test_the_command_mines_a_sheet_and_says_which(tmp_path) -> None:
    rows = [["order id", "product name"], *([float(order), name] for order in range(600) for name in ("tea", "mug"))]
    path = tmp_path / "sales.xlsx"
    path.write_bytes(workbook({"old": SALES, "new": rows}))
    asked = ("--size", 2, "--top", 1, *PROMISE)
    refused = end_with(3, "mine", path, *asked)
    assert "has 2 sheets" in words(refused)
    done = succeed("mine", "--explain", path, *asked, "--sheet", "new", "-o", tmp_path / "release.json")
    assert "mug + tea" in done.stdout.decode()
    told = " ".join(words(done).split())
    assert "layout of the file is taken as public: long Excel (sheet 'new'): transaction column 'order id'" in told
    again = fim_private("mine", path, "--config", tmp_path / "release.json")
    assert "mug + tea" in again.stdout.decode()
    piped = in_own_process("mine", "-", *asked, "--sheet", "2", stdin=path.read_bytes())
    assert "mug + tea" in piped.stdout.decode(), words(piped)


@pytest.mark.parametrize("sheet", ["a\0b", "\ud800", "long" * 50_000, '"', "\\"])
def test_a_name_that_no_process_takes_is_no_sheet(sheet: str) -> None:
    error = _refusal(workbook({"a": SALES}), sheet=sheet)
    assert "has no sheet" in error.what
    assert len(error.what) < 5000
