"""Plans of mechanisms for lessons, and checks that a mechanism is of the kind that a lesson can look into."""

from __future__ import annotations

from typing import Any, TypeVar

from fim_private.plan import Plan, make_plan
from fim_private.privacy import Budget, PrivacyUnit

Kind = TypeVar("Kind")


TRANSACTION = PrivacyUnit()


def pairs_plan(name: str, *, epsilon: str, delta: str = "1e-6", unit: PrivacyUnit = TRANSACTION, **asked: Any) -> Plan:
    """The plan for the top pairs. What else is asked goes to `make_plan`."""
    return make_plan(size=2, budget=Budget(epsilon, delta), unit=unit, mechanism=name, **asked)


def mechanism_of(kind: type[Kind], plan: Plan) -> Kind:
    """The plan's mechanism.

    Raises:
        TypeError: the mechanism is of another kind.
    """
    if not isinstance(plan.mechanism, kind):
        raise TypeError(f"{plan.mechanism_name} is no {kind.__name__}")
    return plan.mechanism
