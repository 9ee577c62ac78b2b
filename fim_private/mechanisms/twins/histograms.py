"""Mistakes in a weighted Gaussian histogram, and in the picks that follow."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fim_private.accounting.search import least
from fim_private.mechanisms.exponential import Exponential
from fim_private.mechanisms.measurement import Measurement
from fim_private.mechanisms.twins.twin import SENSITIVITY, Twin, as_kind
from fim_private.mechanisms.weighted_gaussian import WeightedGaussian
from fim_private.randomness.discrete_gaussian import log_discrete_gaussian_survival


class _WholeWeights(Measurement):
    @property
    def weights(self) -> NDArray[np.int64]:
        return np.append(np.full(super().weights.shape[0] - 1, self.resolution), 0)


class _PicksForOneTransaction(WeightedGaussian):
    def picks(self, found: int) -> Exponential:
        return replace(super().picks(found), sensitivity=1)


def _with_histogram(change: Callable[[Measurement], Measurement]) -> Callable[[WeightedGaussian], WeightedGaussian]:
    return lambda mechanism: replace(mechanism, measurement=change(mechanism.measurement))


def threshold_of_noise(mechanism: Any) -> Any:
    """The same with the least T with P(noise >= T) at most the failure."""
    variance = float(mechanism.measurement.variance)
    allowed = math.log(mechanism.failure)
    found = least(lambda threshold: log_discrete_gaussian_survival(threshold, variance) <= allowed)
    return replace(mechanism, threshold=found)


def _threshold_of_one_itemset(mechanism: WeightedGaussian) -> WeightedGaussian:
    """The least T with P(what a unit adds to a single itemset + noise >= T) at most the failure."""
    length = mechanism.sensitivity * mechanism.measurement.resolution
    return replace(mechanism, threshold=length + threshold_of_noise(mechanism).threshold)


WEIGHTED_GAUSSIAN = (
    Twin(
        name="threshold without what a unit adds",
        mistake="the threshold is that of noise alone",
        broken=threshold_of_noise,
    ),
    Twin(
        name="threshold for one itemset",
        mistake="the threshold is made for a unit that alone holds a single itemset, not for one that holds many",
        broken=_threshold_of_one_itemset,
    ),
    Twin(
        name="weights not normalised",
        mistake="a transaction adds 1 to each of its itemsets, however many it holds",
        broken=_with_histogram(lambda measurement: as_kind(_WholeWeights, measurement)),
    ),
    Twin(
        name="half the noise",
        mistake="noise of half the deviation, and so a quarter of the variance that is charged",
        broken=_with_histogram(lambda measurement: replace(measurement, variance=measurement.variance // 4)),
    ),
    Twin(
        name="noise for one transaction",
        mistake="noise and threshold for one transaction, where a unit has several",
        broken=_with_histogram(
            lambda measurement: replace(measurement, variance=measurement.variance // measurement.sensitivity**2)
        ),
        needs=SENSITIVITY.needs,
    ),
    Twin(
        name="sensitivity forgotten in the picks",
        mistake="picks with the exponent for one transaction, where a unit has several",
        broken=lambda mechanism: as_kind(_PicksForOneTransaction, mechanism),
        needs=SENSITIVITY.needs,
    ),
)
