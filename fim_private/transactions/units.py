"""The privacy unit of each row, and rows without one."""

from __future__ import annotations

import numpy as np
import polars as pl
from numpy.typing import NDArray

from fim_private.errors import InputError
from fim_private.transactions.strings import not_blank


def rows_with_unit(units: pl.Series, *, drop: bool) -> NDArray[np.bool_]:
    """Which rows have a unit, bool, shape (n,).

    Args:
        units: strings, null or blank where the unit is missing.
        drop: whether rows without a unit may be dropped.

    Errors:
        InputError: a unit is missing, and `drop` is False.
    """
    present = not_blank(units).to_numpy()
    if not drop and not present.all():
        raise InputError(
            "Some rows have no unit in the unit column, so nobody can be protected for them.",
            "Drop those rows with --drop-rows-without-unit, or fill the column.",
        )
    return present


def unit_of_each(rows: NDArray[np.int64], units: NDArray[np.int64], row_count: int) -> NDArray[np.int64]:
    """The unit of each transaction, int64, shape (row_count,).

    Args:
        rows: int64, shape (p,): the transaction of each row of the table; every transaction has at least one row.
        units: int64, shape (p,): the unit of each row of the table.
        row_count: the number of transactions.

    Errors:
        InputError: a transaction belongs to two units.
    """
    of = np.empty(row_count, dtype=np.int64)
    of[rows] = units
    if not np.array_equal(of[rows], units):
        raise InputError(
            "A transaction belongs to two different units.",
            "Choose a unit column that does not change within a transaction, or several transaction columns "
            "that together tell transactions apart, as in --transaction-column InvoiceNo,Date.",
        )
    return of
