"""Noisy counts of many itemsets at once, with Gaussian noise. The length of what one transaction adds is bounded.

A transaction that holds q of the itemsets adds the weight min(1, sqrt(full/q)) to each of them, in whole units of
1/resolution, rounded down. So nothing is cut off, but long transactions count less. The counts cost
rho = Delta^2 resolution^2 full / (2 variance). Proof: docs/mathematics.md#noisy-counts.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from fim_private.arrays import Floats
from fim_private.privacy import DiscreteGaussian, Loss
from fim_private.randomness import Randomness
from fim_private.randomness.discrete_gaussian import discrete_gaussian_mass
from fim_private.randomness.gaussian_vector import LARGEST_VARIANCE, sample_discrete_gaussians

FINEST = 64
"""The finest unit is 1/64 of a transaction."""
COARSEST = 16
"""The coarsest unit is 1/16 of a transaction. In coarser ones a long transaction would round down to nothing.

So one that holds 256 of the itemsets still counts: ten items have at most 252 of one size.
"""
_MOST_ADDED = 2**17
"""Units are coarser than that if Delta transactions have more of them: `weighted_gaussian.py` tries each number."""


@dataclass(frozen=True, kw_only=True)
class Measurement:
    """Noisy counts of given itemsets.

    Args:
        full: a transaction that holds at most this many of the itemsets counts in full; at least 1.
        resolution: units per transaction.
        variance: the variance of the noise, in units squared, at least 1.
        sensitivity: Delta, the largest number of transactions per privacy unit.
    """

    full: int
    resolution: int
    variance: int
    sensitivity: int = 1

    @classmethod
    def costing(cls, cost: float | Fraction, *, full: int, sensitivity: int) -> Measurement:
        """The measurement of at most this rho, with the finest unit for which sampling is fast, or `COARSEST`."""
        variance = sensitivity**2 * full / (2 * cost)  # in transactions squared
        resolution, coarsest = FINEST, max(1, min(COARSEST, _MOST_ADDED // sensitivity))
        while resolution > coarsest and variance * resolution**2 > LARGEST_VARIANCE:
            resolution //= 2
        least = DiscreteGaussian.variance_costing(sensitivity**2 * resolution**2 * full, Fraction(cost))
        return cls(full=full, resolution=resolution, variance=least, sensitivity=sensitivity)

    @classmethod
    def full_with(cls, deviation: float, cost: float, *, sensitivity: int) -> float:
        """The `full` with which the noise has this deviation, in transactions, at this cost."""
        return 2 * cost * (deviation / sensitivity) ** 2

    @property
    def loss(self) -> Loss:
        """What all counts together tell."""
        return self._gaussian

    @property
    def cost(self) -> Fraction:
        """What they cost together: rho."""
        return self._gaussian.gaussian.rho

    @property
    def _gaussian(self) -> DiscreteGaussian:
        return DiscreteGaussian.of(self.sensitivity**2 * self.resolution**2 * self.full, self.variance)

    @property
    def deviation(self) -> float:
        """The standard deviation of the noise, in transactions."""
        return math.sqrt(self.variance) / self.resolution

    @property
    def weights(self) -> NDArray[np.int64]:
        """What a transaction adds to each itemset, in units, by how many of them it holds; 0 from the last entry on."""
        return _weights(self.full, self.resolution)

    def added(self, held: int) -> int:
        """What a transaction that holds this many of the itemsets adds to each of them, in units."""
        return int(self.weights[min(held, len(self.weights) - 1)])

    def add_noise(self, counts: NDArray[np.int64], randomness: Randomness) -> NDArray[np.int64]:
        """The counts, in units, each with its own noise. Itemsets that do not occur get noise too."""
        return counts + sample_discrete_gaussians(self.variance, len(counts), randomness)

    def masses(self, values: NDArray[np.int64]) -> Floats:
        """The law of the noise in one count: the probability of each value, in units."""
        return discrete_gaussian_mass(values, self.variance)

    def beyond(self, deviations: Floats) -> Floats:
        """How often noise is at least this many of its standard deviations."""
        return np.array([math.erfc(value / math.sqrt(2)) / 2 for value in deviations.tolist()])


def share_of_noise(beyond: Floats, among: int) -> Floats:
    """For each count, the share of those up to it that noise alone would put so high (Benjamini and Hochberg 1995).

    Args:
        beyond: how often noise alone exceeds the counts, which are in decreasing order.
        among: how many were counted, if nobody had any of them.
    """
    share: Floats = among * beyond / np.arange(1, len(beyond) + 1)
    return share


def up_to_last(hold: NDArray[np.bool_]) -> int:
    """How many there are up to the last one that holds; 0 if none does.

    >>> up_to_last(np.array([True, False, True, False])), up_to_last(np.zeros(3, bool))
    (3, 0)
    """
    places = np.flatnonzero(hold)
    return int(places[-1]) + 1 if len(places) else 0


@lru_cache(maxsize=8)
def _weights(full: int, resolution: int) -> NDArray[np.int64]:
    square = resolution**2 * full
    # Whole numbers below 2^52 have exact square roots in floating point, once these are rounded down.
    roots = np.sqrt(square // np.maximum(np.arange(square + 2), 1)).astype(np.int64)
    weights: NDArray[np.int64] = np.minimum(resolution, roots)
    weights.setflags(write=False)
    return weights
