"""Noisy counts of the chosen itemsets: how much noise they need in addition to the selection.

The k chosen itemsets are public, and each of them is counted anew in the bounded data. On all counts
  discrete Laplace noise of scale k Delta/eps_C is eps_C-differentially private,
  discrete Gaussian noise of variance sigma^2 costs about rho = k Delta^2/(2 sigma^2).
Both hold for both relations, whatever the selection answered (docs/mathematics.md#counts-beside-a-choice). k is the
planned number, even if the selection names fewer itemsets. If the subsets of the chosen itemsets are counted too, k is
the number of all of them.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import partial
from statistics import NormalDist

import numpy as np
from numpy.typing import NDArray

from fim_private.accounting.calibration import excess
from fim_private.accounting.joint_proof import Part, needed_together, prove_together
from fim_private.accounting.rounding import RELATIVE_ERROR, exp_up, round_down
from fim_private.accounting.search import crossed, largest, least, smallest
from fim_private.errors import BudgetError
from fim_private.mechanisms.protocol import CalibratedMechanism, Request, Spending
from fim_private.privacy import ROUNDING_VARIANCE, DiscreteGaussian, Guarantee, PureDP, are_one_sided
from fim_private.randomness import Randomness
from fim_private.randomness.discrete_gaussian import SUMMED, log_discrete_gaussian_survival
from fim_private.randomness.discrete_laplace import log_survival, sample_discrete_laplace
from fim_private.randomness.gaussian_vector import sample_discrete_gaussians

CONFIDENCE = 0.95
LARGEST_ERROR = 10**12
"""More transactions than any data has. Counts with a larger error say nothing."""
_WORTH_IT = Fraction(19, 20)
"""A selection that leaves the counts more of delta is preferred if it reduces their error below this share."""
_MOST_LESS = 0.3
"""Optimal composition allows hardly any less noise than by this logarithm."""


@dataclass(frozen=True, kw_only=True)
class LaplaceCounts:
    """Discrete Laplace noise.

    Args:
        top: k, how many itemsets are counted at most.
        epsilon: eps_C, for all counts together.
        sensitivity: Delta.
    """

    top: int
    epsilon: Fraction
    sensitivity: int = 1

    law = "discrete Laplace"

    @property
    def loss(self) -> PureDP:
        return PureDP(self.epsilon)

    @property
    def scale(self) -> Fraction:
        """k Delta/eps_C."""
        return self.top * self.sensitivity / self.epsilon

    @property
    def deviation(self) -> float:
        """sqrt(2 q)/(1 - q), q = e^{-1/scale}."""
        exponent = -1 / float(self.scale)
        return math.sqrt(2 * math.exp(exponent)) / -math.expm1(exponent)

    @property
    def half_width(self) -> int:
        """2 P(X > h) is 2 q^{h+1}/(1+q)."""
        scale = float(self.scale)
        return _least_half_width(lambda threshold: log_survival(threshold, scale), self.deviation)

    @staticmethod
    def epsilon_beyond(half_width: int, most: int) -> Fraction:
        """An epsilon that makes the half width exceed h, though hardly: P(|X| > h) is at least q^{h+1}.

        `most` is k Delta.
        """
        return round_down(-math.log1p(-CONFIDENCE) / (half_width + 1) * (1 - RELATIVE_ERROR)) * most

    @property
    def spending(self) -> Spending:
        """An epsilon."""
        return Spending(what=f"counts, with {self.law} noise", epsilon=self.epsilon)

    def less(self, log: float) -> LaplaceCounts:
        """The same with a larger epsilon."""
        return replace(self, epsilon=max(self.epsilon, round_down(float(self.epsilon) * math.exp(log))))

    def add_noise(self, counts: NDArray[np.int64], randomness: Randomness) -> NDArray[np.int64]:
        """The counts, each with its own noise, int64, of the same shape."""
        noisy = [count + sample_discrete_laplace(self.scale, randomness) for count in counts.tolist()]
        return np.array(noisy, np.int64)


@dataclass(frozen=True, kw_only=True)
class GaussianCounts:
    """Discrete Gaussian noise.

    Args:
        top: k, how many itemsets are counted at most.
        variance: sigma^2, a whole number, at least 1.
        sensitivity: Delta.
    """

    top: int
    variance: int
    sensitivity: int = 1

    law = "discrete Gaussian"

    @property
    def loss(self) -> DiscreteGaussian:
        return DiscreteGaussian.of(self.top * self.sensitivity**2, self.variance)

    @property
    def deviation(self) -> float:
        """sigma."""
        return math.sqrt(self.variance)

    @property
    def half_width(self) -> int:
        """From the exact tails, or from the midpoint rule if the noise is so wide that the tails take long to sum.

        The rule is P(X > h) = P(N > h + 1/2) for the continuous Gaussian N. Its relative error is then below 1e-10.
        """
        if self.variance > SUMMED:
            near = NormalDist(sigma=self.deviation).inv_cdf((1 + CONFIDENCE) / 2)
            return math.ceil(near * (1 + RELATIVE_ERROR) - 0.5)
        variance = float(self.variance)
        return _least_half_width(lambda threshold: log_discrete_gaussian_survival(threshold, variance), self.deviation)

    @property
    def spending(self) -> Spending:
        """A rho, as Gaussian noise where it has a price as that."""
        rho = self.loss.gaussian.rho if self.variance > ROUNDING_VARIANCE else self.loss.rho
        return Spending(what=f"counts, with {self.law} noise", rho=rho)

    def less(self, log: float) -> GaussianCounts:
        """The same with a smaller variance."""
        return replace(self, variance=min(self.variance, math.ceil(self.variance * math.exp(-2 * log))))

    def add_noise(self, counts: NDArray[np.int64], randomness: Randomness) -> NDArray[np.int64]:
        """The counts, each with its own noise, int64, of the same shape."""
        return counts + sample_discrete_gaussians(self.variance, len(counts), randomness)


CountNoise = LaplaceCounts | GaussianCounts
"""The noise on the counts of the chosen itemsets: a frozen value that knows its cost and its law.

