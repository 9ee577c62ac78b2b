"""`fim-private mine`: the private top itemsets of a basket file."""

from __future__ import annotations

from functools import partial
from typing import Annotated

import typer

from fim_private.cli import options
from fim_private.cli.absent_items import OPTION, tell_of_absent_items
from fim_private.cli.files import keep_inputs_apart
from fim_private.cli.option_groups import spread
from fim_private.cli.progress import say
from fim_private.cli.question_options import Question
from fim_private.cli.replay import Config, check_replay, command_line, replayed_guesses
from fim_private.cli.run import carry_out, check_delivery, conclude, warn_if_weak


@spread
def mine(
    context: typer.Context,
    file: options.Files,
    *,
    question: Question,
    reading: options.Reading,
    delivery: options.Delivery,
    allow_inexact_noise: Annotated[  # noqa: ARG001 - nothing to allow
        bool,
        typer.Option("--allow-inexact-noise", hidden=True, help="Accepted for scripts: here all noise is exact."),
    ] = False,
    allow_absent_items: Annotated[
        bool,
        typer.Option(
            OPTION,
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
    release, shown, run_ledger = carry_out(
        partial(mine_as_planned, plan=plan, guessed=replayed_guesses(context)),
        file, plan, reading=reading, delivery=delivery, command=command,
        released=lambda release: release if keep is None else filtered(release, keep),
        check=lambda data: None if allow_absent_items else tell_of_absent_items(data, plan, quiet=delivery.quiet),
    )  # fmt: skip
    named = len(release.itemsets)
    left_out, doubt = named - len(shown.itemsets), total_doubt(release)
    cut = cut_note(release) if any(itemset.count is not None for itemset in release.itemsets) else None
    remarks = (
        f"Left out by --keep {keep}: {left_out:,} of {named:,} released itemsets." if left_out else None,
        found_note(plan, release),
        None if cut is None else wrapped([cut]),
        None if doubt is None else wrapped([doubt]),
        rules_note(plan, release),
        shortfall(plan, release),
        statement(release, in_full=delivery.explain),
    )
    conclude(remarks, delivery, run_ledger)
