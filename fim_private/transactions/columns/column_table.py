"""Tables of typed columns, wherever they come from, and how values of a column become text."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import polars as pl

from fim_private.errors import InputError
from fim_private.transactions.columns.values import name_of
from fim_private.transactions.files.silence import nothing_printed

UNREADABLE = (pl.exceptions.PolarsError, pl.exceptions.PanicException, OSError, ValueError)
"""What Polars raises for data it cannot read. A panic is not an ordinary exception."""

EXACT: dict[type[pl.DataType], int] = {pl.Float64: 2**53, pl.Float32: 2**24}
HALF = 2**11
"""From these numbers on, floating point cannot hold every whole number, so two could get one name.

`HALF` is the limit of half precision, used for types not in `EXACT`.
"""

WRITTEN = (pl.String, pl.Date, pl.Datetime, pl.Categorical, pl.Enum, pl.Boolean)
"""The types of columns that doubts look at, beside numbers of all types: names, dates, and yes or no."""

NAMED_BY_VALUE = (pl.Binary, pl.Date, pl.Datetime)
"""The types of columns in which some values have names and others have none."""

CELLS_AT_ONCE = 1 << 25
"""At most this many values are decoded at once, but at least one column."""


class ColumnTable(Protocol):
    """A table whose columns have names and types."""

    @property
    def name(self) -> str:
        """The name for messages."""

    @property
    def kind(self) -> str:
        """What holds the table, in words: "Parquet", "Excel", "frame" or the kind of database."""

    def schema(self) -> pl.Schema:
        """Column names and types.

        Errors:
            InputError: the table cannot be read.
        """

    def columns(self, names: list[str], *, rows: int | None = None) -> list[pl.Series]:
        """The named columns, whole or their first `rows` rows.

        Errors:
            InputError: the table cannot be read.
        """


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class FrameTable:
    """A frame in memory, also one that holds a sheet or what a database answered."""

    frame: pl.DataFrame
    name: str = "The data in memory"
    kind: str = "frame"

    def schema(self) -> pl.Schema:
        """Column names and types."""
        return self.frame.schema

    def columns(self, names: list[str], *, rows: int | None = None) -> list[pl.Series]:
        """The named columns, whole or their first `rows` rows."""
        return unnamed(self.frame if rows is None else self.frame.head(rows), names)


def unnamed(frame: pl.DataFrame, names: list[str]) -> list[pl.Series]:
    """The columns of these names, renamed to "": some methods of Polars take a name for a pattern."""
    return [frame.get_column(name).alias("") for name in names]


def as_text(values: pl.Series, option: str) -> pl.Series:
    """A plain column as strings: numbers, dates and categories become their text; NaN counts as missing.

    The text of a value depends on that value alone. But a single value may decide the type of its column: pandas turns
    whole numbers into floats if one is missing. So 10, 10.0 and the decimal 10.00 are all "10", and 0.1 in 32 bits
    is 0.10000000149011612, its value in 64 bits. In a column of Python objects, `name_of` names each value.

    Errors:
        InputError: the column holds lists, structures, durations, bytes that are not text or dates out of range, or
            floating-point numbers so large that whole numbers are not exact.
    """
    try:
        if not values.dtype.is_nested():
            with nothing_printed():
                return _names(values, option)
    except UNREADABLE:
        pass
    if isinstance(values.dtype, NAMED_BY_VALUE):
        raise InputError(
            f"The column for {option} holds a value that has no name: bytes that are not text, or a date that is out "
            "of range.",
            "Correct that value or leave it blank, or save the column as text.",
        )
    raise InputError(
        f"The column for {option} is of type {values.dtype.base_type()}, which is not text or numbers.",
        "Choose another column, or take the names out of this one, as text.",
    )


def looked_at(column: pl.Series) -> pl.Series | None:
    """The cells of a column for doubts, as strings; None for a column of other values than names, dates and numbers.

    None also if a value has no name. If the column is needed, the reader refuses it, and names its option.
    """
    if not (column.dtype.is_numeric() or column.dtype in WRITTEN):
        return None
    try:
        return as_text(column, "a column")
    except InputError:
        return None


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
    """Dates with times of day, without trailing zeros; midnight is the date alone, as in columns of dates.

    If the column has a time zone, the times are given in UTC.
    """
    if dtype.time_zone is not None:
        instants = values.dt.convert_time_zone("UTC").dt.replace_time_zone(None)
        return _without_zeros(instants.cast(pl.String)) + "+00:00"
    return _without_zeros(values.cast(pl.String)).str.strip_suffix(" 00:00:00")


def _without_zeros(names: pl.Series) -> pl.Series:
    """Strip the zeros that end a fraction."""
    fraction = names.str.contains(".", literal=True).fill_null(value=False)
    return names.str.strip_chars_end("0").str.strip_chars_end(".").zip_with(fraction, names)
