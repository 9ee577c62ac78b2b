from __future__ import annotations

import re

import pytest

from fim_private.errors import InputError, UsageError
from tests.transactions.reading import as_sets, read

WORDS = ["ale", "bun", "cod", "dip", "egg", "fig", "gin", "ham"]
BASKETS = "".join(",".join(WORDS[row % 7 : row % 7 + 2 + row % 3]) + "\n" for row in range(40))


@pytest.mark.parametrize(
    ("data", "format_words", "first"),
    [
        ("1 2 3\n4 5\n", "FIMI: items separated by blanks, one transaction per line", {"1", "2", "3"}),
        ("1\t2\t3\n4\t5\n", "FIMI: items separated by blanks, one transaction per line", {"1", "2", "3"}),
        ("m1 b2\nm1\n", "FIMI: items separated by blanks, one transaction per line", {"m1", "b2"}),
        ("1,2,3\n4,5\n", "basket CSV, separated by commas", {"1", "2", "3"}),
        ("1, 2, 3\n4, 5\n", "basket CSV, separated by commas", {"1", "2", "3"}),
        ("whole milk,white bread\nwhole milk\n", "basket CSV, separated by commas", {"whole milk", "white bread"}),
        ("a;b, c;d\ne;f\n", "basket CSV, separated by semicolons", {"a", "b, c", "d"}),
        ("whole milk\trye bread\nwhole milk\n", "basket CSV, separated by tabs", {"whole milk", "rye bread"}),
        ("a|b\nc|d|e\n", "basket CSV, separated by pipes", {"a", "b"}),
        ('"whole milk"\n"rye, bread"\n', "basket CSV, separated by commas", {"whole milk"}),
        (
            "tid,item\n1,milk\n1,bread\n",
            "long CSV, separated by commas: transaction column 'tid', item column 'item'",
            {"milk", "bread"},
        ),
        (
            "Invoice No;Price;Description\nA;1,50;milk\nA;2,50;bread\n",
            "long CSV, separated by semicolons: transaction column 'Invoice No', item column 'Description'",
            {"milk", "bread"},
        ),
        (
            "TransactionNo,Items,Daypart\n1,milk,noon\n1,bread,noon\n",
            "long CSV, separated by commas: transaction column 'TransactionNo', item column 'Items'",
            {"milk", "bread"},
        ),
        (
            "Datum;Bon-Nr.;Artikelbezeichnung;Menge\n24.12.;7;Milch;1\n24.12.;7;Brot;2\n",
            "long CSV, separated by semicolons: transaction column 'Bon-Nr.', item column 'Artikelbezeichnung'",
            {"Milch", "Brot"},
        ),
        (
            "Numéro de facture;Désignation\n7;lait\n7;pain\n",
            "long CSV, separated by semicolons: transaction column 'Numéro de facture', item column 'Désignation'",
            {"lait", "pain"},
        ),
        (
            "Nº de cliente,Nº factura,Descripción\n1,7,leche\n1,7,pan\n",
            "long CSV, separated by commas: transaction column 'Nº factura', item column 'Descripción'",
            {"leche", "pan"},
        ),
        (
            "order_id,product_id,customer_unique_id\n7,a1,c\n7,b2,c\n",
            "long CSV, separated by commas: transaction column 'order_id', item column 'product_id'",
            {"a1", "b2"},
        ),
        ("milk,bread,egg\n1,0,0\n0,1,1\n", "one-hot CSV, separated by commas: one column per item", {"milk"}),
        ("7,8,9\n1,0,1\n0,1,1\n", "one-hot CSV, separated by commas: one column per item", {"7", "9"}),
        ("0,1\n1,0\n", "basket CSV, separated by commas", {"0", "1"}),
    ],
)
def test_the_format_is_detected_and_described(data, format_words, first):
    transactions = read(data)
    assert transactions.notes.layout.describe() == format_words
    assert as_sets(transactions)[0] == first


@pytest.mark.parametrize(
    ("data", "separator"),
    [
        ("tid\t,item\t\n7\t,ale\t\n7\t,bun\t\n", "commas"),
        ("ale\t,bun\t,cod\t\nale\t,bun\t\n", "commas"),
        ("tid;item\t\n7\t;ale\t\n7\t;bun\t\n", "semicolons"),
        ('tid\titem\n"7,0"\t"ale"\n"7,0"\t"bun"\n', "tabs"),
        ('"tid"\t"item"\n7,0\t"ale"\n7,0\t"bun"\n', "tabs"),
        ("ale\tbun\t\nale, new\tbun\t\n", "tabs"),
    ],
)
def test_tabs_behind_fields_are_no_separators(data, separator):
    transactions = read(data)
    assert f"separated by {separator}" in transactions.notes.layout.describe()
    assert {"ale", "bun"} <= as_sets(transactions)[0]


