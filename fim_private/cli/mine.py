"""`fim-private mine`: the private top itemsets of a basket file."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from fim_private.cli import options
from fim_private.cli.books import Books
from fim_private.cli.delivery import hand_over
from fim_private.cli.engine import reader
from fim_private.cli.progress import phases, say
from fim_private.cli.replay import Config, check_replay, command_line, replayed_guesses
from fim_private.privacy import NeighbouringRelation


def mine(
    context: typer.Context,
    file: options.File,
    *,
    size: options.Size = None,
    sizes: options.Sizes = None,
    per_size: options.PerSize = False,
    top: options.Top = None,
    min_count: options.MinCount = None,
    release_counts: options.ReleaseCounts = False,
    count_share: options.CountShare = None,
    raw_counts: options.RawCounts = False,
    public_transactions: options.PublicTransactions = None,
    epsilon: options.Epsilon,
    delta: options.Delta,
    unit: options.Unit = None,
    unit_column: options.UnitColumn = None,
    merge: options.Merge = False,
    max_transactions: options.MaxTransactions = None,
    neighbours: options.Neighbours = NeighbouringRelation.ADD_REMOVE,
    max_items: options.MaxItems = None,
    mechanism: options.Mechanism = "auto",
    select: options.Select = None,
    allow_inexact_noise: Annotated[  # noqa: ARG001 - nothing to allow
        bool,
        typer.Option("--allow-inexact-noise", hidden=True, help="Accepted for scripts: here all noise is exact."),
    ] = False,
    repeat: options.Repeat = False,
    no_fallback: options.NoFallback = False,
    universe_items: options.UniverseItems = None,
    universe_file: options.UniverseFile = None,
    must_contain: options.MustContain = None,
    exclude: options.Exclude = None,
    format: options.Format = "auto",  # noqa: A002 - the option's name
    separator: options.Separator = None,
    encoding: options.Encoding = "utf-8",
    transaction_column: options.TransactionColumn = None,
    item_column: options.ItemColumn = None,
    drop_rows_without_unit: options.DropRowsWithoutUnit = False,
    engine: options.Engine = "local",
    master: options.Master = None,
    seed: options.Seed = None,
    output: options.ReleaseOutput = None,
    overwrite: options.Overwrite = False,
    ledger: Annotated[
        Path | None,
        typer.Option(
            metavar="LEDGER",
            help="Charge this ledger first, and stop if it refuses (see `fim-private budget`).",
            rich_help_panel="The promise",
        ),
    ] = None,
    keep: options.Keep = None,
    as_json: options.AsJson = False,
    config: Config = None,
    quiet: options.Quiet = False,
) -> None:
    """Print the most frequent itemsets of a basket file, differentially private.

    Example: fim-private mine baskets.csv --size 2 --top 10 --epsilon 1 --delta 1e-6 --unit transaction

    Customers with several baskets: --unit-column customer [--merge | --max-transactions 5]

    What epsilon and delta to take: `fim-private plan` shows what each choice asks of the data.

    The same once more, on the data of another day: --config release.json, and FILE
    """
    not_replayed = check_replay(context, config)
    privacy_unit = options.privacy_unit(unit, unit_column, merge=merge, max_transactions=max_transactions)
    from fim_private.release.files import check_carries
    from fim_private.release.filters import check_keep, filtered

    options.standard_input_once(file, universe_file)
    options.check_output(output, file, universe_file, ledger, config, overwrite=overwrite)
    plan = options.plan_of(
        sizes=options.itemset_sizes(size, sizes),
        top=top,
        epsilon=epsilon,
        delta=delta,
        unit=privacy_unit,
        neighbours=neighbours,
        universe=options.declared_universe(universe_items, universe_file),
        constraints=options.constraints_of(must_contain, exclude),
        max_items=max_items,
        mechanism=options.mechanism_name(mechanism, repeat=repeat, no_fallback=no_fallback),
        select=select,
        min_count=min_count,
        share=options.count_share(count_share, release_counts=release_counts),
        raw_counts=raw_counts,
        public_transactions=public_transactions,
        per_size=per_size,
    )
    if keep is not None:
        check_keep(keep, counts=plan.gives_counts)
    if output is not None:
        check_carries(output, plan, seeded=seed is not None)
    from fim_private.mining.mine import mine_as_planned, refuse_seed
    from fim_private.report.document.text import printable
    from fim_private.report.statement import found_note, promise, shortfall
    from fim_private.report.tables import release_table

    if ledger is not None and seed is not None:
        refuse_seed()
    command = command_line(context)
    if config is not None:
        say(f"With the settings of {config}: {printable(command)}\n{not_replayed}", quiet=quiet)
    with Books(ledger, plan, command) as books:
        with phases(quiet=quiet) as progress, reader(engine, master, progress.share) as read:
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
            release = mine_as_planned(
                database,
                plan,
                seed=seed,
                command=command,
                charge=books.charge if ledger is not None else None,
                guessed=replayed_guesses(context),
                progress=progress,
            )
        shown = release if keep is None else filtered(release, keep)
        hand_over(
            lambda: shown.to_json() if as_json else release_table(shown),
            books,
            release=shown,
            output=output,
            overwrite=overwrite,
            quiet=quiet,
        )
    say("", quiet=quiet)
    for note in options.reading_notes(database.notes):
        say(note, quiet=quiet)
    left_out = len(release.itemsets) - len(shown.itemsets)
    if left_out:
        say(f"\nLeft out by --keep {keep}: {left_out:,} of {len(release.itemsets):,} released itemsets.", quiet=quiet)
    for remark in (found_note(plan, release), shortfall(plan, release)):
        if remark:
            say(f"\n{remark}", quiet=quiet)
    say(f"\n{promise(plan, seeded=release.seeded, layout=release.layout)}", quiet=quiet)
    if ledger is not None and not quiet:
        say(f"\n{books.remaining()}")
