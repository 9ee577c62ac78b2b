"""Whether a release fits in a ledger, and for how much; what the first release decides."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

from fim_private.accounting.filter import HALF, Charge
from fim_private.errors import UsageError
from fim_private.ledger.charge import charge_of
from fim_private.ledger.records import State
from fim_private.ledger.refusal import refusal
from fim_private.plan import Plan


def decide(state: State, plan: Plan, *, search: bool = True) -> tuple[Fraction, Charge]:
    """The basic test's share of delta, and the plan's charge, which fits.

    Args:
        state: of the ledger.
        plan: of the release.
        search: whether to look for what would fit instead, which takes a second or two.

    Raises:
        BudgetError: it does not fit.
        UsageError: the ledger holds releases for another unit or relation.
    """
    _check_promise(state, plan)
    rules = [state.rule(share) for share in _shares(state, plan)]
    for rule in rules:
        charge = charge_of(plan, rule)
        if rule.admits(state.spent + charge):
            return rule.basic_share, charge
    raise refusal(plan, rules, state.spent, search=search)


def _shares(state: State, plan: Plan) -> Sequence[Fraction]:
    """What the basic test may have of delta: fixed, or open to the first charge, the better first.

    Nothing has been answered yet when the first charge is made, so what it decides depends on nobody's data. Renyi
    composition helps those who take less of delta than of epsilon: half of delta has to be enough for the basic test.
    """
    if state.basic_share is not None:
        return (state.basic_share,)
    guarantee, budget = plan.guarantee, state.budget
    even = 2 * guarantee.delta * budget.epsilon <= guarantee.epsilon * budget.delta
    return (HALF, Fraction(1)) if even else (Fraction(1), HALF)


def _check_promise(state: State, plan: Plan) -> None:
    """All releases of a ledger have to promise the same kind of thing, or their costs do not add up to a promise."""
    if state.relation is None:
        return
    if plan.relation is not state.relation:
        raise UsageError(
            f"This ledger holds releases for {state.relation} neighbours, and this one is for {plan.relation}.",
            f"Give --neighbours {state.relation}, or keep another ledger for another part of the budget.",
        )
    if plan.unit.column != state.unit_column:
        held = "each transaction" if state.unit_column is None else f"the units of column {state.unit_column!r}"
        asked = "each transaction" if plan.unit.column is None else f"the units of column {plan.unit.column!r}"
        option = "--unit transaction" if state.unit_column is None else f"--unit-column {state.unit_column}"
        raise UsageError(
            f"This ledger holds releases that protect {held}, and this one would protect {asked}: different promises, "
            "whose costs do not add up.",
            f"Give {option}, or keep another ledger.",
        )
