"""The cells of a one-hot table: which words mean yes, which mean no, and the error for anything else."""

from __future__ import annotations

import numpy as np
import polars as pl
from numpy.typing import NDArray

from fim_private.errors import InputError
from fim_private.transactions.layout import Layout

PRESENT = ("1", "true", "t", "yes", "y", "1.0", "1,0", "x", "✓", "✔", "wahr", "ja", "vrai", "oui", "verdadero", "sí")
ABSENT = ("0", "false", "f", "no", "n", "0.0", "0,0", "", "?", "-", "na", "falsch", "nein", "faux", "non", "falso")
"""Also as spreadsheets write them in the languages whose names of columns are known."""


def is_cell(value: str) -> bool:
    """Whether this is a word for yes or no."""
    return value.strip().lower() in PRESENT + ABSENT


def present_cells(cells: pl.Series) -> tuple[NDArray[np.bool_], int | None]:
    """Which cells mean yes, in upper or lower case, and the position of the first that means neither yes nor no.

    Null means no.
    """
    words = cells.str.strip_chars().str.to_lowercase()
    present = words.is_in(PRESENT) & words.is_not_null()
    neither = words.is_not_null() & ~present & ~words.is_in(ABSENT)
    return present.to_numpy(), neither.arg_max() if neither.any() else None


def present_numbers(cells: pl.Series) -> tuple[NDArray[np.bool_], int | None]:
    """Do what `present_cells` does, for booleans and numbers; turning 100,000 columns into words would be slow.

    Null and NaN mean no.
    """
    numbers = cells.cast(pl.Float64).fill_nan(None).fill_null(0.0).to_numpy()
    present = numbers == 1
    neither = ~present & (numbers != 0)
    return present, int(neither.argmax()) if neither.any() else None


def not_a_cell(place: str, cell: str, column: int, layout: Layout) -> InputError:
    """The error for a cell that means neither yes nor no. About the cell it tells only whether it is a quantity.

    The number of its column counts from 1.
    """
    numbers = ",".join(filter(None, (layout.skip_columns, str(column))))
    others = (
        f"If the column is no item but an id or a total, leave it out with --skip-columns {numbers}; customers may "
        "also be given by --unit-column. Delete rows of totals."
    )
    if cell.strip().replace(".", "", 1).isdecimal():
        return InputError(
            f"{place} of the one-hot table holds a quantity or another number.",
            f"If it is a quantity, first replace those above 1 by 1. {others}",
        )
    return InputError(
        f"{place} of the one-hot table holds something that means neither yes nor no.",
        f"Cells may be 0 or 1, true or false, t or f, y or n, x, empty, - or ?. {others}",
    )
