"""The public data sets, against the figures published with them."""

from __future__ import annotations

import polars as pl
import pytest

from fim_private.transactions.bounding import merge_units
from fim_private.transactions.reading import read_transactions

CODES = {"transaction_column": "InvoiceNo", "item_column": "StockCode"}


@pytest.mark.parametrize(
    ("name", "transactions", "items", "occurrences", "repeated"),
    [
        ("retail.dat.gz", 88_162, 16_470, 908_576, 0),
        ("groceries.csv.gz", 9_835, 169, 43_367, 0),
        ("store-7501.csv.gz", 7_501, 119, 29_358, 5),
        ("foodmart.dat.gz", 4_141, 1_559, 18_319, 0),
        ("kosarak-head.dat.gz", 36_682, 17_034, 294_008, 1),
        ("mushroom.dat.gz", 8_124, 119, 186_852, 0),
        ("bms-webview-2.dat.gz", 77_512, 3_340, 358_278, 0),
        ("T10I4D100K.dat.gz", 100_000, 870, 1_010_228, 0),
        ("online-retail-sales-baskets.csv.gz", 19_960, 3_922, 519_602, 0),
    ],
)
def test_public_data_have_their_known_shapes(shared_data, name, transactions, items, occurrences, repeated):
    read = read_transactions(shared_data(name))
    assert (len(read), len(read.vocabulary), len(read.items)) == (transactions, items, occurrences)
    assert (read.notes.duplicates, read.notes.blanks, read.notes.empty) == (repeated, 0, 0)


@pytest.mark.slow
def test_invoices_have_their_known_shape(shared_data):
    read = read_transactions(shared_data("online-retail.csv.gz"), **CODES)
    assert (len(read), len(read.vocabulary)) == (25_900, 4_070)
    assert len(read.items) + read.notes.duplicates == 541_909


@pytest.mark.slow
def test_invoices_are_known_by_their_header(shared_data):
    read = read_transactions(shared_data("online-retail.csv.gz"))
    assert read.notes.layout.describe() == (
        "long CSV, separated by commas: transaction column 'InvoiceNo', item column 'Description'"
    )
    assert read.notes.blanks == 1_454


@pytest.mark.slow
def test_customers_have_their_known_shape(shared_data):
    options = {"unit_column": "CustomerID", "drop_rows_without_unit": True}
    read = read_transactions(shared_data("online-retail.csv.gz"), **CODES, **options)
    assert read.units.max() + 1 == 4_372
    assert read.notes.rows_without_unit == 135_080
    assert len(merge_units(read)) == 4_372


@pytest.mark.slow
def test_invoices_of_parquet_are_those_of_csv(shared_data, tmp_path):
    frame = pl.read_csv(shared_data("online-retail.csv.gz"), columns=list(CODES.values()), infer_schema=False)
    frame.write_parquet(tmp_path / "online.parquet")
    lists = frame.group_by("InvoiceNo", maintain_order=True).agg("StockCode")
    lists.write_parquet(tmp_path / "lists.parquet")
    text = read_transactions(shared_data("online-retail.csv.gz"), **CODES)
    for other in (
        read_transactions(tmp_path / "online.parquet"),
        read_transactions(tmp_path / "lists.parquet", transaction_column="InvoiceNo"),
    ):
        assert other.vocabulary.equals(text.vocabulary)
        assert (other.offsets == text.offsets).all()
        assert (other.items == text.items).all()
