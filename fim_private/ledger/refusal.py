"""A refusal in words: what was requested, what remains, the excess, and what would fit."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from fractions import Fraction

from fim_private.accounting.cost import Priced
from fim_private.accounting.privacy_filter import Charge, PrivacyFilter, log_of
from fim_private.accounting.rounding import round_down
from fim_private.accounting.search import largest_between
from fim_private.errors import BudgetError, FimPrivateError
from fim_private.ledger.charge import charge_of
from fim_private.plan import Plan, plan_again
from fim_private.privacy import SMALLEST_EPSILON, Budget

SEARCH_SECONDS = 1.2
"""The limit to the search for an epsilon or a top. The search usually ends much sooner."""

HARDLY_ANY = Fraction(1, 10)
"""Below this share of the epsilon that was asked for, a smaller delta is looked for too."""


def refusal(plan: Priced, rules: Sequence[PrivacyFilter], spent: Charge, *, search: bool) -> BudgetError:
    """The error for a plan that none of the filters admits. `search` plans again, in search of what would fit."""
    basic = max(rules, key=lambda rule: rule.basic_share)
    asked, left = plan.cost.guarantee, remaining(basic, spent)

    def fits(other: Plan | None) -> bool:
        return other is not None and any(rule.admits(spent + charge_of(other.cost, rule)) for rule in rules)

    epsilon = delta = top = None
    if search and isinstance(plan, Plan):  # a choice among plans is not planned again
        epsilon, top = _largest_epsilon(plan, left.epsilon, fits), _largest_top(plan, fits)
        if epsilon is None or epsilon < HARDLY_ANY * plan.budget.epsilon:
            delta = _smaller_delta(plan, left.delta, fits)
    added_up = f"epsilon {amount(left.epsilon)}, delta {amount(left.delta)}"
    if epsilon is None or (asked.delta <= left.delta and epsilon <= left.epsilon):
        rest, most = added_up, left
    else:
        rest = f"epsilon {amount(epsilon)} for this question (adding costs up leaves {added_up})"
        most = Charge(epsilon=epsilon, delta=asked.delta)
    over = {"epsilon": asked.epsilon - most.epsilon, "delta": asked.delta - most.delta}
    excess = ", ".join(f"{name} {amount(more, up=True)}" for name, more in over.items() if more > 0)
    what = (
        f"The ledger's budget does not allow this release: requested epsilon {amount(asked.epsilon, up=True)}, delta "
        f"{amount(asked.delta, up=True)}; "
    )
    if delta is not None and asked.epsilon > left.epsilon:
        what += f"adding costs up leaves {added_up}. Counted together, its costs would fit with a smaller delta."
    else:
        what += f"remaining {rest}; too much by {excess}."
    if not (search and isinstance(plan, Plan)):
        smaller = " and ".join(name for name, more in over.items() if more > 0)
        return BudgetError(what, f"Ask for a smaller {smaller}, or raise the total (budget set).")
    ways = []
    if delta is not None:
        ways.append(f"--delta {amount(delta)}, at this epsilon and --top")
    if epsilon is not None:
        ways.append(f"--epsilon {amount(epsilon)}, the largest at this delta and --top")
    if top is not None:
        ways.append(f"--top {top}, the largest at this epsilon and delta")
    if ways := ways or _all_that_is_left(plan, left, fits):
        return BudgetError(what, f"What would fit: {'; or '.join(ways)}.")
    needs_delta = left.epsilon >= SMALLEST_EPSILON and asked.delta > left.delta
    smaller = "give --delta 0 with a public list of items (--universe-file), or " if needs_delta else ""
    return BudgetError(what, f"No epsilon would fit at this delta: {smaller}raise the total (budget set).")


def remaining(rule: PrivacyFilter, spent: Charge) -> Charge:
    """What the basic test leaves, at least 0. An epsilon that nobody may ask for is nothing: rounding leaves it."""
    epsilon = rule.budget.epsilon - spent.epsilon
    return Charge(
        epsilon=epsilon if epsilon >= SMALLEST_EPSILON else Fraction(0),
        delta=max(Fraction(0), rule.basic_delta - spent.delta),
    )


def amount(value: Fraction, *, up: bool = False) -> str:
    """A number with at most four digits, rounded up or down.

    >>> amount(Fraction(1, 3)), amount(Fraction(1, 3), up=True), amount(Fraction(0)), amount(Fraction(1, 10**6))
    ('0.3333', '0.3334', '0', '1e-6')
    """
    if not value:
        return "0"
    unit = Fraction(10) ** (math.floor(log_of(value) / math.log(10) + 1e-12) - 3)
    rounded = unit * (math.ceil(value / unit) if up else math.floor(value / unit))
    return f"{float(rounded):.4g}".replace("e-0", "e-").replace("e+0", "e")


def _planned(
    plan: Plan, *, epsilon: Fraction | None = None, delta: Fraction | None = None, top: int | None = None
) -> Plan | None:
    """The plan for a smaller epsilon, delta or top; None if there is no such plan."""
    asked = plan.budget
    try:
        budget = Budget(asked.epsilon if epsilon is None else epsilon, asked.delta if delta is None else delta)
        return plan_again(plan, budget=budget, top=plan.top if top is None else top)
    except FimPrivateError:
        return None


def _largest_epsilon(plan: Plan, left: Fraction, fits: Callable[[Plan | None], bool]) -> Fraction | None:
    """The largest epsilon of three digits that fits, below the one that was asked for.

    During the search the mechanism stays as the planner chose it. For the answer the planner chooses again, so that the
    answer is what a user who takes it would get.
    """
    until = time.monotonic() + SEARCH_SECONDS
    settled = replace(plan, question=replace(plan.question, mechanism=plan.mechanism_name))

    def tried(epsilon: Fraction) -> bool:
        return time.monotonic() < until and fits(_planned(settled, epsilon=epsilon))

    asked = plan.budget.epsilon
    starts = [round_down(left, digits=4)] if left else []
    starts += [round_down(asked / 10**power, digits=3) for power in (1, 2, 3, 4)]
    low = next((start for start in starts if SMALLEST_EPSILON <= start < asked and tried(start)), None)
    if low is None:
        return None
    low = largest_between(tried, low, asked, ratio=Fraction(1005, 1000), digits=3)
    found = (low, *(start for start in starts if start < low))
    return next((epsilon for epsilon in found if fits(_planned(plan, epsilon=epsilon))), None)


def _smaller_delta(plan: Plan, left: Fraction, fits: Callable[[Plan | None], bool]) -> Fraction | None:
    """A smaller delta that fits at the same epsilon and top; None if none that is tried fits.

    The Renyi test may run out of delta for failures, at any epsilon, while the basic test has delta left.
    """
    until = time.monotonic() + SEARCH_SECONDS / 2
    asked = plan.budget.delta
    tries = [round_down(delta, digits=3) for delta in (left, *(asked / part for part in (2, 5, 10, 100))) if delta]
    smaller = (delta for delta in tries if delta < asked and time.monotonic() < until)
    return next((delta for delta in smaller if fits(_planned(plan, delta=delta))), None)


def _all_that_is_left(plan: Plan, left: Charge, fits: Callable[[Plan | None], bool]) -> list[str]:
    """What is left of epsilon and of delta, if the plan asks for more of both and can be made with these."""
    epsilon, delta = (round_down(part, digits=4) if part else part for part in (left.epsilon, left.delta))
    more_of_both = plan.budget.epsilon > epsilon and plan.budget.delta > delta > 0
    found = more_of_both and fits(_planned(plan, epsilon=epsilon, delta=delta))
    return [f"--epsilon {amount(epsilon)} --delta {amount(delta)}, at this --top"] if found else []


def _largest_top(plan: Plan, fits: Callable[[Plan | None], bool]) -> int | None:
    """The largest tried --top, below the one asked for, that fits at the same epsilon; None if none fits."""
    until = time.monotonic() + SEARCH_SECONDS / 2
    low, high = 0, plan.top
    for top in (plan.top // 2, 1):
        if top and not low and fits(_planned(plan, top=top)):
            low = top
    while low and high - low > max(1, high // 50) and time.monotonic() < until:
        middle = (low + high) // 2
        low, high = (middle, high) if fits(_planned(plan, top=middle)) else (low, middle)
    return low or None
