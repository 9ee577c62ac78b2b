"""Names that columns usually have, in several languages, so that nobody has to type them."""

from __future__ import annotations

import re
import unicodedata

KNOWN = {
    "transaction": {
        "English": (
            *("transaction", "transaction id", "transaction no", "transaction number", "transaction code", "tid"),
            *("invoice", "invoice id", "invoice no", "invoice number", "order", "order id", "order no", "order number"),
            *("basket", "basket id", "receipt", "receipt id", "receipt no", "receipt number"),
            *("ticket", "ticket id", "ticket no", "ticket number", "bill", "bill id", "bill no", "bill number"),
            *("sale id", "purchase id", "session id", "increment id", "order increment id", "visit id"),
            *("amazon order id", "id order"),
        ),
        "German": (
            *("Transaktion", "Transaktionsnummer", "Transaktions ID", "Rechnung", "Rechnungsnummer", "Rechnungsnr"),
            *("Bestellung", "Bestellnummer", "Bestell Nr", "Auftrag", "Auftragsnummer", "Auftragsnr", "Beleg"),
            *("Belegnummer", "Beleg Nr", "Bon", "Bonnummer", "Bon Nr", "Kassenbon", "Warenkorb", "Warenkorb ID"),
        ),
        "French": (
            *("Facture", "N° facture", "No facture", "Num facture", "Numéro facture", "Numéro de facture"),
            *("Commande", "N° commande", "No commande", "Num commande", "Numéro commande", "Numéro de commande"),
            *("ID commande", "N° ticket", "Num ticket", "Numéro de ticket", "ID transaction", "Numéro de transaction"),
            *("N° de facture", "N° de commande", "N° de ticket"),
        ),
        "Spanish": (
            *("Transacción", "ID transacción", "Número de transacción", "Factura", "Nº factura", "Número factura"),
            *("Número de factura", "Pedido", "Nº pedido", "ID pedido", "Número pedido", "Número de pedido"),
            *("Nº ticket", "Número de ticket", "Recibo", "Número de recibo"),
        ),
        "Italian": (
            *("Transazione", "ID transazione", "Numero transazione", "Fattura", "N° fattura", "Numero fattura"),
            *("Ordine", "ID ordine", "N° ordine", "Numero ordine", "Numero d'ordine", "Scontrino", "N° scontrino"),
            *("Numero scontrino", "Ricevuta", "Numero ricevuta"),
        ),
        "Dutch": (
            *("Transactie", "Transactie ID", "Transactienummer", "Factuur", "Factuurnummer", "Bestelling"),
            *("Bestelnummer", "Bestel Nr", "Ordernummer", "Ordernr", "Bonnetje", "Kassabon", "Winkelmand"),
        ),
        "Portuguese": (
            *("Transação", "ID transação", "Número da transação", "Fatura", "Número da fatura", "Nota fiscal"),
            *("ID do pedido", "Número do pedido", "Encomenda", "Nº encomenda", "Número da encomenda", "Cupom"),
            *("Cupom fiscal", "Número do recibo"),
        ),
        "Polish": (
            *("Transakcja", "ID transakcji", "Numer transakcji", "Nr transakcji", "Faktura", "Numer faktury"),
            *("Nr faktury", "Zamówienie", "ID zamówienia", "Numer zamówienia", "Nr zamówienia", "Paragon"),
            *("Numer paragonu", "Nr paragonu", "ID koszyka"),
        ),
    },
    "item": {
        "English": (
            *("item", "items", "item id", "item name", "product", "products", "product id", "product name"),
            *("description", "item description", "stock code", "article", "article id", "article name", "sku"),
            *("product description", "product title", "line item name", "item code", "product code"),
            *("item title", "product sku", "product category", "product category name"),
        ),
        "German": (
            *("Artikel", "Artikelname", "Artikelbezeichnung", "Artikelbeschreibung", "Artikelnummer", "Artikelnr"),
            *("Artikel ID", "Produkt", "Produktname", "Produktbezeichnung", "Produktnummer", "Produkt ID"),
            *("Ware", "Warenbezeichnung", "Bezeichnung", "Beschreibung"),
        ),
        "French": (
            *("Article", "Nom article", "Code article", "Produit", "Produits", "Nom produit", "Nom du produit"),
            *("Libellé", "Libellé article", "Libellé produit", "Désignation", "Code produit", "ID produit"),
        ),
        "Spanish": (
            *("Artículo", "Nombre artículo", "Código artículo", "Producto", "Productos", "Nombre producto"),
            *("Nombre del producto", "Descripción", "Código producto", "Código de producto", "ID producto"),
        ),
        "Italian": (
            *("Articolo", "Nome articolo", "Codice articolo", "Descrizione articolo", "Prodotto", "Prodotti"),
            *("Nome prodotto", "Codice prodotto", "ID prodotto", "Descrizione", "Descrizione prodotto"),
        ),
        "Dutch": (
            *("Artikelnaam", "Artikelomschrijving", "Artikelcode", "Productnaam", "Productnummer", "Productcode"),
            *("Productomschrijving", "Omschrijving", "Beschrijving"),
        ),
        "Portuguese": (
            *("Artigo", "Nome do artigo", "Código do artigo", "Produto", "Produtos", "Nome do produto"),
            *("Código do produto", "ID do produto", "ID produto", "Descrição", "Descrição do produto"),
        ),
        "Polish": (
            *("Artykuł", "Nazwa artykułu", "Kod artykułu", "Produkty", "Nazwa produktu", "Kod produktu"),
            *("ID produktu", "Towar", "Nazwa towaru", "Kod towaru", "Opis produktu", "Opis towaru"),
        ),
    },
    "unit": {
        "English": (
            *("customer", "customer id", "customer no", "customer number", "client", "client id"),
            *("member", "member id", "member number", "user", "user id", "household", "household id"),
            *("household key", "visitor id", "patient", "patient id", "borrower", "borrower id", "buyer", "buyer id"),
            *("customer unique id", "card number", "loyalty card", "customer email", "email", "email address"),
            *("id customer", "buyer username"),
        ),
        "German": (
            *("Kunde", "Kunden ID", "Kundennummer", "Kundennr", "Mitglied", "Mitgliedsnummer", "Nutzer", "Nutzer ID"),
            *("Haushalt", "Kundenkarte"),
        ),
        "French": (
            *("ID client", "N° client", "No client", "Num client", "Numéro client", "Numéro de client", "Code client"),
            *("Adhérent", "Utilisateur", "Foyer"),
        ),
        "Spanish": (
            *("Cliente", "ID cliente", "Nº cliente", "Número cliente", "Número de cliente", "Código cliente"),
            *("Socio", "Usuario", "Hogar"),
        ),
        "Italian": (
            *("N° cliente", "Numero cliente", "Codice cliente", "Utente", "ID utente", "Tessera", "Numero tessera"),
            *("Carta fedeltà",),
        ),
        "Dutch": (
            *("Klant", "Klant ID", "Klantnummer", "Klantnr", "Gebruiker", "Lidnummer", "Huishouden", "Klantenkaart"),
        ),
        "Portuguese": (
            *("ID do cliente", "Número do cliente", "Código do cliente", "Utilizador", "Usuário", "Sócio"),
            *("Número de sócio", "Cartão fidelidade"),
        ),
        "Polish": (
            *("Klient", "ID klienta", "Numer klienta", "Nr klienta", "Kod klienta", "Użytkownik"),
            *("Karta klienta", "Numer karty"),
        ),
    },
    "shop": {
        "English": (
            *("shop", "shop id", "store", "store id", "store no", "store number", "branch", "outlet"),
            *("register", "register id", "register no", "till", "till id", "till no", "terminal"),
            *("cashier", "cashier id"),
        ),
        "German": ("Filiale", "Filialnummer", "Filial ID", "Laden", "Markt", "Kasse", "Kassennummer", "Kassierer"),
        "French": ("Magasin", "ID magasin", "Code magasin", "Boutique", "Caisse", "N° caisse", "Caissier"),
        "Spanish": ("Tienda", "ID tienda", "Sucursal", "Caja", "Nº caja", "Cajero"),
        "Italian": ("Negozio", "ID negozio", "Codice negozio", "Punto vendita", "Cassa", "Numero cassa", "Cassiere"),
        "Dutch": ("Winkel", "Winkel ID", "Winkelnummer", "Filiaal", "Filiaalnummer", "Kassa", "Kassanummer"),
        "Portuguese": ("Loja", "ID da loja", "Código da loja", "Filial", "Caixa", "Nº caixa", "Operador de caixa"),
        "Polish": ("Sklep", "ID sklepu", "Numer sklepu", "Filia", "Numer kasy", "Nr kasy", "Kasjer"),
    },
}
"""For each role of a column, its usual names by language. Case, accents, blanks and punctuation do not count.

Ordinary names of goods are left out: they begin basket files without a header.
"""


def plain(name: str) -> str:
    """The letters and digits of a name in any script, in lower case and without accents.

    >>> plain("Numéro de Facture"), plain("Member_number"), plain("Bestell-Nr."), plain("Nº item"), plain("item_חלב")
    ('numerodefacture', 'membernumber', 'bestellnr', 'nitem', 'itemחלב')
    """
    parts = unicodedata.normalize("NFD", name.casefold()).replace("ł", "l")  # it has no other form
    return "".join(part for part in parts if part.isalnum() and part not in "ºª")


def are_numbers(columns: str) -> bool:
    """Whether a column, or several with commas between them, are given by number."""
    return all(re.fullmatch("[1-9][0-9]{0,5}", column.strip()) for column in columns.split(","))


def _of(role: str) -> tuple[str, ...]:
    return tuple(dict.fromkeys(plain(name) for names in KNOWN[role].values() for name in names))


TRANSACTION_NAMES, ITEM_NAMES, UNIT_NAMES, SHOP_NAMES = map(_of, KNOWN)
"""The same names as `plain` makes them. If several occur in a header, the first listed is taken.

Those of units only help with advice: the user decides whom to protect. Those of shops and units stand above what is the
same in all rows of a transaction.
"""
