"""Whether a release fits in a ledger, and for how much; what the first release decides."""

from __future__ import annotations

import shlex
from dataclasses import replace
from fractions import Fraction

from fim_private.accounting.cost import Cost, Priced
from fim_private.accounting.filter import HALF, Charge, Filter
from fim_private.errors import UsageError
from fim_private.ledger.charge import charge_of
from fim_private.ledger.records import State
from fim_private.ledger.refusal import refusal
from fim_private.release import Layout


def decide(state: State, plan: Priced, *, search: bool = True) -> tuple[Filter, Charge]:
    """The filter that is in force from this release on, and the plan's charge, which it admits.

    Args:
        state: of the ledger.
        plan: of the release.
        search: whether to look for what would fit instead, which takes a second or two.

    Raises:
        BudgetError: it does not fit.
        UsageError: the ledger holds releases for another unit or relation.
    """
    cost = plan.cost
    _check_promise(state, cost)
    rules = [state.rule()] if state.releases else first_rules(state, cost)
    for rule in rules:
        charge = charge_of(cost, rule)
        if rule.admits(state.spent + charge):
            return rule, charge
    raise refusal(plan, rules, state.spent, search=search)


def check_layout(state: State, cost: Cost, layout: Layout | None) -> None:
    """Refuse transactions that are not those of the ledger's first release, and guesses that differ from its layout.

    A guess looks at the data: of two neighbours one may be read as commas, the other as semicolons, and the items named
    would tell which. So the layout is a public parameter: people settle it once, and may type another one.

    Raises:
        UsageError: refused.
    """
    if layout is None or state.layout is None:
        return
    if cost.unit.column is None and layout.transaction_column != state.layout.transaction_column:
        raise UsageError(
            "This ledger holds releases that protect each transaction, where a transaction is "
            f"{state.layout.transaction}, and this one would protect {layout.transaction}: different promises, whose "
            "costs do not add up.",
            f"{_transaction_option(state.layout)}, or keep another ledger; nothing was charged.",
        )
    if any(getattr(layout, part) != getattr(state.layout, part) for part in layout.guessed):
        raise UsageError(
            f"The layout was guessed from the data as {layout.describe()}, and the ledger's first release was read as "
            f"{state.layout.describe()}.",
            f"Type the one that is right, as in {state.layout.as_typed()}; nothing was charged.",
        )


def _transaction_option(layout: Layout) -> str:
    if layout.transaction_column is None:
        return "Give the data with one transaction in each line or row"
    return f"Give --transaction-column {shlex.quote(layout.transaction_column)}"


def first_rules(state: State, cost: Cost) -> list[Filter]:
    """The filters that the first release may settle, the better first.

    Nothing has been answered yet when the first charge is made, so what it settles depends on nobody's data. Renyi
    composition helps those who take less of delta than of epsilon: half of delta has to be enough for the basic test.
    Failures may be paid on both sides, up to today's epsilon, if this release is charged so, or if more like it run out
    of divergence before they run out of half of phi.
    """
    guarantee, budget = cost.guarantee, state.budget
    even = 2 * guarantee.delta * budget.epsilon <= guarantee.epsilon * budget.delta
    shares = [HALF, Fraction(1)] if even else [Fraction(1), HALF]
    if state.basic_share is not None:
        shares = [state.basic_share]
    rules = []
    for share in shares:
        rule = replace(state.rule(), basic_share=share, failing_epsilon=budget.epsilon)
        charge = charge_of(cost, rule)
        divided = rule.bound is not None and (
            charge.failure > 0 or rule.failures_share(charge) < rule.renyi_share(charge)
        )
        rules.append(rule if divided else replace(rule, failing_epsilon=None))
    return rules


def _check_promise(state: State, cost: Cost) -> None:
    """All releases of a ledger have to promise the same kind of thing, or their costs do not add up to a promise."""
    if state.relation is None:
        return
    if cost.relation is not state.relation:
        raise UsageError(
            f"This ledger holds releases for {state.relation} neighbours, and this one is for {cost.relation}.",
            f"Give --neighbours {state.relation}, or keep another ledger for another part of the budget.",
        )
    if cost.unit.column != state.unit_column:
        held = "each transaction" if state.unit_column is None else f"the units of column {state.unit_column!r}"
        asked = "each transaction" if cost.unit.column is None else f"the units of column {cost.unit.column!r}"
        option = "--unit transaction" if state.unit_column is None else f"--unit-column {state.unit_column}"
        raise UsageError(
            f"This ledger holds releases that protect {held}, and this one would protect {asked}: different promises, "
            "whose costs do not add up.",
            f"Give {option}, or keep another ledger.",
        )
