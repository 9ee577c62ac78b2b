"""Step 3, the question: which itemsets, how many, of which items."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import marimo as mo

from fim_private.cli.desk.command import Choices, group_of, note, shown, understood
from fim_private.cli.options import Question
from fim_private.plan import Plan, plan_for
from fim_private.report.pages.plan import question_in_words

SIZES: dict[str, Choices] = {
    "Pairs of items": {"size": 2},
    "Single items, and pairs": {"sizes": "1-2", "per_size": True},
    "Triples of items": {"size": 3},
    "Single items": {"size": 1},
}
COUNTS: dict[str, Choices] = {
    "Their names, and about how often each is bought": {"release_counts": True},
    "The same, with rules: who buys A also buys B": {"release_counts": True, "with_subsets": True},
    "Their names alone, which are then the most reliable": {},
}


def form() -> Any:
    """What to find."""
    return mo.md(
        "## 3. The question\n\n{sizes}\n\n{top}\n\n{counts}\n\n<details><summary>A catalogue, items to look for, items "
        "to leave out</summary>What you write here becomes public.{universe_file}{must_contain}{exclude}</details>"
    ).batch(
        sizes=mo.ui.radio(list(SIZES), value=next(iter(SIZES)), label="What to find"),
        top=mo.ui.number(1, 10_000, value=10, label="How many"),
        counts=mo.ui.radio(list(COUNTS), value=next(iter(COUNTS)), label="What to publish of them"),
        universe_file=mo.ui.text(label="A public list of your items: a file with one in each line", full_width=True),
        must_contain=mo.ui.text_area(label="Only itemsets with these items, one in each line", rows=2, full_width=True),
        exclude=mo.ui.text_area(label="Only itemsets without these items", rows=2, full_width=True),
    )


def choices(value: Choices) -> Choices:
    """The question."""
    lists = {name: [line for line in value[name].splitlines() if line.strip()] for name in ("must_contain", "exclude")}
    files = {"universe_file": value["universe_file"].strip()}
    return {**SIZES[value["sizes"]], "top": value["top"], **COUNTS[value["counts"]], **files, **lists}


def planned(words: Sequence[str]) -> Plan:
    """The plan that a command makes."""
    return plan_for(group_of(Question, understood(words)).asked())


def view(plan: Plan, words: Sequence[str]) -> mo.Html:
    """The question in words."""
    return mo.vstack([note(f"{question_in_words(plan.question, top=plan.top)}."), shown(words)])
