"""Frames of other libraries: Polars, pandas, Arrow, and whatever else hands over Arrow data; none of them is needed."""

from __future__ import annotations

from typing import Any, Protocol

import polars as pl

from fim_private.errors import InputError, UsageError
from fim_private.transactions.columnar import FrameTable


class SupportsArrow(Protocol):
    """What hands over Arrow data as the PyCapsule interface says: frames of Polars and pandas, Arrow tables, others."""

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object:
        """The rows as a stream."""


def frame_table(source: Any) -> FrameTable | None:
    """The frame as a table of columns; None if it is no frame.

    A Polars frame is taken as it is; pandas frames and Arrow tables, and what else follows the Arrow PyCapsule
    interface, are handed over without copying where their types allow. Of a pandas frame the index is left aside: a row
    is a row. A pandas column of mixed types is taken as text.

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
    # Every library has its own errors, and their texts may hold data.
    except (Exception, pl.exceptions.PanicException):
        raise InputError(
            "The frame cannot be taken over.", "Give its columns distinct names, and plain types or lists of them."
        ) from None
    return FrameTable(frame=frame)


def _from_pandas(source: Any) -> pl.DataFrame:
    names = [str(name) for name in source.columns]
    series = [_column(source.iloc[:, at]) for at in range(len(names))]
    return pl.DataFrame([column.alias(name) for name, column in zip(names, series, strict=True)])


def _column(column: Any) -> pl.Series:
    """A pandas column: by Arrow where it can (pyarrow may be missing, types may be mixed), else value by value."""
    try:
        # Its index would become a column of its own.
        return pl.Series(column.reset_index(drop=True))
    except (Exception, pl.exceptions.PanicException):
        values = zip(column.tolist(), column.isna().tolist(), strict=True)
        return pl.Series([None if missing else value for value, missing in values], strict=False)
