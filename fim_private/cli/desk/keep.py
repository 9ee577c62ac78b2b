"""Step 6, what to keep: the page to publish, tables, and the ledger's history."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import marimo as mo

from fim_private.cli.desk.command import note, shown, table, words_of, write
from fim_private.ledger import Ledger
from fim_private.release import Release
from fim_private.report.ledger_text import history_rows

Commands = dict[str, list[str]]


def commands(path: Path, release: Release, title: str) -> Commands:
    """The command that writes each file, by what it is."""

    def to(ending: str, option: str) -> dict[str, Any]:
        file = path.with_name(path.stem + ending)
        return {option: file, "overwrite": file.exists()}

    source = {"file": [str(path)]}
    found = {
        "Write the page to publish": words_of("show", source, to(".html", "html"), {"title": title}),
        "Write a table": words_of("show", source, to(".csv", "output")),
    }
    if release.terms.plan.counts is not None:
        found["Write a table of rules"] = words_of("rules", source, {"min_confidence": 0.2}, to("-rules.csv", "output"))
    return found


def buttons(found: Commands, say: Callable[[str], None]) -> Any:
    """A button for each file."""
    press = {what: lambda _, words=words: say(write(words)) for what, words in found.items()}
    return mo.ui.dictionary({what: mo.ui.button(label=what, on_click=press[what]) for what in found})


def view(found: Commands, pressed: Any, told: str, ledger: str) -> mo.Html:
    """The buttons, each with its command, and the ledger's history."""
    parts = [part for what, words in found.items() for part in (pressed[what], shown(words))]
    parts += [note(told, "success")] if told else []
    if ledger:
        head, *rows = history_rows(Ledger(ledger).history())
        command = words_of("budget history", {"file": [ledger]})
        parts += [mo.md("The history of the ledger:"), table(head, rows), shown(command)]
    return mo.vstack(parts)
