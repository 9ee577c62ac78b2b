"""Options from a TOML file or from an earlier release, and the command that a release records."""

from __future__ import annotations

import shlex
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from fim_private.cli.option_groups import names_of
from fim_private.cli.options import Delivery, Reading
from fim_private.cli.question_options import Question
from fim_private.cli.settings_file import as_typed, read_settings, text_of
from fim_private.errors import FimPrivateError, InputError, UsageError
from fim_private.privacy import NeighbouringRelation, Together, exact

if TYPE_CHECKING:
    from fim_private.release import Release
    from fim_private.transactions.layout import Layout

LARGEST_RELEASE = 1 << 28
"""The most bytes of a release: a thousand bytes for each of a quarter of a million itemsets."""
IN_PERSON = {"config", "layout", "curator"}
"""Options that no file can set: the name of the file or of another, and that a person may see exact counts."""
FILES = ("FILE", "LEDGER")
"""How help shows the values of options that name files."""
SEVERAL = "FILES"
"""Stands for more than one file in a release's command. Which files there are may depend on who is in the data: a shell
makes their names of a pattern, and there may be one file per customer."""
PLACES = ("engine", "master")
"""Settings that decide where a replay runs; the result is the same without them."""
QUERY = "query"
"""Asks a database for anything that it holds. A stranger could ask for what nobody meant to publish."""
LIST = "universe_file"
"""Lines of this file are published as names of items. A stranger could name a file that nobody meant to publish."""
REPLAYED = (names_of(Question) | names_of(Reading) | {"file", "keep", "as_json"}) - {*PLACES, LIST, QUERY, "layout"}
"""Settings that are taken from a release: its question."""
TYPED = names_of(Delivery) - REPLAYED | {*PLACES, LIST, QUERY, "config", "layout", "allow_absent_items"}
"""Settings that are never taken from a release, because anybody may have written it: where a run takes place and
writes, which ledger it charges, which list of items it publishes from, what it asks of a database, whether it is
private, and whether it says so.
"""

NEEDED = {
    "seed": "had a seed, and so is not private",
    "ledger": "charged a ledger",
    LIST: "took its items from a file",
    QUERY: "asked a database",
    "file": "read several files, which it does not name",
}
"""Settings that a replay must repeat, because without them it would be another kind of run; and what they did."""
INSTEAD_OF = {
    "size": ("sizes", "per_size"),
    "sizes": ("size",),
    "unit": ("unit_column", "max_transactions", "together", "merge", "drop_rows_without_unit"),
    "unit_column": ("unit",),
    "min_count": ("min_support",),
    "min_support": ("min_count",),
}
"""What an option stands instead of: if it is typed, these settings of the file do not count."""
UNSAID, GUESSED = "fim_private.unsaid", "fim_private.guessed"
"""Keys of a context: the settings of the release that have to be typed, and the guessed parts of its layout."""


def settings_of_file(context: typer.Context, path: Path | None) -> Path | None:
    """Take the settings of a file for all options that were not typed."""
    if path is None or context.resilient_parsing:
        return path
    if path.suffix.lower() == ".json":
        settings = _settings_of_release(context, path)
    else:
        named = {name: param for param in context.command.params for name in _names(param)}
        allowed = [name for name in named if name not in IN_PERSON]
        settings = {}
        for name, value in read_settings(path, allowed).items():
            # A share may follow --release-counts, so it may follow its name here.
            param = named["count_share" if name == "release_counts" and not isinstance(value, bool) else name]
            if param.name in settings:
                raise UsageError(f"{path} has a setting twice: {name} is another name of it.", "Leave out one of them.")
            settings[param.name] = as_typed(path, name, value, param)
    # A layout of its own goes before.
    settings |= context.default_map or {}
    for typed, others in INSTEAD_OF.items():
        settings |= {name: _unless(context, typed, settings[name]) for name in others if name in settings}
    context.default_map = settings
    return path


def _unless(context: typer.Context, typed: str, value: Any) -> Callable[[], Any]:
    """The value, unless another option was typed. Typer asks for it when it knows the typed options."""

    def looked_up() -> Any:
        if is_from(context, typed, "COMMANDLINE"):
            return None
        return value() if callable(value) else value

    return looked_up


Config = Annotated[
    Path | None,
    typer.Option(
        metavar="FILE",
        is_eager=True,
        callback=settings_of_file,
        help="A TOML file with settings (size = 2), or a release.json, whose question is asked again. Options on the "
        "command line override the file.",
    ),
]


def _settings_of_release(context: typer.Context, path: Path) -> dict[str, Any]:
    """The question of a release, and the guessed parts of its layout."""
    from fim_private.release import Release

    begin = ["fim-private", str(context.info_name)]
    try:
        release = Release.from_json(text_of(path, largest=LARGEST_RELEASE))
        words = shlex.split(release.command or "")
        if words[:2] != begin:
            raise InputError(f"{path} was not made by `{' '.join(begin)}`.", "Give a TOML file, or give the options.")
        typed, rest, _ = context.command.make_parser(context).parse_args(args=words[2:])
        if rest:
            raise ValueError
    except FimPrivateError:
        raise
    except Exception:
        # The parser's own errors name options that the user did not type.
        raise InputError(
            f"{path} was made by a command that this version does not understand.", "Give the options."
        ) from None
    _check_promise(path, typed, release)
    files = {param.name for param in context.command.params if param.metavar in FILES}
    for name, value in typed.items():
        named = value if isinstance(value, list | tuple) else [value]
        if name in files & REPLAYED and any(shown_file(part) != part for part in named if part):
            raise InputError(
                f"{path} names a file with a folder. Releases never do, so somebody changed it.",
                "Give the options instead, with your file.",
            )
    unsaid = typed.keys() - REPLAYED | ({"seed"} if release.seeded else set())
    if SEVERAL in (typed.get("file") or ()):
        unsaid |= {"file"}
    context.meta[UNSAID] = sorted(unsaid)
    context.meta[GUESSED] = [
        *context.meta.get(GUESSED, ()),
        *(() if release.layout is None else release.layout.guessed),
    ]
    asked = {name: value for name, value in typed.items() if name in REPLAYED}
    return {**_guessed(context, release.layout), **_merged_before(context, typed, release), **asked}