def test_an_explicit_separator_is_obeyed():
    assert as_sets(read("a,b~c\n", separator="~")) == [{"a,b", "c"}]
    assert as_sets(read("a, b::c\n", separator="::")) == [{"a, b", "c"}]
    assert as_sets(read("a\tb c\n", separator=r"\t")) == [{"a", "b c"}]
    assert read("1 2\n3\n", separator=" ").notes.layout.describe() == "basket CSV, separated by blanks"


@pytest.mark.parametrize(
    ("options", "message"),
    [
        *(({"separator": separator}, "separator") for separator in ("", '"', "\n", "a\r")),
        ({"format": "xml"}, r"no format 'xml'.*fimi, basket"),
        ({"format": "fimi", "separator": ","}, "separated by blanks, whatever"),
        ({"drop_rows_without_unit": True}, "unit_column="),
        ({"format": "one-hot", "item_column": "milk"}, "no item column"),
        ({"transaction_column": "tid", "item_column": "tid"}, "are the same"),
    ],
)
def test_options_that_make_no_sense_are_refused(options, message):
    with pytest.raises(UsageError, match=message):
        read("tid,item\n1,milk\n", **options)


def table(rows: int, header: str = "visit,thing,till") -> str:
    return header + "\n" + "".join(f"{row // 2},{WORDS[row % 8]},{row % 3}\n" for row in range(rows))


def test_a_table_with_unknown_columns_is_not_guessed():
    with pytest.raises(InputError, match=r"a table with a header.*give transaction_column=.*format=.basket."):
        read(table(19))
    for few_or_known in (table(18), table(30, header="ale,thing,till")):
        with pytest.raises(InputError, match=r"looks like a table without a header.*format=.basket."):
            read(few_or_known)
    assert len(read(table(19), format="basket")) == 20
    transactions = read(table(20), format="long", transaction_column="visit", item_column="thing")
    assert as_sets(transactions)[0] == {"ale", "bun"}


@pytest.mark.parametrize("header", ["visit;reasons", "visit;items"])
def test_whoever_names_the_columns_as_told_is_still_asked_about_lists_in_cells(header):
    data = header + "\n" + "".join(f"{row};{WORDS[row % 8]}, {WORDS[row % 5]}\n" for row in range(30))
    with pytest.raises(InputError) as refused:
        read(data)
    assert "give --transaction-column and --item-column" in refused.value.next_step
    assert "--format long" not in refused.value.next_step
    with pytest.raises(InputError, match="look like lists of items"):
        read(data, transaction_column="visit", item_column=header.partition(";")[2])


def test_a_table_with_blank_fields_is_known_by_its_numbers():
    data = "visit,thing\n" + "".join(f"{row},{'' if row == 5 else WORDS[row % 8]}\n" for row in range(30))
    with pytest.raises(InputError, match="looks like a table"):
        read(data)


@pytest.mark.parametrize(
    "data",
    [
        BASKETS,
        "".join(f"{WORDS[row % 5]},{WORDS[row % 5 + 1]}\n" for row in range(40)),
        "".join(f"{row * 7 % 40},{row * 11 % 40}\n" for row in range(40)),
    ],
    ids=["ragged", "pairs", "numbers"],
)
def test_baskets_are_not_taken_for_a_table(data):
    assert read(data).notes.layout.describe() == "basket CSV, separated by commas"


@pytest.mark.parametrize(
    ("data", "kind"),
    [
        ("@CONVERTED_FROM_TEXT\n@ITEM=1=milk\n@ITEM=2=bread\n1 2\n1\n", "names of its items"),
        ("1 -1 2 3 -1 -2\n2 -1 -2\n", "SPMF sequences"),
    ],
)
def test_what_spmf_writes_is_named_but_may_be_insisted_on(data: str, kind: str) -> None:
    with pytest.raises(InputError, match=kind):
        read(data)
    assert len(read(data, format="fimi")) == data.count("\n")
    assert as_sets(read("5 -2\n-2 5\n")) == [{"5", "-2"}] * 2


def test_a_long_header_over_ragged_lines_is_not_guessed():
    with pytest.raises(InputError, match="header of a long table, but its lines differ"):
        read("tid,item\n1,milk\n1,milk,white\n")


@pytest.mark.parametrize(
    ("start", "kind"),
    [
        ('{"a": 1}', "JSON. Save .*Parquet .in Python, polars.read_ndjson"),
        ("[1, 2]", "JSON or a Python list. Save .*Parquet .in Python, polars.read_json"),
        ("\n <html>", "HTML or XML. Save it as CSV or Parquet, or write"),
    ],
)
def test_markup_is_named_but_may_be_insisted_on(start, kind):
    with pytest.raises(InputError, match=f"looks like {kind}"):
        read(start + "\n" + BASKETS)
    assert len(read(start + "\n" + BASKETS, format="basket")) == 41


def test_a_separator_in_few_lines_is_not_guessed():
    data = "whole milk\n" * 60 + "rye,bread\n"
    with pytest.raises(InputError, match=r"separated by blanks or by another.*format=.fimi."):
        read(data)
    assert len(read(data, format="fimi")) == 61


