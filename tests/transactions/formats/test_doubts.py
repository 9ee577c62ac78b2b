"""Files that can be read in two ways are asked about, and an option settles it either way."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, field
from operator import itemgetter
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from fim_private.errors import InputError, UsageError
from fim_private.transactions.formats.doubt import Doubt, Way
from fim_private.transactions.layout import Layout
from fim_private.transactions.reading import column_names, read_transactions
from tests.conftest import ROOT
from tests.transactions.reading import as_bytes, as_sets, read

Sets = list[set[str]]
WORDS = ["ale", "bun", "cod", "dip", "egg", "fig", "gin", "ham"]
BASKETS = [WORDS[row % 7 : row % 7 + 2 + row % 3] for row in range(40)]
READ = [set(basket) for basket in BASKETS]


def lines(baskets: list[list[str]], separator: str = ",") -> str:
    return "".join(separator.join(basket) + "\n" for basket in baskets)


@dataclass(frozen=True, kw_only=True)
class Case:
    """A file, what the refusal says, and the options that settle it, with what is then read.

    Without `instead`, the file itself has to be mended.
    """

    text: str
    says: str
    instead: dict[str, Any] = field(default_factory=dict)
    reads: Sets = field(default_factory=list)
    stays: dict[str, Any] = field(default_factory=lambda: BASKET)
    reads_as_before: Sets
    given: dict[str, Any] = field(default_factory=dict)


LONG = [["1000", "Butter"], ["1000", "Milk"], ["1001", "Butter"], ["1002", "Tea"], ["1002", "Milk"], ["1003", "Bread"]]
LONG_READ = [{"Butter", "Milk"}, {"Butter"}, {"Tea", "Milk"}, {"Bread"}]
NUMBERS = [["1", "1", "4"], ["1", "1", "5"], ["1", "2", "4"], ["2", "3", "4"], ["2", "3", "6"], ["3", "4", "5"]]
RATINGS = [
    [
        str(user),
        str(9 * user % 13 + film * 7),
        str((user + film) % 5 + 1),
        str(920_000_000 + 7919 * (user + 3 * film) % 1000),
    ]
    for user in range(1, 12)
    for film in range(2 + user % 3)
]
NUMBERED = [[str(row * 7 % 11 + at) for at in range(1 + row % 3)] for row in range(40)]
NUMBERS_READ = [{"4", "5"}, {"4"}, {"4", "6"}, {"5"}]
BY_NUMBER = {"transaction_column": "1", "item_column": "2"}
FIMI, BASKET, LONG_TABLE = {"format": "fimi"}, {"format": "basket"}, {"format": "long"}
HEADER = "unlike the rest, as a header, a title or a comment does.*--skip-lines 1.*--format basket"
COLUMN = r"the first field of each line {}.*--unit-column 1\. .*--skip-columns 1\..*--format basket"


def basket_case(first: str, says: str = HEADER) -> Case:
    """A first line above baskets that is none."""
    return Case(
        text=first + "\n" + lines(BASKETS),
        says=says,
        instead={"skip_lines": 1},
        reads=READ,
        reads_as_before=[{name.strip() for name in first.split(",")}, *READ],
    )


def column_case(fields: list[str], says: str, rows: int = 40) -> Case:
    """A first field before each basket that is no item."""
    baskets = BASKETS[:rows]
    together = [[one, *basket] for one, basket in zip(fields, baskets, strict=True)]
    return Case(
        text=lines(together),
        says=COLUMN.format(says),
        instead={"skip_columns": "1"},
        reads=READ[:rows],
        reads_as_before=[set(basket) for basket in together],
    )


CASES = {
    **{
        f"ratings with tabs, {order}": Case(
            text=lines(ratings, "\t"),
            says=rf"{says}.*--transaction-column 1 --item-column 2.*--format fimi",
            instead=BY_NUMBER,
            reads=[{row[1] for row in RATINGS if row[0] == user} for user in dict.fromkeys(row[0] for row in ratings)],
            stays=FIMI,
            reads_as_before=[set(row) for row in ratings],
        )
        for order, says, ratings in (
            ("by user", "table without a header: every line has 4 fields, and the first repeats", RATINGS),
            ("by time", "every line has 4 fields, as in a table without a header", sorted(RATINGS, key=itemgetter(3))),
        )
    },
    "a long table without a header": Case(
        text=lines(LONG),
        says="table without a header.*--transaction-column 1 --item-column 2.*--format basket",
        instead=BY_NUMBER,
        reads=LONG_READ,
        reads_as_before=[set(row) for row in LONG],
    ),
    "the same with tabs": Case(
        text=lines(LONG, "\t"),
        says="table without a header",
        instead=BY_NUMBER,
        reads=LONG_READ,
        stays={**BASKET, "separator": "\\t"},
        reads_as_before=[set(row) for row in LONG],
    ),
    "the same in numbers": Case(
        text=lines(NUMBERS, " ") + "\n",
        says="table without a header.*--transaction-column 1 --item-column 3.*--format fimi",
        instead={"transaction_column": "2", "item_column": "3"},
        reads=NUMBERS_READ,
        stays=FIMI,
        reads_as_before=[set(row) for row in NUMBERS],
    ),
    "numbers of one customer": Case(
        text=lines([["1", *row[1:]] for row in NUMBERS], " "),
        says="table without a header.*--transaction-column 1 --item-column 3.*--format fimi",
        instead={"transaction_column": "2", "item_column": "3"},
        reads=NUMBERS_READ,
        stays=FIMI,
        reads_as_before=[{"1", *row[1:]} for row in NUMBERS],
    ),
    "a long table in any order": Case(
        text="".join(f"{row % 17},{WORDS[row % 7]}\n" for row in range(60)),
        says="table without a header.*--transaction-column 1 --item-column 2",
        instead=BY_NUMBER,
        reads=[{WORDS[row % 7] for row in range(first, 60, 17)} for first in range(17)],
        reads_as_before=[{str(row % 17), WORDS[row % 7]} for row in range(60)],
    ),
    "a header above numbers": Case(
        text="first second\n" + "1 2 3\n4 5\n" * 3,
        says="unlike the rest.*--skip-lines 1.*--format fimi",
        instead={"skip_lines": 1},
        reads=[{"1", "2", "3"}, {"4", "5"}] * 3,
        stays=FIMI,
        reads_as_before=[{"first", "second"}, *[{"1", "2", "3"}, {"4", "5"}] * 3],
    ),
    "numbers with tabs": Case(
        text=lines(NUMBERS, "\t"),
        says="table without a header",
        instead={"transaction_column": "2", "item_column": "3"},
        reads=NUMBERS_READ,
        stays=FIMI,
        reads_as_before=[set(row) for row in NUMBERS],
    ),
    "a title above a long table": Case(
        text="Sales of March\ntid,item\n" + lines(LONG),
        says=HEADER,
        instead={"skip_lines": 1},
        reads=LONG_READ,
        reads_as_before=[{"Sales of March"}, {"tid", "item"}, *(set(row) for row in LONG)],
    ),
    "a title, a blank line and commas up to the width": Case(
        text="Sales of March,\n\nshop 7,\ntid,item\n" + lines(LONG),
        says="first 2 lines of .* look unlike the rest.*--skip-lines 2.*--format basket",
        instead={"skip_lines": 2},
        reads=LONG_READ,
        reads_as_before=[{"Sales of March"}, {"shop 7"}, {"tid", "item"}, *(set(row) for row in LONG)],
    ),
    "a comment": basket_case("# baskets of March"),
    "comments above a long table": Case(
        text="# exported\n# by till 4\ntid,item\n" + lines(LONG),
        says="first 2 lines of .* look unlike the rest.*--skip-lines 2.*--format basket",
        instead={"skip_lines": 2},
        reads=LONG_READ,
        reads_as_before=[{"# exported"}, {"# by till 4"}, {"tid", "item"}, *(set(row) for row in LONG)],
    ),
    "a comment above numbers": Case(
        text="# exported\n1 2 3\n4 5\n",
        says="unlike the rest.*--skip-lines 1.*--format fimi",
        instead={"skip_lines": 1},
        reads=[{"1", "2", "3"}, {"4", "5"}],
        stays=FIMI,
        reads_as_before=[{"#", "exported"}, {"1", "2", "3"}, {"4", "5"}],
    ),
    "a header of numbered items": basket_case("item1,item2,Item 3"),
    "a header of one word": basket_case("Items"),
    "a header of words that are not known": basket_case("Ware,Zweite Ware,Dritte Ware"),
    "a header of numbers": basket_case("0,1,2,3"),
    "a header of numbers above an index": Case(
        text=",0,1,2,3\n" + lines([[str(row), *basket] for row, basket in enumerate(BASKETS)]),
        says=HEADER,
        instead={"skip_lines": 1, "skip_columns": "1"},
        reads=READ,
        stays=BASKET,
        reads_as_before=[set("0123"), *({str(row), *basket} for row, basket in enumerate(BASKETS))],
    ),
    "dates": column_case(["2024-03-01", "2024-03-02"] * 20, "is a date"),
    "dates of a few lines": column_case(
        ["1.3.2024", "2/3/24", "03-03-2024", "04.03.24 10:15", "5.3.24"], "is a date", 5
    ),
    "numbers": column_case([str(row) for row in range(7)], "is a number, and the others are names", 7),
    "a header above the number of items": Case(
        text="Item(s),Item 1,Item 2,Item 3,Item 4\n"
        + lines([[str(len(basket)), *basket, *[""] * (4 - len(basket))] for basket in BASKETS]),
        says=HEADER,
        instead={"skip_lines": 1, "skip_columns": "1"},
        reads=READ,
        reads_as_before=[
            {"Item(s)", "Item 1", "Item 2", "Item 3", "Item 4"},
            *({str(len(basket)), *basket} for basket in BASKETS),
        ],
    ),
    "the number of items": column_case([str(len(basket)) for basket in BASKETS], "is the number of its other fields"),
    "ids": column_case([f"T{row}" for row in range(40)], "occurs in no other place"),
    "customers": column_case([f"K{row // 3}" for row in range(40)], "occurs in no other place"),
    "an id and a customer": Case(
        text=lines([[str(row), str(row // 3), *basket] for row, basket in enumerate(BASKETS)]),
        says=r"the first 2 fields of each line are numbers.*--skip-columns 1,2\..*--format basket",
        instead={"skip_columns": "1,2"},
        reads=READ,
        reads_as_before=[{str(row), str(row // 3), *basket} for row, basket in enumerate(BASKETS)],
    ),
    "an id and a customer, who is not always known": Case(
        text=lines([[str(row), str(row // 3) if row % 4 else "", *basket] for row, basket in enumerate(BASKETS)]),
        says=r"the first 2 fields of each line are numbers.*--skip-columns 1,2\..*--format basket",
        instead={"skip_columns": "1,2"},
        reads=READ,
        stays=BASKET,
        reads_as_before=[
            {str(row), *([str(row // 3)] if row % 4 else []), *basket} for row, basket in enumerate(BASKETS)
        ],
    ),
    "an id and a colon": Case(
        text="".join(f"T{row}: {','.join(basket)}\n" for row, basket in enumerate(BASKETS)),
        says=r"first field of each line holds a colon.*--skip-columns 1\..*--format basket",
        reads_as_before=[{f"T{row}: {basket[0]}", *basket[1:]} for row, basket in enumerate(BASKETS)],
    ),
    "a number of items among numbers": Case(
        text="7 2 4 5\n8 3 4 5 6\n9 1 6\n7 2 5 6\n8 2 4 6\n",
        says="field 2 of each line is the number of fields after it.*--separator ' ' --skip-columns 1,2.*--format fimi",
        instead={"separator": " ", "skip_columns": "1,2"},
        reads=[{"4", "5"}, {"4", "5", "6"}, {"6"}, {"5", "6"}, {"4", "6"}],
        stays=FIMI,
        reads_as_before=[set("7245"), set("83456"), set("916"), set("7256"), set("8246")],
    ),
    **{
        f"{what} among numbers with {mark!r}": Case(
            text="".join(mark.join([write(row), *NUMBERED[row]]) + "\n" for row in range(40)),
            says=rf"the first field of each line {says}.*give {typed}--unit-column 1\. .*{typed}--skip-columns 1\.",
            instead={
                **({} if mark == "," else {**BASKET, "separator": mark.replace("\t", r"\t")}),
                "skip_columns": "1",
            },
            reads=[set(basket) for basket in NUMBERED],
            stays=BASKET if mark == "," else FIMI,
            reads_as_before=[{write(row), *NUMBERED[row]} for row in range(40)],
        )
        for what, write, says in (
            ("the number of the line", str, "numbers the lines"),
            ("the number of the line, and gaps", lambda line: str(line + line // 19), "numbers the lines"),
            ("a customer", lambda row: str(500 + row // 3), "occurs in no other place"),
        )
        for mark, typed in (
            (" ", "--format basket --separator ' ' "),
            ("\t", r"--format basket --separator '\\t' "),
            (",", ""),
        )
    },
    "a printed table": Case(
        text="".join(f"| {first} | {second} |\n" for first, second in LONG),
        says="begin and end with the separator.*--transaction-column 2 --item-column 3.*--format basket",
        instead={"transaction_column": "2", "item_column": "3"},
        reads=LONG_READ,
        stays={**BASKET, "separator": "|"},
        reads_as_before=[set(row) for row in LONG],
    ),
    "a unit in the first row of a transaction alone": Case(
        text="tid,who,item\n1,ann,ale\n1,,bun\n2,,ale\n3,bob,cod\n",
        given={"unit_column": "who", "drop_rows_without_unit": True},
        says="others name none, as where only the first row of an order.*into the other rows too.*--format long",
        stays=LONG_TABLE,
        reads_as_before=[{"ale"}, {"cod"}],
    ),
    "a unit and a number in the first row of a transaction alone": Case(
        text="tid,who,item\n1,ann,ale\n,,bun\n2,bob,cod\n",
        given={"unit_column": "who", "drop_rows_without_unit": True},
        says="name an item, but no transaction and no unit, as below a merged cell.*both into the other rows.*--format",
        instead={},
        reads=[],
        stays=LONG_TABLE,
        reads_as_before=[{"ale"}, {"cod"}],
    ),
    "lists in cells of answers, two of which were given in the same second": Case(
        text="order,item\n" + "".join(f"{row or 1},{WORDS[row % 8]};rye\n" for row in range(18)),
        says="look like lists of items.*--item-separator ';'.*--format long",
        instead={"item_separator": ";"},
        reads=[{WORDS[0], WORDS[1], "rye"}, *({WORDS[row % 8], "rye"} for row in range(2, 18))],
        stays=LONG_TABLE,
        reads_as_before=[{f"{WORDS[0]};rye", f"{WORDS[1]};rye"}, *({f"{WORDS[row % 8]};rye"} for row in range(2, 18))],
    ),
    "a printed table with lines of dashes": Case(
        text="+-+-+\n" + "".join(f"| {first} | {second} |\n" for first, second in LONG * 3) + "+-+-+\n",
        says="begin and end with the separator.*first delete the lines that do not, such as lines of dashes",
        stays={**BASKET, "separator": "|"},
        reads_as_before=[{"+-+-+"}, *(set(row) for row in LONG * 3), {"+-+-+"}],
    ),
    "days as transactions": Case(
        text="tid,item,receipt\n" + "".join(f"2024-03-0{row // 4 + 1},{WORDS[row]},{row // 2}\n" for row in range(8)),
        says="holds dates, so all rows of one day are one transaction.*--format long",
        instead={"transaction_column": "receipt"},
        reads=[{"ale", "bun"}, {"cod", "dip"}, {"egg", "fig"}, {"gin", "ham"}],
        stays=LONG_TABLE,
        reads_as_before=[{"ale", "bun", "cod", "dip"}, {"egg", "fig", "gin", "ham"}],
    ),
    "places within a session, in a column called order": Case(
        text="session_id,order,item\n" + "".join(f"{row // 2},{row % 2 + 1},{WORDS[row]}\n" for row in range(8)),
        says="the column 'session_id' holds more different values than 'order', which was taken.*--format long",
        instead={"transaction_column": "session_id"},
        reads=[{"ale", "bun"}, {"cod", "dip"}, {"egg", "fig"}, {"gin", "ham"}],
        stays=LONG_TABLE,
        reads_as_before=[{"ale", "cod", "egg", "gin"}, {"bun", "dip", "fig", "ham"}],
    ),
    "an item column that numbers the rows": Case(
        text="Order;Item;Material\n"
        + "".join(f"{row // 2};{row % 2 * 10 + 10};{WORDS[row % 8]}\n" for row in range(24)),
        says="item column of .* only numbers the rows.*with --item-column.*--format long",
        instead={"item_column": "Material"},
        reads=[{WORDS[row], WORDS[row + 1]} for row in (0, 2, 4, 6)] * 3,
        stays={**LONG_TABLE, "separator": ";"},
        reads_as_before=[{"10", "20"}] * 12,
    ),
    "one item per line": Case(
        text="Sugar 1 kg\nWhole milk\n" * 3,
        says="words with blanks between them.*--format basket.*--format fimi",
        instead={"format": "basket", "separator": ","},
        reads=[{"Sugar 1 kg"}, {"Whole milk"}] * 3,
        stays=FIMI,
        reads_as_before=[{"Sugar", "1", "kg"}, {"Whole", "milk"}] * 3,
    ),
    **{
        f"a header {more!r} above numbered columns": Case(
            text=f"{header}\n" + "".join(f"{transaction},{item}{more}\n" for transaction, item in LONG),
            says="unlike the rest.*--skip-lines 1.*--format long",
            given=BY_NUMBER,
            instead={"skip_lines": 1},
            reads=LONG_READ,
            stays=LONG_TABLE,
            reads_as_before=[{header.split(",")[1]}, *LONG_READ],
        )
        for header, more in (("Invoice No,Product", ""), ("Bon,Text,Menge", ",1"), ("Bon,Text,Menge,Ort", ",-1.5,"))
    },
    **{
        f"numbers that begin again every {day.format(1)}": Case(
            text="tid,Date,item\n"
            + "".join(f"{row % 2},{day.format(row // 4 + 1)},{WORDS[row]}\n" for row in range(8)),
            says="one transaction has several dates.*--transaction-column InvoiceNo,Date.*--format long",
            instead={"transaction_column": "tid,Date"},
            reads=[{"ale", "cod"}, {"bun", "dip"}, {"egg", "gin"}, {"fig", "ham"}],
            stays=LONG_TABLE,
            reads_as_before=[{"ale", "cod", "egg", "gin"}, {"bun", "dip", "fig", "ham"}],
        )
        for day in ("2024-03-0{}", "2024030{}", "0{}-MAR-24", "{}. März 2024")
    },
    "numbers that begin again in every shop": Case(
        text="shop,tid,item\n" + "".join(f"{row // 6},{row % 6 // 2},{WORDS[row % 8]}\n" for row in range(12)),
        says="rows of one transaction differ in another column.*InvoiceNo,Shop.*--format long",
        instead={"transaction_column": "shop,tid"},
        reads=[{WORDS[row % 8], WORDS[row % 8 + 1]} for row in range(0, 12, 2)],
        stays=LONG_TABLE,
        reads_as_before=[{"ale", "bun", "gin", "ham"}, {"ale", "bun", "cod", "dip"}, {"cod", "dip", "egg", "fig"}],
    ),
    **{
        f"rows in their order whose numbers begin again in every {owner}": Case(
            text=f"tid,{owner},item\n" + "".join(f"{row // 6},S{row // 2 % 3},{WORDS[row % 8]}\n" for row in range(12)),
            says="rows of one transaction differ in another column.*InvoiceNo,Shop.*--format long",
            instead={"transaction_column": f"tid,{owner}"},
            reads=[{WORDS[row % 8], WORDS[row % 8 + 1]} for row in range(0, 12, 2)],
            stays=LONG_TABLE,
            reads_as_before=[set(WORDS[:6]), {"gin", "ham", "ale", "bun", "cod", "dip"}],
        )
        for owner in ("Store_ID", "Kasse", "cashier", "customer")
    },
    "numbers that begin again, where no column says so": Case(
        text="tid,item\n" + "".join(f"{row // 2 % 25},{WORDS[row % 8]}\n" for row in range(80)),
        says="rows of many transactions stand far apart.*InvoiceNo,Date.*--format long",
        stays=LONG_TABLE,
        reads_as_before=[{WORDS[row % 8] for row in range(80) if row // 2 % 25 == number} for number in range(25)],
    ),
    **{
        f"a wide table of {yes!r} and {no!r} beside customers and totals": Case(
            text=lines(
                [["who", *WORDS, "sum"]]
                + [
                    [f"K{at % 7}", *(yes if name in basket else no for name in WORDS), "12"]
                    for at, basket in enumerate(BASKETS)
                ],
                mark,
            ),
            says=r"but these columns hold other words than.*: 1, 10\. All others count as items, .*"
            r"--format one-hot .*--skip-columns 1,10\.",
            stays={"format": "one-hot", "separator": mark, "skip_columns": "1,10"},
            reads_as_before=READ,
        )
        for mark, yes, no in ((";", "1", ""), (";", "x", ""), (",", "1", "0"), ("\t", "ja", "nein"))
    },
    "transactions that a spreadsheet rounded": Case(
        text="tid,item\n5.36365E+08,milk\n5.36366E+08,tea\n",
        says="transactions or units are numbers as 1.23E.08.*--format long",
        stays=LONG_TABLE,
        reads_as_before=[{"milk"}, {"tea"}],
    ),
    **{
        f"lists in cells: {cells[0]}": Case(
            text="Transaction,Items\n" + "".join(f'{row},"{cell}"\n' for row, cell in enumerate(cells)),
            says="look like lists.*--item-separator .*transaction holds one: .*--transaction-column.*--format long",
            instead={"item_separator": mark},
            reads=[{"butter", "coffee"}, {"butter"}, {"tea", "coffee"}, {"tea"}, {"rye"}],
            stays=LONG_TABLE,
            reads_as_before=[{cell.replace('""', '"')} for cell in cells],
        )
        for mark, cells in {
            ",": ["butter, coffee", "butter", "tea,coffee", "tea", "rye"],
            ";": ["butter; coffee", "butter", "tea;coffee;", "tea", "rye"],
            " / ": ["butter / coffee", "butter", "tea / coffee", "tea", "rye"],
        }.items()
    },
    **{
        f"lists in brackets: {cells[0]}": Case(
            text="Transaction,Items\n" + "".join(f'{row},"{cell}"\n' for row, cell in enumerate(cells)),
            says="look like lists of items.*--item-separator ,.*--format long",
            instead={"item_separator": ","},
            reads=[{"butter, salted", "coffee"}, {"butter, salted"}, {"x"}]
            if "'" in cells[0] or '"' in cells[0]
            else [{"butter", "coffee"}, {"butter"}, {"x"}],
            stays=LONG_TABLE,
            reads_as_before=[{cell.replace('""', '"')} for cell in cells],
        )
        for cells in (
            ["['butter, salted', 'coffee']", "['butter, salted']", "['x']"],
            ['[""butter, salted"", ""coffee""]', '[""butter, salted""]', '[""x""]'],
            ["{butter,coffee}", "{butter}", "{x}"],
        )
    },
    "a column of quoted lists": Case(
        text='"Butter, Coffee"\n"Butter"\n"Tea, Coffee"\n"Tea"\n"Rye"\n',
        says="look like lists of items.*--item-separator ,.*--format basket",
        instead={"item_separator": ","},
        reads=[{"Butter", "Coffee"}, {"Butter"}, {"Tea", "Coffee"}, {"Tea"}, {"Rye"}],
        reads_as_before=[{"Butter, Coffee"}, {"Butter"}, {"Tea, Coffee"}, {"Tea"}, {"Rye"}],
    ),
    "quoted lists under a word": Case(
        text="Sachen\n" + '"Butter, Coffee"\n"Tea, Coffee"\n"Rye"\n' * 2,
        says="look like lists of items.*--item-separator ,.*--format basket",
        instead={"item_separator": ",", "skip_lines": 1},
        reads=[{"Butter", "Coffee"}, {"Tea", "Coffee"}, {"Rye"}] * 2,
        reads_as_before=[{"Sachen"}, *[{"Butter, Coffee"}, {"Tea, Coffee"}, {"Rye"}] * 2],
    ),
    "quoted lists under a header": Case(
        text='"items"\n"{Butter,Coffee}"\n"{Butter}"\n"{Tea,Coffee}"\n',
        says="unlike the rest.*--skip-lines 1",
        given={"item_separator": ","},
        instead={"skip_lines": 1},
        reads=[{"Butter", "Coffee"}, {"Butter"}, {"Tea", "Coffee"}],
        reads_as_before=[{"items"}, {"Butter", "Coffee"}, {"Butter"}, {"Tea", "Coffee"}],
    ),
    "ids and lists without a header": Case(
        text='1,"Butter, Coffee"\n2,Butter\n3,"Tea, Coffee"\n4,Tea\n5,Rye\n',
        says="lists of items.*--transaction-column 1 --item-column 2 --item-separator ,.*--format basket",
        instead={**BY_NUMBER, "item_separator": ","},
        reads=[{"Butter", "Coffee"}, {"Butter"}, {"Tea", "Coffee"}, {"Tea"}, {"Rye"}],
        reads_as_before=[{"1", "Butter, Coffee"}, {"2", "Butter"}, {"3", "Tea, Coffee"}, {"4", "Tea"}, {"5", "Rye"}],
    ),
    **{
        f"numbers and lists of numbers between {mark!r}": Case(
            text="".join(f"{row * 7 % 40}{mark}{' '.join(basket)}\n" for row, basket in enumerate(NUMBERED)),
            says="lists of items.*--transaction-column 1 --item-column 2 --item-separator ' '.*--format basket",
            instead={**BY_NUMBER, "item_separator": " "},
            reads=[set(basket) for basket in NUMBERED],
            stays={**BASKET, "separator": mark.replace("\t", r"\t")},
            reads_as_before=[{str(row * 7 % 40), " ".join(basket)} for row, basket in enumerate(NUMBERED)],
        )
        for mark in (";", "\t")
    },
    "lists of numbers in cells": Case(
        text="order_id,products\n" + "".join(f"{row},{' '.join(basket)}\n" for row, basket in enumerate(NUMBERED[:9])),
        says="lists of items.*--item-separator ' '.*--format long",
        instead={"item_separator": " "},
        reads=[set(basket) for basket in NUMBERED[:9]],
        stays=LONG_TABLE,
        reads_as_before=[{" ".join(basket)} for basket in NUMBERED[:9]],
    ),
    "numbers of lines after lists of numbers": Case(
        text="".join(f"{' '.join(basket)}|{row}\n" for row, basket in enumerate(NUMBERED)),
        says="the last field of each line numbers the lines.*--format basket",
        stays={**BASKET, "separator": "|"},
        reads_as_before=[{" ".join(basket), str(row)} for row, basket in enumerate(NUMBERED)],
    ),
    **{
        f"{what} each item": Case(
            text=lines([[field for name in basket for field in (name, "2")[::order]] for basket in BASKETS]),
            says="names and numbers take turns.*take them out of the file.*--format basket",
            reads_as_before=[{"2", *basket} for basket in BASKETS],
        )
        for what, order in (("a quantity after", 1), ("a quantity before", -1))
    },
    "properties without a header": Case(
        text=lines([[WORDS[row % 3], "yn"[row % 2], "ny"[row % 5 > 2], "yn"[row % 7 > 3]] for row in range(60)]),
        says="every line has 4 fields, as in a table.*--transaction-column 1 --item-column 2.*--format basket",
        instead=BY_NUMBER,
        reads=[{"y", "n"}] * 3,
        reads_as_before=[{WORDS[row % 3], "yn"[row % 2], "ny"[row % 5 > 2], "yn"[row % 7 > 3]} for row in range(60)],
    ),
    "a second header": Case(
        text="tid,item\n1,milk\n1,tea\ntid,item\n2,milk\n",
        says="second header.*--format long",
        stays=LONG_TABLE,
        reads_as_before=[{"milk", "tea"}, {"item"}, {"milk"}],
    ),
    "a second header of baskets": Case(
        text=2 * ("item1,item2\n" + lines(BASKETS)),
        says="first line of .* looks like a header, and stands again.*out of the file.*--format basket",
        instead={},
        reads=[],
        stays=BASKET,
        reads_as_before=2 * [{"item1", "item2"}, *READ],
    ),
    "a column for each item, one of which has a well-known name": Case(
        text="basket_id,Product A,Product S,Product T\n1,1,0,0\n2,1,1,0\n3,0,0,1\n",
        says="the item column holds only 0 and 1, as do others.*--format one-hot --transaction-column basket_id",
        instead={"format": "one-hot", "transaction_column": "basket_id"},
        reads=[{"Product A"}, {"Product A", "Product S"}, {"Product T"}],
        stays=LONG_TABLE,
        reads_as_before=[{"0"}, {"1"}, {"0"}],
    ),
    **{
        f"a missing value called {word}": Case(
            text=f"1,ale,bun\n2,ale,{word}\n",
            given={"skip_columns": "1"},
            says="called NaN, NULL, None, N/A or -,.*leave these cells blank.*or --exclude names it.*--format basket",
            instead={},
            reads=[],
            stays=BASKET,
            reads_as_before=[{"ale", "bun"}, {"ale", word}],
        )
        for word in ("nan", "NULL", "None", "N/A", "-", "---", "NA", r"\N", "#NV")
    },
    **{
        f"{what} called {name}": Case(
            text=f"tid,item\n1,ale\n1,{name}\n2,ale\n2,bun\n2,{name}\n",
            says=f"called {called}.*leave these cells blank, .* with --where.*or --exclude names it.*--format long",
            instead={"where": f"item <> '{name}'"},
            reads=[{"ale"}, {"ale", "bun"}],
            stays=LONG_TABLE,
            reads_as_before=[{"ale", name}, {"ale", "bun", name}],
        )
        for what, called, names in (
            ("rows of sums", "Total or Subtotal", ("Total", "Summe EUR", "Gesamtbetrag: €", "TOTAL TTC")),
            ("payments", "Cash, Visa or change", ("VISA", "EC-Karte", "Espèces", "Rundung")),
        )
        for name in names
    },
    **{
        f"{what} after each basket": Case(
            text="".join(f"{','.join(basket)},{write(row)}{filled}\n" for row, basket in enumerate(BASKETS)),
            says=f"the last field of each line {says}.*write it first.*--unit-column 1 .*--format basket",
            stays=BASKET,
            reads_as_before=[{*basket, write(row)} for row, basket in enumerate(BASKETS)],
        )
        for what, write, filled, says in (
            ("a customer", lambda row: f"K{row % 13}", "", "occurs in no other place"),
            ("a date", lambda row: f"2024-01-{10 + row % 9}", ",,", "is a date"),
            ("a sum", lambda row: f"{row % 7}.50", "", "is a number, and the others are names"),
        )
    },
    **{
        f"amounts as in {write('2', 'Brot')}": Case(
            text=lines([[write(amount, name) for name in ("Salz", "Rum")] for amount in "1234"]),
            says="how many were bought or at what price.*take the amounts or prices out.*--format basket",
            instead={},
            reads=[],
            stays=BASKET,
            reads_as_before=[{write(amount, name) for name in ("Salz", "Rum")} for amount in "1234"],
        )
        for write in (
            *("{} x {}".format, "{}x{}".format, "{} {}".format, "{1} x{0}".format),
            *("{1}:{0}".format, "{1} ({0})".format, "{1} €{0}.95".format),
        )
    },
    "amounts above one": Case(
        text=lines([["Salz", "Rum"], *([f"{amount} x Salz", f"{amount} x Rum"] for amount in "234")]),
        says="how many were bought or at what price.*take the amounts or prices out.*--format basket",
        reads_as_before=[{"Salz", "Rum"}, *({f"{amount} x Salz", f"{amount} x Rum"} for amount in "234")],
    ),
    "rows numbered where receipts were meant": Case(
        text="row,receipt,item\n" + "".join(f"{row},{row // 2},{['bun', 'ale'][row % 2]}\n" for row in range(40)),
        given={"transaction_column": "row", "item_column": "item"},
        says="Nearly every transaction holds one item.*--transaction-column.*--format long",
        instead={"transaction_column": "receipt"},
        reads=[{"ale", "bun"}] * 20,
        stays={"format": "long"},
        reads_as_before=[{"ale" if number % 2 else "bun"} for number in range(40)],
    ),
    "a description of the order, where the item has a column of its own": Case(
        text="tid,description,sku\n" + "".join(f"{row // 2},by post,{['bun', 'ale'][row % 2]}\n" for row in range(40)),
        says="Nearly every transaction holds one item.*--item-column.*--format long",
        instead={"item_column": "sku"},
        reads=[{"ale", "bun"}] * 20,
        stays=LONG_TABLE,
        reads_as_before=[{"by post"}] * 20,
    ),
    "a number for every row of all orders, where the item has a column of its own": Case(
        text="item_id,order_id,sku\n" + "".join(f"{row},{row // 2},{['bun', 'ale'][row % 2]}\n" for row in range(40)),
        says="Nearly every item is in one transaction alone.*--item-column.*--format long",
        instead={"item_column": "sku"},
        reads=[{"ale", "bun"}] * 20,
        stays=LONG_TABLE,
        reads_as_before=[{str(2 * number), str(2 * number + 1)} for number in range(20)],
    ),
    "a row for every item, whether or not it was bought": Case(
        text="tid,item,Quantity\n"
        + "".join(f"{at},{name},{int(name in basket)}\n" for at, basket in enumerate(BASKETS) for name in WORDS),
        says="holds nearly every item, as where rows with a 0.*--where 'Quantity > 0'.*--format long",
        instead={"where": "Quantity > 0"},
        reads=READ,
        stays=LONG_TABLE,
        reads_as_before=[set(WORDS)] * 40,
    ),
    "codes that a spreadsheet rounded": Case(
        text="4.00633E+12,milk\n4.00633E+12,tea\nmilk,ale\n",
        says="names of items are numbers as 1.23E.08.*--format basket",
        stays={"format": "basket", "separator": ","},
        reads_as_before=[{"4.00633E+12", "milk"}, {"4.00633E+12", "tea"}, {"milk", "ale"}],
    ),
}
"""Every habit of exports that is asked about, as a file."""


@pytest.mark.parametrize("case", CASES.values(), ids=CASES)
def test_what_may_be_read_wrong_is_asked_about_and_settled_either_way(case: Case) -> None:
    with pytest.raises(InputError) as caught:
        read(case.text, **case.given)
    assert re.search(case.says, f"{caught.value.what} {caught.value.next_step}")
    assert not any(word in str(caught.value) for word in ("Butter", "ale", "milk", "Sugar", "March", "4.00633E+12"))
    if case.instead:
        settled = read(case.text, **{**case.given, **case.instead})
        assert as_sets(settled) == case.reads
        again = read(case.text, **{**case.given, **settled.notes.layout.settings()})
        assert as_sets(again) == case.reads, "the layout reads it again"
    assert as_sets(read(case.text, **{**case.given, **case.stays})) == case.reads_as_before


@pytest.mark.parametrize("case", CASES.values(), ids=CASES)
def test_doubts_can_be_noted_instead(case: Case) -> None:
    doubts: list[Doubt] = []
    noted = read(case.text, **case.given, on_doubt=doubts.append)
    assert as_sets(noted) == case.reads_as_before
    assert len(doubts) == 1


@pytest.mark.parametrize(
    "text",
    [
        lines(BASKETS),
        lines(BASKETS, ";"),
        "ale,bun\n" * 40 + "cod,dip\n" * 40,
        "1 2\n" * 40 + "3 4\n" * 40,
        "A1 B2\nC3 A1\n",
        "milk\n" * 10,
        "".join(
            f"sex={'fm'[row % 2]},eyes={'bgh'[row % 3]},hand={'lr'[row % 4 // 2]},at={'nesw'[row % 5 % 4]}\n"
            for row in range(90)
        ),
        "#10 envelope,ale\nbun,ale\n",
        "Spargel,Salz\n" + lines(BASKETS) + "Rhabarber,Zimt\n",
        "1,2\n3,4,5\n2,6\n",
        "1,2\n" + "1,3,4\n2,5\n" * 5,
        "1,2\nale,bun\n1,ale\n" + "bun,2\n" * 5,
        "tid,item\n" + "".join(f"{row // 2},{row * 7 % 11}\n" for row in range(40)),
        "".join(f"{row * 11 % 40},{row * 7 % 40},{row * 3 % 40}\n" for row in range(40)),
    ],
)
def test_baskets_are_not_doubted(text: str) -> None:
    doubts: list[Doubt] = []
    read(text, on_doubt=doubts.append)
    assert doubts == []


def test_a_customer_before_numbers_with_blanks_is_the_unit_as_advised() -> None:
    text = CASES["a customer among numbers with ' '"].text
    found = read(text, format="basket", separator=" ", unit_column="1")
    assert (as_sets(found), found.units.max()) == ([set(basket) for basket in NUMBERED], 13)


@pytest.mark.parametrize(
    "name", ["numbers that begin again every 2024-03-01", "numbers that begin again in every shop"]
)
def test_units_that_are_the_transactions_come_back_and_are_not_asked_about(name: str) -> None:
    found = read(CASES[name].text, transaction_column="tid", unit_column="tid")
    assert as_sets(found) == CASES[name].reads_as_before


def test_names_with_commas_among_names_with_blanks_are_refused() -> None:
    with pytest.raises(InputError, match=r"separated by blanks or by another.*format=.fimi..*format=.basket."):
        read("milk bread, rye\n" * 9 + "milk tea\n" * 10)
    assert len(read("whole milk,rye\n" * 11 + "whole milk\n" * 10)) == 21


def test_a_separator_that_no_line_holds_is_refused_beside_one_that_all_hold() -> None:
    with pytest.raises(
        InputError, match=r"holds ',' in nearly all lines, and the separator to read it with in none.*separator=','"
    ):
        read(lines(BASKETS), separator=";")
    assert as_sets(read("milk, skimmed\ntea\nrye\n" * 10, separator=";", format="basket"))[0] == {"milk, skimmed"}


@pytest.mark.parametrize("header", ["Bill;Item;Date;Price;Customer\n", ""])
def test_commas_are_no_separator_where_only_numbers_hold_them_between_semicolons(header: str) -> None:
    """With commas, such rows were said to begin with an id and a colon, or to be lines under an odd first line."""
    rows = [f"{at // 3};Item {at % 7};01.12.2010 08:26;2,55;{at // 9}\n" for at in range(30)]
    with pytest.raises(InputError, match=r"holds ';' in nearly all lines, and .* only between digits.*separator=';'"):
        read(header + "".join(rows), separator=",")
    # Items with their numbers, say: no table has rows of several widths.
    pairs = "11;2,12;1\n13;4\n11;1,13;2,14;1\n" * 10
    assert as_sets(read(pairs, separator=","))[0] == {"11;2", "12;1"}


def test_a_one_hot_table_with_a_column_of_customers_and_one_of_orders_says_how_to_read_it() -> None:
    text = "order,who,Butter,Tea,Rye\nO1,C1,1,0,1\nO2,C1,0,1,1\nO3,C2,1,0,0\n"
    with pytest.raises(InputError, match=r"looks like a one-hot table.*unit_column=.*skip_columns=.1.\."):
        read(text, unit_column="who")
    found = read(text, format="one-hot", unit_column="who", transaction_column="order")
    assert as_sets(found) == [{"Butter", "Rye"}, {"Tea", "Rye"}, {"Butter"}]


def test_a_wide_table_of_quantities_says_at_once_what_to_do_about_them() -> None:
    with pytest.raises(InputError, match=r"looks like a one-hot table.*replace those above 1 by 1"):
        read("f0,f1,f2,f3\n0,1,0,3\n2,0,0,1\n0,0,1,0\n")


def test_a_pivot_table_of_quantities_is_not_taken_for_baskets() -> None:
    """As baskets its quantities would be items."""
    rows = [["2" if name in basket else "" for name in WORDS] for basket in BASKETS]
    table = "receipt," + lines([WORDS]) + lines([[str(at), *row] for at, row in enumerate(rows)])
    numbered = table.replace(WORDS[0], "007", 1).replace(WORDS[1], "0042", 1)
    for text, options in (
        (lines([WORDS, *rows]), {}),
        (table, {}),
        (numbered, {}),
        (table, {"transaction_column": "receipt"}),
    ):
        with pytest.raises(InputError, match=r"looks like a one-hot table.*replace those above 1 by 1"):
            read(text, **options)
    padded = lines([[str(len(name)) for name in basket] + [""] * (4 - len(basket)) for basket in BASKETS])
    with pytest.raises(InputError, match="looks like a table with a header"):
        read("dx,dy,dz,dw\n" + padded)


def test_lists_in_brackets_without_quotes_are_read_if_a_line_is_one_cell() -> None:
    text = "{ale,bun}\n{cod}\n"
    with pytest.raises(InputError, match=r"looks like JSON.*format=.basket..*separator='\\t' item_separator=.,."):
        read(text)
    assert as_sets(read(text, format="basket", separator=r"\t", item_separator=",")) == [{"ale", "bun"}, {"cod"}]


@pytest.mark.parametrize("brackets", ["[]", "{}"])
def test_a_quote_with_a_backslash_ends_no_name_in_a_list(brackets: str) -> None:
    """As JSON and PostgreSQL write it. Otherwise the two parts of the name are items, and the most frequent pair."""
    lists = [
        brackets[0] + names + brackets[1] for names in (r'"nail 5\", red","tea"', r'"C:\\","tea"', r'"rock\\roll"')
    ]
    found = read(pl.DataFrame({"tid": [1, 2, 3], "item": lists}), item_separator=",")
    assert as_sets(found) == [{'nail 5", red', "tea"}, {"C:\\", "tea"}, {"rock\\roll"}]


def test_a_file_of_weka_is_named() -> None:
    """Its question marks and words for yes would be items."""
    with pytest.raises(InputError, match=r"looks like a file of Weka \(ARFF\)"):
        read("% market baskets\n@RELATION supermarket\n@attribute milk {t}\n@attribute tea {t}\n@data\n" + "t,?\n" * 9)


@pytest.mark.parametrize("write", ["x{}", "{}x", "box{}", "ale {}"])
def test_names_that_end_in_numbers_say_no_amounts(write: str) -> None:
    names = [write.format(number) for number in range(20)]
    assert as_sets(read(lines([names[:10], names[10:]]))) == [set(names[:10]), set(names[10:])]


def test_the_data_that_ships_is_not_doubted() -> None:
    assert len(read_transactions(ROOT / "datasets" / "online-retail-customers.csv.gz")) == 4372


@pytest.mark.parametrize("first", ["sep=;", '"sep=;"', "SEP=;,"])
def test_a_line_that_names_the_separator_is_obeyed_and_recorded(first: str) -> None:
    text = f"{first}\ntid;item\n1;milk, fresh\n1;tea\n2;tea\n"
    found = read(text)
    assert as_sets(found) == [{"milk, fresh", "tea"}, {"tea"}]
    layout = found.notes.layout
    assert {"separator", "skip_lines"} <= set(layout.guessed)
    assert layout.guesses_as_typed() == (
        "--format long --separator ';' --skip-lines 1 --transaction-column tid --item-column item"
    )
    assert as_sets(read(text, **layout.settings())) == as_sets(found)
    assert "without the first line" in layout.describe()


@pytest.mark.parametrize("options", [{"format": "basket"}, {"format": "basket", "separator": ";"}, {"format": "long"}])
def test_a_typed_format_does_not_depend_on_a_line_that_names_the_separator(options: dict[str, Any]) -> None:
    with pytest.raises(InputError, match=r"names a separator.*skip_lines=1.*skip_lines=0"):
        read("sep=;\nmilk;tea\n", **options)
    assert as_sets(read("sep=;\nmilk;tea\n", format="basket", separator=";", skip_lines=1)) == [{"milk", "tea"}]
    assert as_sets(read("sep=;\nmilk;tea\n", format="basket", separator=";", skip_lines=0))[0] == {"sep="}


def test_transactions_of_spmf_with_utilities_are_refused_by_name() -> None:
    data = "4 6:20:10 10\n1 2:15:7 8\n"
    with pytest.raises(InputError, match="SPMF transactions with utilities"):
        read(data)
    assert len(read(data, format="fimi")) == 2


def test_lines_are_left_out_wherever_the_blocks_of_the_file_end() -> None:
    data = as_bytes("title\n\n  \ncomment\n" + lines(BASKETS))
    for skip, first in ((1, {"comment"}), (2, READ[0]), (3, READ[1])):
        found = read(data, format="basket", skip_lines=skip)
        assert as_sets(found)[0] == first
    with pytest.raises(InputError, match="nothing but blanks"):
        read("title\n\n", skip_lines=1, format="basket")


DAYS = {
    "tid": [1, 2, 1, 2],
    "day": ["1.3.2024", "1.3.2024", "2.3.2024", "2.3.2024"],
    "item": ["ale", "bun", "cod", "dip"],
}


def test_tables_of_columns_are_asked_about_too() -> None:
    for frame in (pl.DataFrame(DAYS), pl.DataFrame(DAYS).with_columns(pl.col("day").str.to_date("%d.%m.%Y"))):
        with pytest.raises(InputError, match=r"several dates.*format=.long."):
            read(frame)
        assert as_sets(read(frame, transaction_column="tid,day")) == [{"ale"}, {"bun"}, {"cod"}, {"dip"}]
        assert as_sets(read(frame, format="long")) == [{"ale", "cod"}, {"bun", "dip"}]
    lists = pl.DataFrame({"tid": [1, 2], "item": ["['ale', 'bun']", "['cod']"]})
    with pytest.raises(InputError, match=r"lists of items.*item_separator=.,."):
        read(lists)
    assert as_sets(read(lists, item_separator=",")) == [{"ale", "bun"}, {"cod"}]


@pytest.mark.parametrize("dtype", [pl.Int16, pl.UInt32, pl.UInt64, pl.Float64])
def test_numbers_of_any_type_are_asked_about_as_in_a_text(dtype: Any) -> None:
    """Where a customer is missing, pandas turns all customers into floating point."""
    rows = [(row // 3, row // 9 if row % 3 == 0 else None, WORDS[row * row % 7]) for row in range(60)]
    frame = pl.DataFrame(rows, schema={"tid": dtype, "who": dtype, "item": pl.String}, orient="row", strict=False)
    for data in (frame.write_csv(), frame):
        with pytest.raises(InputError, match="some rows of a transaction name its unit and others name none"):
            read(data, unit_column="who", drop_rows_without_unit=True)
    days = pl.DataFrame(DAYS).with_columns(pl.col("tid").cast(dtype))
    with pytest.raises(InputError, match="several dates"):
        read(days)


def test_a_column_that_is_not_read_may_hold_values_without_names() -> None:
    late = pl.Series([2**62] * 4).cast(pl.Datetime("ms"))
    frame = pl.DataFrame({"tid": [1, 1, 2, 2], "item": WORDS[:4], "time": late})
    assert as_sets(read(frame)) == [set(WORDS[:2]), set(WORDS[2:4])]
    with pytest.raises(InputError, match="The column for item_column= holds a value that has no name"):
        read(frame, item_column="time")


def test_lines_that_are_left_out_already_are_counted_in_the_advice() -> None:
    text = "Sales\n# exported\ntid,item\n" + lines(LONG)
    with pytest.raises(InputError, match=r"first line of .* after those left out looks unlike.*skip_lines=2"):
        read(text, skip_lines=1)
    assert as_sets(read(text, skip_lines=2)) == LONG_READ
    with pytest.raises(InputError, match=r"unlike the rest.*skip_lines=2"):
        read("sep=;\n# exported\ntid;item\n" + lines(LONG, ";"))


@pytest.mark.parametrize("separator", [",", ";"])
def test_advice_for_a_file_that_names_its_separator_can_be_followed(separator: str) -> None:
    """A typed format takes no separator from a line of the data, so the advice has to name it, and to leave it out."""
    text = f"sep={separator}\n" + lines([[f"2024-03-{row + 1:02}", *READ[row]] for row in range(20)], separator)
    doubts: list[Doubt] = []
    first = read(text, on_doubt=doubts.append)
    assert doubts[0].what.endswith("the first field of each line is a date.")
    assert doubts[0].stays.options == {"format": "basket", "separator": separator, "skip_lines": "1"}
    again = read(text, format="basket", separator=separator, skip_lines=1)
    assert as_sets(again) == as_sets(first)


def test_a_long_table_with_other_lines_in_it_is_not_said_to_be_baskets() -> None:
    """As baskets its ids would be items, and the budget would be spent on them."""
    with pytest.raises(InputError, match="Delete lines that are no rows, such as comments"):
        read("tid,item\n1,ale\n1,bun\n# page 2\n2,cod\n")
    baskets_below = "exported\ntid;items\n1;ale;bun\n2;cod\n"
    says = r"the items of a transaction, give format=.basket. separator=';' skip_lines=2 skip_columns=.1.\."
    with pytest.raises(InputError, match=says):
        read(baskets_below, skip_lines=1)
    found = read(baskets_below, format="basket", separator=";", skip_lines=2, skip_columns="1")
    assert as_sets(found) == [{"ale", "bun"}, {"cod"}]


@pytest.mark.parametrize("dtype", [pl.Boolean, pl.UInt8, pl.Int8])
def test_a_frame_with_a_column_for_each_item_is_asked_about_if_one_has_a_well_known_name(dtype: Any) -> None:
    flags = {"item": [1, 0, 1], "item_ale": [0, 1, 1], "item_bun": [1, 1, 0]}
    frame = pl.DataFrame(flags).cast(dtype).insert_column(0, pl.Series("order_id", [1, 2, 3]))
    with pytest.raises(InputError, match=r"item column holds only 0 and 1.*format=.one-hot. transaction_column="):
        read(frame)


def test_the_advice_to_read_each_column_as_an_item_names_the_separator() -> None:
    text = "order_id;item;item_ale;item_bun\n1;1;0;1\n2;0;1;1\n"
    doubts: list[Doubt] = []
    read(text, on_doubt=doubts.append)
    instead = {"format": "one-hot", "separator": ";", "transaction_column": "order_id"}
    assert doubts[0].instead.options == instead
    assert as_sets(read(text, **instead)) == [{"item", "item_bun"}, {"item_ale", "item_bun"}]


@pytest.mark.parametrize(
    "rows",
    [
        [(row // 2, row % 3, "x") for row in range(40)],  # the column changes within a transaction
        [(row // 2 % 10, "y", "x") for row in range(40)],  # it is the same everywhere
        [(row % 10, row // 10, "x") for row in range(40)],  # the rows of a transaction never stand together
        [(row // 2, row // 8, "x") for row in range(40)],  # nothing begins again
        [*((row // 2, 0, "x") for row in range(40)), (3, 1, "x")],  # a correction at the end
        [(row // 12 * 3 + row // 2 % 3, row % 5, "x") for row in range(240)],  # three tills
    ],
)
def test_transactions_that_do_not_begin_again_are_not_doubted(rows: list[tuple[Any, ...]]) -> None:
    text = "tid,lot,note,item\n" + "".join(
        f"{','.join(map(str, row))},{WORDS[at % 8]}\n" for at, row in enumerate(rows)
    )
    assert len(read(text)) == len({row[0] for row in rows})


def test_days_of_many_rows_are_noticed_too() -> None:
    """The first lines are all of one day."""
    day = "".join(f"{row // 3},2024-03-0{{day}} 10:{row % 60},{WORDS[row % 8]}\n" for row in range(4000))
    header = "tid,time,item\n"
    with pytest.raises(InputError, match="several dates"):
        read(header + day.replace("{day}", "1") + day.replace("{day}", "2"))
    assert len(read(header + day.replace("{day}", "1"))) == 1334
    rare = "".join(f"{row},2024-03-01,ale\n{row},2024-03-0{1 + (row == 7)},bun\n" for row in range(20))
    assert len(read(header + rare)) == 20, "one order over midnight"


@pytest.mark.parametrize(
    ("written", "given"),
    [("cp1252", "latin-1"), ("cp932", "latin-1"), ("cp850", "cp1252"), ("utf-8", "cp1252"), ("utf-8", "latin-1")],
)
def test_text_of_another_encoding_is_asked_about(written: str, given: str) -> None:
    name = {"cp932": "パン", "cp850": "Käse"}.get(written, "Œufs")
    data = f"tid,item\n1,{name}\n1,ale\n".encode(written)
    with pytest.raises(InputError, match=r"letters that no word has.*with encoding=, such as.*format=.long."):
        read(data, encoding=given)
    assert as_sets(read(data, encoding=written)) == [{name, "ale"}]
    assert len(read(data, encoding=given, format="long")) == 1


@pytest.mark.parametrize("encoding", ["latin-1", "cp1252", "cp1251", "cp932", "utf-16-le", "utf-16-be", "utf-32-le"])
def test_text_in_its_encoding_is_not_asked_about(encoding: str) -> None:
    name = {"cp932": "パン", "latin-1": "Crème brûlée", "cp1252": "Crème brûlée"}.get(encoding, "Хлеб")
    assert as_sets(read(f"tid,item\n1,{name}\n1,ale\n".encode(encoding), encoding=encoding)) == [{name, "ale"}]


def test_several_columns_make_one_transaction() -> None:
    rows = "shop,day,item,who\n1,2,ale,x\n01,2.0,bun,x\n1,3,cod,y\n12,,,y\n"
    options = {"format": "long", "transaction_column": "shop, DAY", "item_column": "item", "unit_column": "who"}
    found = read(rows, **options)
    assert as_sets(found) == [{"ale", "bun"}, {"cod"}]
    assert found.notes.layout.transaction == "all rows with the same values of columns 'shop,day'"
    assert as_sets(read(rows, **found.notes.layout.settings())) == as_sets(found)
    with pytest.raises(InputError, match="blank there"):
        read(rows + "1,,tea,y\n", **options)
    for wrong in ("shop,item", "shop,shop"):
        with pytest.raises(UsageError, match="same, or a column is named twice"):
            read(rows, **{**options, "transaction_column": wrong})
    with pytest.raises(InputError, match="no column 'hour'"):
        read(rows, **{**options, "transaction_column": "shop,hour"})
    one = 'a,"shop,day",item\n1,2,ale\n1,3,bun\n'
    assert len(read(one, format="long", transaction_column="shop,day")) == 2, "a column of that name"


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ({"format": "fimi", "skip_columns": "1"}, "skip_columns= is for the formats basket and one-hot"),
        ({"format": "fimi", "item_separator": ","}, "formats basket and long"),
        ({"format": "basket", "item_separator": ""}, "not empty"),
        ({"skip_columns": "0"}, "numbers from 1 on"),
        ({"skip_columns": "one"}, "numbers from 1 on"),
        ({"skip_lines": -1}, "negative"),
        ({"skip_columns": "1", "where": "Quantity > 0"}, r"format=.one-hot"),
        ({"skip_columns": "1", "where": "Quantity > 0"}, r"lines of baskets, .*item_column=\."),
        ({"skip_columns": "1", "item_column": "item"}, r"lines of baskets, .*item_column=\."),
        ({"skip_columns": "1", "unit_column": "2", "where": "Quantity > 0"}, r"lines of baskets, .*item_column=\."),
    ],
)
def test_options_that_make_no_sense_are_refused(options: dict[str, Any], says: str) -> None:
    with pytest.raises(UsageError, match=says):
        read(lines(BASKETS), **options)


@pytest.mark.parametrize("options", [{"skip_lines": 1}, {"skip_columns": "1"}])
def test_long_frames_have_no_lines_and_fields_to_leave_out(options: dict[str, Any]) -> None:
    with pytest.raises(UsageError, match="are left out by number"):
        read(pl.DataFrame(DAYS), **options)


def test_lists_are_split_only_in_formats_with_one_item_per_cell() -> None:
    with pytest.raises(UsageError, match="no cell is split"):
        read(pl.DataFrame({"items": [["ale,bun"]]}), item_separator=",")
    for text in ("ale,bun\n" + "1,0\n0,1\n" * 20, "7 2\n2 9 4\n" * 20):
        with pytest.raises(UsageError, match="no cell is split"):
            read(text, item_separator=";")


def test_a_line_that_holds_nothing_but_its_id_is_an_empty_transaction() -> None:
    found = read('1,"ale, bun",cod\n2\n3,"dip"\n4,"",egg\n', skip_columns="1", item_separator=",")
    assert as_sets(found) == [{"ale", "bun", "cod"}, {"dip"}, {"egg"}]
    assert (found.notes.empty, found.notes.blanks) == (1, 1)
    with pytest.raises(InputError, match="No item was found"):
        read("1\n2\n", skip_columns="1", item_separator=",")


def test_the_layout_is_recorded_with_what_was_left_out() -> None:
    text = 'title\n1,x,"ale, bun"\n2,x,cod\n'
    layout = read(text, skip_lines=1, skip_columns="2,1", item_separator=",").notes.layout
    assert layout.describe() == (
        "basket CSV, separated by commas: without the first line, without columns 1, 2, "
        "lists separated by commas in cells"
    )
    assert layout.as_typed() == (
        "--format basket --separator , --encoding utf-8 --skip-lines 1 --skip-columns 1,2 --item-separator ,"
    )
    assert Layout.of_record(json.loads(json.dumps(layout.record()))) == layout
    older = Layout(format="basket", separator=",", encoding="utf-8").record()
    assert {"skip_lines", "skip_columns", "item_separator"}.isdisjoint(older)
    assert Layout.of_record({**older, "skip_lines": "1"}) is None
    numbered = read("1,ale\n", **BY_NUMBER).notes.layout
    assert numbered.describe() == "long CSV, separated by commas: no header, transaction column '1', item column '2'"


def test_a_doubt_says_the_options_of_both_ways_to_settle_it() -> None:
    doubt = Doubt(
        what="Odd.",
        instead=Way("If they are, give", {"transaction_column": "1", "item_separator": ";"}),
        stays=Way("If not, take the line out."),
    )
    assert str(doubt) == (
        "Odd. If they are, give --transaction-column 1 --item-separator ';'. If not, take the line out."
    )


@pytest.mark.parametrize(
    ("text", "unit_columns"),
    [("tid,item,who\n1,a,x\n1,b,x\n2,a,y\n", ["tid", "item", "who"]), ("a,b\na,c,d\n", ["1", "2"]), ("1 2\n3 4\n", [])],
)
def test_the_columns_that_can_name_a_unit(tmp_path: Path, text: str, unit_columns: list[str]) -> None:
    path = tmp_path / "x.csv"
    path.write_text(text)
    found = read_transactions(path, on_doubt=lambda _doubt: None)
    assert column_names(str(path), found.notes.layout) == unit_columns


@pytest.mark.parametrize("case", CASES.values(), ids=CASES)
def test_the_choices_of_each_doubt_have_the_options_that_settle_it(case: Case) -> None:
    doubts: list[Doubt] = []
    read(case.text, on_doubt=doubts.append, **case.given)
    instead, stays = doubts[0].instead.options, doubts[0].stays.options
    assert instead.keys() <= case.instead.keys()
    assert stays.keys() >= case.stays.keys()
