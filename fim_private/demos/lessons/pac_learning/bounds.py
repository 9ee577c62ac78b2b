"""What the theorems promise, with every constant: Theorem 3, equation (2) and Corollary 2 of the paper, in counts.

The paper's corollary hides its constants. Here they come from the published mechanism's own thresholds, for noise on
integers: each tail is rounded up by itself. With r the radius of uniform convergence, all sample errors are within r of
the true ones but with probability delta_0. Hypotheses outside shell H(t+1) err by more than (t+1) r beyond the least,
so by more than t r beyond it in the sample, where the best errs by at most r beyond it: the counts have the margin
(t - 1) r n behind place l = |H(t+1)|. (The paper has t for t - 1, and so forgets the best one's own deviation; a
constant factor.) If that suffices for Theorem 3, the hypothesis drawn is, but with probability eta, within
6 ln(2l/eta)/alpha counts of the best, and its true error within 2r + 6 ln(2l/eta)/(alpha n) of the least.
"""

from __future__ import annotations

import math

from fim_private.demos.lessons.pac_learning.classes import HypothesisClass
from fim_private.mechanisms.lmm_paper import PublishedLargeMargin


def margin_needed(mechanism: PublishedLargeMargin, size: int, eta: float) -> int:
    """gamma* n of Theorem 3: the margin behind place l at which the search stops there or before, but for eta/2."""
    tail = math.log(3 / eta) / float(mechanism.alpha)
    return mechanism.threshold(size) + sum(math.ceil(scale * tail) for scale in (3, 6, 12))


def shortfall(mechanism: PublishedLargeMargin, size: int, eta: float) -> float:
    """6 ln(2l/eta)/alpha: by how many counts the one that is drawn falls short of the best, at most, but for eta."""
    return 6 * math.log(2 * size / eta) / float(mechanism.alpha)


def corollary_2(
    hypotheses: HypothesisClass, mechanism: PublishedLargeMargin, n: int, size: int, *, delta_0: float, eta: float
) -> float:
    """The excess error of the large margin mechanism, but for delta_0 + eta.

    Args:
        hypotheses: H.
        mechanism: with its alpha and delta.
        n: training examples.
        size: l = |H(t*+1)|, from `shells.py`.
        delta_0: the chance that the sample is far from the distribution.
        eta: the chance that the mechanism's noise is large.
    """
    return 2 * hypotheses.radius(n, delta_0) + shortfall(mechanism, size, eta) / n


def equation_2(hypotheses: HypothesisClass, alpha: float, n: int, *, delta_0: float, eta: float) -> float:
    """The excess error of the exponential mechanism with the textbook's exponent alpha/2, but for delta_0 + eta.

    A hypothesis that is s counts short of the best is drawn with a chance of e^{-alpha s/2} at most, and there are |H|.
    """
    return 2 * hypotheses.radius(n, delta_0) + 2 * (math.log(hypotheses.size) - math.log(eta)) / (alpha * n)
