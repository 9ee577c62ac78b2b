"""Which items are frequent, with nobody's list of items: noisy counts above a threshold.

Each unit's items are counted with the weights of `measurement.py` after a uniform choice of at most `max_items` of
them. Noise goes to the items that occur, and those whose noisy count exceeds the threshold are found, with that count.
The threshold is the least for which one unit's own items are found with probability delta at most, however many it has
(docs/mathematics.md#discovery).

A plain cut to 8 items of each unit is simpler; weights keep more of long transactions: on baskets of 26 items the same
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
"""Thresholds are held to a little less than they may use, for the rounding of logarithms."""


@dataclass(frozen=True, kw_only=True)
class Discovery:
    """Items whose noisy count exceeds a threshold.

    Args:
        measurement: of the items; a unit's transactions are one set here, so its sensitivity is 1.
        max_items: of a unit, so many items take part at most.
        threshold: in the measurement's units; an item is found if its noisy count exceeds it.
    """

    measurement: Measurement
    max_items: int
    threshold: int

    @classmethod
    def failing(cls, delta: Fraction, *, measurement: Measurement, max_items: int) -> Discovery:
        """The discovery with the least threshold for which one unit's own items are found with chance delta at most."""
        allowed = math.log(float(delta) * _SAFE)
        found = cls(measurement=measurement, max_items=max_items, threshold=1)
        # One length after the other: nearly always the first needs the most, and the others are looked at once.
        for length in found._lengths:
            found = found._raised_for(length, allowed)
        return found

    def _raised_for(self, length: int, allowed: float) -> Discovery:
        """With the least threshold from this one on at which units of this length fail no more than allowed."""

        def fails(threshold: int) -> bool:
            return replace(self, threshold=threshold)._log_failure_of(length) > allowed

        if not fails(self.threshold):
            return self
        deviation = math.isqrt(self.measurement.variance)
        higher = least(lambda step: not fails(self.threshold + step), near=deviation)
        return replace(self, threshold=self.threshold + higher)

    @property
    def _lengths(self) -> list[int]:
        """The largest numbers of items of each weight: of units whose items weigh the same these fail most often."""
        weights = self.measurement.weights[1 : self.max_items + 1]
        lengths: list[int] = (np.flatnonzero(np.diff(weights, append=-1)) + 1).tolist()
        return lengths

    def _log_failure_of(self, length: int) -> float:
        """ln of a bound on the chance that any item is found which only one unit has, of so many items."""
        own = int(self.measurement.weights[length])
        variance = float(self.measurement.variance)
        return math.log(length) + log_discrete_gaussian_survival_bound(self.threshold + 1 - own, variance)

    def find(self, counts: NDArray[np.int64], randomness: Randomness) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """The places of the items found, in the order given, and their noisy counts, in units.

        Args:
            counts: in units, shape (items,). An item that does not occur gets no noise and is not found: which items
                there are to ask for is private.
            randomness: where the bits come from.
        """
        occurring = np.flatnonzero(counts > 0)
        noisy = self.measurement.add_noise(counts[occurring], randomness)
        found = noisy > self.threshold
        return occurring[found], noisy[found]
