"""The transaction ids and units of lists and one-hot tables."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import polars as pl
from numpy.typing import NDArray

from fim_private.errors import InputError
from fim_private.transactions.columns.column_roles import Columns
from fim_private.transactions.strings import group_codes, identities
from fim_private.transactions.units import rows_with_unit


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class RowUnits:
    """Which rows of a table with one transaction per row are kept, and whose they are.

    Args:
        kept: bool, shape (n,).
        units: int64, shape (number kept,), codes from 0; None without units.
        names: the name of each code; None without units.
    """

    kept: NDArray[np.bool_]
    units: NDArray[np.int64] | None
    names: pl.Series | None


def repeated_transaction() -> InputError:
    """The error for a transaction id that repeats, where its rows would be one transaction."""
    return InputError(
        "The transaction column holds the same value twice, but each row is a transaction here.",
        "Join the rows of one transaction, or leave --transaction-column out if it is not an identifier.",
    )


def row_units(row_count: int, *, transaction: pl.Series | None, unit: pl.Series | None, columns: Columns) -> RowUnits:
    """Check that transaction ids do not repeat (they have no other use), and turn units into codes.

    Args:
        row_count: n, the number of rows.
        transaction: strings, length n, if that column was named.
        unit: strings, length n, if that column was named.
        columns: what the caller said.

    Errors:
        InputError: a transaction id repeats, or a unit is missing and rows without a unit may not be dropped.
    """
    if transaction is not None and identities(transaction).n_unique() < row_count:
        raise repeated_transaction()
    if unit is None:
        return RowUnits(kept=np.ones(row_count, dtype=bool), units=None, names=None)
    kept = rows_with_unit(unit, drop=columns.drop_rows_without_unit)
    units, names = group_codes(identities(unit).filter(pl.Series(kept)))
    return RowUnits(kept=kept, units=units, names=names)
