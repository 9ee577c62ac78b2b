"""A run again: its options from a TOML file or from the release it made, and the command that a release carries."""

from __future__ import annotations

import shlex
import tomllib
from collections.abc import Callable, Collection, Mapping
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from fim_private.cli.groups import names_of
from fim_private.cli.options import Delivery, Question, Reading
from fim_private.errors import FimPrivateError, InputError, UsageError, did_you_mean
from fim_private.privacy import NeighbouringRelation, exact

if TYPE_CHECKING:
    from fim_private.release import Release
    from fim_private.transactions.layout import Layout

LARGEST = 1 << 20
"""Bytes of a file of settings at most."""
LARGEST_RELEASE = 1 << 28
"""Of a release at most: a thousand bytes for each of a quarter of a million itemsets."""
IN_PERSON = {"config", "curator"}
"""Options that no file can set: which file it is, and that somebody may see exact counts."""
LISTED = "A,B,..."
"""What the values of options that take a list are called in the help; a file of settings may write [A, B]."""
FILES = ("FILE", "LEDGER")
"""What the values of options that name files are called in the help."""
PLACES = ("engine", "master")
"""Settings without which a replay runs elsewhere and gives the same."""
REPLAYED = names_of(Question) | names_of(Reading) - {*PLACES} | {"file", "keep", "as_json", "allow_inexact_noise"}
"""Settings that a release brings along: what was asked."""
TYPED = names_of(Delivery) - REPLAYED | {*PLACES, "config"}
"""Settings that a release, which may come from anybody, does not choose: where a run takes place and writes, what it
charges, whether it is private, and whether it says so."""

NEEDED = {"seed": "had a seed, and so is not private", "ledger": "charged a ledger"}
"""Settings of these without which a replay would be another kind of run, and what they made the first one."""
UNSAID, GUESSED = "fim_private.unsaid", "fim_private.guessed"
"""Where a context keeps which settings of the release have to be typed, and which parts of its layout were guessed."""


def settings_of_file(context: typer.Context, path: Path | None) -> Path | None:
    """Let a file's settings stand in for what was not typed."""
    if path is None or context.resilient_parsing:
        return path
    if path.suffix.lower() == ".json":
        settings = _settings_of_release(context, path)
    else:
        named = {_option(param).strip("-").replace("-", "_"): param for param in context.command.params}
        shown = {name for name, param in named.items() if not getattr(param, "hidden", False)}
        allowed = [name for name in named if name in shown - IN_PERSON]
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
        callback=settings_of_file,
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


def _text(path: Path, option: str = "--config", *, largest: int = LARGEST) -> str:
    """What stands in a file of text that is not too large."""
    try:
        with path.open("rb") as file:
            content = file.read(largest + 1)
        if len(content) > largest:
            raise InputError(
                f"{path} has over {largest >> 20} MiB, more than what is read there.", f"Correct {option}."
            )
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
    if param.metavar == LISTED and isinstance(value, list):
        return ",".join(map(str, value))
    several = getattr(param, "multiple", False) or param.nargs != 1
    if isinstance(value, bool) or isinstance(value, list) is not several:
        wanted = "a list" if several else "a text or a number"
        raise UsageError(f"In {path}, {name} is not {wanted}.", "Write it as it would be typed, in quotes.")
    return [str(part) for part in value] if several else str(value)


def _settings_of_release(context: typer.Context, path: Path) -> dict[str, Any]:
    """What was asked for a release, and what was guessed of the layout of its data."""
    from fim_private.release import Release

    begin = ["fim-private", str(context.info_name)]
    try:
        release = Release.from_json(_text(path, largest=LARGEST_RELEASE))
        words = shlex.split(release.command or "")
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
    _check_promise(path, typed, release)
    files = {param.name for param in context.command.params if param.metavar in FILES}
    for name, value in typed.items():
        if name in files & REPLAYED and isinstance(value, str) and Path(value).name != value.removeprefix("./"):
            raise InputError(
                f"{path} names a file in a folder, which releases do not.", "Type the options instead, with your file."
            )
    context.meta[UNSAID] = sorted(typed.keys() - REPLAYED | ({"seed"} if release.seeded else set()))
    context.meta[GUESSED] = () if release.layout is None else release.layout.guessed
    asked = {name: value for name, value in typed.items() if name in REPLAYED}
    return {**_guessed(context, release.layout), **asked}


def _check_promise(path: Path, typed: Mapping[str, Any], release: Release) -> None:
    """Refuse a release whose command asks for another promise than the release states: it was changed by hand."""
    privacy, plan = release.terms.privacy, release.terms.plan
    stated = privacy.promise
    try:
        same = (
            stated is not None
            and float(exact(typed["epsilon"], "epsilon")) == stated.epsilon
            and float(exact(typed["delta"], "delta")) == stated.delta
            and typed.get("neighbours", NeighbouringRelation.ADD_REMOVE) == privacy.neighbours
            and typed.get("unit_column") == plan.unit_column
        )
    except (LookupError, UsageError):
        same = False
    if not same:
        raise InputError(
            f"{path} states another promise than its command asks for.", "Somebody changed it: type the options."
        )


def _guessed(context: typer.Context, layout: Layout | None) -> dict[str, Callable[[], str | None]]:
    """What was guessed of a layout, as if it were typed, so that it is not guessed again from other data.

    Each is asked for when its turn comes, which is after the options that were typed. Where another format was typed,
    the rest of the layout is that of another file.
    """
    if layout is None:
        return {}
    settings = layout.settings()

    def part(name: str) -> str | None:
        typed = context.params.get("format") if _is_from(context, "format", "COMMANDLINE") else None
        return settings[name] if typed in (None, layout.format) else None

    return {name: partial(part, name) for name in layout.guessed if name in settings}


def replayed_guesses(context: typer.Context) -> list[str]:
    """The parts of the layout that are taken from a release that guessed them: they are guesses still."""
    return [name for name in context.meta.get(GUESSED, ()) if _is_from(context, name, "DEFAULT_MAP")]


def check_replay(context: typer.Context, path: Path | None) -> str:
    """Refuse to replay a release as another kind of run than it was; what else is not replayed, in words, or nothing.

    Raises:
        UsageError: it was made with a seed or charged a ledger, and none was typed.
    """
    left_out = [name for name in context.meta.get(UNSAID, []) if not _is_from(context, name, "COMMANDLINE")]
    for name, what in NEEDED.items():
        if name in left_out:
            raise UsageError(
                f"{path} was made by a run that {what}. A replay takes the question from a release, and not that.",
                f"Type --{name} as well; or leave out --config, and type the options of the run that you want.",
            )
    places = [f"--{name}" for name in PLACES if name in left_out]
    return f"Not taken from it: {', '.join(places)}, which are typed." if places else ""


def _is_from(context: typer.Context, name: str, origin: str) -> bool:
    """Whether a setting was typed (COMMANDLINE) or stands in the file of settings (DEFAULT_MAP)."""
    source = context.get_parameter_source(name)
    return source is not None and source.name == origin


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
