"""Step 4, the budget: epsilon and delta with their odds, what they are enough for, and the ledger that pays."""

from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Any

import marimo as mo

from fim_private.cli.commands.plan import advice_for
from fim_private.cli.desk.command import Edited, Fields, folded, note, shown
from fim_private.cli.question_options import QuestionToSeveral
from fim_private.cli.words import Choices, group_of, understood, words_of
from fim_private.demos.notebook import element
from fim_private.ledger import Ledger
from fim_private.ledger.decision import decide
from fim_private.plan import Plan
from fim_private.report.document import Code
from fim_private.report.ledger_text import left_in_words, state_text, stated_budget
from fim_private.report.pages.plan import advised_parts, needs_parts, question_in_words
from fim_private.report.promise_in_short import promise_briefly
from fim_private.report.promise_text import weak_promise

EPSILONS = (0.1, 0.2, 0.3, 0.5, 0.7, 1, 1.5, 2, 3, 4, 5, 7, 10)
DELTA = "**Delta**, the chance that it fails, by its zeros: 6 is 1 in 1,000,000. Keep it far below 1 in your customers"
ZEROS = (4, 5, 6, 7, 8, 9, 10, 12)


def form(edited: Edited) -> Fields:
    """How much to spend, two public numbers for the advice, and the ledger."""

    def slider(steps: Sequence[float], value: float, label: str) -> Any:
        shape: Any = {"show_value": True, "full_width": True, "debounce": True}
        return mo.ui.slider(steps=steps, value=value, label=label, on_change=edited, **shape)

    text = partial(mo.ui.text, on_change=edited)
    return Fields(
        "## 4. The budget\n\n{epsilon}\n\n{delta}\n\n{about}\n\n{items_per_unit}\n\nA ledger adds up what all answers "
        "from the same data cost, and refuses what goes beyond a total.\n\n{ledger}\n\n"
        "<details><summary>The total of a new ledger</summary>{total_epsilon}{total_delta}</details>",
        epsilon=slider(EPSILONS, 1, "**Epsilon**: a smaller one protects people more, a larger one answers more"),
        delta=slider(ZEROS, 6, DELTA),
        about=text(label="For advice: about how many customers or baskets? Give a round number that is public"),
        items_per_unit=text("10", label="And about how many different items does each of them hold?"),
        ledger=text(label="The file of the ledger, such as shop.ledger, old or new; empty for none"),
        total_epsilon=slider(EPSILONS, 3, "Epsilon of all answers together"),
        total_delta=slider(ZEROS, 5, "Delta of all answers together, by its zeros"),
    )


def choices(value: Choices, which: str = "") -> Choices:
    """What this answer, or the total, may cost; the ledger; and two numbers for advice if they were written."""
    advice = {name: value[name].strip() for name in ("about", "items_per_unit") if value["about"].strip()}
    spent = {"epsilon": f"{value[which + 'epsilon']:g}", "delta": f"1e-{value[which + 'delta']}"}
    return {**spent, "mechanism": "auto", "ledger": value["ledger"].strip(), **advice}


def view(plan: Plan, words: Sequence[str]) -> mo.Html:
    """The question in words, the odds, what the data must show, and the advice if it was asked for."""
    weak, given = weak_promise(plan.budget), understood(words)
    parts = [note(f"{question_in_words(plan.question, top=plan.top)}. {promise_briefly(plan)}")]
    parts += [note(weak, "danger")] if weak else []
    if given["about"] is not None:
        advice = advice_for(group_of(QuestionToSeveral, given), given["about"], given["items_per_unit"])
        parts += map(element, advised_parts(advice))
    leads = folded("How clear an itemset has to be to be named", *map(element, needs_parts(plan)))
    return mo.vstack([*parts, leads, shown(words)])


def ledger_view(path: str, make: Any, words: Sequence[str], told: str) -> list[mo.Html]:
    """What the ledger has left; or the button that makes it, and why it could not."""
    if not path or not Path(path).exists():
        return [make, *([note(told, "danger")] if told else []), shown(words)] if path else []
    return [element(Code(text=state_text(Ledger(path).state()))), shown(words_of("budget show", {"file": [path]}))]


def cost(plan: Plan, path: str) -> str:
    """What is asked, what the answer spends and what stays, in words. An error says that the ledger refuses it."""
    asked = question_in_words(plan.question, top=plan.top)
    takes = f"{asked}. This spends {stated_budget(plan.budget)}, even if the answer is short or empty"
    if not path:
        return f"{takes}. No ledger records it: each further answer from this data adds to the risk of everybody in it."
    state = Ledger(path).state()
    rule, charge = decide(state, plan)
    before, after = left_in_words(rule, state.spent), left_in_words(rule, state.spent + charge)
    return f"{takes}. The ledger {path} has {before} left, and {after} afterwards, if costs are added up."
