"""Notice transactions whose numbers begin again every day: beside a column of dates, one number has several days."""

from __future__ import annotations

from collections.abc import Callable

import polars as pl

from fim_private.transactions.columns.column_roles import LongColumns
from fim_private.transactions.formats.doubts import Doubt, Way
from fim_private.transactions.formats.signs import DATE
from fim_private.transactions.layout import Layout

WATCHED = 100_000
"""Only this many rows are looked at: they hold several days, unless a shop sells more in one."""

TRIED = 200
"""This many cells show whether a column holds dates."""

MANY = 0.1
"""If more than this share of the transactions has several days, it is no accident."""

Cells = Callable[[int], pl.Series]
"""Gives the cells of the column at this position, as strings."""


class Restarts:
    """Watches the rows of a long table whose format was guessed, while it is read.

    Args:
        name: of the table, for messages.
        width: the number of its columns.
        found: which of them say what. If several make a transaction, nothing is watched.
        layout: of the table.
    """

    def __init__(self, name: str, width: int, found: LongColumns, layout: Layout) -> None:
        self._name, self._layout = name, layout
        self._transaction = found.transaction[0]
        self._others = [at for at in range(width) if at not in found.all]
        self._days: int | None = None
        self._watching = "format" in layout.guessed and len(found.transaction) == 1
        self._rows: list[pl.DataFrame] = []
        self._passed = 0

    def add(self, cells: Cells) -> None:
        """Look at some rows, in their order."""
        if self._watching and not self._passed:
            self._days = next((at for at in self._others if _are_dates(cells(at).head(TRIED))), None)
        self._watching = self._watching and self._days is not None and self._passed < WATCHED
        if not self._watching or self._days is None:
            return
        rows = pl.DataFrame({"id": cells(self._transaction), "day": cells(self._days)})
        self._passed += len(rows)
        rows = rows.select(pl.all().str.strip_chars()).filter(pl.any_horizontal(pl.all().ne_missing(pl.all().shift(1))))
        self._rows.append(rows.with_columns(pl.col("day").str.extract("^([^ T]+)")).drop_nulls())

    def doubt(self) -> Doubt | None:
        """What is odd, after all rows."""
        if not self._rows:
            return None
        days = pl.concat(self._rows).unique().get_column("id").value_counts(name="days").get_column("days")
        if int((days > 1).sum()) <= MANY * len(days):
            return None
        return Doubt(
            what=f"In {self._name} one transaction has several dates: the numbers may begin again every day.",
            instead=Way("If so, name both columns, as in --transaction-column InvoiceNo,Date."),
            stays=Way("If not, give", self._layout.guesses()),
        )


def _are_dates(cells: pl.Series) -> bool:
    filled = [cell.strip() for cell in cells.to_list() if cell is not None and cell.strip()]
    return bool(filled) and all(map(DATE.fullmatch, filled))
