"""What looks odd once all is read: in the names of all items, or in how many of them transactions hold."""

from __future__ import annotations

from collections.abc import Sequence

import polars as pl

from fim_private.transactions.files.text import ENCODINGS
from fim_private.transactions.formats.doubt import Doubt, Way
from fim_private.transactions.formats.signs import SOME
from fim_private.transactions.layout import Layout

SPOILT = r"^[0-9]([.,][0-9]+)?E\+[0-9]+$"
"""A long number that a spreadsheet rounded, such as 5.36365E+08."""

NO_ITEM = (
    *("nan", "nat", "null", "none", "n/a", "#n/a", "<na>", "undefined", "(blank)", "-", "--", "---"),
    *("na", "nil", r"\n", "#nv", "#n/d", "#value!", "#wert!", "#ref!", "#bezug!", "#name?"),
)
"""Names that programs write where there is no item, in lower case."""

TOTALS = (
    *("total", "totals", "subtotal", "sub-total", "grand total", "summe", "zwischensumme", "gesamt", "sous-total"),
    *("gesamtsumme", "gesamtbetrag", "endsumme", "total general", "total général", "suma"),
)
"""What stands in place of an item in rows of sums, in lower case."""

PAYMENTS = (
    *("cash", "visa", "mastercard", "maestro", "american express", "amex", "paypal", "change", "rounding"),
    *("bargeld", "ec-karte", "ec-cash", "girocard", "kartenzahlung", "rückgeld", "wechselgeld", "rundung"),
    *("espèces", "carte bancaire", "chèque", "rendu monnaie", "arrondi", "efectivo", "tarjeta", "cambio", "redondeo"),
)
"""What stands in place of an item in rows of payments, in lower case."""

AFTER_TOTAL = "(:| eur| €| usd| ttc)+$"

AMOUNT = r"^[0-9]+ ?[x×*] ?|^[0-9]+ |( [x×*]|[:=]) ?[0-9]+$| ?\([0-9]+\)$| [€$£]? ?[0-9]+[.,][0-9]{2} ?[€$£]?$"
"""How many were bought, before or after a name, or at what price: 2 x Brot, Brot x2, Brot:2, Brot (2), Brot 1.99."""

CONTROL = "[\u0080-\u009f]|\\pL[„”‚…†‡‰™]\\pL"
"""What no name holds: texts of Windows or East Asia have it for letters if read as latin-1, of DOS if as cp1252."""


def single_items(layout: Layout) -> Doubt:
    """What is odd if nearly every transaction holds one item."""
    return Doubt(
        what="Nearly every transaction holds one item, so hardly any items were bought together.",
        instead=Way(
            "If another column says which rows belong together, such as a receipt, give --transaction-column. If "
            "another one names the items, give --item-column."
        ),
        stays=Way("If single items are meant, give", layout.guesses()),
    )


def single_items_of_units(layout: Layout) -> Doubt:
    """What is odd if nearly every transaction holds one item, where items of one transaction of a unit are counted."""
    return Doubt(
        what="Nearly every transaction holds one item, so hardly any unit has several items in one of them.",
        instead=Way(
            "If another column says which rows belong together, such as a receipt, give --transaction-column. To count "
            "items that a unit has in any of its transactions, give --together unit."
        ),
        stays=Way("If single items are meant, give", layout.guesses()),
    )


def full_transactions(layout: Layout) -> Doubt:
    """What is odd if nearly every transaction holds nearly every item."""
    return Doubt(
        what="Nearly every transaction holds nearly every item, as where rows with a 0 name what was not bought.",
        instead=Way(
            "If so, leave these rows out, as in --where 'Quantity > 0'. If another column tells transactions apart, "
            "give --transaction-column."
        ),
        stays=Way("If they are meant, give", layout.guesses()),
    )


def items_of_one_row(layout: Layout) -> Doubt:
    """What is odd if nearly every item is in one transaction alone."""
    return Doubt(
        what="Nearly every item is in one transaction alone, as where the item column numbers the rows of all orders.",
        instead=Way("If so, name the column of items with --item-column."),
        stays=Way("If not, give", layout.guesses()),
    )


def item_names(layout: Layout, names: pl.Series) -> Doubt | None:
    """What is odd in the names of all items."""
    stays = Way("If they are meant, give", layout.guesses())
    if layout.format == "long" and not layout.headerless and layout.item_column in names:
        return Doubt(
            what="A row holds the name of the item column as an item, so a second header may stand among the rows.",
            instead=Way("If so, take that line out of the file."),
            stays=stays,
        )
    return (
        spoilt(names, "names of items", stays)
        or _no_names(names, NO_ITEM, "NaN, NULL, None, N/A or -, or otherwise as programs write a blank cell", stays)
        or _no_names(names, TOTALS, "Total or Subtotal, as rows of sums are", stays)
        or _no_names(names, PAYMENTS, "Cash, Visa or change, as rows of payments are", stays)
        or _amounts(names, stays)
        or _mangled(names, layout, stays)
    )


def _no_names(names: pl.Series, words: Sequence[str], called: str, stays: Way) -> Doubt | None:
    """Whether one of these words, which seldom is an item, is the name of one."""
    if not names.str.to_lowercase().str.replace(AFTER_TOTAL, "").is_in(words).any():
        return None
    return Doubt(
        what=f"An item is called {called}.",
        instead=Way(
            "If it stands for no item, leave these cells blank, or in long tables leave these rows out with --where."
        ),
        stays=Way("If it is an item, or --exclude names it, give", stays.options),
    )


def _amounts(names: pl.Series, stays: Way) -> Doubt | None:
    """Whether half of the names say how many were bought or at what price, so that one item has several names."""
    bought = names.filter(names.str.contains(AMOUNT)).str.replace(AMOUNT, "")
    if len(bought) < max(SOME, len(names) / 2) or 2 * bought.n_unique() > len(bought) or (bought == "").any():
        return None
    return Doubt(
        what="Names of items say how many were bought or at what price, as in 2 x Brot or Brot 1.99, so one item has "
        "several names.",
        instead=Way("If so, take the amounts or prices out of these names."),
        stays=stays,
    )


def _mangled(names: pl.Series, layout: Layout, stays: Way) -> Doubt | None:
    """Whether names seem to be text of another encoding than the one that was given."""
    if layout.encoding in (None, "utf-8"):
        return None
    foreign = [name for name in names.to_list() if not name.isascii()]
    if not names.str.contains(CONTROL).any() and not (foreign and all(_was_utf_8(name, layout) for name in foreign)):
        return None
    return Doubt(
        what=f"Names of items hold letters that no word has, as a text that is not in {layout.encoding} does.",
        instead=Way(f"If so, give the right one with --encoding, such as {ENCODINGS}."),
        stays=stays,
    )


def _was_utf_8(name: str, layout: Layout) -> bool:
    """Whether the bytes of this name are a name in UTF-8 too, which is no accident where all names are.

    Those of letters in UTF-16 often are UTF-8, but with control characters.
    """
    try:
        text = name.encode(layout.encoding or "utf-8").decode()
    except UnicodeError:
        return False
    return not any(letter < " " for letter in text)


def spoilt(names: pl.Series, what: str, stays: Way) -> Doubt | None:
    """Whether a spreadsheet rounded long numbers, so that different ones became the same."""
    if not names.str.contains(SPOILT).any():
        return None
    return Doubt(
        what=f"Some {what} are numbers as 1.23E+08, which a spreadsheet rounded: different ones may look the same.",
        instead=Way("If so, export the data again with that column as text."),
        stays=stays,
    )
