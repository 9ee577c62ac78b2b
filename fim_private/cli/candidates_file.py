"""The configurations that tuning chooses among, from a TOML file."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from fim_private.cli.replay import read_toml
from fim_private.errors import UsageError

if TYPE_CHECKING:
    from fim_private.mining.tuning import Configuration

KINDS: dict[str, type] = {
    "name": str,
    "size": int,
    "top": int,
    "mechanism": str,
    "select": str,
    "max_items": int,
    "max_transactions": int,
}
"""What a configuration may set."""


def read_configurations(path: Path) -> list[Configuration]:
    """The configurations of a file: a table [[candidate]] each; what stands above them holds for all.

    Raises:
        InputError: it cannot be read.
        UsageError: a setting does not exist, is of the wrong kind, or is missing.
    """
    from fim_private.mining.tuning import Configuration

    found = read_toml(path, option="--candidates")
    tables = found.pop("candidate", [])
    if not isinstance(tables, list) or not all(isinstance(table, dict) for table in tables):
        raise UsageError(f"In {path}, candidate is no list of tables.", "Begin each with a line [[candidate]].")
    configurations = []
    for table in tables:
        settings = {**found, **table}
        _check(path, settings)
        named = {"name": _name(settings), **settings}
        configurations.append(Configuration(**named))
    return configurations


def _check(path: Path, settings: dict[str, Any]) -> None:
    unknown = sorted(set(settings) - set(KINDS))
    if unknown:
        raise UsageError(
            f"{path} has settings that do not exist: {', '.join(unknown)}.", f"There are: {', '.join(KINDS)}."
        )
    for setting, value in settings.items():
        if not isinstance(value, KINDS[setting]) or isinstance(value, bool):
            kind = "text" if KINDS[setting] is str else "a whole number"
            raise UsageError(f"In {path}, {setting} is not {kind}.", f"Give {setting} {kind}.")
    missing = [setting for setting in ("size", "top") if setting not in settings]
    if missing:
        raise UsageError(
            f"In {path}, a candidate has no {' and no '.join(missing)}.", "Set it there, or above all candidates."
        )


def _name(settings: dict[str, Any]) -> str:
    """What a configuration without a name is called: what it sets."""
    words = [str(settings.get("mechanism", "auto"))]
    words += [f"{setting} {value}" for setting, value in settings.items() if setting not in {"name", "mechanism"}]
    return ", ".join(words)
