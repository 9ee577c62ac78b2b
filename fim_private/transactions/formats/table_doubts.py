"""What looks odd in the first rows of a table whose columns or format were guessed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import polars as pl

from fim_private.transactions.columns.column_names import TRANSACTION_NAMES, plain
from fim_private.transactions.columns.column_roles import LongColumns
from fim_private.transactions.formats.cells import is_cell
from fim_private.transactions.formats.doubt import Doubt, Way
from fim_private.transactions.formats.item_doubts import spoilt
from fim_private.transactions.formats.line_doubts import first_lines, lists_of_items
from fim_private.transactions.formats.signs import (
    DAY,
    ENOUGH,
    SOME,
    Record,
    is_column_word,
    is_word_above_numbers,
    list_mark,
    numbers_rows,
)
from fim_private.transactions.layout import Layout


@dataclass(frozen=True, kw_only=True)
class Sample:
    """The first rows of a long table.

    Args:
        name: of the file, for messages.
        header: the names of the columns.
        columns: the stripped cells of each column, of equal number; None for a column that holds no plain values.
        found: which columns say what.
    """

    name: str
    header: Sequence[str]
    columns: Sequence[Record | None]
    found: LongColumns

    def column(self, at: int) -> Record:
        """The cells of a column."""
        return self.columns[at] or ()


def one_hot_table(sample: Sample, layout: Layout) -> Doubt | None:
    """Whether a table that was guessed to be long, by names of columns, seems to have a column for each item."""
    found = sample.found
    others = [column for at, column in enumerate(sample.columns) if at not in found.all]
    flags = sum(bool(column) and all(map(is_cell, column or ())) for column in others)
    items = sample.column(found.item)
    if not items or not all(map(is_cell, items)) or flags < 2 or 2 * flags < len(others):
        return None
    (transaction,) = found.transaction
    # A comma is what a typed format means anyway.
    more = {part: value for part, value in layout.guesses().items() if part != "format" and value != ","}
    options = {"format": "one-hot", **more, "transaction_column": sample.header[transaction].strip()}
    return Doubt(
        what=f"In {sample.name} the item column holds only 0 and 1, as do others, so each column may be an item.",
        instead=Way("If so, give", options),
        stays=Way("If that column names the items, give", layout.guesses()),
    )


def other_columns(name: str, numbers: Sequence[int], layout: Layout) -> Doubt:
    """What is odd in a one-hot table, some of whose columns hold other words."""
    listed = ", ".join(map(str, numbers))
    return Doubt(
        what=f"{name} looks like a one-hot table, but these columns hold other words than yes and no: {listed}. "
        "All others count as items, also a property such as a sex or a weekend as 0 and 1.",
        instead=Way(
            "If each row names one item, give --transaction-column and --item-column. If these are items with "
            "quantities, first replace those above 1 by 1."
        ),
        stays=Way(
            "If they are not items but ids, totals or customers (who may still be given by --unit-column), leave "
            "them out with",
            layout.guesses(),
        ),
    )


def long_table(sample: Sample, layout: Layout, *, headerless: bool, known: bool) -> Doubt | None:
    """What is odd in the first rows of a long table whose format was guessed.

    `headerless` says whether the first row is no header, `known` whether the transaction column was taken for its name
    alone.
    """
    found = sample.found
    stays = Way("If they are meant, give", layout.guesses())
    items, ids = sample.column(found.item), list(zip(*map(sample.column, found.transaction), strict=True))
    if headerless and items and (all(map(is_column_word, (items[0], *ids[0]))) or _is_head(sample)):
        return first_lines(sample.name, Way("If it is part of the data, give", layout.guesses()), 1, layout)
    identities = [at for at in found.all if at != found.item]
    for at in identities:
        doubt = spoilt(pl.Series(sample.column(at), dtype=pl.String), "transactions or units", stays)
        if doubt is not None:
            return doubt
    # Answers of a survey may share the second in which they were given.
    once = len(set(ids)) >= ENOUGH * len(ids)
    mark = list_mark(items, once=once) if layout.item_separator is None else None
    return _odd_columns(sample, ids, stays, layout, known=known) or (
        None
        if mark is None
        else lists_of_items(
            sample.name,
            {"item_separator": mark},
            Way(
                "If each cell is one item, nearly every transaction holds one: name the column that says which rows "
                "belong together with --transaction-column or, if single items are meant, give"
                if once
                else "If each cell is one item, give",
                layout.guesses(),
            ),
        )
    )


def _is_head(sample: Sample) -> bool:
    """Whether the first item is in no other row, and above the numbers of some column stands another word."""
    first, *below = sample.column(sample.found.item)
    return first not in below and any(is_word_above_numbers(column or ()) for column in sample.columns)


def _odd_columns(
    sample: Sample, ids: Sequence[tuple[str, ...]], stays: Way, layout: Layout, *, known: bool
) -> Doubt | None:
    """What is odd in the transaction, item and unit columns beside each other."""
    found = sample.found
    items = sample.column(found.item)
    if known and len(ids) >= SOME and len(set(ids)) < len(ids) and all(DAY.fullmatch(cell) for (cell,) in ids):
        return Doubt(
            what=f"The transaction column of {sample.name} holds dates, so all rows of one day are one transaction.",
            instead=Way(
                "If another column tells transactions apart, name it with --transaction-column, or several, as in "
                "InvoiceNo,Date."
            ),
            stays=stays,
        )
    finer = _finer_column(sample, len(set(ids))) if known else None
    if finer is not None:
        taken, other = (sample.header[at].strip() for at in (found.transaction[0], finer))
        return Doubt(
            what=f"In {sample.name} the column {other!r} holds more different values than {taken!r}, which was taken "
            "for the transactions.",
            instead=Way("If it tells transactions apart, give", {"transaction_column": other}),
            stays=Way("If not, give", layout.guesses()),
        )
    if numbers_rows(ids, items):
        return Doubt(
            what=f"The item column of {sample.name} only numbers the rows of each transaction, as in 10, 20, 30.",
            instead=Way("If so, name the column of items with --item-column."),
            stays=stays,
        )
    units = None if found.unit is None else sample.column(found.unit)
    if units is not None and any(
        item and not unit and not any(names) for item, unit, names in zip(items, units, ids, strict=True)
    ):
        return Doubt(
            what=f"In {sample.name} some rows name an item, but no transaction and no unit, as below a merged cell or "
            "where only the first row of an order has its number.",
            instead=Way("If so, write both into the other rows too."),
            stays=Way("If these rows belong to nobody, give", layout.guesses()),
        )
    if units is not None and _partly_named(ids, units):
        return Doubt(
            what=f"In {sample.name} some rows of a transaction name its unit and others name none, as where only the "
            "first row of an order names the customer.",
            instead=Way("If so, write the unit into the other rows too."),
            stays=Way("If the other rows belong to nobody, give", layout.guesses()),
        )
    return None


def _finer_column(sample: Sample, transactions: int) -> int | None:
    """Another column with a usual name of transactions and clearly more values: "order" may be a place in a session."""
    others = (
        at for at, name in enumerate(sample.header) if at not in sample.found.all and plain(name) in TRANSACTION_NAMES
    )
    return next((at for at in others if transactions < ENOUGH * len(set(filter(None, sample.column(at))))), None)


def _partly_named(ids: Sequence[tuple[str, ...]], units: Record) -> bool:
    """Whether a transaction has a row with a unit and one without."""
    with_unit = {transaction for transaction, unit in zip(ids, units, strict=True) if unit}
    return any(not unit and transaction in with_unit for transaction, unit in zip(ids, units, strict=True))