def _check_promise(path: Path, typed: Mapping[str, Any], release: Release) -> None:
    """Refuse a release that was changed by hand: its command asks for another promise than it states."""
    privacy, plan = release.terms.privacy, release.terms.plan
    stated = privacy.promise
    try:
        same = (
            stated is not None
            and float(exact(typed["epsilon"], "epsilon")) == stated.epsilon
            and float(exact(typed["delta"], "delta")) == stated.delta
            and typed.get("neighbours", NeighbouringRelation.ADD_REMOVE) == privacy.neighbours
            and typed.get("unit_column") == plan.unit_column
            and _typed_together(typed) in (None, plan.together)
        )
    except (LookupError, UsageError):
        same = False
    if not same:
        raise InputError(
            f"{path} states another promise than its command asks for, so somebody changed it.", "Give the options."
        )


def _typed_together(typed: Mapping[str, Any]) -> str | None:
    """What a unit holds together, as far as it was typed."""
    return Together.UNIT if typed.get("merge") else typed.get("together")


def _merged_before(context: typer.Context, typed: Mapping[str, Any], release: Release) -> dict[str, Any]:
    """An older release merged units without saying so; the default has changed since. Typed options come first."""
    if release.terms.plan.together is not Together.UNIT or _typed_together(typed) is not None:
        return {}

    def together() -> str | None:
        others = ("max_transactions", "merge", "unit")
        return None if any(is_from(context, name, "COMMANDLINE") for name in others) else str(Together.UNIT)

    return {"together": together}


def _guessed(context: typer.Context, layout: Layout | None) -> dict[str, Callable[[], str | None]]:
    """The guessed parts of a layout, as if they were typed, so that they are not guessed again from other data.

    Each part is looked up after the typed options are known. If another format was typed, the rest of the layout does
    not apply.
    """
    if layout is None:
        return {}
    settings = layout.settings()

    def part(name: str) -> str | None:
        typed = context.params.get("format") if is_from(context, "format", "COMMANDLINE") else None
        return settings[name] if typed in (None, layout.format) else None

    # Anybody may have written the release: it may call anything a guess.
    return {name: partial(part, name) for name in layout.guessed if name in settings.keys() & REPLAYED}


def replayed_guesses(context: typer.Context) -> list[str]:
    """The parts of the layout that come from a release or a file which guessed them. They count as guesses here too."""
    return [name for name in context.meta.get(GUESSED, ()) if is_from(context, name, "DEFAULT_MAP")]


def check_replay(context: typer.Context, path: Path | None) -> str:
    """Refuse to replay a release as another kind of run. Return, in words, which settings are not taken from it.

    Raises:
        UsageError: the release had a seed or charged a ledger, and the command names none.
    """
    left_out = [name for name in context.meta.get(UNSAID, []) if not is_from(context, name, "COMMANDLINE")]
    for name, what in NEEDED.items():
        option = "FILE" if name == "file" else f"--{name.replace('_', '-')}"
        if name in left_out:
            raise UsageError(
                f"{path} was made by a run that {what}. A replay takes only the question from a release.",
                f"Add {option}; or leave out --config, and give the options of the run that you want.",
            )
    places = [f"--{name}" for name in PLACES if name in left_out]
    return f"Not taken from it: {', '.join(places)}. Give them on the command line." if places else ""


def is_from(context: typer.Context, name: str, *origins: str) -> bool:
    """Whether a setting has one of these origins: typed (COMMANDLINE), or from the file of settings (DEFAULT_MAP)."""
    source = context.get_parameter_source(name)
    return source is not None and source.name in origins


def _names(param: Any) -> list[str]:
    """The names of an option or argument as a file of settings writes them. An option may have two."""
    names = [option.strip("-").replace("-", "_") for option in param.opts]
    return [name for name in names if len(name) > 1]


def shown_file(file: str) -> str:
    """How a command in a release names a file: without its folder, or without the user and host of its database."""
    from fim_private.transactions.files.source import is_address
    from fim_private.transactions.sources.database import without_secrets

    if file == "-":
        return file
    name = without_secrets(file) if is_address(file) else Path(file).name
    return f"./{name}" if name.startswith("-") else name  # no option


def command_line(context: typer.Context) -> str:
    """The command that does the same again, whether its options were typed or came from a file.

    Files stand without their folders, which do not concern the reader of a release; several files without their names.
    """
    words = ["fim-private", str(context.info_name)]
    for param in context.command.params:
        value = context.params.get(param.name)
        if not is_from(context, param.name, "COMMANDLINE", "DEFAULT_MAP") or param.name in {"config", "layout"}:
            continue
        if value is None or value is False:
            continue
        option = [] if param.param_type_name == "argument" else [max(param.opts, key=len)]
        parts = value if isinstance(value, list | tuple) else [value]
        for part in [SEVERAL] if param.name == "file" and len(parts) > 1 else parts:
            shown = str(part)
            if param.metavar in FILES:
                shown = shown_file(shown)
            words += option if value is True else [*option, shown]
    return shlex.join(words)
