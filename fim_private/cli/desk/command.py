"""What all steps share: showing texts, tables, commands and errors, and buttons that run commands."""

import shlex
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any, TypeVar

import marimo as mo

from fim_private.cli.app import fault
from fim_private.cli.words import Run
from fim_private.demos.notebook import element
from fim_private.errors import FimPrivateError
from fim_private.report.document import Code, Table
from fim_private.report.document.markdown import escaped

Result = TypeVar("Result")


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


def note(text: str, kind: Any = "neutral") -> mo.Html:
    """A paragraph that stands out. The text is shown as it is."""
    return mo.callout(mo.Html(f"<div role='status'>{mo.md(escaped(text)).text}</div>"), kind=kind)


def shown(words: Sequence[str]) -> mo.Html:
    """A command, to be copied into a terminal."""
    return mo.vstack([mo.md("The command that does the same:"), element(Code(text=shlex.join(words)))], gap=0)


def table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> mo.Html:
    """Rows of texts, shown as they are."""
    return mo.as_html(element(Table(name="t", head=tuple(head), rows=tuple(map(tuple, rows)), caption="")))


def curators(title: str, *parts: mo.Html, state: str = "") -> mo.Html:
    """What only the curator may see, under a title that shows and hides it."""
    inside = "".join(part.text for part in parts)
    return mo.Html(f"<details {state}><summary>For the curator alone: {title}</summary>{inside}</details>")


def options(known: Collection[str], label: str) -> Any:
    """A choice of texts. The arrow keys work in it, unlike in marimo's radio buttons."""
    return mo.ui.dropdown(list(known), value=next(iter(known)), label=label, full_width=True)


def buttons(found: Mapping[str, Sequence[str]], say: Callable[[str], None]) -> Any:
    """A button for each command, by its label. It runs the command and says what it told first."""

    def press(words: Sequence[str]) -> None:
        run = Run(words)
        run.process.wait()
        say(run.told().partition("\n\n")[0])

    labels = {label: lambda _, words=words: press(words) for label, words in found.items()}
    return mo.ui.dictionary({label: mo.ui.button(label=label, on_click=labels[label]) for label in labels})
