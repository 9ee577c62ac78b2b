"""The name of one value of Python, numpy or pandas: the same as in a typed column (`columnar.as_text`)."""

from __future__ import annotations

import datetime
from collections.abc import Callable
from decimal import Decimal
from typing import Any

import numpy as np

MOST_DIGITS = 38
"""Of decimal numbers: what 128 bits hold."""


def name_of(value: Any) -> str | float | None:
    """The name of a value, which depends on that value alone; a number in floating point as such; None if missing.

    Polars and Arrow look for one type that holds all values of a column: they cut nanoseconds off, make times of dates,
    and may end the process where scalars of numpy lie beside each other.

    Errors:
        ValueError: it has no name. What belongs to other libraries may raise anything.
    """
    if value is None or value != value:  # noqa: PLR0124 - no number, no time
        return None
    for kinds, name in NAMES:
        if isinstance(value, kinds):
            return name(value)
    raise ValueError("it has no name")


def without_zeros(name: str) -> str:
    """Without zeros that end a fraction."""
    return name.rstrip("0").rstrip(".") if "." in name else name


def _of_decimal(value: Decimal) -> str:
    _, digits, exponent = value.as_tuple()
    if not isinstance(exponent, int) or max(len(digits) + exponent, len(digits), -exponent) > MOST_DIGITS:
        raise ValueError("it is infinite or too long")
    return without_zeros(f"{value:f}") if value else "0"


def _of_datetime(value: datetime.datetime) -> str:
    # The method of pandas gives nanoseconds too.
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
"""By type; the first that fits counts, for a truth is a whole number and a time a date."""
