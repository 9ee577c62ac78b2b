"""The itemsets that items-first is asked for, and the items that they need, from the noisy counts of all items.

Counts of pairs are expected as if items were independent. Items that are bought together make the k-th itemset, and so
its items, more frequent than that.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from itertools import count

import numpy as np

from fim_private.arrays import Floats
from fim_private.mechanisms.items_first_tuning import Tuning
from fim_private.mechanisms.noise_family import NoiseFamily

MOST_CANDIDATES = 100_000
"""The most itemsets that are counted, or picked from."""
MOST_TESTED = 1_000
"""The number of most frequent tokens from which the counts of itemsets are predicted."""
_LEAST_JOINED = 1_000
_SOMEWHAT_MORE = 1.5
"""Noise still leaves a choice among k times this many itemsets."""


def fewest_items(top: int, sizes: tuple[int, ...]) -> int:
    """The smallest number of items that make at least k itemsets of these sizes."""
    return next(items for items in count(1) if sum(math.comb(items, size) for size in sizes) >= top)


@dataclass(frozen=True, kw_only=True)
class AskedItemsets:
    """What is asked for.

    `supports` are about how many units hold each token, in decreasing order. `transactions` are about how many there
    are.

    Args:
        top, sizes, min_count, by: as in `ItemsFirst`.
        listed: whether the names of the items are a public list, or they were named before.
        named: whether they were named before, by counts that all of them stand out of.
        sensitivity, epsilon, support, noise, tuning: as in `ItemsFirst`.
    """

    top: int
    sizes: tuple[int, ...]
    min_count: int | None
    by: str
    listed: bool
    named: bool
    sensitivity: int
    epsilon: float
    support: float | None
    noise: NoiseFamily
    tuning: Tuning

    @property
    def size(self) -> int:
        """The number of items of the largest itemsets."""
        return max(self.sizes)

    @property
    def picked_from_all(self) -> bool:
        """Whether picks choose from all itemsets of the tokens: the items of a frequent one need not be frequent."""
        return len(self.sizes) == 1 and self.size > 2

    @property
    def boldness(self) -> float:
        """Epsilon beyond 1/2, as a factor of at least 1. The larger it is, the less noise matters."""
        return max(1.0, 2 * self.epsilon)

    @property
    def enough(self) -> int:
        """A number of tokens that make far more pairs than are asked for."""
        return math.ceil(3 * math.sqrt(2 * self.top))

    @property
    def barely_enough(self) -> int:
        """The smallest number of tokens that make somewhat more itemsets than are asked for."""
        return next(tokens for tokens in count(self.size) if math.comb(tokens, self.size) >= _SOMEWHAT_MORE * self.top)

    @property
    def fewest(self) -> int:
        """The fewest tokens that go on to noisy counts, whatever was counted before."""
        # All itemsets above a count are asked for with a k far larger than their number.
        asked = 0 if self.min_count is not None else self.top * min(1.0, 2 * self.epsilon)
        return max(self.tuning.few, self.enough, round(self.tuning.few_per_pick * asked))

    @property
    def likeliest(self) -> int:
        """How many tokens at most are counted once more."""
        return max(self.fewest, 4 * self._usually_needed)

    @property
    def joined(self) -> int:
        """Larger itemsets are built from this many of the likeliest pairs."""
        return min(MOST_CANDIDATES, max(_LEAST_JOINED, self.tuning.joined * self.top))

    def last_needed(self, supports: Floats) -> float:
        """The support of the last token that is usually needed; 0 if there are no tokens."""
        return float(supports[min(len(supports), self._usually_needed) - 1]) if len(supports) else 0.0

    def rarest_item(self, supports: Floats, transactions: float) -> float:
        """The support of the rarest item in the k likeliest items and pairs.

        Itemsets of three items or more are made of pairs. Where a count is asked for, no item of an answer is rarer
        than that.
        """
        _, rarest = self._likeliest(supports, transactions)
        return max(float(rarest.min()) if len(rarest) else 0.0, self.min_count or 0.0)

    def kth(self, supports: Floats, transactions: float) -> float:
        """About how many transactions hold the k-th of the likeliest items and pairs; 0 if there are fewer."""
        expected, _ = self._likeliest(supports, transactions)
        return float(expected.min()) if len(expected) == self.top else 0.0

    def last(self, supports: Floats, transactions: float) -> float:
        """About how many transactions hold the last itemset that is asked for; infinite if nothing tells."""
        if self.min_count is not None:
            return float(self.min_count)
        if self.support is not None:
            return self.support
        return (self.kth(supports, transactions) if self.sizes == (2,) else 0.0) or math.inf

    @property
    def _usually_needed(self) -> int:
        """The most tokens that a good answer of pairs or larger itemsets usually needs."""
        return min(math.ceil(self.tuning.tokens * math.sqrt(2 * self.top)), MOST_TESTED)

    def _likeliest(self, supports: Floats, transactions: float) -> tuple[Floats, Floats]:
        """About how many transactions hold each of the k likeliest items and pairs; the support of its rarer item."""
        first = supports[:MOST_TESTED]
        # The k + 1 most frequent make k pairs or more, and no pair of a rarer item is likelier than these.
        first = first[np.sort(np.argsort(-first, kind="stable")[: self.top + 1])]
        expected, rarest = [], []
        if self.sizes[0] == 1:
            expected, rarest = [first], [first]
        if self.size > 1:
            one, other = np.triu_indices(len(first), 1)
            expected.append(first[other] * np.minimum(1.0, first[one] / transactions))
            rarest.append(first[other])
        counts, support = np.concatenate(expected), np.concatenate(rarest)
        if self.top < len(counts):
            likeliest = np.argpartition(-counts, self.top)[: self.top]
            return counts[likeliest], support[likeliest]
        return counts, support
