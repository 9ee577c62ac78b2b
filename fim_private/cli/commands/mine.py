"""`fim-private mine`: the private top itemsets of a basket file."""

from __future__ import annotations

from collections.abc import Iterable
from functools import partial
from typing import TYPE_CHECKING, Annotated

import typer

from fim_private.cli import options
from fim_private.cli.files import keep_inputs_apart
from fim_private.cli.option_groups import spread
from fim_private.cli.progress import say
from fim_private.cli.question_options import Question
from fim_private.cli.replay import Config, check_replay, command_line, replayed_guesses
from fim_private.cli.run import ask_about_single_items, carry_out, check_delivery, conclude, warn_if_weak
from fim_private.errors import InputError

if TYPE_CHECKING:
    from fim_private.counting import TransactionDatabase
    from fim_private.plan import Plan

ABSENT = "--allow-absent-items"


@spread
def mine(
    context: typer.Context,
    file: options.Files,
    *,
    question: Question,
    reading: options.Reading,
    delivery: options.Delivery,
    allow_absent_items: Annotated[
        bool,
        typer.Option(
            ABSENT,
            rich_help_panel="What to find",
            help="Do not look whether the named items occur. Without this option, `mine` stops before it charges if an "
            "item of --must-contain does not.",
        ),
    ] = False,
    config: Config = None,
) -> None:
    """Print the most frequent itemsets of a basket file, with differential privacy.

    Example: fim-private mine baskets.csv --size 2 --top 10 --epsilon 1 --delta 1e-6 --unit transaction

    If customers have several baskets: add --unit-column customer [--merge | --max-transactions 5]

    To choose epsilon and delta: `fim-private plan` shows how clear an itemset must be for each choice.

    To ask the same question of new data: give FILE and --config release.json
    """
    not_replayed = check_replay(context, config)
    keep_inputs_apart(file, question.universe_file)
    from fim_private.mining.mine import mine_as_planned
    from fim_private.plan import plan_for
    from fim_private.printable import printable
    from fim_private.release.filters import check_keep, filtered
    from fim_private.report.document.text import wrapped
    from fim_private.report.promise_in_short import statement
    from fim_private.report.remarks import cut_note, found_note, rules_note, shortfall, total_doubt

    warn_if_weak(question)
    plan, keep = plan_for(question.asked()), delivery.keep
    if keep is not None:
        check_keep(keep, counts=plan.gives_counts)
    check_delivery(delivery, [plan], *file, question.universe_file, config, reading.layout)
    command = command_line(context)
    if config is not None:
        say(f"With the settings of {config}: {printable(command)}\n{not_replayed}", quiet=delivery.quiet)

    def check(data: TransactionDatabase) -> None:
        ask_about_single_items(data, [plan])
        if not allow_absent_items:
            tell_of_absent_items(data, plan, quiet=delivery.quiet)

    release, shown, run_ledger = carry_out(
        partial(mine_as_planned, plan=plan),
        file, plan, reading=reading, delivery=delivery, command=command, guessed=replayed_guesses(context),
        released=lambda release: release if keep is None else filtered(release, keep),
        check=check,
    )  # fmt: skip
    named = len(release.itemsets)
    left_out, doubt = named - len(shown.itemsets), total_doubt(release)
    cut = cut_note(release) if any(itemset.count is not None for itemset in release.itemsets) else None
    remarks = (
        f"Left out by --keep {keep}: {left_out:,} of {named:,} released itemsets." if left_out else None,
        found_note(plan, release),
        None if cut is None else wrapped(cut),
        None if doubt is None else wrapped(doubt),
        rules_note(plan, release, left_out=left_out > 0),
        shortfall(plan, release),
        statement(release, in_full=delivery.explain),
    )
    conclude(remarks, delivery, run_ledger)


def tell_of_absent_items(database: TransactionDatabase, plan: Plan, *, quiet: bool) -> None:
    """Refuse a question that no itemset can answer, and note other names that do not occur.

    Whether a name occurs is data. So errors and notes are for the holder of the data; a release never says it.

    Raises:
        InputError: an item that every itemset has to contain does not occur, or no item of the public list does.
    """
    hint = f"Check its spelling and case, for example with `fim-private inspect`, or go on all the same with {ABSENT}."
    required = _absent(plan.constraints.must_contain, database)
    if required:
        raise InputError(f"{_missing(required, '--must-contain')}: nothing was charged.", hint)
    listed = plan.universe.names or ()
    gone = _absent(listed, database)
    if listed and len(gone) == len(listed):
        raise InputError(
            "No item of the public list occurs in the data: nothing was charged.",
            f"A line is one name, without other columns. One line is {listed[0][:60]!r}. {hint.replace('its', 'the')}",
        )
    notes = []
    if gone:
        missing = f"{len(gone):,} of the {len(listed):,} items of the public list"
        notes.append(f"{missing} {_do(gone)} not occur in the data.")
    if excluded := _absent(plan.constraints.exclude, database):
        notes.append(f"{_missing(excluded, '--exclude')}.")
    for note in notes:
        say(f"For the holder of the data, not part of the release: {note}", quiet=quiet)


def _absent(names: Iterable[str], database: TransactionDatabase) -> list[str]:
    """The names that do not occur, in their order."""
    import polars as pl

    wanted = list(names)
    found = set(database.vocabulary.filter(database.vocabulary.is_in(pl.Series(wanted, dtype=pl.String).implode())))
    return [name for name in wanted if name not in found]


def _missing(names: list[str], option: str) -> str:
    return f"{', '.join(map(repr, names))} ({option}) {_do(names)} not occur in the data"


def _do(names: list[str]) -> str:
    return "does" if len(names) == 1 else "do"
