"""`fim-private tune`: choose among ways of mining privately, and release what the chosen one found."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from fim_private.cli import options
from fim_private.cli.books import Books
from fim_private.cli.candidates_file import read_configurations
from fim_private.cli.delivery import hand_over
from fim_private.cli.engine import reader
from fim_private.cli.progress import phases, say
from fim_private.cli.replay import command_line
from fim_private.privacy import Budget, NeighbouringRelation, exact

if TYPE_CHECKING:
    from fim_private.mining.tuning import Tuned, TuningPlan

_CHOICE = "The choice"
NONE_REACHED = "No run reached the threshold: no itemset is named."


def tune(
    context: typer.Context,
    file: options.File,
    candidates: Annotated[
        Path,
        typer.Option(metavar="FILE", help="The configurations: a table [[candidate]] each.", rich_help_panel=_CHOICE),
    ],
    epsilon: options.Epsilon,
    delta: options.Delta,
    runs: Annotated[
        int | None,
        typer.Option(
            metavar="N",
            help="How many runs are expected in all; ten for each configuration unless given.",
            rich_help_panel=_CHOICE,
        ),
    ] = None,
    threshold: Annotated[
        int | None,
        typer.Option(
            metavar="SCORE",
            help="A public score that is good enough: the first run to reach it is taken, which costs less.",
            rich_help_panel=_CHOICE,
        ),
    ] = None,
    score_share: Annotated[
        str,
        typer.Option(metavar="SHARE", help="What a run's score has of its epsilon.", rich_help_panel=_CHOICE),
    ] = "0.2",
    unit: options.Unit = None,
    unit_column: options.UnitColumn = None,
    neighbours: options.Neighbours = NeighbouringRelation.ADD_REMOVE,
    universe_file: options.UniverseFile = None,
    format: options.Format = "auto",  # noqa: A002 - the option's name
    separator: options.Separator = None,
    encoding: options.Encoding = "utf-8",
    transaction_column: options.TransactionColumn = None,
    item_column: options.ItemColumn = None,
    drop_rows_without_unit: options.DropRowsWithoutUnit = False,
    seed: options.Seed = None,
    output: options.ReleaseOutput = None,
    overwrite: options.Overwrite = False,
    ledger: Annotated[
        Path | None,
        typer.Option(
            metavar="LEDGER",
            help="Charge this ledger once, with the whole cost, before the first run.",
            rich_help_panel="The promise",
        ),
    ] = None,
    as_json: options.AsJson = False,
    quiet: options.Quiet = False,
) -> None:
    """Choose the best of several configurations of `mine`, differentially private, at three times one run's epsilon.

    Runs of randomly chosen configurations are scored by how often what they named occurs, with noise, and the best of
    a random number of them is released. With --threshold it is the first that is good enough, at twice the epsilon.

    Example: fim-private tune baskets.csv --candidates candidates.toml --epsilon 3 --delta 1e-6 --unit transaction
    """
    options.privacy_unit(unit, unit_column, merge=False, max_transactions=None)
    from fim_private.mining.tuning import plan_tuning
    from fim_private.mining.tuning import tune as choose
    from fim_private.release.files import check_carries

    options.standard_input_once(file, universe_file)
    options.check_output(output, file, universe_file, candidates, ledger, overwrite=overwrite)
    tuning = plan_tuning(
        read_configurations(candidates),
        budget=Budget(epsilon, delta),
        unit_column=unit_column,
        relation=neighbours,
        universe=options.declared_universe(None, universe_file),
        runs=runs,
        threshold=threshold,
        score_share=exact(score_share, "score-share"),
    )
    if output is not None:
        for planned in tuning.plans:
            check_carries(output, planned, seeded=seed is not None)
    from fim_private.mining.mine import refuse_seed

    if ledger is not None and seed is not None:
        refuse_seed()
    command = command_line(context)
    with Books(ledger, tuning, command) as books:
        with phases(quiet=quiet) as progress, reader("local", None, progress.share) as read:
            progress("reading")
            database = read(
                file,
                format=format,
                separator=separator,
                encoding=encoding,
                transaction_column=transaction_column,
                item_column=item_column,
                unit_column=unit_column,
                drop_rows_without_unit=drop_rows_without_unit,
            )
            tuned = choose(
                database,
                tuning,
                seed=seed,
                command=command,
                charge=books.charge if ledger is not None else None,
                progress=progress,
            )
        hand_over(
            lambda: _shown(tuned, as_json=as_json),
            books,
            release=None if tuned is None else tuned.release,
            output=output,
            overwrite=overwrite,
            quiet=quiet,
        )
    say("", quiet=quiet)
    for note in options.reading_notes(database.notes):
        say(note, quiet=quiet)
    _say_what_it_cost(tuning, tuned, seeded=seed is not None, quiet=quiet)
    if tuned is None and output is not None:
        say(f"\n{output} was not written.")
    if ledger is not None and not quiet:
        say(f"\n{books.remaining()}")


def _shown(tuned: Tuned | None, *, as_json: bool) -> str:
    from fim_private.report.tables import release_table

    if tuned is None:
        return json.dumps({"itemsets": [], "reason": NONE_REACHED}) if as_json else NONE_REACHED
    return tuned.release.to_json() if as_json else release_table(tuned.release)


def _say_what_it_cost(tuning: TuningPlan, tuned: Tuned | None, *, seeded: bool, quiet: bool) -> None:
    from fim_private.report.statement import promise, tuning_note

    say(f"\n{tuning_note(tuning.guarantee, tuning.loss, tuning.theorem, len(tuning.names))}", quiet=quiet)
    if tuned is None:
        say("\nNothing is released, and the budget is spent.", quiet=quiet)
        return
    say(f"\nChosen: {tuned.name}; its run scored about {tuned.score:,}, with noise.", quiet=quiet)
    say(f"\n{promise(tuned.plan, seeded=seeded, layout=tuned.release.layout)}", quiet=quiet)
