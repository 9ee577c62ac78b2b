"""Improve noisy counts by what was expected of them: empirical Bayes (docs/mathematics.md#post-processing).

Counts with similar expectations are probably similar. So each noisy count moves towards the average of its neighbours
by expectation: a little if the neighbours differ by more than the noise, a lot if they differ by noise alone (Efron and
Morris 1973; with a covariate, Ignatiadis and Wager 2019). With little noise the count hardly moves.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from fim_private.arrays import Floats

_LEAST_VARIANCE = 1e-9
_FIRST, _GROWTH = 30, 1.25
"""The size of the first group, at the top of the expectation, and the factor by which each next group is larger."""


@dataclass(frozen=True, eq=False)
class Estimates:
    """Estimated counts, and how far they may be off.

    Args:
        counts: float64, shape (n,).
        variances: float64, shape (n,), of the errors, above 0.
        noisy: float64, shape (n,), the counts as they came from noise.
        noise: float64, shape (n,), the variances of that noise, above 0.
    """

    counts: Floats
    variances: Floats
    noisy: Floats
    noise: Floats

    def weighted(self, weight: float) -> Estimates:
        """The same if each holder counted with this weight on average."""
        square = weight**2
        return Estimates(self.counts / weight, self.variances / square, self.noisy / weight, self.noise / square)

    def above_nothing(self, others: Floats, deviations: Floats) -> Floats:
        """By how many deviations of its noise each count is above 0, without what was expected of it.

        Args:
            others: other noisy counts of the same, shape (n,).
            deviations: of the noise in these, shape (n,), infinite where there is none.
        """
        precision = deviations**-2.0
        above: Floats = (self.noisy / self.noise + others * precision) / np.sqrt(1 / self.noise + precision)
        return above

    def together_above_nothing(self, first: int) -> float:
        """By how many deviations of noise the first counts are above 0 on average, weighted by precision; 0 of none."""
        precision = 1 / self.noise[:first]
        return float((self.noisy[:first] * precision).sum()) / math.sqrt(precision.sum()) if len(precision) else 0.0

    def in_doubt(self, top: int, least: float, deviations: float) -> NDArray[np.int64]:
        """The places of the counts that may or may not belong to the answer: the `top` largest ones above `least`.

        A count is in doubt if it is at most this many deviations from the last of the answer.
        """
        last = np.partition(self.counts, -top)[-top] if top < len(self.counts) else -np.inf
        return np.flatnonzero((self.counts - max(last, least)) ** 2 <= deviations**2 * self.variances)

    def averaged(self, places: NDArray[np.int64], noisy: Floats, deviation: float) -> Estimates:
        """With further counts at some places, with noise of this deviation in each, and averages by precision."""
        counts, variances = _averaged(self.counts, self.variances, places, noisy, deviation)
        return Estimates(counts, variances, *_averaged(self.noisy, self.noise, places, noisy, deviation))


def _averaged(
    counts: Floats, variances: Floats, places: NDArray[np.int64], noisy: Floats, deviation: float
) -> tuple[Floats, Floats]:
    """The counts and their variances with further counts of some, as above."""
    counts, variances = counts.copy(), variances.copy()
    known = variances[places]
    counts[places] += known / (known + deviation**2) * (noisy - counts[places])
    variances[places] = known * deviation**2 / (known + deviation**2)
    return counts, variances


def shrink(noisy: Floats, deviation: float) -> Estimates:
    """Estimates of the counts, of the same shape.

    Within a group of neighbours, counts are modelled as normal around a mean that falls with the expectation. The mean
    and the spread are estimated from the noisy counts.

    Args:
        noisy: shape (n,), in decreasing order of the counts that were expected beforehand.
        deviation: the standard deviation of the noise in each count.
    """
    if len(noisy) == 0:
        return Estimates(noisy, noisy, noisy, noisy)
    ends = _group_ends(len(noisy))
    starts = np.concatenate([[0], ends[:-1]])
    size = (ends - starts).astype(np.float64)
    mean = np.add.reduceat(noisy, starts) / size
    spread = np.add.reduceat((noisy - np.repeat(mean, ends - starts)) ** 2, starts) / size - deviation**2
    mean = np.maximum(falling(mean, size), 0)
    spread = falling(np.maximum(spread, 0), size)
    middle = np.log((starts + ends) / 2)
    place = np.log(np.arange(1, len(noisy) + 1))
    expected = np.interp(place, middle, mean)
    variance = np.interp(place, middle, spread)
    share = variance / (variance + deviation**2)
    variances = np.maximum(share * deviation**2, _LEAST_VARIANCE)
    return Estimates(expected + share * (noisy - expected), variances, noisy, np.full(len(noisy), deviation**2))


def falling(values: Floats, weights: Floats) -> Floats:
    """The non-increasing sequence nearest to the values in weighted least squares (pooling adjacent violators).

    >>> falling(np.array([3.0, 1.0, 2.0]), np.ones(3)).tolist()
    [3.0, 1.5, 1.5]
    """
    blocks: list[tuple[float, float, int]] = []
    for value, weight in zip(values.tolist(), weights.tolist(), strict=True):
        block = (value, weight, 1)
        while blocks and blocks[-1][0] < block[0]:
            before = blocks.pop()
            total = before[1] + block[1]
            block = ((before[0] * before[1] + block[0] * block[1]) / total, total, before[2] + block[2])
        blocks.append(block)
    return np.repeat([value for value, _, _ in blocks], [number for _, _, number in blocks])


def _group_ends(number: int) -> NDArray[np.int64]:
    ends = [0]
    size = float(_FIRST)
    while ends[-1] < number:
        ends.append(min(number, ends[-1] + int(size)))
        size *= _GROWTH
    if len(ends) > 2 and ends[-1] - ends[-2] < _FIRST:
        del ends[-2]
    return np.array(ends[1:], np.int64)
