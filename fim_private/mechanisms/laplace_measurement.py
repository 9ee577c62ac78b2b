"""Noisy counts of many itemsets at once, and looks at lengths, with Laplace noise: for a delta of 0.

A transaction that holds q of the itemsets adds the weight min(1, full/q) to each of them, in whole units of
1/resolution, rounded down: together at most `full`. The counts cost epsilon = Delta resolution full / scale. A
transaction is in one bin of a look, so a look costs Delta / scale. Proof: docs/mathematics.md#noisy-counts.
"""

from __future__ import annotations

import math
from fractions import Fraction
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from fim_private.arrays import Floats
from fim_private.mechanisms.lengths import LengthLook
from fim_private.mechanisms.measurement import Measurement
from fim_private.privacy import PureDP
from fim_private.randomness import Randomness
from fim_private.randomness.discrete_laplace import discrete_laplace_mass
from fim_private.randomness.laplace_vector import sample_discrete_laplaces

RESOLUTION = 256
"""The unit is 1/256 of a transaction, so that one that holds 256 of the itemsets still counts in each."""


class LaplaceMeasurement(Measurement):
    """Noisy counts whose variance is twice the square of a whole number: the scale of discrete Laplace noise."""

    @classmethod
    def costing(cls, cost: float | Fraction, *, full: int, sensitivity: int) -> LaplaceMeasurement:
        """The measurement that costs at most this epsilon."""
        scale = _scale_costing(sensitivity * RESOLUTION * full, cost)
        return cls(full=full, resolution=RESOLUTION, variance=2 * scale**2, sensitivity=sensitivity)

    @classmethod
    def full_with(cls, deviation: float, cost: float, *, sensitivity: int) -> float:
        return cost * deviation / (math.sqrt(2) * sensitivity)

    @property
    def loss(self) -> PureDP:
        return PureDP(self.cost)

    @property
    def cost(self) -> Fraction:
        return Fraction(self.sensitivity * self.resolution * self.full, scale_of(self.variance))

    @property
    def weights(self) -> NDArray[np.int64]:
        return _weights(self.full, self.resolution)

    def add_noise(self, counts: NDArray[np.int64], randomness: Randomness) -> NDArray[np.int64]:
        return counts + sample_discrete_laplaces(scale_of(self.variance), len(counts), randomness)

    def masses(self, values: NDArray[np.int64]) -> Floats:
        return discrete_laplace_mass(values, scale_of(self.variance))

    def beyond(self, deviations: Floats) -> Floats:
        tail = np.exp(-math.sqrt(2) * np.abs(deviations)) / 2
        return np.where(deviations >= 0, tail, 1 - tail)


class LaplaceLook(LengthLook):
    """A look whose variance is twice the square of a whole number, the scale of discrete Laplace noise."""

    linear = True

    @classmethod
    def costing(cls, cost: Fraction, *, sensitivity: int = 1) -> LaplaceLook:
        """The look that costs at most this epsilon."""
        return cls(variance=2 * _scale_costing(sensitivity, cost) ** 2, sensitivity=sensitivity)

    @property
    def loss(self) -> PureDP:
        return PureDP(self.cost)

    @property
    def cost(self) -> Fraction:
        return Fraction(self.sensitivity, scale_of(self.variance))

    def noise(self, bins: int, randomness: Randomness) -> NDArray[np.int64]:
        return sample_discrete_laplaces(scale_of(self.variance), bins, randomness)


def scale_of(variance: int) -> int:
    """The scale of discrete Laplace noise of about this variance, rounded down."""
    return max(1, math.isqrt(variance // 2))


def _scale_costing(moved: int, cost: float | Fraction) -> int:
    """The least whole scale with which moving counts by this much together costs at most this epsilon."""
    return max(1, math.ceil(moved / Fraction(cost)))


@lru_cache(maxsize=8)
def _weights(full: int, resolution: int) -> NDArray[np.int64]:
    whole = resolution * full
    weights: NDArray[np.int64] = np.minimum(resolution, whole // np.maximum(np.arange(whole + 2), 1))
    weights.setflags(write=False)
    return weights
