"""Read transactions, restrict them to public items, and bound what each unit adds.

    files -> columns -> sources -> formats -> reading -> restriction, bounding

Each folder imports only those to its left.
"""

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
