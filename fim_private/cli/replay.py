"""A run again: its options from a TOML file or from the release it made, and the command that a release carries."""

from __future__ import annotations

import shlex
import tomllib
from collections.abc import Collection
from pathlib import Path
from typing import Annotated, Any

import typer

from fim_private.errors import FimPrivateError, InputError, UsageError, did_you_mean

LARGEST = 1 << 20
"""Bytes of a file of settings at most."""
FILES = ("FILE", "LEDGER")
"""What the values of options that name files are called in the help."""
NOT_REPLAYED = ("config", "output")
"""Settings that a release does not bring along: the same file again would replace the release."""


def _settings_of_file(context: typer.Context, path: Path | None) -> Path | None:
    """Let a file's settings stand in for what was not typed."""
    if path is None or context.resilient_parsing:
        return path
    if path.suffix.lower() == ".json":
        settings = _settings_of_release(context, path)
    else:
        named = {_option(param).strip("-").replace("-", "_"): param for param in context.command.params}
        allowed = [name for name, param in named.items() if name != "config" and not getattr(param, "hidden", False)]
        settings = {
            named[name].name: _as_typed(path, name, value, named[name])
            for name, value in read_settings(path, allowed).items()
        }
    context.default_map = settings
    return path


Config = Annotated[
    Path | None,
    typer.Option(
        metavar="FILE",
        is_eager=True,
        callback=_settings_of_file,
        help="Settings that are not typed: a TOML file (size = 2), or a release.json, whose command is run again.",
    ),
]


def read_settings(path: Path, allowed: Collection[str]) -> dict[str, Any]:
    """The settings of a TOML file, each a value or a plain list; hyphens in names are taken as underscores.

    Raises:
        InputError: it cannot be read.
        UsageError: a setting does not exist, or is neither a value nor a plain list.
    """
    found = read_toml(path)
    settings = {name.replace("-", "_"): value for name, value in found.items()}
    unknown = sorted(settings.keys() - set(allowed))
    if unknown:
        raise UsageError(
            f"{path} has settings that do not exist: {', '.join(map(repr, unknown))}.",
            f"{did_you_mean(unknown[0], allowed)}There are: {', '.join(allowed)}.",
        )
    for name, value in settings.items():
        parts = value if isinstance(value, list) else [value]
        if not all(isinstance(part, str | int | float) for part in parts):
            raise UsageError(f"In {path}, {name} is neither a value nor a plain list.", f'Write {name} = ["a", "b"].')
    return settings


def read_toml(path: Path, *, option: str = "--config") -> dict[str, Any]:
    """What a small TOML file says.

    Args:
        path: of the file.
        option: that named it.

    Raises:
        InputError: it cannot be read.
    """
    try:
        return tomllib.loads(_text(path, option))
    except (ValueError, RecursionError) as error:
        # The parser's words may quote the file.
        _, _, place = str(error).rpartition("(at ")
        where = f": see {place.rstrip(')')}" if place.startswith("line") else ""
        raise InputError(
            f"{path} is not TOML{where}.", "Write one setting a line, as in size = 2; strings stand in quotes."
        ) from None


def _text(path: Path, option: str = "--config") -> str:
    """What stands in a small file of text."""
    try:
        with path.open("rb") as file:
            content = file.read(LARGEST + 1)
        if len(content) > LARGEST:
            raise InputError(f"{path} is over a mebibyte, which no settings are.", f"Correct {option}.")
        return content.decode()
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or "it is not a text in UTF-8"
        raise InputError(f"{path} cannot be read: {reason}.", f"Correct {option}.") from None


def _as_typed(path: Path, name: str, value: Any, param: Any) -> Any:
    """A setting as it would have been typed, so that it is checked like that."""
    if getattr(param, "is_flag", False):
        if isinstance(value, bool):
            return value
        raise UsageError(f"In {path}, {name} is neither true nor false.", f"Write {name} = true or false.")
    several = getattr(param, "multiple", False) or param.nargs != 1
    if isinstance(value, bool) or isinstance(value, list) is not several:
        wanted = "a list" if several else "a text or a number"
        raise UsageError(f"In {path}, {name} is not {wanted}.", "Write it as it would be typed, in quotes.")
    return [str(part) for part in value] if several else str(value)


def _settings_of_release(context: typer.Context, path: Path) -> dict[str, Any]:
    """What was typed for a release, but for where it was written."""
    from fim_private.release import Release

    begin = ["fim-private", str(context.info_name)]
    try:
        words = shlex.split(Release.from_json(_text(path)).command or "")
        if words[:2] != begin:
            raise InputError(f"{path} does not say which command made it.", "Give a TOML file, or type the options.")
        typed, rest, _ = context.command.make_parser(context).parse_args(args=words[2:])
        if rest:
            raise ValueError
    except FimPrivateError:
        raise
    except Exception:
        # The parser has its own kinds of errors, which speak of options that nobody typed.
        raise InputError(
            f"{path} was made by a command that this version does not understand.", "Type the options."
        ) from None
    return {name: value for name, value in typed.items() if name not in NOT_REPLAYED}


def _option(param: Any) -> str:
    """The long form of an option; the name of an argument."""
    return str(max(param.opts, key=len))


def command_line(context: typer.Context) -> str:
    """The command that does the same again, whether its options were typed or stood in a file.

    Files by name alone: their folders are nobody's business who reads the release.
    """
    words = ["fim-private", str(context.info_name)]
    for param in context.command.params:
        source = context.get_parameter_source(param.name)
        value = context.params.get(param.name)
        if source is None or source.name not in {"COMMANDLINE", "DEFAULT_MAP"} or param.name == "config":
            continue
        if value is None or value is False:
            continue
        option = [] if param.param_type_name == "argument" else [_option(param)]
        for part in value if isinstance(value, list | tuple) else [value]:
            shown = str(part)
            if param.metavar in FILES and shown != "-":
                name = Path(part).name
                shown = f"./{name}" if name.startswith("-") else name  # no option
            words += option if value is True else [*option, shown]
    return shlex.join(words)
