"""The privacy unit of each row, and rows without one."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import polars as pl
from numpy.typing import NDArray

from fim_private.errors import InputError
from fim_private.transactions.strings import not_blank

NOBODY = (
    *("na", "n/a", "#n/a", "<na>", "nan", "nat", "null", "none", "nil", "0", "-1", "-", "--", "?", ".", "unknown"),
    *("missing", "undefined", "anonymous", "guest", "no customer", "walk-in", "walk-in customer", "cash customer"),
    *("gast", "laufkunde", "laufkundschaft", "barkunde", "barverkauf", "anonym", "unbekannt", "ohne", "divers"),
    *("anonyme", "inconnu", "client divers", "client de passage", "anónimo", "desconocido", "público en general"),
)
"""Names that programs and people write where there is no customer, in lower case, in the languages of known columns."""

MANY = 20
TIMES = 5
"""A unit stands out with `MANY` transactions, and more than `TIMES` as many as the other units have on average."""

LARGE = 0.1
"""A unit with more than this share of all transactions may stand for nobody, whatever its name: a card 9999999, say."""


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


def nobody(names: Sequence[str], sizes: Sequence[int], *, transactions: int, units: int) -> tuple[tuple[str, int], ...]:
    """Units that hold very many transactions, and that a word for a missing value names, or that are `LARGE`.

    Names and sizes are of those that may stand for nobody; `transactions` and `units` are all that there are.
    """
    return tuple(
        (name, size)
        for name, size in zip(names, sizes, strict=True)
        if size >= MANY and size > TIMES * (transactions - size) / max(1, units - 1)
    )


def nobody_of(names: pl.Series, units: NDArray[np.int64]) -> tuple[tuple[str, int], ...]:
    """`nobody` among the units of transactions, which are positions in the distinct names."""
    sizes = np.bincount(units, minlength=len(names))
    odd = names.str.to_lowercase().is_in(NOBODY).to_numpy() | (sizes > LARGE * len(units))
    return nobody(
        names.filter(pl.Series(odd)).to_list(), sizes[odd].tolist(), transactions=len(units), units=len(names)
    )


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
