"""Frames of other libraries: Polars, pandas, Arrow, and whatever else hands over Arrow data; none of them is needed."""

from __future__ import annotations

from contextlib import suppress
from itertools import islice
from typing import Any, Protocol

import numpy as np
import polars as pl

from fim_private.errors import FimPrivateError, InputError, UsageError
from fim_private.transactions.column_table import FrameTable, as_text

LISTS = (list, tuple, np.ndarray)
"""What a pandas column of lists may hold."""


class SupportsArrow(Protocol):
    """What hands over Arrow data as the PyCapsule interface says: frames of Polars and pandas, Arrow tables, others."""

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object:
        """The rows as a stream."""


def frame_table(source: Any) -> FrameTable | None:
    """The frame as a table of columns; None if it is no frame.

    A Polars frame is taken as it is; pandas frames and Arrow tables, and what else follows the Arrow PyCapsule
    interface, are handed over without copying where their types allow. Of a pandas frame the index is left aside: a row
    is a row. A pandas column of objects is taken as text, each value by itself.

    Errors:
        InputError: two columns have one name, or a column is of a type that Polars does not know.
        UsageError: a lazy frame, which has to be collected first.
    """
    if isinstance(source, pl.LazyFrame):
        raise UsageError("A lazy frame holds no rows yet.", "Collect it first: frame.collect().")
    if isinstance(source, pl.DataFrame):
        return FrameTable(frame=source)
    is_pandas = hasattr(source, "iloc") and hasattr(source, "columns")
    if not is_pandas and not hasattr(source, "__arrow_c_stream__"):
        return None
    try:
        frame = _from_pandas(source) if is_pandas else pl.DataFrame(source)
    except FimPrivateError:
        raise
    # Every library has its own errors, and their texts may hold data.
    except (Exception, pl.exceptions.PanicException):
        raise InputError(
            "The frame cannot be taken over.", "Give its columns distinct names, and plain types or lists of them."
        ) from None
    return FrameTable(frame=frame)


def _from_pandas(source: Any) -> pl.DataFrame:
    names = [_label(name) for name in source.columns]
    series = [_column(source.iloc[:, at]) for at in range(len(names))]
    return pl.DataFrame([column.alias(name) for name, column in zip(names, series, strict=True)])


def _label(name: object) -> str:
    """The name of a column, which in one-hot frames is an item: named as `as_text` names values."""
    return str(int(name)) if isinstance(name, float | np.floating) and name.is_integer() else str(name)


def _column(column: Any) -> pl.Series:
    """A pandas column: by Arrow where it has a type (pyarrow may be missing), otherwise value by value.

    Objects are not given to Arrow: it looks for one type that holds all values (a date beside a time of day loses or
    gains one), and two scalars of numpy may end the process.
    """
    if hasattr(column.dtype, "categories"):
        categories = _column(type(column)(column.dtype.categories))
        codes = pl.Series(column.cat.codes.to_numpy())
        return categories.gather(codes.set(codes < 0, None))
    if object in (column.dtype, getattr(column.dtype, "subtype", None)):
        return _objects(column)
    try:
        # Its index would become a column of its own.
        return pl.Series(column.reset_index(drop=True))
    except (Exception, pl.exceptions.PanicException):
        return _objects(column)


def _objects(column: Any) -> pl.Series:
    """A pandas column of any values: as strings or lists of them if it can be, otherwise left to `as_text`."""
    missing = column.isna().tolist()
    values = [None if gone else value for value, gone in zip(column.tolist(), missing, strict=True)]
    kinds = set(map(type, values)) - {type(None)}
    with suppress(InputError, ValueError):  # text that is none, or lists of what has no names
        if kinds <= {str}:
            return pl.Series(values, dtype=pl.String)
        if all(issubclass(kind, LISTS) for kind in kinds):
            # Lists of one column may differ in type too.
            flat = _objects(type(column)([item for row in values if row is not None for item in row], dtype=object))
            flat = as_text(flat, "lists") if flat.dtype == pl.Object else flat
            items = iter(flat.to_list())
            rows = [None if row is None else list(islice(items, len(row))) for row in values]
            return pl.Series(rows, dtype=pl.List(flat.dtype))
    return pl.Series(values, dtype=pl.Object)
