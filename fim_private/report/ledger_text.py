"""A ledger in words: its total, what is spent and what remains, and its history as rows."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

from fim_private.accounting.privacy_filter import Charge, PrivacyFilter
from fim_private.ledger import Entry, State
from fim_private.ledger.refusal import amount, remaining
from fim_private.printable import printable
from fim_private.privacy import Budget
from fim_private.report.document.text import stated

SHARPER = "for Renyi composition, by which many small releases cost less"


def stated_budget(budget: Budget) -> str:
    """A total in words."""
    return f"epsilon {stated(budget.epsilon)}, delta {stated(budget.delta)}"


def left_in_words(rule: PrivacyFilter, spent: Charge) -> str:
    """What remains if costs are added up, and of how much."""
    left = remaining(rule, spent)
    return _of_total(rule, amount(left.epsilon), amount(left.delta))


def _added_up(rule: PrivacyFilter, spent: Charge) -> str:
    """What is spent and what remains, if costs are added up."""
    if spent.epsilon > rule.budget.epsilon or spent.delta > rule.basic_delta:
        return "nothing is left this way, though the total holds: the releases are proved to cost less together"
    epsilon, epsilon_left = _shown(rule.budget.epsilon, spent.epsilon)
    delta, delta_left = _shown(rule.basic_delta, spent.delta)
    return f"epsilon {epsilon}, delta {delta} spent; {_of_total(rule, epsilon_left, delta_left)} left"


def _of_total(rule: PrivacyFilter, epsilon: str, delta: str) -> str:
    return f"epsilon {epsilon} of {stated(rule.budget.epsilon)}, delta {delta} of {stated(rule.basic_delta)}"


def _shown(total: Fraction, spent: Fraction) -> tuple[str, str]:
    """What is spent, rounded up, and what that leaves. They add up to a total that was typed as a decimal number.

    >>> _shown(Fraction(3), Fraction("0.99985")), _shown(Fraction(1), Fraction(1, 3))
    (('0.9999', '2.0001'), ('0.3334', '0.6666'))
    """
    # Less than that would need too many digits.
    least = total / 10**8
    taken = min(total, Fraction(amount(max(spent, least), up=True))) if spent else Fraction(0)
    left = max(Fraction(0), total - taken)
    exactly = stated(left)
    return stated(taken), exactly if Fraction(exactly) == left else amount(left)


def state_text(state: State) -> str:
    """The state in words."""
    spent, rule = state.spent, state.rule()
    releases = f"{state.releases:,}" + (
        f", {state.undelivered:,} of them charged, not delivered" if state.undelivered else ""
    )
    shared = f"{float(100 * rule.basic_share):g} % of delta is for adding costs up"
    shared += f", the rest {SHARPER}" if rule.basic_share != 1 else ""
    undecided = state.basic_share is None
    if undecided:
        shared = f"the first release decides whether all of delta is for adding costs up, or half of it {SHARPER}"
    lines = [
        *([("dataset", printable(state.dataset))] if state.dataset else []),
        ("total", stated_budget(state.budget)),
        ("protects", _protected(state)),
        ("releases", releases),
        ("composition", f"{printable(state.composition)}: {shared}"),
        *([] if undecided else [("added up", _added_up(rule, spent))]),
    ]
    if not undecided and rule.failing_epsilon is not None and not rule.pays(spent):
        highest = stated(rule.failing_epsilon)
        lines.append(
            ("or by Renyi", f"nothing is left while epsilon is above {highest}, the total at the first release")
        )
    elif not undecided and rule.bound is not None:
        share = rule.renyi_share(spent)
        used = f"{amount(100 * share, up=True)} % of what it allows is spent" if share <= 1 else "nothing is left"
        lines += [("or by Renyi", used), ("", "A release has to fit one of the two.")]
    return "\n".join(f"{name:<13}{text}" for name, text in lines)


def history_rows(entries: Sequence[Entry]) -> list[list[str]]:
    """The heading, and a row for each charged release and each total that was set, oldest first."""
    head = ["time (UTC)", "what", "epsilon", "delta", "state", "id", "mechanism"]
    return [
        head,
        *(
            [
                printable(entry.time.removesuffix("+00:00")),
                "total" if entry.what == "total" else "release",
                amount(entry.epsilon, up=True),
                amount(entry.delta, up=True),
                {None: "set", "charged": "charged, not delivered"}.get(entry.state, "delivered"),
                printable(entry.id or "-"),
                printable(entry.mechanism or "-"),
            ]
            for entry in entries
        ),
    ]


def _protected(state: State) -> str:
    if state.relation is None:
        return "the unit of the first release"
    unit = "one transaction" if state.unit_column is None else f"one unit of column {state.unit_column!r}"
    return f"{unit}, {state.relation} neighbours"
