"""Series of strings: which are blank, whom each names, and the position or code of each."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import polars as pl
from numpy.typing import NDArray

BETWEEN = "\x1f"
"""The unit separator of ASCII, which stands between the names of one identity."""
ESCAPED = {"\x1e": "\x1e0", BETWEEN: "\x1e1"}
"""How a name is written that holds the separator itself, so that no two lists of names look alike."""

WHOLE_NUMBER = r"^[+-]?[0-9]+(\.0*)?$"
USUAL_NUMBER = "^(0|-?[1-9][0-9]*)$"


def not_blank(values: pl.Series) -> pl.Series:
    """Whether each string is not null and holds more than white space."""
    return (values.str.strip_chars() != "") & values.is_not_null()


def identities(names: pl.Series) -> pl.Series:
    """What the names of units or transactions stand for: without blanks around them, and equal whole numbers as one.

    One export writes 17850 and the next one 17850.0 or 017850 for the same customer. As two customers they would be
    protected at half the promise. Other names stay as they are: 3.1 and 3.10 are two receipts of till 3. The result for
    a name depends on that name alone, and a null stays null.

    >>> identities(pl.Series([" K1", "k1", "17850.0", "007", "-0", "3.10"])).to_list()
    ['K1', 'k1', '17850', '7', '0', '3.10']
    """
    names = names.str.strip_chars()
    unusual = (names.str.contains(WHOLE_NUMBER) & ~names.str.contains(USUAL_NUMBER)).fill_null(value=False)
    if not unusual.any():
        return names
    numbers = names.filter(unusual)
    size = numbers.str.extract(r"^[+-]?0*([0-9]+?)(?:\.|$)")
    below_zero = numbers.str.starts_with("-") & (size != "0")
    return names.scatter(np.flatnonzero(unusual.to_numpy()), ("-" + size).zip_with(below_zero, size))


def joined_identities(parts: Sequence[pl.Series]) -> pl.Series:
    """One identity of the names in several columns; null where one of them is null or blank."""
    names = [_escaped(identities(part)) for part in parts]
    return pl.select(pl.concat_str([name.set(name == "", None) for name in names], separator=BETWEEN)).to_series()


def _escaped(names: pl.Series) -> pl.Series:
    if not names.str.contains("[\x1e\x1f]").any():
        return names
    return names.str.replace_many(ESCAPED)


def positions_in(distinct: pl.Series, values: pl.Series) -> NDArray[np.int64]:
    """The position of each value among distinct strings, int64 of the same length; -1 for any other value."""
    codes = values.cast(pl.Enum(distinct), strict=False).to_physical()
    return codes.cast(pl.Int64).fill_null(-1).to_numpy()


def group_codes(values: pl.Series) -> tuple[NDArray[np.int64], pl.Series]:
    """A code for each string, from 0 on in order of appearance, int64 of the same length, and what has each code."""
    distinct = values.unique(maintain_order=True)
    return positions_in(distinct, values), distinct


def alike(names: pl.Series) -> int:
    """How many of these distinct names differ from another one in case, leading zeros or Unicode form alone.

    >>> alike(pl.Series(["K1", "k01", "K2", "milk", "Milk", "10", "1"]))
    4
    """
    plain = names.str.normalize("NFC").str.to_lowercase().str.replace_all("(^|[^0-9])0+([0-9])", "${1}${2}")
    return int(plain.is_duplicated().sum())
