"""The command that a step shows, what the command line understands of it, and how it is run."""

from __future__ import annotations

import os
import shlex
import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import fields
from tempfile import TemporaryFile
from typing import Any, TypeVar, cast

import marimo as mo
import typer
import typer.core

from fim_private.cli.app import app, fault
from fim_private.errors import FimPrivateError, UsageError
from fim_private.report.document import Code, Part, Table
from fim_private.report.document.markdown import escaped, part_markdown

Result = TypeVar("Result")
Choices = Mapping[str, Any]
"""Options by their names, with underscores; `file` is a list of what a command takes first."""


def words_of(command: str, *choices: Choices) -> list[str]:
    """The words of a command. What was left blank is left out."""
    chosen = {name: value for part in choices for name, value in part.items() if value not in (None, "", False, [])}
    files = chosen.pop("file", [])
    # A file that begins with a hyphen is no option.
    words = ["fim-private", *command.split(), *(f"./{file}" if file.startswith("-") else file for file in files)]
    for name, value in chosen.items():
        option = f"--{name.replace('_', '-')}"
        for part in value if isinstance(value, list) else [value]:
            words += [option] if part is True else [option, str(part)] if str(part)[0] != "-" else [f"{option}={part}"]
    return words


def understood(words: Sequence[str]) -> dict[str, Any]:
    """The values of a command's options, as the command line reads them."""
    command = cast(typer.core.TyperGroup, typer.main.get_command(app)).commands[words[1]]
    try:
        return command.make_context(words[1], list(words[2:])).params
    except typer.BadParameter as error:
        raise UsageError(error.format_message(), "Change what you wrote.") from None


def group_of(kind: Callable[..., Result], given: Mapping[str, Any]) -> Result:
    """A group of options, such as `Reading`."""
    return kind(**{field.name: given[field.name] for field in fields(cast(Any, kind)) if field.name in given})


class Run:
    """A command that runs as in a terminal, and goes on if the desk ends."""

    def __init__(self, words: Sequence[str]) -> None:
        self._notes, nothing = TemporaryFile(), subprocess.DEVNULL  # noqa: SIM115 - as long as this run
        command = [sys.executable, "-m", "fim_private", *words[1:]]
        self.process = subprocess.Popen(  # noqa: S603 - our own program
            command, stdin=nothing, stdout=nothing, stderr=self._notes, start_new_session=True
        )

    def told(self) -> str:
        """What it told so far."""
        return os.pread(self._notes.fileno(), 1 << 20, 0).decode(errors="replace").strip()


def write(words: Sequence[str]) -> str:
    """Run a command that takes a moment, and return what it told first."""
    run = Run(words)
    run.process.wait()
    return run.told().partition("\n\n")[0]


def tried(work: Callable[[], Result]) -> Result:
    """What the work gives. An error ends the step, and those after it, with the library's own words."""
    try:
        return work()
    except FimPrivateError as error:
        trouble = f"{error.what} {error.next_step}"
    except Exception as error:
        trouble = f"This program has a fault ({fault(error)}). Please report it with the command."
    mo.stop(True, note(trouble, "danger"))
    raise AssertionError("a stopped step does not go on")


def as_html(part: Part) -> mo.Html:
    """A part of a document. Texts in tables and code are shown as they are."""
    return mo.md(part_markdown(part, frozenset(), ""))


def note(text: str, kind: Any = "neutral") -> mo.Html:
    """A paragraph that stands out. The text is shown as it is."""
    return mo.callout(mo.Html(f"<div role='status'>{mo.md(escaped(text)).text}</div>"), kind=kind)


def shown(words: Sequence[str]) -> mo.Html:
    """A command, to be copied into a terminal."""
    return mo.vstack([mo.md("The command that does the same:"), as_html(Code(text=shlex.join(words)))], gap=0)


def table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> mo.Html:
    """Rows of texts, shown as they are."""
    return as_html(Table(name="t", head=tuple(head), rows=tuple(map(tuple, rows)), caption=""))
