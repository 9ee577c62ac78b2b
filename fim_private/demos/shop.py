"""The data set that ships with the package. It is public, so lessons may look at its exact counts."""

from __future__ import annotations

from functools import cache

import numpy as np

from fim_private.catalogue.entries import path_of
from fim_private.counting import count_histogram
from fim_private.profile import CountProfile
from fim_private.report.tables import JOINT
from fim_private.transactions.dataset import Transactions
from fim_private.transactions.reading import read_transactions

CUSTOMERS = 4_372
ITEMS = 3_885
"""Distinct items that occur. Lessons say that nobody could know this number of private data."""

Itemset = tuple[int, ...]


@cache
def baskets() -> Transactions:
    """One transaction per customer."""
    return read_transactions(path_of("online-retail-customers"))


@cache
def pairs(times: float = 1.0) -> CountProfile:
    """How many pairs have which count, in an open universe.

    `times` multiplies the number of customers and keeps their habits.
    """
    levels, multiplicities = count_histogram(baskets(), 2).reveal_to_curator()
    tally: dict[int, int] = {}
    for level, number in zip(levels.tolist(), multiplicities.tolist(), strict=True):
        if int(level * times):
            tally[int(level * times)] = tally.get(int(level * times), 0) + number
    return CountProfile(levels=list(tally), multiplicities=list(tally.values()))


def without_customer(transactions: Transactions, customer: int) -> Transactions:
    """The data without one customer. A customer is one transaction here."""
    start, end = transactions.offsets[customer : customer + 2]
    lengths = np.delete(transactions.lengths(), customer)
    return Transactions(
        offsets=np.concatenate([[0], np.cumsum(lengths)]),
        items=np.delete(transactions.items, np.s_[start:end]),
        vocabulary=transactions.vocabulary,
    )


def held_by(transactions: Transactions, customer: int, itemset: Itemset) -> bool:
    """Whether a customer has all items of the itemset."""
    start, end = transactions.offsets[customer : customer + 2]
    return bool(np.isin(itemset, transactions.items[start:end]).all())


@cache
def holders(item: str) -> frozenset[int]:
    """The customers who have an item, by its name."""
    data = baskets()
    owners = np.repeat(np.arange(len(data)), data.lengths())
    return frozenset(owners[data.items == list(data.vocabulary).index(item)].tolist())


def names(transactions: Transactions, itemset: Itemset) -> str:
    """The names of an itemset's items."""
    return JOINT.join(transactions.vocabulary[code] for code in itemset)