@pytest.mark.parametrize(
    ("data", "options"),
    [
        ("a;b;c\n" * 20, {"format": "fimi"}),
        ("a^b^c\n" * 20, {"format": "basket"}),
        ("milk\n" * 20, {}),
        ("milk\n" * 99 + "milk bread\n", {"format": "fimi"}),
    ],
)
def test_lines_of_one_item_each_are_refused(data, options):
    with pytest.raises(InputError, match=r"Nearly every line holds one item.*separator="):
        read(data, **options)


def test_single_items_may_be_insisted_on_or_few():
    assert len(read("milk\n" * 40, format="basket", separator=",")) == 40
    assert len(read("milk\n" * 40, separator=",")) == 40
    assert len(read("milk\n" * 19)) == 19
    assert len(read("1\n" * 95 + "1 2\n" * 5)) == 100


def test_single_items_are_no_error_in_tables_that_are_declared():
    rows = "".join(f"{row},{row % 25},milk\n" for row in range(40))
    assert len(read("tid,customer,item\n" + rows, format="long")) == 40
    assert len(read("tid,customer,item\n" + rows, unit_column="customer", drop_rows_without_unit=False)) == 40
    with pytest.raises(InputError, match="Nearly every transaction holds one item"):
        read("tid,customer,item\n" + rows)
    assert len(read("milk,bread\n" + "1,0\n" * 40, format="one-hot")) == 40


@pytest.mark.parametrize(
    ("format_name", "option"),
    [
        *(("fimi", option) for option in ("unit_column", "transaction_column", "item_column")),
        *(("basket", option) for option in ("transaction_column", "item_column")),
    ],
)
def test_formats_without_columns_refuse_column_options(format_name, option):
    with pytest.raises(UsageError, match=f"format {format_name} has no columns"):
        read(BASKETS, format=format_name, **{option: "customer"})


def test_column_options_need_a_separator():
    with pytest.raises(InputError, match=r"No separator was found.*separator="):
        read("milk\nbread\n", item_column="item")
    for data in ("milk\nbread\n", "tid;item\n1;milk\n"):
        with pytest.raises(InputError, match=r"header of .* is a single column .* commas.*separator=.* skip_lines="):
            read(data, format="long")
    with pytest.raises(InputError, match=r"single column .* commas.*separator="):
        read("milk;bread\n1;0\n", format="one-hot")
    assert as_sets(read("milk\n1\n0\n1\n", format="one-hot")) == [{"milk"}, {"milk"}]


def test_the_format_of_lists_is_refused_for_text():
    with pytest.raises(InputError, match="can only be read from Parquet"):
        read(BASKETS, format="lists")


@pytest.mark.parametrize(
    "data",
    [
        ",milk,egg\n" + "".join(f"{row},True,False\n" for row in range(30)),
        "milk,egg,tea\n1,0,3\n0,0,1\n1,1,0\n",
        "item,item,transaction\nmilk,egg,1\ntea,jam,2\n",
    ],
    ids=["row numbers without a name", "a quantity", "a well-known name twice"],
)
def test_tables_that_are_no_baskets_are_not_read_as_baskets(data):
    with pytest.raises(InputError, match=r"format=.one-hot|give transaction_column=") as caught:
        read(data)
    assert "milk" not in str(caught.value)


def test_advice_for_columns_of_items_leaves_out_the_header_and_the_ids():
    rows = [f"{row},{row % 7},{'E11' if row % 2 else 'I10'},{'J45' if row % 3 else ''}\n" for row in range(30)]
    with pytest.raises(InputError, match=r"format=.basket. separator=.,.\. Add skip_lines=1.*skip_columns= for"):
        read(f"case,age,diag1,diag2\n{''.join(rows)}")
    found = read(f"case,age,diag1,diag2\n{''.join(rows)}", format="basket", skip_lines=1, skip_columns="1,2")
    assert found.vocabulary.to_list() == ["E11", "I10", "J45"]


@pytest.mark.parametrize(("mark", "shown"), [(",", ","), (";", "';'"), ("\t", r"'\t'"), ("|", "'|'")])
@pytest.mark.parametrize(
    "data",
    [
        "id;milk;egg\n" + "R1;1;0\nR2;0;1\nR3;1;1\n" * 9,
        "what;who;price\n" + "milk;Ann;1,5\negg;Bob;2,5\n" * 20,
        "tid;item\n1;milk;egg\n2;tea;jam;egg\n",
    ],
    ids=["nearly one-hot", "unknown columns", "rows of different lengths"],
)
def test_advice_to_give_a_format_names_the_separator(data, mark, shown):
    with pytest.raises(InputError) as refused:
        read(data.replace(",", ".").replace(";", mark))
    assert re.search(f"--format (one-hot|basket) --separator {re.escape(shown)}[ ,.]", refused.value.next_step)
