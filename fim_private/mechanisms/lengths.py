"""A look at how many items units hold: a noisy histogram, which decides how the later steps of items-first are done.

A privacy unit is in one bin, so adding or removing it moves one number by 1: rho = 1/(2 variance). Where
transactions are looked at, a unit of Delta transactions moves the histogram by at most Delta.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from fim_private.arrays import Floats
from fim_private.privacy import DiscreteGaussian, Loss
from fim_private.randomness import Randomness
from fim_private.randomness.gaussian_vector import sample_discrete_gaussians

BINS = np.array([1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64, 96, 128, 192, 256])
"""The least length of each bin. The last one holds all longer units too."""
FULLS = [2**power for power in range(int(BINS[-1]).bit_length())]
"""How many items of a unit may count in full. The look tells no longer units apart."""
MORE_BINS = np.append(BINS, [384, 512, 768, 1024, 1536, 2048, 3072, 4096])
"""The bins for how many itemsets a transaction holds."""
TYPICAL_LENGTH = 10
"""Leads are stated for transactions with this many items."""
PICK_VARIANCE = 1.64
"""The variance of the noise in a pick of epsilon 1 (Gumbel: pi^2/6)."""
_CLEAR = 2.0
"""A bin with fewer units than this many standard deviations of the noise counts as empty."""
_MANY = 3.0
"""Units are many if their number is at least this many standard deviations of its noise."""
_USUAL = 10.0
"""The length that is assumed if no bin is clear."""
_FULL = [2.0**power for power in range(12)]
_ROOM = 1.5


@dataclass(frozen=True, kw_only=True)
class LengthLook:
    """The noise of the look.

    Args:
        variance: of the noise in each bin, at least 1, in units squared; in transactions squared where these are looked
            at.
        sensitivity: Delta, where transactions are looked at; 1 where units are.
    """

    variance: int
    sensitivity: int = 1

    linear: ClassVar[bool] = False
    """Whether what follows counts with `Lengths.linear` weights. A count's cost grows with `full`, not its root."""

    @classmethod
    def costing(cls, cost: Fraction, *, sensitivity: int = 1) -> LengthLook:
        """The look that costs at most this rho."""
        return cls(variance=DiscreteGaussian.variance_costing(sensitivity**2, cost), sensitivity=sensitivity)

    @property
    def loss(self) -> Loss:
        """What the whole histogram tells."""
        return self._gaussian

    @property
    def cost(self) -> Fraction:
        """What it costs: rho."""
        return self._gaussian.gaussian.rho

    def noise(self, bins: int, randomness: Randomness) -> NDArray[np.int64]:
        """The noise of this many bins."""
        return sample_discrete_gaussians(self.variance, bins, randomness)

    @property
    def _gaussian(self) -> DiscreteGaussian:
        return DiscreteGaussian.of(self.sensitivity**2, self.variance)

    def add_noise(self, counts: NDArray[np.int64], randomness: Randomness) -> Lengths:
        """The noisy histogram, from the number of units in each bin, int64, of `BINS` or of `MORE_BINS`."""
        bins = MORE_BINS[: len(counts)]
        noisy = counts + self.noise(len(bins), randomness)
        clear = noisy > _CLEAR * math.sqrt(self.variance)
        if not clear.any():
            return Lengths(np.full(1, _USUAL), np.ones(1), linear=self.linear)
        # Lengths are spread around one peak. A bin apart from it is noise, and would weigh much among the last bins.
        gaps = np.flatnonzero(~clear)
        peak = int(np.argmax(noisy))
        kept = slice(int(gaps[gaps < peak].max(initial=-1)) + 1, int(gaps[gaps > peak].min(initial=len(bins))))
        middles = np.append((bins[:-1] + bins[1:] - 1) / 2, bins[-1])
        found = noisy[kept].astype(np.float64)
        outside = float(noisy.sum() - found.sum()) - math.sqrt(self.variance * (len(bins) - len(found)))
        return Lengths(middles[kept], found, linear=self.linear, outside=max(0.0, outside))


