"""Read the configurations that tuning chooses among from a TOML file."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from fim_private.cli.question_options import DEFAULT_COUNT_SHARE
from fim_private.cli.replay import read_toml
from fim_private.errors import UsageError

if TYPE_CHECKING:
    from fim_private.mining.tuning_plan import Configuration

TEXT, WHOLE = ((str,), "text"), ((int,), "a whole number")
KINDS: dict[str, tuple[tuple[type, ...], str]] = {
    "name": TEXT,
    "size": WHOLE,
    "top": WHOLE,
    "mechanism": TEXT,
    "select": TEXT,
    "max_items": WHOLE,
    "max_transactions": WHOLE,
    "release_counts": ((bool, str, float), "true, or a share of epsilon such as 0.3"),
}
"""The settings of a configuration, with the types of their values."""


def read_configurations(path: Path) -> list[Configuration]:
    """The configurations of a file. Each is a table [[candidate]]; settings above the first table hold for all.

    Raises:
        InputError: the file cannot be read.
        UsageError: a setting does not exist, is of the wrong kind, or is missing.
    """
    from fim_private.mining.tuning_plan import Configuration

    found = read_toml(path, option="--candidates")
    tables = found.pop("candidate", [])
    if not isinstance(tables, list) or not all(isinstance(table, dict) for table in tables):
        raise UsageError(
            f"In {path}, candidate is not a list of tables.", "Begin each configuration with a line [[candidate]]."
        )
    configurations = []
    for table in tables:
        settings = {**found, **table}
        _check(path, settings)
        named = {"name": _name(settings), **settings}
        share = named.pop("release_counts", False)
        share = DEFAULT_COUNT_SHARE if share is True else share
        configurations.append(Configuration(**named, count_share=None if share is False else share))
    return configurations


def _check(path: Path, settings: dict[str, Any]) -> None:
    unknown = sorted(set(settings) - set(KINDS))
    if unknown:
        raise UsageError(
            f"{path} has unknown settings: {', '.join(unknown)}.", f"The settings are: {', '.join(KINDS)}."
        )
    for setting, value in settings.items():
        kinds, words = KINDS[setting]
        if type(value) not in kinds:
            raise UsageError(f"In {path}, {setting} is not {words}.", f"Give {setting} {words}.")
    missing = [setting for setting in ("size", "top") if setting not in settings]
    if missing:
        raise UsageError(
            f"In {path}, a candidate has no {' and no '.join(missing)}.",
            "Set it in the candidate, or above all candidates.",
        )


def _name(settings: dict[str, Any]) -> str:
    """The name of a configuration that has none: its settings."""
    words = [str(settings.get("mechanism", "auto"))]
    words += [f"{setting} {value}" for setting, value in settings.items() if setting not in {"name", "mechanism"}]
    return ", ".join(words)
