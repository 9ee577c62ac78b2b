"""Exact laws of the noisy searches of Algorithms 3, 4 and 5, where what is searched is itself random."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray
from scipy.stats import binom

from fim_private.mechanisms.sparse_vector import discrete_laplace_law
from fim_private.randomness.discrete_laplace import discrete_laplace_survival

Floats = NDArray[np.float64]
Scales = tuple[Fraction, Fraction]
"""Scale of the noise on the threshold and on each query, in steps."""


def law_of_search(queries: Sequence[Mapping[int, float]], scales: Scales) -> Floats:
    """P(stop at each query), and last P(none), of queries independent of each other, float64, (queries + 1,).

    Args:
        queries: of each, the probability of each excess over the threshold, in steps.
        scales: of the noise.
    """
    shifts, going = discrete_laplace_law(float(scales[0]))
    going = going.copy()
    law = np.empty(len(queries) + 1)
    for place, excesses in enumerate(queries):
        passing = np.zeros(len(shifts))
        for excess, chance in excesses.items():
            passing += chance * discrete_laplace_survival(shifts - excess, float(scales[1]))
        law[place] = going @ passing
        going *= 1 - passing
    law[-1] = np.sum(going)
    return law


def law_of_nested_search(chances: Sequence[float], excesses: Sequence[int], scales: Scales) -> Floats:
    """The same for queries about one sample: of N runs, how many lie at or above ever lower thresholds.

    Args:
        chances: increasing, the probability that a run lies at or above each threshold.
        excesses: of 0, ..., N runs above, in steps.
        scales: of the noise.

    Cost: thresholds times N^2, and N times the width of the noise.
    """
    shifts, noise = discrete_laplace_law(float(scales[0]))
    samples = len(excesses) - 1
    passing = np.stack([discrete_laplace_survival(shifts - excess, float(scales[1])) for excess in excesses])
    going = np.zeros((samples + 1, len(shifts)))
    going[0] = noise
    law, before = np.empty(len(chances) + 1), 0.0
    for place, chance in enumerate(chances):
        # Given X runs above the threshold before, each of the others is above this one independently.
        moving = 0.0 if before >= 1 else min(1.0, max(0.0, (chance - before) / (1 - before)))
        moves = np.zeros((samples + 1, samples + 1))
        for above in range(samples + 1):
            moves[above:, above] = binomial(samples - above, moving)
        going = moves @ going
        law[place] = np.sum(going * passing)
        going *= 1 - passing
        before = chance
    law[-1] = np.sum(going)
    return law


def binomial(number: int, chance: float) -> Floats:
    """P(X = 0), ..., P(X = number) of as many independent trials, float64, shape (number + 1,)."""
    probabilities: Floats = binom.pmf(np.arange(number + 1), number, chance)
    return probabilities