@dataclass(frozen=True, eq=False)
class Lengths:
    """How many units have about which length; released.

    Args:
        lengths: shape (n,), numbers of items.
        units: shape (n,), how many units are that long.
        linear: whether an itemset that a unit holds beside others counts with the weight min(1, full/q), as with
            Laplace noise, or with its root, as with Gaussian noise.
        outside: about how many more units there are, of other lengths, less one deviation of the noise in that.
    """

    lengths: Floats
    units: Floats
    linear: bool = False
    outside: float = 0.0

    @property
    def all_units(self) -> float:
        """About how many units there are, of any length."""
        return float(self.units.sum()) + self.outside

    def many(self, noise: LengthLook) -> bool:
        """Whether units are so many that noise alone would hardly show as many."""
        return float(self.units.sum()) >= _MANY * math.sqrt(noise.variance * len(self.units))

    def thinned(self, share: float) -> Lengths:
        """About the same for some of the items, of which units hold this share of all."""
        return replace(self, lengths=self.lengths * share)

    def weight(self, full: float, sizes: Sequence[int] = (1,)) -> float:
        """The average weight of an itemset that a unit holds, if units with `full` itemsets count whole."""
        return self._weighed(full, sizes)[0]

    def uneven(self, full: float) -> float:
        """The standard deviation of that weight over what units hold, for single items."""
        return self._weighed(full, (1,))[1]

    @property
    def best_full(self) -> int:
        """The `full` of the measurement whose counts are most exact."""
        return int(max(_FULL, key=lambda full: self._exactness(full, (1,))))

    def roomy(self, sizes: Sequence[int]) -> int:
        """The largest `full` whose counts are at most `_ROOM` times as far off as the most exact ones.

        With linear weights noise hardly grows with it, and what long transactions lose becomes less.
        """
        exact = [self._exactness(full, sizes) for full in _FULL]
        return int(max(full for full, each in zip(_FULL, exact, strict=True) if each * _ROOM >= max(exact)))

    def picks_worth(self, sizes: Sequence[int]) -> float:
        """The number of picks that are as exact as noisy counts of itemsets, for the same price.

        A pick of epsilon e is off by about sqrt(1.64)/e. With Gaussian noise, k picks for rho have e^2 = 8 rho/k, and a
        noisy count for rho is off by sqrt(full/(2 rho)), of a count that is smaller by the weight. With Laplace noise,
        k picks have e = epsilon/k, and a noisy count is off by sqrt(2) full/epsilon.
        """
        exact = max(self._exactness(full, sizes) for full in _FULL)
        return (math.sqrt(2 / PICK_VARIANCE) if self.linear else 4 / PICK_VARIANCE) / exact

    def _exactness(self, full: float, sizes: Sequence[int]) -> float:
        weight = self.weight(full, sizes)
        return (weight if self.linear else weight**2) / full

    def _weighed(self, full: float, sizes: Sequence[int]) -> tuple[float, float]:
        """The mean and the standard deviation of the weights, over all that units hold."""
        held = self._held(sizes)
        if not np.any(held):
            return 1.0, 0.0
        shares: Floats = full / np.maximum(held, 1.0)
        weights = np.minimum(1.0, shares if self.linear else np.sqrt(shares))
        mean = float(np.average(weights, weights=held * self.units))
        return mean, math.sqrt(float(np.average((weights - mean) ** 2, weights=held * self.units)))

    def _held(self, sizes: Sequence[int]) -> Floats:
        """How many itemsets a unit holds, by its length."""
        held = np.zeros_like(self.lengths)
        of_size = np.ones_like(self.lengths)
        for place in range(max(sizes)):
            of_size *= np.maximum(self.lengths - place, 0) / (place + 1)
            if place + 1 in sizes:
                held += of_size
        return held
