"""`fim-private inspect`: exact facts about a basket file, for the curator only."""

from __future__ import annotations

from itertools import chain, pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from fim_private.cli import options
from fim_private.cli.files import check_page
from fim_private.cli.layout_file import layout_text
from fim_private.cli.option_groups import Without, spread
from fim_private.cli.progress import phases, say
from fim_private.cli.replay import replayed_guesses
from fim_private.cli.run import nobody_notes
from fim_private.errors import UsageError
from fim_private.privacy import Together

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from fim_private.transactions import Transactions
    from fim_private.transactions.formats.doubts import Doubt

BANNER = (
    "EXACT FIGURES, NOT PRIVATE: for the curator of the data only. Do not publish any of this.\n"
    "If you choose a bound from these figures, no promise covers that choice. Inspect older or similar data instead."
)
FIRST = 3
"""How many transactions to show as they were read."""
FIRST_ITEMS = 10
"""How many of their items to show."""
LEAST_ITEMS = 5
"""The smallest --max-items to show; a smaller one leaves few pairs."""


@spread
def inspect(
    context: typer.Context,
    file: options.Files,
    top: Annotated[int, typer.Option(min=0, max=10_000, help="The number of itemsets of each size to show.")] = 10,
    sizes: Annotated[int, typer.Option(min=1, max=5, help="The largest itemset size to show.")] = 2,
    unit_column: options.UnitColumn = None,
    together: options.TogetherOption = None,
    *,
    reading: Annotated[options.Reading, Without("engine", "master")],
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
    from fim_private.release.files.derived import write_derived
    from fim_private.report.document.text import printable, table, wrapped
    from fim_private.report.tables import JOINT
    from fim_private.transactions import count_units, merge_units, read_transactions
    from fim_private.transactions.strings import alike

    if together is not None and unit_column is None:
        raise UsageError("--together chooses how units are counted.", "Leave it out, or give --unit-column.")
    check_page(output, *file, reading.layout, overwrite=overwrite)
    in_one_basket = Together.of(together or Together.BASKET) is Together.BASKET
    with phases(quiet=quiet) as progress:
        progress("reading")
        doubts: list[Doubt] = []
        transactions = read_transactions(
            file, **reading.arguments(unit_column), progress=progress.share, on_doubt=doubts.append
        )
        progress("counting")
        # `mine` counts the same way: a customer counts once, however many baskets hold the itemset.
        of_units = merge_units(transactions)
        counts_from = count_units(transactions) if in_one_basket else of_units
        counted = [
            (size, *top_itemsets(counts_from, size, top).reveal_to_curator()) for size in range(1, sizes + 1) if top
        ]
    if output is not None:
        found = transactions.notes.layout.guessed_before(replayed_guesses(context))
        content = layout_text(found, drop_rows_without_unit=reading.drop_rows_without_unit)
        output = write_derived(output, lambda path: path.write_text(content, encoding="utf-8"), overwrite=overwrite)
    say(BANNER)
    notes = transactions.notes
    for odd in (*(f"Odd, so `mine` stops here: {doubt}" for doubt in doubts), *nobody_notes(notes)):
        say(f"\n{wrapped([odd])}")
    lengths = transactions.lengths()
    rows = [
        ("read as", notes.layout.describe()),
        ("transactions", f"{len(transactions):,}"),
        ("different items", f"{len(transactions.vocabulary):,}"),
        ("item occurrences", f"{len(transactions.items):,}"),
        ("items per transaction", _spread(lengths)),
        ("blank items dropped", f"{notes.blanks:,}"),
        ("repeated items merged", f"{notes.duplicates:,}"),
        ("empty transactions left out", f"{notes.empty:,}"),
        ("items that differ from another in case or leading zeros alone", f"{alike(transactions.vocabulary):,}"),
    ]
    if notes.layout.where is not None:
        rows += [
            ("rows left out by --where", f"{notes.rows_left_out:,}"),
            ("of these for want of a number, date or text", f"{notes.rows_undecided:,}"),
        ]
    bounds = [_items_table(lengths)]
    if transactions.units is not None:
        import numpy as np

        per_unit, merged = np.bincount(transactions.units), of_units.lengths()
        rows += [
            ("units", f"{len(per_unit):,}"),
            ("transactions per unit", _spread(per_unit)),
            ("items per unit, merged", _spread(merged)),
            ("rows without a unit left out", f"{notes.rows_without_unit:,}"),
            ("units that differ from another in case or leading zeros alone", f"{notes.alike_units:,}"),
        ]
        bounds = [_transactions_table(per_unit), _items_table(lengths, merged)]
    typer.echo(table(["exact, not private", ""], rows, right=[False, False]))
    typer.echo("\nThe first transactions, as they were read:\n")
    typer.echo(table(["", "items"], _first(transactions), right=[True, False]))
    typer.echo("\nWhat bounds drop (exact, not private):")
    for shown in bounds:
        typer.echo(f"\n{shown}")
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


def _first(transactions: Transactions) -> list[list[str]]:
    """The number of items of each of the first transactions, and their names."""
    from fim_private.report.document.text import printable

    rows = []
    for start, end in pairwise(transactions.offsets[: FIRST + 1].tolist()):
        names = [printable(transactions.vocabulary[code]) for code in transactions.items[start:end].tolist()]
        more = [f"and {len(names) - FIRST_ITEMS:,} more"] if len(names) > FIRST_ITEMS else []
        rows.append([f"{len(names):,}", " | ".join([*names[:FIRST_ITEMS], *more])])
    return rows


def _transactions_table(per_unit: NDArray[np.int64]) -> str:
    """What --max-transactions drops."""
    from fim_private.report.document.text import table
    from fim_private.transactions.cap_losses import caps, dropped

    rows = [["--together instead", _share(0, 1), _share(0, 1), "x 1"]]
    for most in caps(int(per_unit.max())):
        gone, cut = dropped(per_unit, most)
        rows.append([f"{most:,}", _share(gone, int(per_unit.sum())), _share(cut, len(per_unit)), f"x {most:,}"])
    head = ["--max-transactions", "transactions dropped", "units cut", "noise"]
    return table(head, rows, right=[True] * len(head))


def _items_table(lengths: NDArray[np.int64], merged: NDArray[np.int64] | None = None) -> str:
    """What --max-items drops from transactions, and from the merged transactions of units."""
    from fim_private.report.document.text import table
    from fim_private.transactions.cap_losses import caps, dropped

    head = ["--max-items", "items dropped", "transactions cut"]
    kinds = [lengths]
    if merged is not None:
        head += ["merged: items dropped", "units cut"]
        kinds.append(merged)
    rows = []
    for most in caps(max(LEAST_ITEMS, *(int(sizes.max()) for sizes in kinds))):
        if most >= LEAST_ITEMS:
            found = [(dropped(sizes, most), sizes) for sizes in kinds]
            cells = [(_share(gone, int(sizes.sum())), _share(cut, len(sizes))) for (gone, cut), sizes in found]
            rows.append([f"{most:,}", *chain.from_iterable(cells)])
    return table(head, rows, right=[True] * len(head))


def _share(part: int, whole: int) -> str:
    """A number, and its share of the whole."""
    return f"{part:,} ({100 * part / whole:4.1f} %)"


def _spread(values: object) -> str:
    """The least, the quartiles, the mean and the largest of at least one whole number."""
    import numpy as np

    array = np.asarray(values)
    least, low, middle, high, most = np.percentile(array, [0, 25, 50, 75, 100], method="lower")
    return f"{least:,} to {most:,}; half hold {low:,} to {high:,}, median {middle:,}; mean {array.mean():,.2f}"
