"""Plans of mechanisms for lessons, and checks that a mechanism is of the kind that a lesson can look into."""

from __future__ import annotations

from typing import TypeVar

from fim_private.plan import Plan, Universe, make_plan
from fim_private.privacy import Budget, PrivacyUnit

Kind = TypeVar("Kind")


TRANSACTION = PrivacyUnit()


def pairs_plan(
    name: str, *, top: int, epsilon: str, delta: str = "1e-6", unit: PrivacyUnit = TRANSACTION,
    universe: Universe | None = None, count_share: str | None = None, with_subsets: bool = False,
) -> Plan:  # fmt: skip
    """The plan for the top pairs."""
    return make_plan(
        size=2,
        top=top,
        budget=Budget(epsilon, delta),
        unit=unit,
        mechanism=name,
        universe=universe,
        count_share=count_share,
        with_subsets=with_subsets,
    )


def mechanism_of(kind: type[Kind], plan: Plan) -> Kind:
    """The plan's mechanism.

    Raises:
        TypeError: the mechanism is of another kind.
    """
    if not isinstance(plan.mechanism, kind):
        raise TypeError(f"{plan.mechanism_name} is no {kind.__name__}")
    return plan.mechanism