`half_width` is the least h such that the noise is from -h to h, both included, with probability at least 95 %.
"""


def calibrate_with_counts(
    calibrate: Callable[[Request], CalibratedMechanism], request: Request, *, share: Fraction, each: int
) -> tuple[CalibratedMechanism, CountNoise]:
    """A selection that may spend all of epsilon but `share`, and the least noise on counts that fits beside it.

    The selection is calibrated with the whole of delta, and with smaller deltas, so that its failure event leaves some
    delta for a joint proof. For each of these the noise is Laplace or Gaussian, whichever has the smaller error. It is
    the least noise for which selection and counts together provably stay within (epsilon, delta).

    Args:
        calibrate: the mechanism's calibration.
        request: what selection and counts together may spend.
        share: the share of epsilon for the counts, between 0 and 1.
        each: how many counts are planned for each chosen itemset.

    Raises:
        BudgetError: the budget cannot pay for the selection, or the counts would say nothing.
        UsageError: the mechanism's calibration raises it.
    """
    epsilon = request.epsilon * (1 - share)

    def beside(selection: CalibratedMechanism) -> tuple[CalibratedMechanism, CountNoise]:
        mechanism = selection.mechanism
        part = Part(losses=mechanism.losses, failures=mechanism.failures, guarantee=selection.guarantee)
        noise, guarantee = least_noise(
            [part],
            epsilon=request.epsilon,
            delta=request.delta,
            top=each * mechanism.top,
            sensitivity=request.sensitivity,
        )
        return CalibratedMechanism(mechanism=mechanism, guarantee=guarantee), noise

    whole = calibrate(replace(request, epsilon=epsilon))
    best = beside(whole)
    for granted in () if are_one_sided(whole.mechanism.failures) else _smaller_deltas(epsilon, request):
        other = beside(calibrate(replace(request, epsilon=epsilon, delta=granted)))
        if other[1].half_width < _WORTH_IT * best[1].half_width:
            best = other
    return best


def least_noise(
    parts: Sequence[Part], *, epsilon: Fraction, delta: Fraction, top: int, sensitivity: int
) -> tuple[CountNoise, Guarantee]:
    """The noise with the smaller error that fits beside the parts of the selection, and what is proved of all together.

    Raises:
        BudgetError: the counts would say nothing.
    """
    laplace = partial(LaplaceCounts, top=top, sensitivity=sensitivity)
    gaussian = partial(GaussianCounts, top=top, sensitivity=sensitivity)

    def beyond(noise: CountNoise, *, fast: bool = True) -> float:
        return excess(needed_together(parts, [noise.loss], epsilon=epsilon, delta=delta, fast=fast), epsilon)

    # A variance so large is useless, and is refused below.
    variance = smallest(lambda each: beyond(gaussian(variance=each)), 4 * LARGEST_ERROR**2)
    ways: list[CountNoise] = [gaussian(variance=variance)]
    # The search takes long, and is in vain if not even slightly wider Laplace noise fits.
    if beyond(laplace(epsilon=LaplaceCounts.epsilon_beyond(ways[0].half_width, top * sensitivity))) <= 0:
        spent = largest(lambda each: beyond(laplace(epsilon=each)), epsilon)
        ways += [] if spent is None else [laplace(epsilon=spent)]
    best = min(reversed(ways), key=lambda way: way.half_width)
    # Optimal composition takes long. So it is tried only with the better noise, and a little less of it.
    log, _ = crossed(lambda log: beyond(best.less(log), fast=False), 0.0, _MOST_LESS, close=_MOST_LESS / 50)
    best = best.less(log)
    guarantee = prove_together(parts, [best.loss], epsilon=epsilon, delta=delta)
    if guarantee is None or best.half_width > LARGEST_ERROR:
        raise BudgetError(
            "Within this budget the counts would be nothing but noise.",
            "Give --release-counts a larger share, raise --epsilon, lower --top, or leave the counts out.",
        )
    return best, guarantee


def _smaller_deltas(epsilon: Fraction, request: Request) -> list[Fraction]:
    """The smaller deltas to try for the selection, the largest first.

    The selection's own proof pays for a failure (1 + e^eps_1) times, the joint proof (1 + e^eps) times. The first value
    makes room for that if the selection's losses are composed, which grants failures half of delta. The second value
    does so if they are added up: failures then have all of delta. Either proof pays for a one-sided failure once.
    """
    whole = request.delta
    if whole == 0:
        return []
    dearer = 1 + exp_up(request.epsilon)
    return [round_down(float(whole * (1 + exp_up(epsilon)) / dearer)), round_down(float(whole / 2 / dearer))]


def _least_half_width(log_survival_of: Callable[[int], float], deviation: float) -> int:
    """The least h with 2 P(X > h) <= 5 %, by a search that begins at the standard deviation."""
    allowed = math.log((1 - CONFIDENCE) / 2)
    return least(lambda beyond: log_survival_of(beyond) <= allowed, int(deviation)) - 1
