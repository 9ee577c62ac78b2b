"""A lesson has words, a few controls, and a pure function from the controls' settings to parts of a document."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TypeAlias

from fim_private.demos.chart import Chart
from fim_private.errors import UsageError
from fim_private.report.document import Bullets, Code, Paragraph, Table

Settings: TypeAlias = Mapping[str, str]
"""One choice for each control, by the control's name."""

Shown: TypeAlias = Paragraph | Bullets | Code | Table | Chart


@dataclass(frozen=True, kw_only=True)
class Control:
    """A setting that the reader can change.

    Args:
        name: as typed after --set.
        what: what the control sets, in a few words.
        choices: its values, in order, as text.
        start: the value it starts at.
    """

    name: str
    what: str
    choices: tuple[str, ...]
    start: str

    def checked(self, value: str) -> str:
        """Return the value if it is one of the choices.

        Raises:
            UsageError: the value is not one of the choices.
        """
        if value not in self.choices:
            raise UsageError(
                f"The control {self.name} cannot be set to {value!r}.", f"Choose one of: {', '.join(self.choices)}."
            )
        return value


@dataclass(frozen=True, kw_only=True)
class Question:
    """A question for the reader: from which value of the first control on does something happen?

    Args:
        text: the question.
        happens: whether it happens at these settings.
        yes: the answer where it happens.
        no: the answer where it does not happen.
    """

    text: str
    happens: Callable[[Settings], bool]
    yes: str
    no: str


@dataclass(frozen=True, kw_only=True)
class Demo:
    """One lesson.

    Args:
        name: as typed after `fim-private demo`.
        title: the title of the page.
        summary: one line for the list.
        minutes: about how long a reader needs.
        introduction: the text before the controls. It does not depend on their settings.
        controls: the controls. The question is about the first; pages have the first two.
        show: the parts to show at these settings.
        question: the question for the reader.
    """

    name: str
    title: str
    summary: str
    minutes: int
    introduction: tuple[Paragraph | Bullets | Code, ...]
    controls: tuple[Control, ...]
    show: Callable[[Settings], tuple[Shown, ...]]
    question: Question

    @property
    def source(self) -> str:
        """The file that computes the lesson, relative to the folder of this file."""
        return self.show.__module__.removeprefix("fim_private.demos.").replace(".", "/") + ".py"

    def settings(self, changes: Settings | None = None) -> dict[str, str]:
        """A value for every control: the value in `changes`, or the value it starts at.

        Raises:
            UsageError: there is no such control, or the control has no such place.
        """
        changes = changes or {}
        known = [control.name for control in self.controls]
        for name in changes:
            if name not in known:
                raise UsageError(f"This demo has no control {name!r}.", f"Its controls are {', '.join(known)}.")
        return {control.name: control.checked(changes.get(control.name, control.start)) for control in self.controls}

    def verdict(self, settings: Settings) -> str:
        """The answer to the question at these settings, in words."""
        return self.question.yes if self.question.happens(settings) else self.question.no

    def answer(self, changes: Settings | None = None) -> str | None:
        """The first value of the first control at which it happens, or None. The other controls stay as set."""
        settings = self.settings(changes)
        control = self.controls[0]
        return next(
            (choice for choice in control.choices if self.question.happens({**settings, control.name: choice})), None
        )
