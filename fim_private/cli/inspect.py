"""`fim-private inspect`: exact facts on a basket file, for the curator's eyes only."""

from __future__ import annotations

from typing import Annotated

import typer

from fim_private.cli import options
from fim_private.cli.progress import phases, say

BANNER = "EXACT FIGURES, NOT PRIVATE: for the curator of the data only. Do not publish any of this."


def inspect(
    file: options.File,
    top: Annotated[int, typer.Option(min=0, max=10_000, help="How many itemsets of each size to show.")] = 10,
    sizes: Annotated[int, typer.Option(min=1, max=5, help="Sizes 1 up to this.")] = 2,
    unit_column: options.UnitColumn = None,
    format: options.Format = "auto",  # noqa: A002 - the option's name
    separator: options.Separator = None,
    encoding: options.Encoding = "utf-8",
    transaction_column: options.TransactionColumn = None,
    item_column: options.ItemColumn = None,
    drop_rows_without_unit: options.DropRowsWithoutUnit = False,
    quiet: options.Quiet = False,
) -> None:
    """Show a basket file's exact shape, lengths, oddities and top counts. For the curator only: not private.

    Example: fim-private inspect baskets.csv
    """
    from fim_private.counting import top_itemsets
    from fim_private.report.tables import JOINT, printable, table
    from fim_private.transactions import read_transactions

    with phases(quiet=quiet) as progress:
        progress("reading")
        transactions = read_transactions(
            file,
            format=format,
            separator=separator,
            encoding=encoding,
            transaction_column=transaction_column,
            item_column=item_column,
            unit_column=unit_column,
            drop_rows_without_unit=drop_rows_without_unit,
            progress=progress.share,
        )
        progress("counting")
        counted = [
            (size, *top_itemsets(transactions, size, top).reveal_to_curator()) for size in range(1, sizes + 1) if top
        ]
    say(BANNER)
    notes = transactions.notes
    lengths = transactions.lengths()
    rows = [
        ("read as", notes.format),
        ("transactions", f"{len(transactions):,}"),
        ("different items", f"{len(transactions.vocabulary):,}"),
        ("item occurrences", f"{len(transactions.items):,}"),
        ("items a transaction", _spread(lengths)),
        ("blank items dropped", f"{notes.blanks:,}"),
        ("repeated items merged", f"{notes.duplicates:,}"),
        ("empty transactions left out", f"{notes.empty:,}"),
    ]
    if transactions.units is not None:
        import numpy as np

        per_unit = np.bincount(transactions.units)
        rows += [
            ("units", f"{len(per_unit):,}"),
            ("transactions a unit", _spread(per_unit)),
            ("rows without a unit left out", f"{notes.rows_without_unit:,}"),
        ]
    typer.echo(table(["exact, not private", ""], rows, right=[False, False]))
    for size, itemsets, counts in counted:
        typer.echo("")
        lines = [
            [f"{count:,}", JOINT.join(printable(transactions.vocabulary[code]) for code in itemset)]
            for itemset, count in zip(itemsets.tolist(), counts.tolist(), strict=True)
        ]
        typer.echo(table(["count", f"itemset of size {size}"], lines, right=[True, False]))


def _spread(values: object) -> str:
    """Least, quartiles, mean and most, of at least one whole number."""
    import numpy as np

    array = np.asarray(values)
    least, low, middle, high, most = np.percentile(array, [0, 25, 50, 75, 100], method="lower")
    return f"{least:,} to {most:,}; half hold {low:,} to {high:,}, median {middle:,}; mean {array.mean():,.2f}"
