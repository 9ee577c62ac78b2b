"""Find the columns of a table, by the name the user gave or by a well-known name."""

from __future__ import annotations

import difflib
from collections.abc import Sequence
from dataclasses import dataclass, replace

from fim_private.errors import InputError, UsageError
from fim_private.transactions.column_names import ITEM_NAMES, TRANSACTION_NAMES, UNIT_NAMES, plain
from fim_private.transactions.row_filter import OPTION, RowFilter, Selection

UNIT_OPTION = "--unit-column"


@dataclass(frozen=True, kw_only=True)
class Columns:
    """What the caller said about columns.

    Args:
        transaction: name of the column that says which transaction a row belongs to.
        item: name of the column of items, or of lists of items.
        unit: name of the column that says whose transaction a row is.
        drop_rows_without_unit: leave out rows whose unit is missing, instead of refusing the file.
        where: which rows to read; None for all.
    """

    transaction: str | None = None
    item: str | None = None
    unit: str | None = None
    drop_rows_without_unit: bool = False
    where: RowFilter | None = None

    @property
    def named(self) -> bool:
        """Whether any column was named, so that the first line of a text must be a header."""
        return (self.transaction, self.item, self.unit, self.where) != (None, None, None, None)

    def refuse_for(self, format_name: str) -> None:
        """Refuse column options for a format without columns. Baskets may have a column for the unit.

        Errors:
            UsageError: a column was named.
        """
        if replace(self, unit=None).named if format_name == "basket" else self.named:
            raise UsageError(
                f"The format {format_name} has no columns to choose from.",
                "Leave --transaction-column, --item-column, --unit-column and --where out, or use --format long.",
            )

    def selection(self, header: Sequence[str]) -> Selection | None:
        """The rows to read of tables with this header; None for all.

        Errors:
            InputError: the header has no column, or more than one, of a name in the condition.
        """
        if self.where is None:
            return None
        positions = {name: find_column(header, name, OPTION) for name in self.where.columns}
        return Selection(rows=self.where, positions=positions)


def known_column(header: Sequence[str], names: Sequence[str]) -> int | None:
    """The position of the first of these well-known names that exactly one column has; None if no name fits."""
    shown = [plain(column) for column in header]
    for name in names:
        if shown.count(name) == 1:
            return shown.index(name)
    return None


def find_column(header: Sequence[str], wanted: str, option: str) -> int:
    """The position of a column with this exact name, or else of the only one that differs in case alone.

    A unit's column has to be the only one of its name, whatever the case. A plan names it too, in any case, and could
    otherwise promise to protect the units of the other column.

    Args:
        header: column names.
        wanted: the name the user typed.
        option: the option that named it, for messages.

    Errors:
        InputError: no such column, or more than one.
    """
    columns = [column.strip() for column in header]
    exactly, in_any_case = str.strip, lambda name: name.strip().casefold()
    for same in (in_any_case,) if option == UNIT_OPTION else (exactly, in_any_case):
        found = [position for position, column in enumerate(columns) if same(column) == same(wanted)]
        if len(found) == 1:
            return found[0]
        if found:
            raise InputError(
                f"More than one column is called {wanted!r} ({option}).",
                "Rename all but one of them in the file.",
            )
    raise InputError(f"There is no column {wanted!r} ({option}).", _advice(columns, wanted))


def long_columns(header: Sequence[str], columns: Columns) -> tuple[int, int, int | None]:
    """Positions of the transaction, item and unit columns of a long table; well-known names replace missing options.

    Errors:
        InputError: a named column is missing, or a column was not named and none has a well-known name.
        UsageError: the transaction column is also the item column.
    """
    transaction = _named_or_known(header, columns.transaction, "--transaction-column", TRANSACTION_NAMES)
    item = _named_or_known(header, columns.item, "--item-column", ITEM_NAMES)
    unit = None if columns.unit is None else find_column(header, columns.unit, UNIT_OPTION)
    if transaction == item:
        raise UsageError(
            "The transaction column and the item column are the same.",
            "Give two columns with --transaction-column and --item-column.",
        )
    return transaction, item, unit


def _named_or_known(header: Sequence[str], wanted: str | None, option: str, names: Sequence[str]) -> int:
    if wanted is not None:
        return find_column(header, wanted, option)
    position = known_column(header, names)
    if position is None:
        raise InputError(f"No column is named with {option}, and none has a well-known name.", f"Give {option}.")
    return position


def _advice(columns: list[str], wanted: str) -> str:
    """What to try. Names in the first line may be items, which are data, so only well-known names are shown."""
    everybodys = {*TRANSACTION_NAMES, *ITEM_NAMES, *UNIT_NAMES, plain(wanted)}
    known = [column for column in columns if plain(column) in everybodys]
    if not known:
        return "Check the name and, in a text file, the first line and the separator."
    near = difflib.get_close_matches(plain(wanted), [plain(column) for column in known], n=1)
    first = [column for column in known if plain(column) in near]
    return f"There is {', '.join(repr(column[:60]) for column in dict.fromkeys([*first, *known]))}."
