"""Settings from a TOML file, as if a user had typed them."""

from __future__ import annotations

import tomllib
from collections.abc import Collection
from pathlib import Path
from typing import Any

from fim_private.errors import InputError, UsageError, did_you_mean

LARGEST = 1 << 20
"""The most bytes of a file of settings."""
LISTED = "A,B,..."
"""How help shows the value of an option that takes a list. A file of settings may write [A, B]."""


def read_settings(path: Path, allowed: Collection[str], *, option: str = "--config") -> dict[str, Any]:
    """The settings of a TOML file. Each is a value or a plain list; hyphens in names become underscores.

    Raises:
        InputError: the file cannot be read.
        UsageError: a setting does not exist, or is neither a value nor a plain list.
    """
    found = read_toml(path, option=option)
    settings = {name.replace("-", "_"): value for name, value in found.items()}
    if len(settings) < len(found):
        raise UsageError(f"{path} has a setting twice, with a hyphen and with an underscore.", "Leave out one of them.")
    unknown = sorted(settings.keys() - set(allowed))
    if unknown:
        raise UsageError(
            f"{path} has unknown settings: {', '.join(map(repr, unknown))}.",
            f"{did_you_mean(unknown[0], allowed)}The settings are: {', '.join(allowed)}.",
        )
    for name, value in settings.items():
        parts = value if isinstance(value, list) else [value]
        # Only alone does true switch an option on. In a list it would become the text True.
        kinds = {str, int, float} if isinstance(value, list) else {str, int, float, bool}
        if not kinds.issuperset(map(type, parts)):
            raise UsageError(f"In {path}, {name} is neither a value nor a plain list.", f'Write {name} = ["a", "b"].')
    return settings


def read_toml(path: Path, *, option: str) -> dict[str, Any]:
    """The content of a small TOML file.

    Raises:
        InputError: the file cannot be read.
    """
    try:
        return tomllib.loads(text_of(path, option))
    except (ValueError, RecursionError) as error:
        # The parser's message may quote the file.
        _, _, place = str(error).rpartition("(at ")
        where = f": see {place.rstrip(')')}" if place.startswith("line") else ""
        raise InputError(
            f"{path} is not TOML{where}.", "Write one setting per line, as in size = 2. Put texts in quotes."
        ) from None


def text_of(path: Path, option: str = "--config", *, largest: int = LARGEST) -> str:
    """The content of a text file that is not too large."""
    try:
        with path.open("rb") as file:
            content = file.read(largest + 1)
        if len(content) > largest:
            raise InputError(
                f"{path} has over {largest >> 20} MiB, which is too much for {option}.", f"Correct {option}."
            )
        return content.decode()
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or "it is not UTF-8 text"
        raise InputError(f"{path} cannot be read: {reason}.", f"Correct {option}.") from None


def as_typed(path: Path, name: str, value: Any, param: Any) -> Any:
    """The setting as a user would type it, so that the same checks apply."""
    if getattr(param, "is_flag", False):
        if isinstance(value, bool):
            return value
        raise UsageError(f"In {path}, {name} is neither true nor false.", f"Write {name} = true or false.")
    if param.metavar == LISTED and isinstance(value, list):
        return ",".join(map(str, value))
    several = getattr(param, "multiple", False) or param.nargs != 1
    if param.param_type_name == "argument" and several and not isinstance(value, list):
        value = [value]
    if isinstance(value, bool) or isinstance(value, list) is not several:
        wanted = "a list" if several else "a text or a number"
        raise UsageError(f"In {path}, {name} is not {wanted}.", "Write the value as on the command line, in quotes.")
    return [str(part) for part in value] if several else str(value)
