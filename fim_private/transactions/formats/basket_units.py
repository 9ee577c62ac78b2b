"""Basket CSV in which one field of each line names the unit, such as the customer; the others are items or left out."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import polars as pl

from fim_private.errors import UsageError
from fim_private.transactions.columns.column_roles import UNIT_OPTION, Columns, find_column
from fim_private.transactions.dataset import Transactions
from fim_private.transactions.files.fields import split_chunk
from fim_private.transactions.files.text import Chunk, Text
from fim_private.transactions.formats.basket import items_of, skipped_by
from fim_private.transactions.item_codes import Coder
from fim_private.transactions.layout import Layout
from fim_private.transactions.sources.several import JoinedTextTable, other_columns, table_of
from fim_private.transactions.strings import group_codes, identities
from fim_private.transactions.units import rows_with_unit

MOST = 10_000
"""The largest number by which a column may be named."""


def read_basket_with_units(text: Text, layout: Layout, columns: Columns) -> Transactions:
    """Read lines of names, one of which is the unit's; blank lines are left out.

    A unit column that is a whole number is the place of the field, from 1, and the lines begin at once. Otherwise the
    first line is a header, and names the column.

    Errors:
        InputError: unbalanced quotes, no such column, or a line without a unit, if those may not be dropped.
        UsageError: the column of units is also left out.
    """
    separator = layout.separator or ","
    place, unit, chunks = _unit_field(text, separator, columns)
    if place in skipped_by(layout):
        raise UsageError("The column that names the unit is left out.", "Leave its number out of --skip-columns.")
    coder = Coder()
    units: list[pl.Series] = []
    without_unit = 0
    for name, chunk in chunks:
        fields, widths, _, _ = split_chunk(chunk, separator, name=name)
        starts = np.cumsum(widths) - widths
        named = pl.Series(np.where(widths > place, starts + place, -1)).replace(-1, None)
        of_line = fields.gather(named).str.strip_chars()
        kept = rows_with_unit(of_line, drop=columns.drop_rows_without_unit)
        without_unit += int((~kept).sum())
        units.append(of_line.filter(pl.Series(kept)))
        fields = fields.filter(pl.Series(np.repeat(kept, widths)))
        coder.add(*items_of(fields, widths[kept], layout, unit=place))
    codes, names = group_codes(identities(pl.concat(units)))
    return coder.finish(
        layout=layout.naming(columns, unit=unit),
        units=codes,
        unit_names=names,
        rows_without_unit=without_unit,
    )


def is_place(unit: str | None) -> bool:
    """Whether a unit column is given by its place."""
    return unit is not None and unit.isascii() and unit.isdecimal() and 1 <= int(unit[:9]) <= MOST


def _unit_field(text: Text, separator: str, columns: Columns) -> tuple[int, str, Iterator[tuple[str, Chunk]]]:
    """The place of the unit's field, from 0, its name, and the lines of baskets with the name of their file."""
    wanted = (columns.unit or "").strip()
    if is_place(wanted):
        return int(wanted) - 1, wanted, ((text.name, chunk) for chunk in text.chunks())
    table = table_of(text, separator, Columns())
    place = find_column(table.header, wanted, UNIT_OPTION)

    def below() -> Iterator[tuple[str, Chunk]]:
        yield from ((table.name, chunk) for chunk in table.below)
        for other in table.others if isinstance(table, JoinedTextTable) else ():
            if other.header != table.header:
                raise other_columns(other.name)
            yield from ((other.name, chunk) for chunk in other.below)

    return place, table.header[place], below()
