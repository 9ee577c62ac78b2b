"""What the theorems promise, with every constant: Theorem 3, equation (2) and Corollary 2 of the paper, in counts.

The paper's corollary hides its constants. Here they come from the published mechanism's own thresholds, for noise on
integers: each tail is rounded up by itself. Let r be the radius of uniform convergence. Except with probability
delta_0, all sample errors are within r of the true ones. A hypothesis outside shell H(t+1) errs by more than (t+1) r
beyond the least error, so in the sample it errs by more than t r beyond it. The best hypothesis errs in the sample by
at most r beyond the least error. So the counts have the margin (t - 1) r n behind place l = |H(t+1)|. (The paper has t
instead of t - 1. It leaves out the deviation of the best hypothesis, which is a constant factor.) If this margin
suffices for Theorem 3, then except with probability eta the hypothesis drawn is within 6 ln(2l/eta)/alpha counts of the
best, and its true error is within 2r + 6 ln(2l/eta)/(alpha n) of the least.
"""

from __future__ import annotations

import math

from fim_private.demos.lessons.pac_learning.classes import HypothesisClass
from fim_private.mechanisms.lmm_paper import PublishedLargeMargin

DELTA_0 = ETA = 0.05
"""The chances that the sample is far from the distribution, and that the mechanism's noise is large."""


def margin_needed(mechanism: PublishedLargeMargin, size: int) -> int:
    """gamma* n of Theorem 3. With this margin behind l the search stops by l, except with probability eta/2."""
    tail = math.log(3 / ETA) / float(mechanism.alpha)
    return mechanism.threshold(size) + sum(math.ceil(scale * tail) for scale in (3, 6, 12))


def shortfall(mechanism: PublishedLargeMargin, size: int) -> float:
    """6 ln(2l/eta)/alpha: the drawn count is at most this far below the best, except with probability eta."""
    return 6 * math.log(2 * size / ETA) / float(mechanism.alpha)


def corollary_2(hypotheses: HypothesisClass, mechanism: PublishedLargeMargin, n: int, size: int) -> float:
    """The excess error of the large margin mechanism, except with probability delta_0 + eta.

    Args:
        hypotheses: H.
        mechanism: the published mechanism, with its alpha and delta.
        n: training examples.
        size: l = |H(t*+1)|, with t* from `t_star`.
    """
    return 2 * hypotheses.radius(n, DELTA_0) + shortfall(mechanism, size) / n


def equation_2(hypotheses: HypothesisClass, alpha: float, n: int) -> float:
    """Excess error of the exponential mechanism with exponent alpha/2, except with probability delta_0 + eta.

    The chance of a hypothesis that is s counts below the best is at most e^{-alpha s/2}, and there are |H| hypotheses.
    """
    return 2 * hypotheses.radius(n, DELTA_0) + 2 * (math.log(hypotheses.size) - math.log(ETA)) / (alpha * n)


def shell(hypotheses: HypothesisClass, t: int, n: int) -> int:
    """|H(t)|: how many hypotheses are within t r of the least error (section 4.2).

    The paper's H(t) has C_0 t sqrt(d log(n/delta_0)/n) in place of t r; r is the same with its constants.
    """
    return hypotheses.within(t * hypotheses.radius(n, DELTA_0))


def t_star(hypotheses: HypothesisClass, mechanism: PublishedLargeMargin, n: int) -> int | None:
    """The least t for which the margin (t - 1) r n behind place |H(t+1)| suffices for Theorem 3.

    None if the shells reach the whole class or the mechanism's public cap before such a t.
    """
    radius = hypotheses.radius(n, DELTA_0)
    t = 1
    while (size := shell(hypotheses, t + 1, n)) <= mechanism.max_candidates and size < hypotheses.size:
        if (t - 1) * radius * n >= margin_needed(mechanism, size):
            return t
        t += 1
    return None
