"""Help as plain text that loads fast and can be copied: options in sections, each example on one line, no frames.

Errors about values are plain words too.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import typer
from typer.core import TyperCommand, TyperGroup

from fim_private.errors import UsageError

EXAMPLE = "Example: "
WIDTH = 100
"""The most columns that help takes."""
UNBROKEN = "\N{NON-BREAKING HYPHEN}"
"""Takes the place of hyphens while lines are broken, so that no line breaks at one."""

ONCE = {"universe_file", "count_share", "where", "skip_columns", "transaction_column", "item_column", "unit_column"}
"""Options with two names, or of which two values seem to count. Typer would silently take the last."""


def paragraphs(text: str) -> list[str]:
    """The paragraphs of a help text, each on one line."""
    return [" ".join(part.split()) for part in text.split("\n\n") if part.strip()]


def examples(text: str) -> list[str]:
    """The commands of a help text's examples."""
    return [part.removeprefix(EXAMPLE) for part in paragraphs(text) if part.startswith(EXAMPLE)]


class _Plain:
    """Help that does not break lines at the hyphens of options."""

    def collect_usage_pieces(self, ctx: Any) -> list[str]:
        return [piece.replace("{", "").replace("}", "") for piece in super().collect_usage_pieces(ctx)]  # type: ignore[misc]

    def format_help(self, ctx: Any, formatter: Any) -> None:
        super().format_help(ctx, formatter)  # type: ignore[misc]
        formatter.buffer[:] = [text.replace(UNBROKEN, "-") for text in formatter.buffer]

    def write_list(self, formatter: Any, title: str, lines: list[tuple[str, str]]) -> None:
        """Write a section of names and what they mean."""
        with formatter.section(title):
            formatter.write_dl([(name, _unbroken(words)) for name, words in lines])


def _unbroken(text: str) -> str:
    return re.sub(r"(?<!\w)--?\w[\w-]*|(?<=\w)-(?=\w)", lambda found: found[0].replace("-", UNBROKEN), text)


class Command(_Plain, TyperCommand):
    """A command whose help shows its options in the sections that `rich_help_panel` names."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Refuse what is said twice, and say in plain words that a value is no number or no choice.

        Typer's words are those for programmers.
        """
        if ctx.resilient_parsing:  # for the Tab key, which goes on from half a command
            return super().parse_args(ctx, args)
        try:
            typed, extra, order = self.make_parser(ctx).parse_args(args=[*args])
            if extra and not any(param.param_type_name == "argument" for param in self.params):
                raise UsageError(f"{ctx.info_name} reads no file, and takes options only.", f"Leave out {extra[0]!r}.")
            for param in order:
                if typed[param.name] == "":  # as of a variable of the shell that is not set
                    raise UsageError(f"{' or '.join(param.opts)} is empty.", "Give a value, or leave it out.")
                if param.name in ONCE and order.count(param) > 1:
                    raise UsageError(
                        f"{' or '.join(param.opts)} is given twice.",
                        "Give it once. Conditions are joined by AND, and columns by commas.",
                    )
            rest = super().parse_args(ctx, args)
            settings = {**(ctx.default_map or {}), **typed}
            for param in self.get_params(ctx):
                given = settings.get(param.name)
                # Typer takes 1.000, which is a thousand to some, for 1.
                if isinstance(ctx.params.get(param.name), int) and isinstance(given, str) and "." in given:
                    raise typer.BadParameter("Give a whole number.", ctx=ctx, param_hint=f"'{param.opts[0]}'")
            return rest
        except typer.BadParameter as error:
            # The words differ between versions of Typer.
            for kind, plain in (("integer", "a whole number"), ("number", "a number"), ("float", "a number")):
                if f"a valid {kind}" in error.message:
                    error.message = f"Give {plain}."
            error.message = error.message.removeprefix("Value error, ")
            for bound, plain in (("greater than or equal to", "or more"), ("less than or equal to", "or less")):
                error.message = re.sub(rf"^Input should be {bound} (\S+)$", rf"Give \1 {plain}.", error.message)
            raise

    def format_help_text(self, ctx: Any, formatter: Any) -> None:  # noqa: ARG002 - as it is called
        """Write the examples last and unbroken, so that each line is a command."""
        text = self.help or ""
        for part in paragraphs(text):
            if not part.startswith(EXAMPLE):
                formatter.write_paragraph()
                formatter.write_text(_unbroken(part))
        if examples(text):
            with formatter.section(EXAMPLE.removesuffix(": ")):
                for example in examples(text):
                    formatter.write(f"{'':>{formatter.current_indent}}{example}\n")

    def format_options(self, ctx: Any, formatter: Any) -> None:
        """Write the sections of options one after the other."""
        sections: dict[str, list[tuple[str, str]]] = {}
        for param in self.get_params(ctx):
            record = param.get_help_record(ctx)
            if record is not None:
                name, words = record
                record = name.replace(" <list[str]>", " ..."), words
                usual = "Arguments" if param.param_type_name == "argument" else "Options"
                sections.setdefault(getattr(param, "rich_help_panel", None) or usual, []).append(record)
        usual_ones = [(name, sections.pop(name)) for name in ("Arguments", "Options") if name in sections]
        for name, records in [*usual_ones[:1], *sections.items(), *usual_ones[1:]]:
            self.write_list(formatter, name, records)


class _Group(_Plain, TyperGroup):
    """A group of commands. Its help shows the whole first sentence of each, not cut off at the terminal's width."""

    def format_commands(self, ctx: Any, formatter: Any) -> None:
        commands = [(name, self.get_command(ctx, name)) for name in self.list_commands(ctx)]
        first = [(name, (paragraphs(command.help or "") or [""])[0]) for name, command in commands if command]
        self.write_list(formatter, "Commands", first)


class Commands(typer.Typer):
    """A group of commands with this kind of help. Typer's own help takes as long to load as all the rest."""

    def __init__(self, **settings: Any) -> None:
        super().__init__(
            cls=_Group,
            no_args_is_help=True,
            pretty_exceptions_enable=False,
            rich_markup_mode=None,
            context_settings={"help_option_names": ["-h", "--help"], "max_content_width": WIDTH},
            **settings,
        )

    def command(self, name: str | None = None, **settings: Any) -> Callable[[Any], Any]:
        """As `typer.Typer.command`."""
        return super().command(name, **{"cls": Command, **settings})
