"""Step 1, the data: which files, how they are read, and the questions about their layout."""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import marimo as mo

from fim_private.cli.desk.command import ALONE, Edited, Fields, folded, note, plain, shown, table
from fim_private.cli.options import Reading
from fim_private.cli.words import Choices, group_of, help_of, understood
from fim_private.transactions.curator_text import first_transactions
from fim_private.transactions.dataset import Transactions
from fim_private.transactions.formats.doubt import Doubt
from fim_private.transactions.reading import column_names, read_transactions

LAYOUT = help_of("inspect", section="How to read the file")


def form(files: Sequence[str], edited: Edited) -> Fields:
    """The file, and how to read it."""
    label = "The path of the file. For several files: one in each line, or a pattern such as shop-*.csv"
    return Fields(
        "# From a file to a published page\n\nFind what is bought together, and publish it without exposing anybody. "
        "Nothing leaves this machine. Nothing is spent before you confirm it.\n\n## 1. The data\n\n{file}\n\n"
        "<details><summary>Excel sheets, databases, and files that are read wrong: --sheet, --query and more</summary>"
        f"{''.join(map('{{{}}}'.format, LAYOUT))}</details>",
        file=mo.ui.text_area("\n".join(files), label=label, rows=2, full_width=True, on_change=edited),
        **{name: mo.ui.text(label=what, full_width=True, on_change=edited) for name, what in LAYOUT.items()},
    )


def choices(value: Choices, settled: Choices) -> Choices:
    """The files and their layout. What was typed goes before the answers to questions about the same files."""
    lines = (line.strip().strip('"') for line in value["file"].splitlines())
    # As a shell does it. Addresses of databases stay as they are.
    files = [str(Path(line).expanduser()) if line.startswith("~/") else line for line in lines if line]
    typed = {name: value[name].strip() for name in LAYOUT if value[name].strip()}
    return {**(settled if settled.get("file") == files else {}), **typed, "file": files}


def read(words: Sequence[str]) -> tuple[Transactions, list[Doubt], list[str]]:
    """What a command reads: transactions, what looks odd about them, and the columns that may name customers."""
    given, doubts = understood(words), list[Doubt]()
    options = group_of(Reading, given).arguments(given["unit_column"])
    found = read_transactions(given["file"], **options, on_doubt=doubts.append)
    return found, doubts, list(dict.fromkeys(column_names(given["file"], found.notes.layout)))


def answers(doubts: Sequence[Doubt], settle: Callable[[Choices], None]) -> list[Any]:
    """A button for each way to settle the first doubt."""
    ways = {str(way): way.options for way in (doubts[0].instead, doubts[0].stays)} if doubts else {}
    press: dict[str, Any] = {said: lambda _, options=options: settle(options) for said, options in ways.items()}
    return [mo.ui.button(label=plain(said), disabled=not ways[said], on_click=press[said]) for said in ways]


def view(found: Transactions, doubts: Sequence[Doubt], buttons: list[Any], words: Sequence[str]) -> mo.Html:
    """How the data was read, its first transactions, and the first doubt with its answers."""
    rows = table(["items", "basket"], first_transactions(found))
    first = folded(f"{ALONE}the first baskets, as they were read. Do they look right?", rows, state="open")
    odd = [note(f"Please decide: {doubts[0].what}", "warn"), *buttons] if doubts else []
    return mo.vstack([note(f"Read as {found.notes.layout.describe()}."), first, *odd, shown(words)])
