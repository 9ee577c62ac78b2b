from __future__ import annotations

import unicodedata

import pytest

from fim_private.transactions.columns.column_names import (
    ITEM_NAMES,
    KNOWN,
    SHOP_NAMES,
    TRANSACTION_NAMES,
    UNIT_NAMES,
    plain,
)
from fim_private.transactions.columns.column_roles import known_column


def test_a_name_has_one_role():
    """Otherwise the order of the columns would decide, or one column would be taken twice."""
    names = [*TRANSACTION_NAMES, *ITEM_NAMES, *UNIT_NAMES, *SHOP_NAMES]
    assert len(names) == len(set(names))
    assert all(plain(name) == name for name in names)


def test_every_language_has_every_role():
    assert len({tuple(of_role) for of_role in KNOWN.values()}) == 1


@pytest.mark.parametrize("written", ["Numéro de facture", "NUMERO_DE_FACTURE", "numéro-de-facture "])
@pytest.mark.parametrize("form", ["NFC", "NFD"])
def test_case_accents_and_punctuation_do_not_count(written, form):
    assert known_column([" Date", unicodedata.normalize(form, written)], TRANSACTION_NAMES) == 1


@pytest.mark.parametrize("written", ["item_חלב", "item_牛奶", "item молоко"])
def test_letters_of_every_script_count(written):
    """A column for each item has such names, and one of them would be taken for the column of items."""
    assert known_column(["order_id", "item_milk", written], ITEM_NAMES) is None


@pytest.mark.parametrize(
    ("header", "roles"),
    [
        (["InvoiceNo", "StockCode", "Description", "Quantity", "InvoiceDate", "UnitPrice", "CustomerID"], (0, 2, 6)),
        (["Invoice", "StockCode", "Description", "Quantity", "InvoiceDate", "Price", "Customer ID"], (0, 2, 6)),
        (["Member_number", "Date", "itemDescription"], (None, 2, 0)),
        (["order_id", "product_name", "add_to_cart_order", "user_id"], (0, 1, 3)),
        (["household_key", "BASKET_ID", "DAY", "PRODUCT_ID", "QUANTITY"], (1, 3, 0)),
        (["BillNo", "Itemname", "Quantity", "Date", "Price", "CustomerID"], (0, 1, 5)),
        (["t_dat", "customer_id", "article_id", "price"], (None, 2, 1)),
        (["Kunden-Nr", "Beleg-Nr", "Artikelbezeichnung"], (1, 2, 0)),
        (["Datum", "Transaktions-ID", "Menge", "Beschreibung"], (1, 3, None)),
        (["N° de ticket", "Désignation", "N° client"], (0, 1, 2)),
        (["Numero d'ordine", "Descrizione articolo", "Codice cliente"], (0, 1, 2)),
        (["Klantnr.", "Bestelnummer", "Productnaam"], (1, 2, 0)),
        (["Número do pedido", "Nome do produto", "ID do cliente"], (0, 1, 2)),
        (["Nr paragonu", "Nazwa artykulu", "Użytkownik"], (0, 1, 2)),
        (["timestamp", "visitorid", "event", "itemid", "transactionid"], (4, 3, 1)),
        (["increment_id", "customer_email", "sku", "name", "qty_ordered"], (0, 2, 1)),
        (["Order Increment ID", "Email", "Product Category", "Product SKU"], (0, 3, 1)),
        (["amazon-order-id", "purchase-date", "product-name", "sku"], (0, 2, None)),
        (["id_order", "reference", "id_customer", "product_name"], (0, 3, 2)),
        (["Sales Record Number", "Order Number", "Buyer Username", "Item Title"], (1, 3, 2)),
        (["patient", "visit", "visit_id", "item"], (2, 3, 0)),  # a visit may be the first, second, ... of a patient
    ],
    ids=lambda header: str(header[0]),
)
def test_the_columns_of_usual_data_sets_are_known(header, roles):
    found = tuple(known_column(header, names) for names in (TRANSACTION_NAMES, ITEM_NAMES, UNIT_NAMES))
    assert found == roles
