"""How often itemsets occur in a shop: a declared, public shape, measured on public data sets and never on the user's.

A shop declares about how many transactions it has and how many items each holds. The shape then says about how many of
them hold the most frequent itemset, the second, and so on. It lies between those of four public data sets, by the
number of items per transaction: those of the reports, and the invoices of the same web shop. If it is known how many
different items there are, and these are few, each is in more transactions than there.
Other shops differ, so the answer is about right and no more.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from itertools import pairwise

import numpy as np

from fim_private.accounting.search import halved
from fim_private.arrays import Floats
from fim_private.errors import UsageError
from fim_private.privacy import Number, exact, whole

PLACES = (1, 2, 5, 10, 20, 50, 100, 200, 500, 1_000, 2_000, 5_000, 10_000)
"""The places of the ranking whose supports are given below."""

# fmt: off
SUPPORTS: dict[str, tuple[float, float, float, tuple[tuple[float, ...], ...]]] = {
    "groceries": (4.4, 0.81, 1.1, (
        (25.6, 19.3, 14, 9.4, 6.34, 2.74, 0.803),
        (7.48, 5.66, 4.74, 3.83, 3, 2.13, 1.53, 1.03, 0.58, 0.336, 0.163, 0.0407),
        (2.32, 2.23, 1.56, 1.35, 1.15, 0.905, 0.722, 0.559, 0.386, 0.285, 0.193, 0.112, 0.0712),
        (0.783, 0.763, 0.6, 0.519, 0.447, 0.356, 0.295, 0.244, 0.183, 0.142, 0.112, 0.0813, 0.061),
    )),
    "retail": (10.3, 0.82, 2.6, (
        (57.5, 47.8, 17, 3.44, 2.02, 1.25, 0.808, 0.54, 0.306, 0.192, 0.105, 0.034, 0.00681),
        (33.1, 12.9, 9.59, 3.44, 2.31, 1.13, 0.795, 0.555, 0.328, 0.214, 0.142, 0.0726, 0.0431),
        (8.36, 6.92, 2.69, 2.21, 1.41, 0.692, 0.504, 0.348, 0.202, 0.137, 0.0941, 0.0533, 0.0352),
        (2.26, 1.87, 1.23, 0.62, 0.491, 0.295, 0.195, 0.138, 0.0896, 0.0624, 0.0442, 0.0272, 0.0193),
    )),
    "online-retail-sales-baskets": (26.0, 1.24, 3.2, (
        (11, 10.5, 7.84, 6.43, 5.8, 4.53, 3.42, 2.38, 1.45, 0.817, 0.311),
        (4.13, 3.84, 3.28, 3, 2.73, 2.36, 1.96, 1.57, 1.2, 0.977, 0.787, 0.586, 0.466),
        (2.71, 2.07, 1.89, 1.7, 1.63, 1.43, 1.23, 1.06, 0.882, 0.757, 0.641, 0.526, 0.451),
        (1.51, 1.34, 1.23, 1.11, 1.02, 0.927, 0.847, 0.772, 0.656, 0.581, 0.521, 0.446, 0.401),
    )),
    "online-retail-customers": (61.5, 1.24, 4.0, (
        (20.3, 19.6, 14.6, 13.4, 11, 8.76, 7.34, 5.6, 3.61, 2.08, 0.778),
        (7.48, 7.41, 7.07, 6.86, 6.29, 5.67, 4.78, 4.12, 3.39, 2.84, 2.4, 1.85, 1.49),
        (6.02, 5.99, 5.08, 4.8, 4.39, 3.93, 3.52, 3.16, 2.74, 2.42, 2.13, 1.76, 1.51),
        (5.17, 4.03, 3.89, 3.75, 3.48, 3.23, 2.97, 2.74, 2.4, 2.17, 1.97, 1.72, 1.53),
    )),
}
# fmt: on
"""By data set: items per transaction; the standard deviation of the logarithm of this number; how far down the rarest
items of frequent pairs are (see `Shop.rarest`); and for one to four items the supports at `PLACES`, in per cent."""

LARGEST = 4
"""Itemsets with more items have no shape here."""
_MOST_ITEMS = 100_000
"""Items further down the ranking are too rare to matter."""


@dataclass(frozen=True, kw_only=True)
class Shop:
    """What a shop declares of its data. Both numbers are taken as public, and neither is compared with any data.

    Args:
        transactions: about how many transactions there are (or units, if units are counted); at least 1.
        items_per_transaction: about how many different items each of them holds; at least 1.
        items: about how many different items there are, and more than each transaction holds; None if nobody says.
    """

    transactions: int
    items_per_transaction: float
    items: int | None = None

    @classmethod
    def of(cls, transactions: int, items_per_transaction: Number) -> Shop:
        """The shop in checked form.

        Raises:
            UsageError: a number is out of range.
        """
        items = exact(items_per_transaction, "the number of items per unit")
        if not 1 <= items <= 10_000:
            raise UsageError("The number of items per unit is out of range.", "Choose it from 1 to 10,000, such as 10.")
        number = whole(transactions, 1, 10**12, "The number of transactions")
        return cls(transactions=number, items_per_transaction=float(items))

    def counts(self, places: Floats, size: int) -> Floats:
        """About how many transactions hold the itemset at each place of the ranking of one size.

        Args:
            places: float64, at least 1, increasing.
            size: items per itemset, from 1 to `LARGEST`.
        """
        return self.transactions * _with_odds(self._supports(places, size), self._odds**size)

    def _supports(self, places: Floats, size: int) -> Floats:
        """The shares of transactions that hold these itemsets, if there are as many items as in the data sets."""
        low, high, share = self._between
        log_places = np.log(places)
        supports = (1 - share) * _log_support(SUPPORTS[low][3][size - 1], log_places)
        supports += share * _log_support(SUPPORTS[high][3][size - 1], log_places)
        return np.exp(supports)

    @cached_property
    def _odds(self) -> float:
        """By what the odds of each item are multiplied, so that all items are in as many transactions as declared."""
        if self.items is None:
            return 1.0
        supports = self._supports(np.arange(1.0, min(self.items, _MOST_ITEMS) + 1), 1)

        def too_few(log_odds: float) -> bool:
            return float(_with_odds(supports, math.exp(log_odds)).sum()) < self.items_per_transaction

        return math.exp(halved(too_few, 0.0, 30.0, 50)[0]) if too_few(0.0) else 1.0

    def rarest(self, places: Floats) -> Floats:
        """About where in the ranking of items the rarest item of the itemset at each place is.

        It is at F sqrt(2 r) for the itemset at place r: a list of k pairs has at least sqrt(2 k) different items.
        """
        low, high, share = self._between
        factor = (1 - share) * SUPPORTS[low][2] + share * SUPPORTS[high][2]
        found: Floats = factor * np.sqrt(2 * places)
        return found

    @property
    def spread(self) -> float:
        """The standard deviation of the logarithm of the number of items per transaction."""
        low, high, share = self._between
        return (1 - share) * SUPPORTS[low][1] + share * SUPPORTS[high][1]

    @property
    def _between(self) -> tuple[str, str, float]:
        """The data sets with the next shorter and the next longer transactions, and how near to the longer ones."""
        length = math.log(self.items_per_transaction)
        for low, high in pairwise(SUPPORTS):
            least, most = math.log(SUPPORTS[low][0]), math.log(SUPPORTS[high][0])
            if length <= most:
                return low, high, max(0.0, (length - least) / (most - least))
        return low, high, 1.0


def _with_odds(supports: Floats, factor: float) -> Floats:
    """The shares with `factor` times the odds."""
    return factor * supports / (1 + (factor - 1) * supports)


def _log_support(supports: Sequence[float], log_places: Floats) -> Floats:
    """The logarithm of the support, between the places of the table by straight lines in logarithms."""
    known, logs = _logarithms(tuple(supports))
    slope = (logs[-1] - logs[-2]) / (known[-1] - known[-2])
    beyond: Floats = logs[-1] + slope * np.maximum(log_places - known[-1], 0.0)
    return np.where(log_places <= known[-1], np.interp(log_places, known, logs), beyond)


@cache
def _logarithms(supports: tuple[float, ...]) -> tuple[Floats, Floats]:
    return np.log(np.array(PLACES[: len(supports)], np.float64)), np.log(np.array(supports) / 100)
