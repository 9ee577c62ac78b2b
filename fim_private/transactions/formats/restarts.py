"""Notice transactions whose numbers begin again.

If they do so every day, one number has several days in a column of dates. If they do so in every shop, one number has
several shops; or its rows stand in several places, far apart or with another column that is the same within each. If
they do so in every file, files share their numbers.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import polars as pl

from fim_private.transactions.columns.column_names import SHOP_NAMES, UNIT_NAMES, plain
from fim_private.transactions.columns.column_roles import LongColumns
from fim_private.transactions.formats.doubt import Doubt, Way
from fim_private.transactions.formats.signs import DATE
from fim_private.transactions.layout import Layout
from fim_private.transactions.strings import identities

WATCHED = 100_000
"""Only this many rows are looked at: they hold several days, unless a shop sells more in one."""

TRIED = 200
"""This many cells show whether a column holds dates, or says the same of all rows of a transaction."""

FOLLOWED = 5
"""The most columns that are followed beside those of dates."""

IN_RUNS = 0.75
"""If there are more runs than this share of the rows, the rows of a transaction do not stand together."""

STRAY = 0.01
"""In at most this share of the runs a column of shops may change between neighbouring rows of one number."""

MANY = 0.1
"""If more than this share of the transactions has several days, it is no accident."""

FAR = 20
"""If this many runs lie between two of one number, it is no accident of tills that sell at the same time."""

SEVERAL = 20
"""A file with fewer transactions among its first rows may share some with the first file by accident."""

Cells = Callable[[int], pl.Series]
"""Gives the cells of the column at this position, as strings."""


class Restarts:
    """Watches the rows of a long table whose format was guessed, while it is read.

    Args:
        name: of the table, for messages.
        header: the names of its columns.
        found: which of them say what. If several make a transaction, or the transaction is the unit, nothing is
            watched.
        layout: of the table.
    """

    def __init__(self, name: str, header: Sequence[str], found: LongColumns, layout: Layout) -> None:
        self._name, self._layout = name, layout
        self._transaction = found.transaction[0]
        self._others = [at for at in range(len(header)) if at not in found.all]
        self._owners = [at for at in self._others if plain(header[at]) in {*SHOP_NAMES, *UNIT_NAMES}]
        self._days: int | None = None
        self._marks: list[int] = []
        one = len(found.transaction) == 1 and found.transaction != (found.unit,)
        self._watching = self._asking = "format" in layout.guessed and one
        self._first_ids = pl.Series([], dtype=pl.String)
        self._files_share = False
        self._rows: list[pl.DataFrame] = []
        self._passed = 0

    def begin_file(self, ids: pl.Series) -> None:
        """Look at the transactions of the first rows of a file."""
        ids = identities(ids.head(WATCHED)).unique()
        if self._first_ids.is_empty():
            self._first_ids = ids
        elif self._asking and len(ids) >= SEVERAL:
            self._files_share |= int(ids.is_in(self._first_ids.implode()).sum()) > MANY * len(ids)

    def add(self, cells: Cells, first: Cells | None = None) -> None:
        """Look at some rows, in their order. `first` gives at least their first `TRIED` cells, if that is less work."""
        ids = cells(self._transaction)
        if not len(ids):  # --where left nothing of this block
            return
        if self._watching and not self._passed:
            first = first or cells
            self._days = next((at for at in self._others if _are_dates(first(at).head(TRIED))), None)
            self._marks = self._constant_in_runs(first)[:FOLLOWED]
        watched = {*([] if self._days is None else [self._days]), *self._marks, *self._owners}
        self._watching = self._watching and self._passed < WATCHED
        if not self._watching:
            return
        rows = pl.DataFrame({"id": ids, **{str(at): cells(at) for at in watched}})
        self._passed += len(rows)
        rows = rows.select(pl.all().str.strip_chars())
        self._rows.append(rows.filter(pl.any_horizontal(pl.all().ne_missing(pl.all().shift(1)))))

    def doubt(self) -> Doubt | None:
        """What is odd, after all rows."""
        found = self._in_rows() if self._rows else None
        return found or (self._in_files() if self._files_share else self._in_runs() if self._rows else None)

    def _in_files(self) -> Doubt:
        return Doubt(
            what="Several files have the same transaction numbers, which may begin again in every file.",
            instead=Way(
                "If so, make them different, as in N-1 and S-1, or name a column that tells the files apart too, as in "
                "--transaction-column InvoiceNo,Shop."
            ),
            stays=Way("If equal numbers are one transaction, give", self._layout.guesses()),
        )

    def _in_rows(self) -> Doubt | None:
        rows = pl.concat(self._rows)
        day = pl.col(str(self._days)).str.extract("^([^ T]+)").alias("mark")
        if self._days is not None and _often_several(rows.select("id", day)):
            return Doubt(
                what=f"In {self._name} one transaction has several dates: the numbers may begin again every day.",
                instead=Way("If so, name both columns, as in --transaction-column InvoiceNo,Date."),
                stays=Way("If not, give", self._layout.guesses()),
            )
        marks = {at: rows.select("id", pl.col(str(at)).alias("mark")) for at in (*self._marks, *self._owners)}
        if any(_often_several(marks[at]) for at in self._owners) or any(map(self._begin_again, marks.values())):
            return Doubt(
                what=f"In {self._name} the rows of one transaction differ in another column, such as the shop or till: "
                "the numbers may begin again in every shop, month or file.",
                instead=Way("If so, name both columns, as in --transaction-column InvoiceNo,Shop."),
                stays=Way("If not, give", self._layout.guesses()),
            )
        return None

    def _in_runs(self) -> Doubt | None:
        """Whether the ids come in runs, and many ids have runs far apart."""
        ids = pl.col("id")
        runs = pl.concat(self._rows).filter(ids.ne_missing(ids.shift(1))).select("id").with_row_index("run")
        runs = runs.filter(ids != "")
        far = runs.filter(pl.col("run").diff().over("id") >= FAR).get_column("id").n_unique()
        if len(runs) > IN_RUNS * self._passed or far <= MANY * runs.get_column("id").n_unique():
            return None
        return Doubt(
            what=f"In {self._name} the rows of many transactions stand far apart: the numbers may begin again.",
            instead=Way(
                "If so, make them different, as in 1-17 and 2-17, or name a column that tells them apart too, as in "
                "--transaction-column InvoiceNo,Date."
            ),
            stays=Way("If not, give", self._layout.guesses()),
        )

    def _constant_in_runs(self, cells: Cells) -> list[int]:
        """The other columns that do not change within neighbouring rows of one transaction, among the first rows."""
        ids = cells(self._transaction).head(TRIED)
        same = ids.eq_missing(ids.shift(1))
        others = (at for at in self._others if at != self._days)
        first = ((at, cells(at).head(TRIED)) for at in others)
        return [at for at, mark in first if not (same & mark.ne_missing(mark.shift(1))).any()]

    def _begin_again(self, rows: pl.DataFrame) -> bool:
        """Whether the ids come in runs of rows that agree in a mark, and many ids have runs of several marks."""
        same = pl.col("id").eq_missing(pl.col("id").shift(1))
        runs = rows.filter(~same | pl.col("mark").ne_missing(pl.col("mark").shift(1)))
        inside = runs.select(same.sum()).item()
        in_runs = len(runs) <= IN_RUNS * self._passed and inside <= STRAY * len(runs)
        return in_runs and _often_several(rows)


def _often_several(rows: pl.DataFrame) -> bool:
    """Whether many ids have several marks."""
    ids = rows.filter(pl.col("mark") != "").drop_nulls().unique().get_column("id")
    marks = ids.value_counts(name="marks").get_column("marks")
    return int((marks > 1).sum()) > MANY * len(marks)


def _are_dates(cells: pl.Series) -> bool:
    filled = [cell.strip() for cell in cells.to_list() if cell is not None and cell.strip()]
    return bool(filled) and all(map(DATE.fullmatch, filled))
