"""Read transactions, restrict them to public items, and bound what each unit adds.

    files -> columns -> sources -> formats -> reading -> restriction, bounding

Each folder imports only those to its left.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from fim_private.transactions.bounding import cap_items, count_units, keep_transactions, merge_units
    from fim_private.transactions.dataset import ReadingNotes, Transactions
    from fim_private.transactions.formats.doubts import Doubt
    from fim_private.transactions.item_codes import transactions_from_lists
    from fim_private.transactions.reading import read_transactions
    from fim_private.transactions.restriction import containing, keep_items, read_item_names, restrict_to, without_items

__all__ = [
    "Doubt",
    "ReadingNotes",
    "Transactions",
    "cap_items",
    "containing",
    "count_units",
    "keep_items",
    "keep_transactions",
    "merge_units",
    "read_item_names",
    "read_transactions",
    "restrict_to",
    "transactions_from_lists",
    "without_items",
]

_HOMES = {
    "Doubt": "fim_private.transactions.formats.doubts",
    "ReadingNotes": "fim_private.transactions.dataset",
    "Transactions": "fim_private.transactions.dataset",
    "cap_items": "fim_private.transactions.bounding",
    "containing": "fim_private.transactions.restriction",
    "count_units": "fim_private.transactions.bounding",
    "keep_items": "fim_private.transactions.restriction",
    "keep_transactions": "fim_private.transactions.bounding",
    "merge_units": "fim_private.transactions.bounding",
    "read_item_names": "fim_private.transactions.restriction",
    "read_transactions": "fim_private.transactions.reading",
    "restrict_to": "fim_private.transactions.restriction",
    "transactions_from_lists": "fim_private.transactions.item_codes",
    "without_items": "fim_private.transactions.restriction",
}


def __getattr__(name: str) -> Any:
    """Import polars only when data is read: a layout is part of a plan, which reads none."""
    if name in _HOMES:
        return getattr(import_module(_HOMES[name]), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
