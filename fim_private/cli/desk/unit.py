"""Step 2, who is protected: a basket or a customer; and what bounds would drop, for the curator alone."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import marimo as mo

from fim_private.cli.desk.command import Choices, note, shown, table, words_of
from fim_private.transactions import Transactions
from fim_private.transactions.columns.column_names import UNIT_NAMES
from fim_private.transactions.columns.column_roles import known_column
from fim_private.transactions.figures import BANNER, bounds, facts, nobody_notes

BASKET = "Each basket: every basket belongs to another customer, or holds all that a customer bought"
CUSTOMER = "Each customer, with all their baskets: a column of the file names the customer"
TOGETHER = {
    "Customers who bought the items together in one basket": "",
    "Customers who ever bought all of the items, in one basket or in several": "unit",
    "Baskets, of which each customer keeps only some, chosen at random": "most",
}


def form(columns: Sequence[str]) -> Any:
    """Whom to protect. The customer's column is proposed if its name is well known."""
    known = known_column(columns, UNIT_NAMES)
    column = None if known is None else columns[known]
    return mo.md(
        "## 2. Who is protected\n\nThe answer will not tell whether this one was in the data:\n\n{who}\n\n"
        "<details><summary>For customers: their column, and what is counted</summary>"
        "{column}{drop}{together}{most}</details>"
    ).batch(
        who=mo.ui.radio([BASKET, CUSTOMER] if columns else [BASKET]),
        column=mo.ui.dropdown(list(dict.fromkeys(columns)), value=column, label="The column that names the customer"),
        drop=mo.ui.checkbox(label="Leave out rows without a customer (otherwise a file with such rows is refused)"),
        together=mo.ui.radio(list(TOGETHER), value=next(iter(TOGETHER)), label="What is counted"),
        most=mo.ui.number(1, 10_000, value=5, label="Baskets that each customer keeps, if baskets are counted"),
    )


def choices(value: Choices) -> Choices | None:
    """The unit; None if nothing was chosen yet."""
    if value["who"] != CUSTOMER or value["column"] is None:
        return {"unit": "transaction"} if value["who"] == BASKET else None
    together = TOGETHER[value["together"]]
    counted = {"max_transactions": value["most"]} if together == "most" else {"together": together}
    return {"unit_column": value["column"], "drop_rows_without_unit": value["drop"], **counted}


def promised(unit: Choices) -> Choices:
    """The unit without what only concerns reading."""
    return {name: option for name, option in unit.items() if name != "drop_rows_without_unit"}


def inspected(data: Choices, unit: Choices) -> list[str]:
    """The command that shows the exact figures."""
    return words_of("inspect", data, {name: unit[name] for name in unit if name not in ("unit", "max_transactions")})


def view(found: Transactions, words: Sequence[str]) -> mo.Html:
    """The exact figures, folded away."""
    tables = [table(["exact, not private", ""], facts(found)), *(table(head, rows) for head, *rows in bounds(found))]
    exact = mo.vstack([note(BANNER.replace("\n", " "), "danger"), *tables])
    odd = [note(one, "warn") for one in nobody_notes(found.notes)]
    title = "For the curator alone: exact figures, and what each bound would drop"
    return mo.vstack([*odd, mo.accordion({title: exact}), shown(words)])
