"""Series of strings: which are blank, and the position or code of each."""

from __future__ import annotations

import numpy as np
import polars as pl
from numpy.typing import NDArray


def not_blank(values: pl.Series) -> pl.Series:
    """Whether each string is not null and holds more than white space."""
    return (values.str.strip_chars() != "") & values.is_not_null()


def positions_in(distinct: pl.Series, values: pl.Series) -> NDArray[np.int64]:
    """The position of each value among distinct strings, int64 of the same length; -1 for any other value."""
    codes = values.cast(pl.Enum(distinct), strict=False).to_physical()
    return codes.cast(pl.Int64).fill_null(-1).to_numpy()


def group_codes(values: pl.Series) -> tuple[NDArray[np.int64], int]:
    """A code for each string, from 0 on in order of appearance, int64 of the same length, and their number."""
    distinct = values.unique(maintain_order=True)
    return positions_in(distinct, values), len(distinct)
