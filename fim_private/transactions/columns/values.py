"""The name of one Python, numpy or pandas value: the same as in a typed column (`column_table.as_text`)."""

from __future__ import annotations

import datetime
from collections.abc import Callable
from decimal import Decimal
from typing import Any

import numpy as np

MOST_DIGITS = 38
"""The most digits of a decimal number: 128 bits hold as many."""


def name_of(value: Any) -> str | float | None:
    """The name of a value, which depends on that value alone; a float is returned as it is, and None for no value.

    This does not use Polars or Arrow, which look for one type for all values of a column. So they cut off nanoseconds,
    turn dates into times, and may end the process when a column holds numpy scalars of different types.

    Errors:
        ValueError: the value has no name. Values of other libraries may raise anything.
    """
    if value is None or value != value:  # noqa: PLR0124 - true of NaN and NaT
        return None
    for kinds, name in NAMES:
        if isinstance(value, kinds):
            return name(value)
    raise ValueError("it has no name")


def without_zeros(name: str) -> str:
    """Strip the zeros that end a fraction."""
    return name.rstrip("0").rstrip(".") if "." in name else name


def _of_decimal(value: Decimal) -> str:
    _, digits, exponent = value.as_tuple()
    if not isinstance(exponent, int) or max(len(digits) + exponent, len(digits), -exponent) > MOST_DIGITS:
        raise ValueError("it is infinite or too long")
    return without_zeros(f"{value:f}") if value else "0"


def _of_datetime(value: datetime.datetime) -> str:
    # On a pandas value, `isoformat` gives nanoseconds too.
    if value.utcoffset() is None:
        return _in_short(value.replace(tzinfo=None).isoformat(" "))
    return without_zeros(value.astimezone(datetime.UTC).replace(tzinfo=None).isoformat(" ")) + "+00:00"


def _of_time(value: datetime.time) -> str:
    if value.tzinfo is not None:
        raise ValueError("a time of day has no zone in a typed column")
    return without_zeros(value.isoformat())


def _of_numpy_time(value: np.datetime64) -> str:
    coarse = np.datetime_data(value.dtype)[0] in {"Y", "M", "W", "D", "h", "m"}
    return _in_short(str(value.astype("datetime64[s]") if coarse else value).replace("T", " "))


def _in_short(time: str) -> str:
    if time.find("-") != len("2020"):
        raise ValueError("its year has not four digits")
    return without_zeros(time).removesuffix(" 00:00:00")


def _refused(value: Any) -> str:
    raise ValueError(f"{type(value)} has no names")


NAMES: tuple[tuple[type | tuple[type, ...], Callable[[Any], str | float]], ...] = (
    (str, str.__str__),
    (bytes, bytes.decode),
    ((bool, np.bool_), lambda value: "true" if value else "false"),
    (np.timedelta64, _refused),  # numpy takes it for a whole number
    ((int, np.integer), lambda value: str(int(value))),
    ((float, np.float16, np.float32), float),
    (Decimal, _of_decimal),
    (datetime.datetime, _of_datetime),
    (datetime.date, datetime.date.isoformat),
    (datetime.time, _of_time),
    (np.datetime64, _of_numpy_time),
)
"""How to name values of each type. The first match counts: a bool is also an int, and a datetime also a date."""
