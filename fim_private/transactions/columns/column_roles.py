"""Find the columns of a table, by the name the user gave or by a well-known name."""

from __future__ import annotations

import difflib
from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace

from fim_private.errors import InputError, UsageError
from fim_private.transactions.columns.column_names import ITEM_NAMES, TRANSACTION_NAMES, UNIT_NAMES, are_numbers, plain
from fim_private.transactions.columns.row_filter import OPTION, RowFilter, Selection

UNIT_OPTION = "--unit-column"
WIDE = (
    "Only one column can be named. If each line is a transaction and several of its fields are items, give --format "
    "basket with --skip-lines 1, and --skip-columns for the other fields."
)


@dataclass(frozen=True, kw_only=True)
class Columns:
    """What the caller said about columns and lines.

    Args:
        transaction: name of the column that says which transaction a row belongs to; in long tables also several names
            with commas between them.
        item: name of the column of items, or of lists of items.
        unit: name of the column that says whose transaction a row is.
        drop_rows_without_unit: leave out rows whose unit is missing, instead of refusing the file.
        where: which rows to read; None for all.
        skip_lines: how many lines at the beginning of a text are left out, blank ones not counted; None if not said.
        item_separator: what separates the items in a cell that holds a list of them; None if a cell is one item.
        skip_columns: the numbers, from 1 on, of the fields of basket CSV or the columns of a one-hot table that are no
            items.
    """

    transaction: str | None = None
    item: str | None = None
    unit: str | None = None
    drop_rows_without_unit: bool = False
    where: RowFilter | None = None
    skip_lines: int | None = None
    skip_columns: tuple[int, ...] = ()
    item_separator: str | None = None

    @property
    def numbered(self) -> bool:
        """Whether the columns are given by number, from 1 on. A text then has no header."""
        given = [name for name in (self.transaction, self.item, self.unit) if name is not None]
        return None not in (self.transaction, self.item) and all(map(are_numbers, given))

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

    def of_rows(self, header: Sequence[str]) -> tuple[int | None, int | None]:
        """The positions of the transaction and the unit column, if they were named, where each row is a transaction.

        Errors:
            InputError: there is no such column, or more than one.
        """
        transaction, unit = (
            None if wanted is None else find_column(header, wanted, option)
            for wanted, option in ((self.transaction, "--transaction-column"), (self.unit, UNIT_OPTION))
        )
        return transaction, unit

    def selection(self, header: Sequence[str]) -> Selection | None:
        """The rows to read of tables with this header; None for all.

        Errors:
            InputError: the header has no column, or more than one, of a name in the condition.
        """
        if self.where is None:
            return None
        positions = {name: find_column(header, name, OPTION) for name in self.where.columns}
        return Selection(rows=self.where, positions=positions)


@dataclass(frozen=True, kw_only=True)
class LongColumns:
    """Positions of the columns of a long table.

    Args:
        transaction: of the columns whose values together say which transaction a row belongs to.
        item: of the column of items.
        unit: of the column of units, if one was named.
    """

    transaction: tuple[int, ...]
    item: int
    unit: int | None

    @property
    def all(self) -> tuple[int, ...]:
        """All positions, in the order transaction, item, unit."""
        return (*self.transaction, self.item, *(() if self.unit is None else (self.unit,)))


def tab_if_typed(separator: str | None) -> str | None:
    r"""The separator, a tab if `\t` was typed."""
    return "\t" if separator == r"\t" else separator


def skipped_columns(given: str | None) -> tuple[int, ...]:
    """The numbers of the columns to leave out, increasing, from a text such as "1,3".

    Errors:
        UsageError: these are not numbers from 1 on.
    """
    if given is None:
        return ()
    if not are_numbers(given):
        raise UsageError("--skip-columns takes numbers from 1 on, no names of columns.", "Write it as in 1 or 1,3.")
    return tuple(sorted(set(map(int, given.split(",")))))


def known_column(header: Sequence[str], names: Sequence[str]) -> int | None:
    """The position of the first of these well-known names that exactly one column has; None if no name fits."""
    shown = [plain(column) for column in header]
    for name in names:
        if shown.count(name) == 1:
            return shown.index(name)
    return None


