"""`fim-private inspect`: exact facts about a basket file, for the curator only."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from fim_private.cli import options
from fim_private.cli.files import check_page
from fim_private.cli.layout_file import layout_text
from fim_private.cli.option_groups import spread, without
from fim_private.cli.progress import phases, say
from fim_private.cli.question_options import itemset_sizes
from fim_private.cli.replay import replayed_guesses
from fim_private.errors import UsageError
from fim_private.privacy import Together

if TYPE_CHECKING:
    from fim_private.transactions.formats.doubt import Doubt

LARGEST_SHOWN = 5
"""The most items of an itemset to show. Larger itemsets take long to count."""


@spread
def inspect(
    context: typer.Context,
    file: options.Files,
    top: Annotated[int, typer.Option(min=0, max=10_000, help="The number of itemsets of each size to show.")] = 10,
    sizes: Annotated[str, typer.Option(help="The itemset sizes to show, as for `mine`: 1-3 or 1,2.")] = "1-2",
    unit_column: options.UnitColumn = None,
    together: options.TogetherOption = None,
    *,
    reading: Annotated[options.Reading, without("engine", "master")],
    output: Annotated[
        Path | None,
        options.to_file(help="Also write how the file was read to this TOML file, for --layout."),
    ] = None,
    overwrite: options.Overwrite = False,
    quiet: options.Quiet = False,
) -> None:
    """Show the exact shape of a basket file, what bounds would drop, and top counts. Not private: for the curator only.

    Example: fim-private inspect baskets.csv

    To see what protecting customers would drop: add --unit-column customer

    To read other data in the same way: add -o shop.toml, and give `mine` --layout shop.toml
    """
    from fim_private.counting import top_itemsets
    from fim_private.printable import printable
    from fim_private.release.files.derived import write_derived
    from fim_private.report.document.text import table, wrapped
    from fim_private.report.tables import JOINT
    from fim_private.transactions.bounding import count_units, merge_units
    from fim_private.transactions.curator_text import BANNER, bounds, facts, first_transactions, warnings
    from fim_private.transactions.reading import read_transactions

    shown = itemset_sizes(None, sizes)
    if not 1 <= min(shown) <= max(shown) <= LARGEST_SHOWN:
        raise UsageError(f"Itemsets of 1 to {LARGEST_SHOWN} items are shown.", "Write --sizes as in 1-3 or 1,2.")
    if together is not None and unit_column is None:
        raise UsageError("--together chooses how units are counted.", "Leave it out, or give --unit-column.")
    check_page(output, *file, reading.layout, overwrite=overwrite)
    in_one_basket = Together.of(together or Together.BASKET) is Together.BASKET
    with phases(quiet=quiet) as progress:
        progress("reading")
        doubts: list[Doubt] = []
        guessed = replayed_guesses(context)
        transactions = read_transactions(
            file, **reading.arguments(unit_column, guessed), progress=progress.share, on_doubt=doubts.append
        )
        reading.check_format(transactions.notes.layout, guessed)
        progress("counting")
        # `mine` counts the same way: a customer counts once, however many baskets hold the itemset.
        merged = merge_units(transactions)
        counts_from = count_units(transactions) if in_one_basket else merged
        counted = [(size, *top_itemsets(counts_from, size, top).reveal_to_curator()) for size in shown if top]
    if output is not None:
        found = transactions.notes.layout.guessed_before(guessed)
        content = layout_text(found, drop_rows_without_unit=reading.drop_rows_without_unit)
        output = write_derived(output, lambda path: path.write_text(content, encoding="utf-8"), overwrite=overwrite)
    say(BANNER)
    for odd in (
        *(f"Odd, so `mine` stops here: {doubt}" for doubt in doubts),
        *warnings(transactions.notes, transactions.vocabulary),
    ):
        say(f"\n{wrapped(odd)}")
    typer.echo(table(["exact, not private", ""], facts(transactions, merged), right=[False, False]))
    typer.echo("\nThe first transactions, as they were read:\n")
    first = [[items, printable(names)] for items, names in first_transactions(transactions)]
    typer.echo(table(["", "items"], first, right=[True, False]))
    typer.echo("\nWhat bounds drop (exact, not private):")
    for head, *rows in bounds(transactions, merged):
        typer.echo(f"\n{table(head, rows, right=[True] * len(head))}")
    for size, itemsets, counts in counted:
        typer.echo("")
        lines = [
            [f"{count:,}", JOINT.join(printable(transactions.vocabulary[code]) for code in itemset)]
            for itemset, count in zip(itemsets.tolist(), counts.tolist(), strict=True)
        ]
        counts_of = "count"
        if transactions.units is not None:
            counts_of = "units that hold it" + (" in one basket" if in_one_basket else "")
        typer.echo(table([counts_of, f"itemset of size {size}"], lines, right=[True, False]))

    if output is not None:
        say(f"\nWritten to {output}.", quiet=quiet)
