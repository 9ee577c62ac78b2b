"""Count items without a public list of items: N tokens, of which each item that occurs has one.

At most N different items exist. All N tokens get noise, also those that nobody has, so nothing that follows depends on
which items occur: the tokens are a declared universe without names. Tokens with large noisy counts go on. A certificate
(`certificate.py`) decides in the end whose names are revealed. Proof: docs/mathematics.md#items-first.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from fim_private.arrays import Floats
from fim_private.mechanisms.item_prior import ItemPrior
from fim_private.mechanisms.measurement import Measurement, share_of_noise, up_to_last
from fim_private.randomness import Randomness

MOST_TOKENS = 2_000
"""At most this many tokens go on."""
_LEAST = 1.0
"""Tokens below this many standard deviations of the noise never go on."""
_STRANGERS = 0.5
"""At most about this share of the tokens that go on are there by noise alone."""
_STEEPER, _MOST_DOUBT = 3.0, 0.8
"""The last token of many is less likely to be real than these on average, by about this factor."""


@dataclass(frozen=True, kw_only=True)
class AnonymousItems:
    """Noisy counts of N tokens, and which of them go on.

    Args:
        measurement: how the items are counted. A unit's transactions are one set here, so the sensitivity is 1.
        names: N, the largest number of different items that there can be; public.
        listed: whether the names are a public list. Then no token is a stranger: none is doubted, or held back because
            noise alone may have lifted it.
        all_go_on: whether tokens of a public list also go on if their noisy counts are small, up to `MOST_TOKENS`.
    """

    measurement: Measurement
    names: int
    listed: bool = False
    all_go_on: bool = False

    def find(self, counts: NDArray[np.int64], randomness: Randomness) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """The tokens that go on, in decreasing order of their noisy counts, equal ones in random order.

        The counts are in the measurement's units, of the items that occur, at most N of them.

        Returns:
            Each token's place among the counts, int64, -1 for a token that nobody has, which is secret; and its noisy
            count in units, int64, of the same shape.
        """
        everyone = np.concatenate([counts, np.zeros(self.names - len(counts), np.int64)])
        noisy = self.measurement.add_noise(everyone, randomness)
        last = max(0, self.names - MOST_TOKENS)
        least = np.partition(noisy, last)[last]
        if not (self.listed and self.all_go_on):
            least = max(least, math.floor(_LEAST * math.sqrt(self.measurement.variance)) + 1)
        high = np.flatnonzero(noisy >= least)
        # Without the random words, ties would tell which token is an item that occurs.
        order = high[np.lexsort((randomness.words(len(high)), randomness.words(len(high)), -noisy[high]))][:MOST_TOKENS]
        if not self.listed:
            order = order[: up_to_last(self.by_noise(noisy[order]) <= _STRANGERS)]
        return np.where(order < len(counts), order, -1), noisy[order]

    def strangers(self, items: int) -> float:
        """How many tokens may go on by noise alone if this many items stand out."""
        return min(_STRANGERS * items, self.names / 2)

    def expected(self, noisy: NDArray[np.int64]) -> Floats:
        """What to expect of tokens by what `find` returned: those that noise alone may have lifted count less.

        In transactions, and positive: at least 1 where all go on.
        """
        doubt = 0.0 if self.listed else np.minimum(_MOST_DOUBT, _STEEPER * self.by_noise(noisy))
        expected: Floats = noisy / self.measurement.resolution * (1 - doubt)
        return np.maximum(expected, 1.0) if self.all_go_on else expected

    def prior(self, noisy: NDArray[np.int64], weight: float) -> ItemPrior:
        """How frequent tokens are, by what `find` returned. `weight` is the average weight with which items count."""
        measurement = self.measurement
        return ItemPrior.of(
            noisy / measurement.resolution / weight, measurement.deviation / weight, max(self.names, len(noisy))
        )

    def by_noise(self, noisy: NDArray[np.int64]) -> Floats:
        """For each token that `find` returned, the share of the tokens up to it that noise alone would put so high."""
        return share_of_noise(self.measurement.beyond(noisy / math.sqrt(self.measurement.variance)), self.names)
