"""Step 6, what to keep: the page to publish, tables, and the ledger's history."""

from pathlib import Path
from typing import Any

import marimo as mo

from fim_private.cli.desk.command import note, shown, table
from fim_private.cli.words import words_of
from fim_private.ledger import Ledger
from fim_private.release import Release
from fim_private.report.ledger_text import history_rows


def commands(path: Path, release: Release, title: str) -> dict[str, list[str]]:
    """The command that writes each file, by what it is."""

    def to(ending: str, option: str) -> dict[str, Any]:
        file = path.with_name(path.stem + ending)
        return {"file": [str(path)], option: file, "overwrite": file.exists()}

    found = {
        "Write the page to publish": words_of("show", to(".html", "html"), {"title": title}),
        "Write a table": words_of("show", to(".csv", "output")),
    }
    if release.terms.plan.counts and len({len(one.items) for one in (*release.itemsets, *release.subsets)}) > 1:
        found["Write the rules"] = words_of("rules", {"min_confidence": 0.2}, to("-rules.csv", "output"))
    return found


def view(found: dict[str, list[str]], buttons: Any, told: str, ledger: str) -> mo.Html:
    """A button and a command for each file, and the ledger's history."""
    parts = [part for what, words in found.items() for part in (buttons[what], shown(words))]
    parts += [note(told, "success")] if told else []
    if ledger and Path(ledger).exists():
        head, *rows = history_rows(Ledger(ledger).history())
        parts += [table(head, rows), shown(words_of("budget history", {"file": [ledger]}))]
    return mo.vstack(parts)
