"""Exact counts of itemsets. They leave this layer only through the door, or through `reveal_to_curator`."""

from fim_private.counting.chosen import ChosenCounts, count_chosen
from fim_private.counting.database import LocalDatabase, TransactionDatabase, as_database
from fim_private.counting.found import FoundItemsets
from fim_private.counting.hidden import HiddenCounts, ItemsetCounts
from fim_private.counting.histogram import ItemsetHistogram
from fim_private.counting.local import count_histogram, count_itemsets, find_itemsets, occurs, top_itemsets
from fim_private.counting.several import SeveralSizes

__all__ = [
    "ChosenCounts",
    "FoundItemsets",
    "HiddenCounts",
    "ItemsetCounts",
    "ItemsetHistogram",
    "LocalDatabase",
    "SeveralSizes",
    "TransactionDatabase",
    "as_database",
    "count_chosen",
    "count_histogram",
    "count_itemsets",
    "find_itemsets",
    "occurs",
    "top_itemsets",
]