def unnamed_unit(header: Sequence[str], others: Collection[int]) -> str | None:
    """The column that has a well-known name of units and was not named as anything; None without such a column.

    At `others` are the columns that are something else, or that were named for the unit.
    """
    known = known_column(header, UNIT_NAMES)
    return None if known is None or known in others else header[known].strip()


def find_column(header: Sequence[str], wanted: str, option: str) -> int:
    """The position of a column with this exact name, or else of the only one that differs in case alone.

    A unit's column has to be the only one of its name, whatever the case. A plan names it too, in any case, and could
    otherwise promise to protect the units of the other column.

    Errors:
        InputError: no such column, or more than one.
    """
    columns = [column.strip() for column in header]
    for same in (_plain_case,) if option == UNIT_OPTION else (str.strip, _plain_case):
        found = [position for position, column in enumerate(columns) if same(column) == same(wanted)]
        if len(found) == 1:
            return found[0]
        if found:
            raise InputError(
                f"More than one column is called {wanted!r} ({option}).",
                "Rename all but one of them in the file.",
            )
    several = option == "--item-column" and "," in wanted
    raise InputError(f"There is no column {wanted!r} ({option}).", WIDE if several else _advice(columns, wanted))


def long_columns(header: Sequence[str], columns: Columns) -> LongColumns:
    """Positions of the transaction, item and unit columns of a long table; well-known names replace missing options.

    Several transaction columns have commas between them, unless one column has such a name.

    Errors:
        InputError: a named column is missing, or a column was not named and none has a well-known name.
        UsageError: the transaction column is also the item column.
    """
    wanted = columns.transaction
    several = wanted is not None and "," in wanted and _plain_case(wanted) not in map(_plain_case, header)
    transaction = tuple(
        _named_or_known(header, part, "--transaction-column", TRANSACTION_NAMES)
        for part in (str(wanted).split(",") if several else [wanted])
    )
    item = _named_or_known(header, columns.item, "--item-column", ITEM_NAMES)
    unit = None if columns.unit is None else find_column(header, columns.unit, UNIT_OPTION)
    if item in transaction or len(set(transaction)) < len(transaction):
        raise UsageError(
            "The transaction column and the item column are the same, or a column is named twice. A column that is not "
            "named is found by its name.",
            "Give two columns with --transaction-column and --item-column.",
        )
    return LongColumns(transaction=transaction, item=item, unit=unit)


def _named_or_known(header: Sequence[str], wanted: str | None, option: str, names: Sequence[str]) -> int:
    if wanted is not None:
        return find_column(header, wanted, option)
    position = known_column(header, names)
    if position is None:
        together = ", perhaps with several columns, as in customer,date" if names is TRANSACTION_NAMES else ""
        raise InputError(
            f"No column is named with {option}, and none has a well-known name.",
            f"Give {option}{together}; or --skip-lines 1 if a title stands above the names of the columns; or --format "
            "one-hot if each column is an item. If each line of the file is a whole transaction, give --format basket, "
            "and name no column but the unit's (--unit-column).",
        )
    return position


def _advice(columns: list[str], wanted: str) -> str:
    """What to try. Names in the first line may be items, which are data, so only well-known names are shown."""
    everybodys = {*TRANSACTION_NAMES, *ITEM_NAMES, *UNIT_NAMES, plain(wanted)}
    known = [column for column in columns if plain(column) in everybodys]
    if not known:
        return "Check the name and, in a text, the first line and --separator (a comma if only --format is given)."
    near = difflib.get_close_matches(plain(wanted), [plain(column) for column in known], n=1)
    first = [column for column in known if plain(column) in near]
    names = ", ".join(repr(column[:60]) for column in dict.fromkeys([*first, *known]))
    more = " There are more columns. The names of the others may be data. Look for them in the file."
    others = more if len(known) < len(columns) else ""
    advice = f"There {'is' if len(known) == 1 else 'are'} {names}.{others}"
    return f"{advice} Give names for all columns, or numbers for all." if wanted.isdecimal() else advice


def _plain_case(name: str) -> str:
    return name.strip().casefold()
