"""Take over frames of Polars, pandas, Arrow and other libraries with Arrow data. pandas and pyarrow are optional."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from contextlib import suppress
from itertools import islice
from typing import Any, Protocol

import numpy as np
import polars as pl

from fim_private.errors import FimPrivateError, InputError, UsageError
from fim_private.transactions.columns.column_table import FrameTable, as_text


class SupportsArrow(Protocol):
    """An object with the Arrow PyCapsule interface, such as a Polars or pandas frame or an Arrow table."""

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object:
        """The rows as a stream."""


def frame_table(source: Any) -> FrameTable | None:
    """The frame as a table of columns; None if `source` is not a frame.

    pandas frames, Arrow tables and other objects with the Arrow PyCapsule interface are not copied if their types
    allow it. A Series is a frame of one column. The index of a pandas frame is ignored. In a pandas column of objects,
    each value becomes text by itself.

    Errors:
        InputError: two columns have the same name, or Polars does not know the type of a column.
        UsageError: the frame is lazy.
    """
    if isinstance(source, pl.LazyFrame):
        raise UsageError("A lazy frame holds no rows yet.", "Collect it first: frame.collect().")
    if hasattr(source, "to_frame"):
        source = source.to_frame()
    if isinstance(source, pl.DataFrame):
        return FrameTable(frame=source)
    is_pandas = hasattr(source, "iloc") and hasattr(source, "columns")
    if not is_pandas and not hasattr(source, "__arrow_c_stream__"):
        return None
    try:
        frame = _from_pandas(source) if is_pandas else pl.DataFrame(source)
    except FimPrivateError:
        raise
    # Every library raises its own errors, and their texts may hold data.
    except (Exception, pl.exceptions.PanicException):
        raise InputError(
            "The frame cannot be read.", "Give its columns distinct names, and plain types or lists of them."
        ) from None
    return FrameTable(frame=frame)


def _from_pandas(source: Any) -> pl.DataFrame:
    names = [_label(name) for name in source.columns]
    series = [_column(source.iloc[:, at]) for at in range(len(names))]
    return pl.DataFrame([column.alias(name) for name, column in zip(names, series, strict=True)])


def _label(name: object) -> str:
    """The name of a column as `as_text` would write it, because in one-hot frames it is an item."""
    return str(int(name)) if isinstance(name, float | np.floating) and name.is_integer() else str(name)


def _column(column: Any) -> pl.Series:
    """A pandas column, taken over by Arrow if it has a type and pyarrow is there, otherwise value by value.

    Arrow does not get columns of objects. It would look for one type for all values, so that a date beside a date with
    a time of day loses or gains one, and two scalars of numpy may end the process.
    """
    if hasattr(column.dtype, "categories"):
        categories = _column(type(column)(column.dtype.categories))
        codes = pl.Series(column.cat.codes.to_numpy())
        return categories.gather(codes.set(codes < 0, None))
    if object in (column.dtype, getattr(column.dtype, "subtype", None)):
        return _objects(column)
    try:
        # Without the reset, the index would become a column.
        return pl.Series(column.reset_index(drop=True))
    except (Exception, pl.exceptions.PanicException):
        return _objects(column)


def _objects(column: Any) -> pl.Series:
    """A pandas column of any values, as strings or lists of strings if possible, otherwise as objects for `as_text`.

    A list may be any collection of items, such as a tuple, a set or an array.
    """
    missing = column.isna().tolist()
    values = [None if gone else value for value, gone in zip(column.tolist(), missing, strict=True)]
    kinds = set(map(type, values)) - {type(None)}
    with suppress(InputError, ValueError):  # broken text, or lists of values without names
        if kinds <= {str}:
            return pl.Series(values, dtype=pl.String)
        if all(issubclass(kind, Collection) and not issubclass(kind, str | bytes | Mapping) for kind in kinds):
            # The lists of one column may differ in type.
            flat = _objects(type(column)([item for row in values if row is not None for item in row], dtype=object))
            flat = as_text(flat, "lists") if flat.dtype == pl.Object else flat
            items = iter(flat.to_list())
            rows = [None if row is None else list(islice(items, len(row))) for row in values]
            return pl.Series(rows, dtype=pl.List(flat.dtype))
    return pl.Series(values, dtype=pl.Object)
