"""Decide whether a release fits in a ledger and what it is charged. The first release settles some rules."""

from __future__ import annotations

import shlex
from dataclasses import replace
from fractions import Fraction

from fim_private.accounting.cost import Cost, Priced
from fim_private.accounting.privacy_filter import HALF, Charge, PrivacyFilter
from fim_private.errors import BudgetError, UsageError
from fim_private.ledger.charge import charge_of
from fim_private.ledger.records import State
from fim_private.ledger.refusal import amount, refusal
from fim_private.privacy import Budget
from fim_private.release import Layout


def decide(state: State, plan: Priced, *, search: bool = True) -> tuple[PrivacyFilter, Charge]:
    """The filter that is in force from this release on, and the plan's charge. The filter admits the charge.

    Args:
        state: the ledger's state.
        plan: the release's plan.
        search: whether a refusal looks for what would fit instead, which takes a second or two.

    Raises:
        BudgetError: the release does not fit.
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


def with_total(state: State, budget: Budget) -> State:
    """The state with another total.

    Raises:
        BudgetError: more than the new total is already spent.
    """
    later = replace(state, budget=budget)
    rule = later.rule()
    if not state.releases or rule.admits(state.spent):
        return later
    if not rule.pays(state.spent):
        most = amount(state.failing_epsilon or Fraction(0))
        raise BudgetError(
            "Added up, the releases of this ledger exceed the new total. Renyi composition allows no "
            f"epsilon above {most}, the total at the first release.",
            "Give at most that epsilon, or keep another ledger; this one is as it was.",
        )
    raise BudgetError(
        f"More was spent already: epsilon {amount(state.spent.epsilon, up=True)}, delta "
        f"{amount(state.spent.delta, up=True)} (basic composition).",
        "A total cannot be set below what was spent; the ledger is as it was.",
    )


def check_layout(state: State, cost: Cost, layout: Layout | None) -> None:
    """Refuse data whose transactions differ in kind from the first release's, or whose guessed layout differs.

    A guess looks at the data: one neighbour may be read with commas and the other with semicolons, and the released
    items would tell which. So the layout is a public parameter. The first release settles it, and people may type
    another one.

    Raises:
        UsageError: the data is refused.
    """
    if layout is None or state.layout is None:
        return
    if cost.unit.column is None and layout.transaction_column != state.layout.transaction_column:
        raise UsageError(
            "This ledger holds releases that protect each transaction, where a transaction is "
            f"{state.layout.transaction}, and this one would protect {layout.transaction}. The costs of different "
            "promises do not add up.",
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


def first_rules(state: State, cost: Cost) -> list[PrivacyFilter]:
    """The filters that the first release may settle, the better one first.

    There are no answers yet at the first charge, so what it settles does not depend on anybody's data. Renyi
    composition helps releases that take a smaller share of delta than of epsilon: half of delta must then be enough for
    the basic test. Failures may be paid on both sides, up to today's epsilon, in two cases: this release is charged in
    that way, or many releases like it would use up the divergence before half of phi.
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
    """Refuse another relation or unit: costs add up only if all releases make the same kind of promise."""
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
        option = "--unit transaction" if state.unit_column is None else f"--unit-column {_typed(state.unit_column)}"
        raise UsageError(
            f"This ledger holds releases that protect {held}, and this one would protect {asked}. The costs of "
            "different promises do not add up.",
            f"Give {option}, or keep another ledger.",
        )


def _typed(name: str) -> str:
    """A column's name as it is typed; with control characters written out, so that it cannot steer the terminal."""
    return shlex.quote(name) if name.isprintable() else repr(name)
