"""A command as its words: made of the values of its options, understood as the command line does, and run.

What shows a command and does the same itself takes both from here, so that they cannot differ.
"""

from __future__ import annotations

import os
import subprocess
import sys
import weakref
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import fields
from tempfile import TemporaryFile
from typing import Any, TypeVar, cast

import typer
import typer.core

from fim_private.errors import UsageError

Group = TypeVar("Group")
Choices = Mapping[str, Any]
"""Values of options by their names, with underscores; `file` is a list of what a command takes first."""


def words_of(command: str, *choices: Choices) -> list[str]:
    """The words of a command. Options without a value are left out, and so are those that the command does not have.

    >>> words_of("mine", {"file": ["-x.csv"], "top": 5, "merge": True, "seed": ""}, {"exclude": ["a b", "-c"], "n": 1})
    ['fim-private', 'mine', './-x.csv', '--top', '5', '--merge', '--exclude', 'a b', '--exclude=-c']
    """
    known = {param.name for param in _command(command).params if param.param_type_name == "option"}
    blank: tuple[Any, ...] = (None, "", [])
    given = {name: value for one in choices for name, value in one.items() if value not in blank and value is not False}
    files = given.pop("file", [])
    words = ["fim-private", *command.split(), *(f"./{file}" if file.startswith("-") else file for file in files)]
    for name in filter(known.__contains__, given):
        option = f"--{name.replace('_', '-')}"
        for part in given[name] if isinstance(given[name], list) else [given[name]]:
            words += [option] if part is True else [option, str(part)] if str(part)[0] != "-" else [f"{option}={part}"]
    return words


def understood(words: Sequence[str]) -> dict[str, Any]:
    """The values of all options of a command, as the command line reads them.

    Raises:
        UsageError: a value is not what its option takes.
    """
    try:
        return _command(words[1]).make_context(words[1], list(words[2:])).params
    except typer.BadParameter as error:
        raise UsageError(error.format_message(), "Change what you wrote.") from None


def group_of(kind: Callable[..., Group], given: Choices) -> Group:
    """A group of options, such as `Reading`, of the values that a command understood."""
    return kind(**{field.name: given[field.name] for field in fields(cast(Any, kind)) if field.name in given})


def help_of(command: str, names: Collection[str] = (), *, section: str | None = None) -> dict[str, str]:
    """What options are for, in the words of help, by their names: the named ones, or those of a section of the help."""
    params = [param for param in _command(command).params if isinstance(param, typer.core.TyperOption)]
    return {
        str(param.name): f"{max(param.opts, key=len)}: {param.help}"
        for param in params
        if (param.rich_help_panel == section if section else param.name in names) and not param.is_flag
    }


class Run:
    """A command that runs as in a terminal, and goes on if this process ends. Nothing that it prints is kept."""

    def __init__(self, words: Sequence[str]) -> None:
        with TemporaryFile() as notes:
            self._notes, nothing = os.dup(notes.fileno()), subprocess.DEVNULL
        weakref.finalize(self, os.close, self._notes)
        # Without -P, a file such as polars.py in the current folder would be run instead of the library.
        command = [sys.executable, "-P", "-m", "fim_private", *words[1:]]
        self.process = subprocess.Popen(  # noqa: S603 - our own program
            command, stdin=nothing, stdout=nothing, stderr=self._notes, start_new_session=True
        )

    def told(self) -> str:
        """What it told on standard error so far."""
        return os.pread(self._notes, 1 << 20, 0).decode(errors="replace").strip()


def _command(names: str) -> typer.core.TyperCommand:
    from fim_private.cli.app import app

    found: Any = typer.main.get_command(app)
    for name in names.split():
        found = found.commands[name]
    return cast(typer.core.TyperCommand, found)
