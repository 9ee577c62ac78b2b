"""Outcomes of two laws, merged where their ratio of probabilities is nearly the same.

Merging can only make the laws look more alike, so a delta that is found between them is a lower bound, and a close one.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from fim_private.arrays import Floats
from fim_private.mechanisms.laplace_measurement import LaplaceMeasurement, scale_of
from fim_private.mechanisms.measurement import Measurement
from fim_private.randomness.discrete_gaussian import discrete_gaussian_mass

_REACH, _LAPLACE_REACH = 9.0, 26.0
_CELLS = 800
_MOST = 25.0


@dataclass(frozen=True, kw_only=True)
class Pair:
    """The probabilities P and P' of merged outcomes."""

    one: Floats
    other: Floats

    def times(self, next_step: Pair, *, most: float = _MOST) -> Pair:
        """Both steps, which are independent. Outcomes of nearly the same ratio are merged.

        Log ratios beyond plus or minus `most` are merged. The smaller it is, the less are others.
        """
        here, there = self._possible, next_step._possible
        return _merged(
            np.outer(self.one[here], next_step.one[there]).ravel(),
            np.outer(self.other[here], next_step.other[there]).ravel(),
            most,
        )

    @property
    def _possible(self) -> NDArray[np.bool_]:
        """The outcomes that either law has. Most places are empty."""
        possible: NDArray[np.bool_] = (self.one > 0) | (self.other > 0)
        return possible

    def deltas(self, epsilons: Sequence[float]) -> Floats:
        """delta(eps) of the first law over the other."""
        return np.array([np.sum(np.maximum(0.0, self.one - math.exp(epsilon) * self.other)) for epsilon in epsilons])


def _merged(one: Floats, other: Floats, most: float = _MOST) -> Pair:
    with np.errstate(divide="ignore", invalid="ignore"):
        ratio = np.nan_to_num(np.log(one) - np.log(other), nan=0.0, posinf=most, neginf=-most)
    cell = np.clip(np.rint(ratio * (_CELLS / most)), -_CELLS, _CELLS).astype(np.int64) + _CELLS
    return Pair(one=np.bincount(cell, one).astype(float), other=np.bincount(cell, other).astype(float))


def shifted(measurement: Measurement, coordinates: int, step: int) -> Pair:
    """The laws of the coordinates' noise, without and with a shift of `step` in each coordinate.

    With Gaussian noise, their sum tells as much as all of them. With Laplace noise it does not.
    """
    if isinstance(measurement, LaplaceMeasurement):
        reach = math.ceil(_LAPLACE_REACH * math.sqrt(measurement.variance))
        most = step / scale_of(measurement.variance)
        return _repeated(_moved(measurement.masses(np.arange(-reach, reach + 1)), step, most), coordinates, most)
    return _moved(_of_sums(float(measurement.variance), coordinates), coordinates * step)


def _moved(law: Floats, step: int, most: float = _MOST) -> Pair:
    nowhere = np.zeros(step)
    return _merged(np.concatenate([law, nowhere]), np.concatenate([nowhere, law]), most)


def _repeated(step: Pair, times: int, most: float) -> Pair:
    """The laws of several independent steps like this one. The log ratio of each step is at most `most`."""
    if times == 1:
        return step
    half = _repeated(step, times // 2, most)
    both = half.times(half, most=most * (times - times % 2))
    return both.times(step, most=most * times) if times % 2 else both


@lru_cache(maxsize=32)
def _of_sums(variance: float, coordinates: int) -> Floats:
    """The law of the sum of `coordinates` discrete Gaussians, on consecutive integers around 0."""
    reach = math.ceil(_REACH * math.sqrt(variance * coordinates))
    padded = 1 << (2 * reach).bit_length()
    values = np.arange(padded) - padded // 2
    mass = np.fft.ifftshift(discrete_gaussian_mass(values, variance))
    total: Floats = np.fft.fftshift(np.fft.irfft(np.fft.rfft(mass) ** coordinates, padded))
    # In the far tails only the rounding errors of the transform are left.
    total[total < 1e-15] = 0.0
    return total
