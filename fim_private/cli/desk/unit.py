"""Step 2, who is protected: a basket or a customer; and what bounds would drop, for the curator alone."""

from collections.abc import Sequence

import marimo as mo

from fim_private.cli.desk.command import ALONE, Edited, Fields, folded, note, options, shown, table
from fim_private.cli.words import Choices, help_of
from fim_private.transactions.bounding import merge_units
from fim_private.transactions.columns.column_names import UNIT_NAMES
from fim_private.transactions.columns.column_roles import known_column
from fim_private.transactions.curator_text import BANNER, bounds, facts, warnings
from fim_private.transactions.dataset import Transactions

WHO = "Nobody can tell from the answer whether this one was in the data"
BASKET = "Each basket: every basket belongs to another customer, or holds all that a customer bought"
CUSTOMER = "Each customer, with all their baskets: a column of the file names the customer"
TOGETHER = {
    "Customers who bought the items together in one basket": "",
    "Customers who ever bought all of the items, in one basket or in several": "unit",
}
DROP = "--drop-rows-without-unit: leave out rows without a customer (otherwise a file with such rows is refused)"
MOST = help_of("mine", ("max_transactions",))["max_transactions"]


def form(columns: Sequence[str], edited: Edited) -> Fields:
    """Whom to protect. The customer's column is proposed if its name is well known."""
    known = known_column(columns, UNIT_NAMES)
    column = None if known is None else columns[known]
    return Fields(
        "## 2. Who is protected\n\n{who}\n\n"
        "<details open><summary>For customers: their column, and what is counted</summary>"
        "{column}{drop}{together}{most}</details>",
        who=options(["Please choose", BASKET, *([CUSTOMER] if columns else [])], WHO, edited),
        column=mo.ui.dropdown(columns, value=column, label="The column that names the customer", on_change=edited),
        drop=mo.ui.checkbox(label=DROP, on_change=edited),
        together=options(TOGETHER, "What is counted", edited),
        most=mo.ui.text(label=MOST, full_width=True, on_change=edited),
    )


def choices(value: Choices) -> Choices | None:
    """The unit; None if nothing was chosen yet."""
    if value["who"] != CUSTOMER or value["column"] is None:
        return {"unit": "transaction"} if value["who"] == BASKET else None
    counted = {"together": TOGETHER[value["together"]], "max_transactions": value["most"].strip()}
    return {"unit_column": value["column"], "drop_rows_without_unit": value["drop"], **counted}


def view(found: Transactions, words: Sequence[str]) -> mo.Html:
    """The exact figures, folded away."""
    merged = merge_units(found)
    drops = [table(head, rows) for head, *rows in bounds(found, merged)]
    tables = [table(["exact, not private", ""], facts(found, merged)), *drops]
    warning = note(BANNER.replace("\n", " "), "danger")
    exact = folded(f"{ALONE}exact figures, and what each bound would drop", warning, *tables)
    return mo.vstack([*(note(one, "warn") for one in warnings(found.notes, found.vocabulary)), exact, shown(words)])
