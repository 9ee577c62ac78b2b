"""A weighted Gaussian histogram over itemsets, then picks from what stands out of the noise (Gopi et al. 2020).

For an open universe. A transaction that holds q itemsets adds 1/sqrt(q) to each of them. So what it adds has a length
of at most 1, whatever it holds. Each itemset that occurs gets discrete Gaussian noise. Those whose noisy sum reaches a
threshold are the universe of k picks by their counts. The threshold is so high that itemsets of one privacy unit alone
rarely reach it. Itemsets that do not occur get no noise and are never named.

As published, epsilon and delta are shared out evenly between the histogram and the picks, and delta of the histogram
between noise and threshold. Here rho is shared out evenly. Theorem and proof:
docs/mathematics.md#weighted-gaussian-histogram.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from fim_private.accounting.calibration import calibrate_gaussian
from fim_private.accounting.gaussian_composition import range_costing
from fim_private.accounting.rounding import RELATIVE_ERROR
from fim_private.accounting.search import least
from fim_private.mechanisms.exponential import Exponential
from fim_private.mechanisms.lengths import TYPICAL_LENGTH
from fim_private.mechanisms.measurement import Measurement
from fim_private.mechanisms.peeling import peeling_losses
from fim_private.mechanisms.protocol import (
    MUCH,
    NORMAL_REACH,
    CalibratedMechanism,
    Margin,
    Request,
    Spending,
    normal_reach,
)
from fim_private.privacy import Failure, Loss, OneSidedFailure
from fim_private.profile import CountProfile
from fim_private.randomness import Randomness
from fim_private.randomness.discrete_gaussian import log_discrete_gaussian_survivals

HISTOGRAM_SHARE = Fraction(1, 2)
"""The share of rho for the histogram. The picks get the rest."""
FAILURE_SHARE = Fraction(1, 2)
"""The share of delta that covers an itemset of one unit alone."""


@dataclass(frozen=True, kw_only=True)
class WeightedGaussian:
    """The histogram, its threshold, and the picks.

    Args:
        top: k.
        sizes: items per itemset, increasing. Itemsets of several sizes are ranked together.
        measurement: the histogram. If a transaction holds `full` times `resolution` squared itemsets (4,096, or
            fewer at small epsilon or large Delta, or more for single items), it adds one unit to each, the least there
            is. One that holds more adds nothing.
        threshold: T, in units.
        failure: a bound on the probability that an itemset of one unit alone reaches the threshold.
        pick_epsilon: the epsilon of one pick.
        sensitivity: Delta.
    """

    top: int
    sizes: tuple[int, ...]
    measurement: Measurement
    threshold: int
    failure: Fraction
    pick_epsilon: Fraction
    sensitivity: int = 1

    public_names = None

    @property
    def losses(self) -> tuple[Loss, ...]:
        """The histogram of the itemsets that both neighbours have, then the picks."""
        return (self.measurement.loss, *peeling_losses(self.top, self.pick_epsilon))

    @property
    def failures(self) -> tuple[Failure, ...]:
        """An itemset that one unit alone holds reaches the threshold."""
        return (OneSidedFailure(self.failure),)

    @property
    def spending(self) -> tuple[Spending, ...]:
        return (
            Spending(what="weighted histogram of the itemsets that occur", rho=self.measurement.cost),
            Spending(what="picks from those that stand out of the noise", epsilon=self.pick_epsilon, times=self.top),
        )

    @property
    def margins(self) -> tuple[Margin, ...]:
        """The count with which the itemsets of the list all reach the threshold, 19 times in 20."""
        held = sum(math.comb(TYPICAL_LENGTH, size) for size in self.sizes)
        # At a tiny epsilon they add nothing if they hold more than 256. The lead is then far beyond any data.
        weight = self.measurement.added(held) or self.measurement.resolution / math.sqrt(max(1, held))
        counts, one = (
            math.ceil((self.threshold + reach * math.sqrt(self.measurement.variance)) / weight)
            for reach in (normal_reach(self.top), NORMAL_REACH)
        )
        words = f"over itemsets that do not occur (for units with at most {TYPICAL_LENGTH} different items)"
        return (Margin(counts=counts, of_one=one, words=words),)

    def loud(self, names: int) -> Iterator[WeightedGaussian]:
        """The same with hardly any noise, over any number of names."""
        del names
        measurement = Measurement.costing(MUCH, full=1, sensitivity=self.sensitivity)
        threshold = threshold_of(measurement, self.failure)
        yield replace(self, measurement=measurement, threshold=threshold, pick_epsilon=Fraction(100))

    def find(self, sums: CountProfile, randomness: Randomness) -> NDArray[np.int64]:
        """The ranks of the itemsets whose weighted sums, in units and at least 1, reach the threshold with noise.

        In increasing order.
        """
        exact = np.repeat(np.array(sums.levels, np.int64), np.array(sums.multiplicities, np.int64))
        return np.flatnonzero(self.measurement.add_noise(exact, randomness) >= self.threshold)

    def picks(self, found: int) -> Exponential:
        """How k itemsets are picked from this many that were found."""
        return Exponential(
            top=self.top, pick_epsilon=self.pick_epsilon, universe_size=found, sensitivity=self.sensitivity
        )


def log_failure(measurement: Measurement, threshold: int) -> float:
    """The logarithm of a bound on the probability that an itemset of one unit alone reaches the threshold.

    A unit adds v_i to its own itemsets, whole numbers from 1 to Delta resolution, and the sum of their squares is at
    most `full` times the square of that. So the probability, at most the sum over i of P(noise >= T - v_i), is at most
    that of full (Delta resolution/v)^2 itemsets that all get the worst v.

    T is the threshold, in units: more than a unit can add.
    """
    largest = measurement.sensitivity * measurement.resolution
    added = np.arange(largest, 0, -1)
    tails = log_discrete_gaussian_survivals(threshold - largest, largest, float(measurement.variance))
    numbers = math.log(measurement.full) + 2 * (math.log(largest) - np.log(added))
    return float(np.max(tails + numbers)) + RELATIVE_ERROR


def threshold_of(measurement: Measurement, failure: Fraction) -> int:
    """The least threshold T, in units, that an itemset of one unit alone reaches with at most this probability."""
    largest = measurement.sensitivity * measurement.resolution
    allowed = math.log(failure)
    return largest + least(
        lambda beyond: beyond > 0 and log_failure(measurement, largest + beyond) <= allowed,
        math.isqrt(measurement.variance) * 4,
    )


def calibrate(request: Request) -> CalibratedMechanism:
    """Divide rho between the histogram and the picks.

    Raises:
        BudgetError: delta is 0, or the budget is too small.
    """
    request.require_delta()
    epsilon, delta = request.epsilon, request.delta
    failure = FAILURE_SHARE * delta
    rho, guarantee = calibrate_gaussian((OneSidedFailure(failure),), epsilon=epsilon, delta=delta)
    measurement = Measurement.costing(float(HISTOGRAM_SHARE * rho), full=1, sensitivity=request.sensitivity)
    mechanism = WeightedGaussian(
        top=request.top,
        sizes=request.sizes,
        measurement=measurement,
        threshold=threshold_of(measurement, failure),
        failure=failure,
        pick_epsilon=range_costing(float(rho - measurement.cost), request.top),
        sensitivity=request.sensitivity,
    )
    return CalibratedMechanism(mechanism=mechanism, guarantee=guarantee)
