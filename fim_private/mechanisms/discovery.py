"""Find the frequent items without a public list of items: noisy counts above a threshold.

Each unit keeps a uniform choice of at most `max_items` of its items, which are counted with the weights of
`measurement.py`. Every item that occurs gets noise. An item is found, with its noisy count, if that count exceeds the
threshold. The threshold is the least for which items of a single unit are found with probability at most delta, however
many items the unit has (docs/mathematics.md#discovery).

It would be simpler to cut each unit to 8 items. Weights keep more of long transactions: on baskets of 26 items the same
budget finds three times as many items.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from fim_private.accounting.search import least
from fim_private.mechanisms.measurement import Measurement
from fim_private.randomness import Randomness
from fim_private.randomness.discrete_gaussian import log_discrete_gaussian_survival_bound

_SAFE = 1 - 1e-9
"""Thresholds use slightly less than the allowed delta, because logarithms are rounded."""


@dataclass(frozen=True, kw_only=True)
class Discovery:
    """Items whose noisy count exceeds a threshold.

    Args:
        measurement: how the items are counted. A unit's transactions are one set here, so the sensitivity is 1.
        max_items: at most this many items per unit take part.
        threshold: in the measurement's units; an item is found if its noisy count exceeds it.
    """

    measurement: Measurement
    max_items: int
    threshold: int

    @classmethod
    def failing(cls, delta: Fraction, *, measurement: Measurement, max_items: int) -> Discovery:
        """The discovery with the least threshold that finds items of a single unit with probability at most delta."""
        allowed = math.log(float(delta) * _SAFE)
        found = cls(measurement=measurement, max_items=max_items, threshold=1)
        # Try one length after the other: nearly always the first needs the most, and the others are checked once.
        for length in found._lengths:
            found = found._raised_for(length, allowed)
        return found

    def _raised_for(self, length: int, allowed: float) -> Discovery:
        """The discovery with the least threshold, from this one on, at which units this long fail rarely enough."""

        def fails(threshold: int) -> bool:
            return replace(self, threshold=threshold)._log_failure_of(length) > allowed

        if not fails(self.threshold):
            return self
        deviation = math.isqrt(self.measurement.variance)
        higher = least(lambda step: not fails(self.threshold + step), near=deviation)
        return replace(self, threshold=self.threshold + higher)

    @property
    def _lengths(self) -> list[int]:
        """For each weight, the largest number of items with it: among units with this weight these fail most often."""
        weights = self.measurement.weights[1 : self.max_items + 1]
        lengths: list[int] = (np.flatnonzero(np.diff(weights, append=-1)) + 1).tolist()
        return lengths

    def _log_failure_of(self, length: int) -> float:
        """ln of a bound on the probability that any of these many items of a single unit is found."""
        own = int(self.measurement.weights[length])
        variance = float(self.measurement.variance)
        return math.log(length) + log_discrete_gaussian_survival_bound(self.threshold + 1 - own, variance)

    def find(self, counts: NDArray[np.int64], randomness: Randomness) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """The places of the found items, in the given order, and their noisy counts, in units.

        Args:
            counts: in units, shape (items,). An item that does not occur gets no noise and is not found, because the
                set of items that occur is private.
            randomness: where the bits come from.
        """
        occurring = np.flatnonzero(counts > 0)
        noisy = self.measurement.add_noise(counts[occurring], randomness)
        found = noisy > self.threshold
        return occurring[found], noisy[found]
