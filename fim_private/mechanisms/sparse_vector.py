"""Sparse vector search: the first query at or above its threshold, both noisy (Dwork et al. 2009; Lyu, Su, Li 2017).

Let the threshold and each query have noise DL(scale) with scale = 2 Delta/eps. If all queries move in one direction by
at most Delta, the search is eps-differentially private. If they may move both ways, the queries need twice that scale.
Proof: docs/mathematics.md#sparse-vector.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from fim_private.arrays import Floats
from fim_private.randomness import Randomness
from fim_private.randomness.discrete_laplace import (
    discrete_laplace_mass,
    discrete_laplace_survival,
    sample_discrete_laplace,
)

NEGLIGIBLE = 1e-20
"""Laws leave out stops that are less likely than this. 10,000 such stops together are less likely than 1e-15."""


def search(
    excesses: Iterable[int], *, threshold_scale: Fraction, query_scale: Fraction, randomness: Randomness
) -> int | None:
    """The index of the first query with excess + Z >= G, or None if no query has it.

    Args:
        excesses: query minus threshold, one after the other; read only as far as needed.
        threshold_scale: scale of G ~ DL, drawn once.
        query_scale: scale of each Z ~ DL, drawn anew for each query.
        randomness: where the bits come from.
    """
    shift = sample_discrete_laplace(threshold_scale, randomness)
    for index, excess in enumerate(excesses):
        if excess + sample_discrete_laplace(query_scale, randomness) >= shift:
            return index
    return None


def search_law(excesses: Sequence[int], *, shift_law: tuple[NDArray[np.int64], Floats], query_scale: float) -> Floats:
    """P(stop) at each query, and P(no stop) at the end, float64, shape (queries + 1,).

    Args:
        excesses: query minus threshold.
        shift_law: the law of what the noisy excess must reach: consecutive integers and their probabilities.
        query_scale: scale of each query's noise.
    """
    shifts, going = shift_law[0], shift_law[1].copy()
    law = np.empty(len(excesses) + 1)
    if excesses:
        # All queries share one survival function, shifted. It is evaluated once.
        first = int(shifts[0]) - max(excesses)
        survival = discrete_laplace_survival(np.arange(first, int(shifts[-1]) - min(excesses) + 1), query_scale)
        staying = 1 - survival
    for index, excess in enumerate(excesses):
        start = int(shifts[0]) - excess - first
        law[index] = going @ survival[start : start + len(going)]
        going *= staying[start : start + len(going)]
    law[-1] = np.sum(going)
    return law


def discrete_laplace_law(scale: float) -> tuple[NDArray[np.int64], Floats]:
    """Values and probabilities of DL(scale) on a window that leaves out less than 1e-19 of it."""
    reach = int(45 * scale) + 2
    values = np.arange(-reach, reach + 1)
    return values, discrete_laplace_mass(values, scale)
