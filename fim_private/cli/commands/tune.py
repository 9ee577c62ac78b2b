"""`fim-private tune`: choose the best of several ways of mining, privately, and release what it found."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from fim_private.cli import options
from fim_private.cli.files import keep_inputs_apart
from fim_private.cli.option_groups import only, spread, without
from fim_private.cli.question_options import DEFAULT_COUNT_SHARE, Question
from fim_private.cli.replay import command_line, replayed_guesses
from fim_private.cli.run import ask_about_single_items, carry_out, check_delivery, conclude, warn_if_weak
from fim_private.cli.settings_file import read_toml
from fim_private.errors import UsageError
from fim_private.privacy import Budget, exact

if TYPE_CHECKING:
    from fim_private.mining.tuning_plan import Configuration

_choice = partial(typer.Option, rich_help_panel="The choice")
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


@spread
def tune(
    context: typer.Context,
    file: options.Files,
    candidates: Annotated[
        Path, _choice(metavar="FILE", help="The configurations: a TOML file with a table [[candidate]] for each.")
    ],
    *,
    question: Annotated[
        Question, only("epsilon", "delta", "unit", "unit_column", "together", "neighbours", "universe_file")
    ],
    runs: Annotated[
        int | None,
        _choice(metavar="N", help="The expected number of runs. The default is ten per configuration."),
    ] = None,
    threshold: Annotated[
        int | None,
        _choice(
            metavar="SCORE",
            help="A score that is good enough, known without the data. The first run to reach it is taken, which "
            "costs less.",
        ),
    ] = None,
    score_share: Annotated[
        str, _choice(metavar="SHARE", help="The share of a run's epsilon that its score takes.")
    ] = "0.2",
    reading: Annotated[options.Reading, without("engine", "master")],
    delivery: Annotated[options.Delivery, without("keep")],
) -> None:
    """Choose the best of several configurations of `mine` privately, at three times the epsilon of one run.

    The program runs configurations chosen at random. A run's score is the number of times its itemsets occur, plus
    noise. The number of runs is random, and the best run is released. With --threshold, the first run that is good
    enough is released, at twice the epsilon of one run.

    Example: fim-private tune baskets.csv --candidates candidates.toml --epsilon 3 --delta 1e-6 --unit transaction
    """
    keep_inputs_apart(file, question.universe_file)
    unit = question.privacy_unit()
    warn_if_weak(question)
    from fim_private.mining.tuning import tune as choose
    from fim_private.mining.tuning_plan import plan_tuning
    from fim_private.report.promise_in_short import statement
    from fim_private.report.remarks import found_note, tuning_note

    tuning = plan_tuning(
        read_configurations(candidates),
        budget=Budget(question.epsilon, question.delta),
        unit_column=unit.column,
        together=question.held_together(),
        relation=question.neighbours,
        universe=question.universe(),
        runs=runs,
        threshold=threshold,
        score_share=exact(score_share, "score-share"),
    )
    check_delivery(delivery, tuning.plans, *file, question.universe_file, candidates, reading.layout)
    tuned, _, run_ledger = carry_out(
        partial(choose, tuning=tuning),
        file, tuning, reading=reading, delivery=delivery, command=command_line(context),
        guessed=replayed_guesses(context),
        released=lambda tuned: None if tuned is None else tuned.release,
        check=lambda data: ask_about_single_items(data, tuning.plans),
    )  # fmt: skip
    remarks = [tuning_note(tuning.guarantee, tuning.loss, tuning.theorem, len(tuning.names))]
    if tuned is None:
        remarks.append("Nothing is released. The budget is spent.")
    else:
        plan, named = dict(zip(tuning.names, tuning.plans, strict=True))[tuned.name], len(tuned.release.itemsets)
        remarks.append(f"Chosen: {tuned.name}; its run scored about {tuned.score:,}, with noise.")
        if named < plan.top:
            remarks.append(f"Its run named {named:,} of {plan.top:,} itemsets. No other was clear enough to name.")
        if (note := found_note(plan, tuned.release)) is not None:
            remarks.append(note)
        remarks.append(statement(tuned.release, in_full=delivery.explain))
    conclude(remarks, delivery, run_ledger)


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
