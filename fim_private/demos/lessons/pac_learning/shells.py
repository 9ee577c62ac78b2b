"""Shells: how many hypotheses err little more than the best, and which shell's margin suffices (section 4.2).

The paper's shell H(t) holds the hypotheses within C_0 t sqrt(d log(n/delta_0)/n) of the least error. Here H(t) holds
the hypotheses within t r, where r is the class's radius of uniform convergence, with its constants.
"""

from __future__ import annotations

from fim_private.demos.lessons.pac_learning.bounds import margin_needed
from fim_private.demos.lessons.pac_learning.classes import HypothesisClass
from fim_private.mechanisms.lmm_paper import PublishedLargeMargin


def shell(hypotheses: HypothesisClass, t: int, n: int, delta_0: float) -> int:
    """|H(t)|."""
    return hypotheses.within(t * hypotheses.radius(n, delta_0))


def t_star(
    hypotheses: HypothesisClass, mechanism: PublishedLargeMargin, n: int, *, delta_0: float, eta: float
) -> int | None:
    """The least t for which the margin (t - 1) r n behind place |H(t+1)| suffices for Theorem 3 (`bounds.py` has why).

    None if the shells reach the whole class or the mechanism's public cap before such a t.
    """
    radius = hypotheses.radius(n, delta_0)
    t = 1
    while (size := shell(hypotheses, t + 1, n, delta_0)) <= mechanism.max_candidates and size < hypotheses.size:
        if (t - 1) * radius * n >= margin_needed(mechanism, size, eta):
            return t
        t += 1
    return None
