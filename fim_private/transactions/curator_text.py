"""Exact figures of data, in words: what was read, and what bounds would drop. For the curator of the data alone.

No privacy guarantee protects any of this. It is no part of a release.
"""

from __future__ import annotations

from itertools import chain, pairwise

import numpy as np
import polars as pl
from numpy.typing import NDArray

from fim_private.transactions.columns.row_filter import COMPARED
from fim_private.transactions.dataset import ReadingNotes, Transactions
from fim_private.transactions.strings import alike

BANNER = (
    "EXACT FIGURES, NOT PRIVATE: for the curator of the data only. Do not publish any of this.\n"
    "If you choose a bound from these figures, no promise covers that choice. Inspect older or similar data instead."
)
ASIDE = "For the holder of the data, not part of the release:"
"""Begins a warning that a release never says."""
FIRST = 3
"""How many transactions to show as they were read."""
FIRST_ITEMS = 10
"""How many of their items to show."""
LEAST_ITEMS = 5
"""The smallest --max-items to show; a smaller one leaves few pairs."""

Rows = list[list[str]]


def facts(transactions: Transactions, merged: Transactions) -> Rows:
    """What was read, and how large it is: pairs of a name and a figure."""
    notes, lengths = transactions.notes, transactions.lengths()
    rows = [
        ["read as", notes.layout.describe()],
        ["transactions", f"{len(transactions):,}"],
        ["different items", f"{len(transactions.vocabulary):,}"],
        ["item occurrences", f"{len(transactions.items):,}"],
        ["items per transaction", _spread(lengths)],
        ["blank items dropped", f"{notes.blanks:,}"],
        ["repeated items merged", f"{notes.duplicates:,}"],
        ["empty transactions left out", f"{notes.empty:,}"],
        [
            "items that differ from another in case, leading zeros or Unicode form alone",
            f"{alike(transactions.vocabulary):,}",
        ],
    ]
    if notes.layout.where is not None:
        rows += [
            ["rows left out by --where", f"{notes.rows_left_out:,}"],
            ["of these for want of a number, date or text", f"{notes.rows_undecided:,}"],
        ]
    if transactions.units is not None:
        per_unit = np.bincount(transactions.units)
        rows += [
            ["units", f"{len(per_unit):,}"],
            ["transactions per unit", _spread(per_unit)],
            ["items per unit, merged", _spread(merged.lengths())],
            ["rows without a unit left out", f"{notes.rows_without_unit:,}"],
            ["units that differ from another in case, leading zeros or Unicode form alone", f"{notes.alike_units:,}"],
        ]
    return rows


def first_transactions(transactions: Transactions) -> Rows:
    """The number of items of each of the first transactions, and their names as they were read."""
    rows = []
    for start, end in pairwise(transactions.offsets[: FIRST + 1].tolist()):
        names = [transactions.vocabulary[code] for code in transactions.items[start:end].tolist()]
        more = [f"and {len(names) - FIRST_ITEMS:,} more"] if len(names) > FIRST_ITEMS else []
        rows.append([f"{len(names):,}", " | ".join([*names[:FIRST_ITEMS], *more])])
    return rows


def bounds(transactions: Transactions, merged: Transactions) -> list[Rows]:
    """What --max-transactions drops, if there are units, and what --max-items drops. The first row is the head.

    The arguments are those of `facts`.
    """
    lengths = transactions.lengths()
    if transactions.units is None:
        return [_items_table(lengths)]
    per_unit = np.bincount(transactions.units)
    return [_transactions_table(per_unit), _items_table(lengths, merged.lengths())]


