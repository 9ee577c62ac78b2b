"""Algorithm 5 of PSPC: a private threshold that about a given share of the candidates' runs reach.

Proof: docs/mathematics.md#noisy-searches.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from functools import cache

import numpy as np
from numpy.typing import NDArray

from fim_private.mechanisms.sparse_vector import search
from fim_private.privacy import PureDP
from fim_private.private_candidates.pool import Candidates, FiniteLaw, Output, chance_at_least
from fim_private.randomness import Randomness, SecureRandomness
from verification.private_candidates.above_threshold import (
    RESOLUTION,
    noise_scales,
    smoothing,
)
from verification.private_candidates.log_grid import floor_of_log
from verification.private_candidates.search_law import law_of_nested_search


@dataclass(frozen=True, kw_only=True)
class PercentileThreshold:
    """The first of R thresholds 1, ..., 0 that enough of N runs of Q reach, by noisy search. Scores lie in [0, 1].

    Args:
        loss: eps_1 of a run of Q, pure.
        epsilon: eps_3, what the search costs.
        delta: the probability that a number of runs is further from its neighbour's than allowed for.
        slack: eps_0 in (0, 1).
        percentile: p* in (0, 1).
        failing: beta in (0, 1), how likely the search may stop early or late.
        thresholds: R, at least 2.
        samples: N. Any number is private; the paper's, which its utility asks for, is large.
        resolution: steps of what one unit can change a logarithm by (see `above_threshold`).

    Privacy (Theorem 4.6 a): (eps_3, delta)-differentially private. ln(X_i + Delta), X_i runs at or above tau_i, changes
    by at most S = eps_1 + eps_0 but for probability delta, Delta = C ln(4R/delta)/(eps_0 (e^(eps_0 + eps_1) - 1)); the
    same N runs serve all thresholds. Noise has scale 2S/eps_3 on the target and 4S/eps_3 on each threshold.

    Utility (Theorem 4.6 b, c): what is found has p >= e^(-eps_0/2) (beta^2/(R + 1))^(6S/eps_3) p*/3 but for beta +
    delta/2, and lies below tau* - 1/(R - 1) with probability at most 2 beta + delta/(2R). The paper has 1/R, but its
    thresholds are 1/(R - 1) apart: with R = 2 and tau* = 0.9 they are 1 and 0.
    """

    loss: PureDP
    epsilon: Fraction
    delta: Fraction
    slack: Fraction
    percentile: Fraction
    failing: Fraction
    thresholds: int
    samples: int
    resolution: int = RESOLUTION

    @property
    def smoothing(self) -> int:
        """Delta, what is added to each number of runs."""
        return smoothing(self.loss.epsilon, self.slack, 4 * self.thresholds / self.delta)

    @property
    def scales(self) -> tuple[Fraction, Fraction]:
        """Scale of the noise on the target and on each threshold, in steps."""
        return noise_scales(self.resolution, self.epsilon)

    def threshold(self, place: int) -> Fraction:
        """tau_i = 1 - (i - 1)/(R - 1), places counted from 0."""
        return 1 - Fraction(place, self.thresholds - 1)

    def find(self, candidates: Candidates[Output], randomness: Randomness | None = None) -> Fraction | None:
        """The threshold found, or None where the noise let none pass.

        Args:
            candidates: of the loss that was stated or less, with scores in [0, 1].
            randomness: for candidates and noise; the operating system's source by default.
        """
        source = randomness or SecureRandomness()
        scores = [candidates.draw(source).score for _ in range(self.samples)]

        def excesses() -> Iterator[int]:
            for place in range(self.thresholds):
                level = self.threshold(place)
                yield self.excess(sum(1 for score in scores if score >= level))

        target_scale, query_scale = self.scales
        found = search(excesses(), threshold_scale=target_scale, query_scale=query_scale, randomness=source)
        return None if found is None else self.threshold(found)

    def law(self, law: FiniteLaw) -> NDArray[np.float64]:
        """P(each threshold), and last P(none), float64, shape (R + 1,), of the law of one call of Q."""
        chances = [chance_at_least(law, self.threshold(place)) for place in range(self.thresholds)]
        return law_of_nested_search(chances, _all_excesses(self), self.scales)

    def excess(self, above: int) -> int:
        """ln(above + Delta) - (ln(N p* + Delta) - Lambda) in whole steps, Lambda = eps_0/2 + (6S/eps_3) ln(1/beta).

        The target does not depend on the data, so floating point may round it.
        """
        change = self.loss.epsilon + self.slack
        step = change / self.resolution
        lowered = float(self.slack / 2) - float(6 * change / self.epsilon) * math.log(self.failing)
        target = math.log(self.samples * self.percentile + self.smoothing) - lowered
        return floor_of_log(Fraction(above + self.smoothing), step) - math.floor(target / step)


@cache
def _all_excesses(search: PercentileThreshold) -> tuple[int, ...]:
    return tuple(search.excess(above) for above in range(search.samples + 1))
