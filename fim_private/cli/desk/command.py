"""What all steps share: showing texts, tables, commands and errors, and buttons that run commands."""

import re
import shlex
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any, TypeVar

import marimo as mo

from fim_private.cli.app import fault
from fim_private.cli.words import Run
from fim_private.demos.notebook import element
from fim_private.errors import FimPrivateError
from fim_private.report.document import Code, visible

Result = TypeVar("Result")
ALONE = "For you alone, who hold the data: "
Edited = Callable[[Any], None]  # sets a state, and the cells that read it run again


class Fields(mo.Html):
    """Fields in a text, each an element of its own: of edits of one `batch` while cells run, marimo keeps the last."""

    def __init__(self, text: str, **fields: Any) -> None:
        super().__init__(mo.md(text).text.format(**fields))
        self.fields = fields

    @property
    def value(self) -> dict[str, Any]:
        """What the fields hold, by their names."""
        return {name: field.value for name, field in self.fields.items()}


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


def plain(text: str) -> str:
    """The text to be shown as it is, in HTML and in marimo's Markdown, which knows formulas and emojis as well."""
    return re.sub("[^A-Za-z0-9 ]", lambda match: f"&#{ord(match[0])};", visible(text))


def note(text: str, kind: Any = "neutral") -> mo.Html:
    """A paragraph that stands out. The text is shown as it is."""
    return mo.callout(mo.Html(f"<div role='status'>{mo.md(plain(' '.join(text.split()))).text}</div>"), kind=kind)


def shown(words: Sequence[str]) -> mo.Html:
    """A command, to be copied into a terminal."""
    return mo.vstack([mo.md("The command that does the same:"), element(Code(text=shlex.join(words)))], gap=0)


def table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> mo.Html:
    """Rows of texts, shown as they are."""
    lines = ["".join(f"<td>{plain(cell)}</td>" for cell in row) for row in rows]
    top = "".join(f"<th>{plain(cell)}</th>" for cell in head)
    return mo.md(f"<table><thead><tr>{top}</tr></thead><tbody><tr>{'</tr><tr>'.join(lines)}</tr></tbody></table>")


def folded(title: str, *parts: mo.Html, state: str = "") -> mo.Html:
    """Parts under a title that shows and hides them."""
    inside = "".join(part.text for part in parts)
    return mo.Html(f"<details {state}><summary>{title}</summary>{inside}</details>")


def options(known: Collection[str], label: str, edited: Edited) -> Any:
    """A choice of texts. The arrow keys work in it, unlike in marimo's radio buttons."""
    return mo.ui.dropdown(list(known), value=next(iter(known)), label=label, full_width=True, on_change=edited)


def buttons(found: Mapping[str, Sequence[str]], say: Callable[[str], None]) -> dict[str, Any]:
    """A button for each command, by its label. It runs the command and says what it told first."""

    def press(words: Sequence[str]) -> None:
        run = Run(words)
        run.process.wait()
        say(run.told().partition("\n\n")[0])

    labels: dict[str, Any] = {label: lambda _, words=words: press(words) for label, words in found.items()}
    return {label: mo.ui.button(label=label, on_click=press) for label, press in labels.items()}