def warnings(notes: ReadingNotes, items: pl.Series) -> list[str]:
    """What the holder of the data should know before anything is charged.

    --where could not compare some cells; a column seems to mark returns; no unit was named; items or units may be one;
    or units may stand for missing ones.
    """
    found = []
    if notes.rows_undecided:
        rows = "1 row" if notes.rows_undecided == 1 else f"{notes.rows_undecided:,} rows"
        found.append(
            f"{ASIDE} --where left out {rows} because a cell is blank, or no number or date where one is needed. "
            f"{COMPARED}."
        )
    if notes.returns:
        named, more = ", ".join(map(repr, notes.returns[:3])), len(notes.returns) - 3
        found.append(
            f"{ASIDE} {named}{f' and {more} more' if more > 0 else ''} may mark returns or cancelled sales: by numbers "
            "below 0, by a quantity of 0, by a word such as Storno or refund, or by a letter before some transaction "
            'numbers. If so, these count as bought. --where leaves them out, as in --where "COLUMN > 0" (COLUMN NOT '
            "LIKE '%-%' for numbers with commas), --where \"COLUMN <> 'Storno'\" or --where \"COLUMN NOT LIKE 'C%'\"."
        )
    if notes.unused_unit is not None:
        found.append(
            f"The column {notes.unused_unit!r} was not named with --unit-column. So each transaction is protected by "
            "itself, and a person with several is not protected beyond one of them."
        )
    if notes.alike_units:
        found.append(
            f"{ASIDE} {notes.alike_units:,} units differ from another one in case, leading zeros or Unicode form "
            "alone. If they are the same, correct the column: each of them is protected as a unit of its own, and so "
            "less than is promised."
        )
    if alike_items := alike(items):
        found.append(
            f"{ASIDE} {alike_items:,} items differ from another one in case, leading zeros or Unicode form alone, "
            "and count apart. If they are the same, write them in one way."
        )
    found += [
        f"{ASIDE} the unit {name!r} has {size:,} transactions. It may stand for rows without a unit, which count as "
        "one unit. If so, leave these cells blank, and give --drop-rows-without-unit."
        for name, size in notes.nobody
    ]
    return found


def caps(largest: int) -> list[int]:
    """The caps 1, 2, 5, 10, 20, 50, ... up to the first that is at least `largest`, and so drops nothing.

    >>> caps(10), caps(11)
    ([1, 2, 5, 10], [1, 2, 5, 10, 20])
    """
    found = [step * 10**power for power in range(len(str(largest)) + 1) for step in (1, 2, 5)]
    return found[: 1 + sum(cap < largest for cap in found)]


def dropped(sizes: NDArray[np.int64], most: int) -> tuple[int, int]:
    """How much a cap of `most` on these sizes drops in total, and how many units or transactions lose some of theirs.

    The figures do not depend on the random choice. They are data, not a release; no privacy guarantee protects them.

    >>> dropped(np.array([1, 3, 6]), 2)
    (5, 2)
    """
    over = sizes[sizes > most] - most
    return int(over.sum()), len(over)


def _transactions_table(per_unit: NDArray[np.int64]) -> Rows:
    rows = [
        ["--max-transactions", "transactions dropped", "units cut", "noise"],
        ["none (--together)", _share(0, 1), _share(0, 1), "x 1"],
    ]
    for most in caps(int(per_unit.max())):
        gone, cut = dropped(per_unit, most)
        rows.append([f"{most:,}", _share(gone, int(per_unit.sum())), _share(cut, len(per_unit)), f"x {most:,}"])
    return rows


def _items_table(lengths: NDArray[np.int64], merged: NDArray[np.int64] | None = None) -> Rows:
    """What --max-items drops from transactions, and from the merged transactions of units."""
    head = ["--max-items", "items dropped", "transactions cut"]
    kinds = [lengths]
    if merged is not None:
        head += ["merged: items dropped", "units cut"]
        kinds.append(merged)
    rows = [head]
    for most in caps(max(LEAST_ITEMS, *(int(sizes.max()) for sizes in kinds))):
        if most >= LEAST_ITEMS:
            found = [(dropped(sizes, most), sizes) for sizes in kinds]
            cells = [(_share(gone, int(sizes.sum())), _share(cut, len(sizes))) for (gone, cut), sizes in found]
            rows.append([f"{most:,}", *chain.from_iterable(cells)])
    return rows


def _share(part: int, whole: int) -> str:
    """A number, and its share of the whole."""
    return f"{part:,} ({100 * part / whole:4.1f} %)"


def _spread(values: NDArray[np.int64]) -> str:
    """The least, the quartiles, the mean and the largest of at least one whole number."""
    least, low, middle, high, most = np.percentile(values, [0, 25, 50, 75, 100], method="lower")
    return f"{least:,} to {most:,}; half hold {low:,} to {high:,}, median {middle:,}; mean {values.mean():,.2f}"
