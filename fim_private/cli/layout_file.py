"""A layout in a file: `inspect -o shop.toml` writes how data was read, and `--layout shop.toml` reads other data so."""

from __future__ import annotations

import json
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from fim_private.cli.replay import GUESSED, is_from
from fim_private.cli.settings_file import read_settings, read_toml
from fim_private.errors import UsageError

if TYPE_CHECKING:
    import typer

    from fim_private.transactions.layout import Layout

MARK = "guessed"
"""The setting that lists what was guessed. A guess that is written down is still one."""
TEXTS = (
    *("format", "separator", "encoding", "sheet", "skip_lines", "skip_columns"),
    *("transaction_column", "item_column", "item_separator", "unit_column", "where", "query"),
)
SWITCH = "drop_rows_without_unit"
ABOVE = """\
# How fim-private reads this data. Give it as --layout FILE; options on the command line override it.
"""
OF_GUESSES = """
# These were guessed from the data, so they are public only as a guess, and the promise covers only data that lead to
# the same guess. Delete the line if you know from elsewhere that they are right.
"""


def settings_of_layout(context: typer.Context, path: Path | None) -> Path | None:
    """Take the settings of a layout for all options that were not typed. They override those of --config.

    Raises:
        InputError: the file cannot be read.
        UsageError: a setting does not exist, or is not what it has to be.
    """
    if path is None or context.resilient_parsing:
        return path
    guessed = read_toml(path, option="--layout").get(MARK, [])
    if not isinstance(guessed, list) or not all(part in TEXTS for part in guessed):
        raise UsageError(f"In {path}, {MARK} is not a list of settings.", 'Write it as in guessed = ["format"].')
    settings = read_settings(path, (*TEXTS, SWITCH, MARK), option="--layout")
    for name in TEXTS:
        if not isinstance(settings.get(name, ""), str | int) or isinstance(settings.get(name), bool):
            raise UsageError(f"In {path}, {name} is not a text.", "Write the value as on the command line, in quotes.")
    if not isinstance(settings.get(SWITCH, False), bool):
        raise UsageError(f"In {path}, {SWITCH} is neither true nor false.", f"Write {SWITCH} = true.")
    found: dict[str, Any] = {name: str(settings[name]) for name in TEXTS if name in settings}
    if settings.get(SWITCH):
        found[SWITCH] = True
    # If the command line says that transactions are protected, the settings about units do not apply.
    for name in ("unit_column", SWITCH):
        if name in found:
            found[name] = partial(_unless_typed, context, "unit", found[name])
    context.default_map = {**(context.default_map or {}), **found}
    context.meta[GUESSED] = [*context.meta.get(GUESSED, ()), *guessed]
    return path


def layout_text(layout: Layout, *, drop_rows_without_unit: bool) -> str:
    """A layout as the content of a file that `settings_of_layout` takes."""
    settings = {**layout.settings(), "unit_column": layout.unit_column}
    lines = [f"{name} = {_quoted(value)}" for name in TEXTS if (value := settings.get(name)) is not None]
    if drop_rows_without_unit:
        lines.append(f"{SWITCH} = true")
    guesses = ""
    if layout.guessed:
        guesses = f"{OF_GUESSES}{MARK} = [{', '.join(map(_quoted, layout.guessed))}]\n"
    return "\n".join([ABOVE, *lines]) + "\n" + guesses


def _quoted(text: str) -> str:
    """A text as TOML writes it, which is as JSON writes it, except for one character."""
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")


def _unless_typed(context: typer.Context, other: str, value: object) -> object:
    return None if is_from(context, other, "COMMANDLINE", "DEFAULT_MAP") else value
