"""Tables of typed columns, whatever holds them: the schema, some columns, and any plain column as text."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import polars as pl

from fim_private.errors import InputError
from fim_private.transactions.silence import nothing_printed
from fim_private.transactions.values import name_of

UNREADABLE = (pl.exceptions.PolarsError, pl.exceptions.PanicException, OSError, ValueError)
"""What Polars raises on what it cannot take; a panic is no ordinary exception."""

EXACT: dict[type[pl.DataType], int] = {pl.Float64: 2**53, pl.Float32: 2**24}
HALF = 2**11
"""From here on floating point (of half precision, where it is neither) leaves out whole numbers: two may be one."""

CELLS_AT_ONCE = 1 << 25
"""Values of a table of columns that are decoded at once, of one column at least."""


class ColumnTable(Protocol):
    """A table whose columns have names and types."""

    @property
    def name(self) -> str:
        """To show in messages."""

    @property
    def kind(self) -> str:
        """What holds it, in words: "Parquet", "frame"."""

    def schema(self) -> pl.Schema:
        """Column names and types.

        Errors:
            InputError: it cannot be read.
        """

    def columns(self, names: list[str], *, rows: int | None = None) -> list[pl.Series]:
        """Some columns, whole or their first rows.

        Errors:
            InputError: it cannot be read.
        """


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class FrameTable:
    """A frame in memory."""

    frame: pl.DataFrame
    name: str = "The data in memory"
    kind: str = "frame"

    def schema(self) -> pl.Schema:
        """Column names and types."""
        return self.frame.schema

    def columns(self, names: list[str], *, rows: int | None = None) -> list[pl.Series]:
        """Some columns, whole or their first rows."""
        return unnamed(self.frame if rows is None else self.frame.head(rows), names)


def unnamed(frame: pl.DataFrame, names: list[str]) -> list[pl.Series]:
    """These columns without their names, which some methods of Polars take for patterns."""
    return [frame.get_column(name).alias("") for name in names]


def as_text(values: pl.Series, option: str) -> pl.Series:
    """A plain column as strings: numbers, dates and categories become their text; NaN counts as missing.

    The name of a value depends on that value alone. Which type a column has may depend on a single value (pandas makes
    floats of whole numbers where one is missing), so 10, 10.0 and the decimal 10.00 are all "10", and 0.1 in 32 bits
    is 0.10000000149011612, the number that it is in 64. A column of Python objects is named value by value.

    Errors:
        InputError: the column holds lists, structures, durations or bytes that are no text; or numbers in floating
            point so large that whole numbers are not exact.
    """
    try:
        if not values.dtype.is_nested():
            with nothing_printed():
                return _names(values, option)
    except UNREADABLE:
        pass
    raise InputError(
        f"The column for {option} is of type {values.dtype.base_type()}, which is not text or numbers.",
        "Choose another column, or save this one as text.",
    )


def _names(values: pl.Series, option: str) -> pl.Series:
    if values.dtype.is_float():
        return _names_of_floats(values, option)
    if isinstance(values.dtype, pl.Datetime):
        return _names_of_times(values, values.dtype)
    if values.dtype == pl.Time:
        return _without_zeros(values.dt.to_string("%H:%M:%S%.f"))
    if values.dtype == pl.Object:
        return _names_of_objects(values, option)
    names = values.cast(pl.String)
    return _without_zeros(names) if values.dtype.is_decimal() else names


def _names_of_floats(values: pl.Series, option: str) -> pl.Series:
    most = EXACT.get(values.dtype.base_type(), HALF)
    values = values.cast(pl.Float64).fill_nan(None)
    if (values.abs() >= most).any():
        raise InputError(
            f"The column for {option} holds numbers in floating point that are too large to be exact.",
            "Save the column as whole numbers or as text; a missing value makes pandas turn it into floating point.",
        )
    whole = (values == values.floor()).fill_null(value=False)
    return values.cast(pl.Int64).cast(pl.String).zip_with(whole, values.cast(pl.String))


def _names_of_objects(values: pl.Series, option: str) -> pl.Series:
    try:
        names = [name_of(value) for value in values]
    except Exception:  # values of other libraries raise what they like
        raise ValueError("a value has no name") from None
    text = pl.Series([None if isinstance(name, float) else name for name in names], dtype=pl.String)
    numbers = pl.Series([name if isinstance(name, float) else None for name in names], dtype=pl.Float64)
    return text.fill_null(_names_of_floats(numbers, option))


def _names_of_times(values: pl.Series, dtype: pl.Datetime) -> pl.Series:
    """Dates with times of day, down to the last digit that counts; midnight is the date alone, as in columns of dates.

    A column holds one time zone or none: instants are named in UTC.
    """
    if dtype.time_zone is not None:
        instants = values.dt.convert_time_zone("UTC").dt.replace_time_zone(None)
        return _without_zeros(instants.cast(pl.String)) + "+00:00"
    return _without_zeros(values.cast(pl.String)).str.strip_suffix(" 00:00:00")


def _without_zeros(names: pl.Series) -> pl.Series:
    """Without zeros that end a fraction."""
    fraction = names.str.contains(".", literal=True).fill_null(value=False)
    return names.str.strip_chars_end("0").str.strip_chars_end(".").zip_with(fraction, names)
