"""Step 1, the data: which files, how they are read, and the questions about their layout."""

from __future__ import annotations

import shlex
from collections.abc import Callable, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any

import marimo as mo

from fim_private.cli.desk.command import Choices, group_of, note, shown, table, understood
from fim_private.cli.options import Reading
from fim_private.transactions import Doubt, Transactions, read_transactions
from fim_private.transactions.figures import first_transactions
from fim_private.transactions.reading import column_names

LAYOUT = {
    "sheet": "Excel: the sheet, by its name or number",
    "transaction_column": "The column with the number of the basket, invoice or order",
    "item_column": "The column with the name of the item",
    "where": "Only the rows for which this holds, such as Quantity > 0",
    "format": "The format: fimi, basket, long, lists or one-hot",
    "separator": "What separates columns or items, such as ;",
    "item_separator": "What separates the items inside a cell",
    "skip_lines": "How many lines to leave out at the beginning",
    "skip_columns": "Which columns of baskets to leave out, such as 1,3",
    "encoding": "The encoding of the text, such as latin-1",
    "query": "Database: what to select",
}
"""The options of a layout, and what to write there."""


def form(files: Sequence[str]) -> Any:
    """The file, and how to read it."""
    label = "The file's path. For several files: one in each line, or a pattern such as shop-*.csv"
    return mo.md(
        "## 1. The data\n\n{file}\n\n<details><summary>It is read wrong, or comes from Excel or a database</summary>"
        f"{''.join(map('{{{}}}'.format, LAYOUT))}</details>"
    ).batch(
        file=mo.ui.text_area("\n".join(files), label=label, rows=2, full_width=True),
        **{name: mo.ui.text(label=what, full_width=True) for name, what in LAYOUT.items()},
    )


def choices(value: Choices, settled: Choices) -> Choices:
    """The files and their layout. What was typed goes before the answers to questions about the same files."""
    files = [line.strip() for line in value["file"].splitlines() if line.strip()]
    typed = {name: value[name].strip() for name in LAYOUT if value[name].strip()}
    return {**(settled if settled.get("file") == files else {}), **typed, "file": files}


def read(words: Sequence[str]) -> tuple[Transactions, list[Doubt], list[str]]:
    """What a command reads: transactions, what looks odd about them, and the columns that may name customers."""
    files = map(Path, understood(words)["file"])
    return _read(tuple(words), tuple(file.stat().st_mtime_ns for file in files if file.is_file()))


@lru_cache(maxsize=2)
def _read(words: Sequence[str], _changed: tuple[int, ...]) -> tuple[Transactions, list[Doubt], list[str]]:
    given, doubts = understood(words), list[Doubt]()
    options = group_of(Reading, given).arguments(given["unit_column"])
    found = read_transactions(given["file"], **options, on_doubt=doubts.append)
    return found, doubts, column_names(given["file"], found.notes.layout)


def answers(doubts: Sequence[Doubt], settle: Callable[[Choices], None]) -> Any:
    """A button for each way to settle the first doubt."""
    found = {}
    for sentence, options in doubts[0].choices if doubts else ():
        names, values = shlex.split(options)[::2], shlex.split(options)[1::2]
        answer = {name.strip("-").replace("-", "_"): value for name, value in zip(names, values, strict=True)}
        press = lambda _, answer=answer: settle(answer)  # noqa: E731 - one for each answer
        found[sentence] = mo.ui.button(label=sentence, disabled=not answer, on_click=press)
    return mo.ui.dictionary(found)


def view(found: Transactions, doubts: Sequence[Doubt], buttons: Any, words: Sequence[str]) -> mo.Html:
    """How the data was read, its first transactions, and the first doubt with its answers."""
    title = (
        "For the curator alone: the first baskets, as they were read. If they look wrong, say above how to read them"
    )
    first = mo.accordion({title: table(["items", "which"], first_transactions(found))})
    odd = [note(f"Please decide: {doubts[0].what}", "warn"), *buttons.elements.values()] if doubts else []
    return mo.vstack([note(f"Read as {found.notes.layout.describe()}."), first, *odd, shown(words)])
