"""Exact counts of itemsets. They leave this layer only through the door, or through `reveal_to_curator`."""

from fim_private.counting.database import TransactionDatabase
from fim_private.counting.hidden_counts import HiddenCounts, ItemsetCounts
from fim_private.counting.local.basis_bins import BasisBins, count_bins
from fim_private.counting.local.chosen_counts import ChosenCounts, count_chosen
from fim_private.counting.local.database import LocalDatabase, as_database
from fim_private.counting.local.queries import count_histogram, count_itemsets, find_itemsets, occurs, top_itemsets
from fim_private.counting.local.weighted_itemsets import weigh_itemsets
from fim_private.counting.several_sizes import SeveralSizes, largest_counts
from fim_private.counting.tokens import Tokens

__all__ = [
    "BasisBins",
    "ChosenCounts",
    "HiddenCounts",
    "ItemsetCounts",
    "LocalDatabase",
    "SeveralSizes",
    "Tokens",
    "TransactionDatabase",
    "as_database",
    "count_bins",
    "count_chosen",
    "count_histogram",
    "count_itemsets",
    "find_itemsets",
    "largest_counts",
    "occurs",
    "top_itemsets",
    "weigh_itemsets",
]
