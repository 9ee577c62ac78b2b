"""The certificate of the calibrated large margin mechanism: which gap suffices at which l.

Let the true gap c_(k) - c_(l+1) be x. slack_l(x) bounds the probability that k picks from the top l include an itemset
outside the neighbour's top l. The thresholds keep the expected slack within a delta. Theorems and proofs:
docs/mathematics.md#lmm-slack and docs/mathematics.md#lmm-margin.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from fractions import Fraction

from fim_private.accounting.rounding import RELATIVE_ERROR
from fim_private.accounting.search import least
from fim_private.randomness.discrete_laplace import log_difference_survival

LogSurvival = Callable[[int], float]


def doubling_grid(top: int, limit: int) -> tuple[int, ...]:
    """k, 2k, 4k, ... up to the limit.

    >>> doubling_grid(10, 80)
    (10, 20, 40, 80)
    """
    grid = [top]
    while 2 * grid[-1] <= limit:
        grid.append(2 * grid[-1])
    return tuple(grid)


def thresholds(
    *, top: int, grid: Sequence[int], search_epsilon: Fraction, pick_epsilon: Fraction, certificate_delta: Fraction,
    sensitivity: int = 1,
) -> tuple[int, ...]:  # fmt: skip
    """T_j for each grid point, in counts. Point j gets a share of delta proportional to 1/(j+1)^2.

    >>> thresholds(top=1, grid=doubling_grid(1, 8), search_epsilon=Fraction(3, 10), pick_epsilon=Fraction(7, 10),
    ...            certificate_delta=Fraction(1, 10**6))
    (106, 116, 123, 128)
    """
    weights = [Fraction(1, (j + 1) ** 2) for j in range(len(grid))]
    scale = float(2 * sensitivity / search_epsilon)
    rate = float(pick_epsilon / sensitivity)
    return tuple(
        least_threshold(
            lambda needed: log_difference_survival(needed, scale),
            candidates=top * (size - top),
            log_delta=math.log(certificate_delta * weight / sum(weights)) - RELATIVE_ERROR,
            rate=rate,
            sensitivity=sensitivity,
        )
        for size, weight in zip(grid, weights, strict=True)
    )


def least_threshold(
    log_survival: LogSurvival, *, candidates: int, log_delta: float, rate: float, sensitivity: int
) -> int:
    """The least T with P(noise >= T - x) slack(x) <= delta for all x.

    Slack is 1 up to x = Delta, and min(1, candidates e^{-rate (x - Delta)}) beyond.

    Args:
        log_survival: ln P(noise >= needed), concave in the integer `needed`.
        candidates: k (l - k) for the large margin mechanism. It is 0 if l = k: the top k is then the same set for both
            neighbours.
        log_delta: ln delta.
        rate: the rate of the picks.
        sensitivity: Delta.
    """
    # Up to here slack is 1, and a larger gap makes the stop likelier.
    certain, log_slack = sensitivity, -math.inf
    if candidates:
        certain += max(0, math.floor(math.log(candidates) / rate))
        log_slack = math.log(candidates) + rate * sensitivity

    def log_failure(threshold: int) -> float:
        def beyond(step: int) -> float:
            gap = certain + step
            return log_survival(threshold - gap) + log_slack - rate * gap

        # The tail of a log-concave distribution is log-concave: after the first step down it only falls.
        highest = least(lambda step: beyond(step + 1) <= beyond(step))
        return max(log_survival(threshold - certain), beyond(highest))

    return least(lambda threshold: log_failure(threshold) <= log_delta)


def reach(scale: float) -> int:
    """The least s with P(Z - G >= -s) >= 95 %: the noise takes at most s off a gap, 19 times in 20."""
    return least(lambda beyond: math.exp(log_difference_survival(1 - beyond, scale)) >= 0.95) - 1
