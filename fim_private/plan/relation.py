"""Group privacy: how a mechanism for add-remove serves the relation `replace`. No other module plans with it.

A mechanism calibrated for add-remove at (eps/2, delta/(1+e^{eps/2})) is (eps, delta)-differentially private for
`replace`, because `replace` is one removal and one addition (docs/mathematics.md#group-privacy).
"""

from __future__ import annotations

from fractions import Fraction

from fim_private.accounting.rounding import exp_up, round_down
from fim_private.privacy import Budget, Guarantee


def halved(budget: Budget) -> tuple[Fraction, Fraction]:
    """(epsilon, delta) that a mechanism for add-remove may spend so that the budget holds for `replace`."""
    epsilon = budget.epsilon / 2
    delta = round_down(float(budget.delta / (1 + exp_up(epsilon)))) if budget.delta else Fraction(0)
    return epsilon, delta


def doubled(guarantee: Guarantee) -> Guarantee:
    """The guarantee for `replace` of a mechanism with this guarantee for add-remove (group privacy, two steps)."""
    return Guarantee(
        epsilon=2 * guarantee.epsilon,
        delta=guarantee.delta * (1 + exp_up(guarantee.epsilon)),
        composition=guarantee.composition,
    )
