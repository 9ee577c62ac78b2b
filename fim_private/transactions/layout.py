"""The layout of data: a public parameter that decides how every transaction is read."""

from __future__ import annotations

import shlex
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, fields, replace
from typing import TYPE_CHECKING, Any

from fim_private.transactions.columns.column_names import are_numbers

if TYPE_CHECKING:
    from fim_private.transactions.columns.column_roles import Columns

FORMATS = ("auto", "fimi", "basket", "long", "lists", "one-hot")
"""What --format takes."""
LINE_FORMATS = ("fimi", "basket")
"""Formats of a transaction per line."""
SPOKEN = {",": "commas", ";": "semicolons", "\t": "tabs", "|": "pipes", " ": "blanks"}
TYPED = (
    "format",
    "separator",
    "encoding",
    "sheet",
    "skip_lines",
    "skip_columns",
    "transaction_column",
    "item_column",
    "item_separator",
    "where",
    "query",
)
"""The parts of a layout that are reading options. The unit column is left out: it belongs to the promise."""
LATER = {"sheet", "skip_lines", "skip_columns", "item_separator", "where", "query"}
"""Parts that older versions did not have. A record holds them only if they are set."""


def typed(options: Mapping[str, str]) -> str:
    """Options as they are typed, from their names with underscores."""
    return " ".join(f"--{name.replace('_', '-')} {shlex.quote(value)}" for name, value in options.items())


@dataclass(frozen=True, kw_only=True)
class Layout:
    """What a reader must know to read one transaction, whatever the others are.

    Privacy: a layout is public, as the options of a release are. A layout that was typed does not depend on the data.
    One that was guessed may change if a single transaction is added or removed, and then every transaction is read
    differently. So a release names its layout, and its promise holds only for data with this layout.

    Args:
        format: one of `FORMATS`, except "auto"; it implies whether there is a header.
        kind: what holds the data: "text", "Parquet", "Excel", "frame", "memory", or the kind of database.
        separator: what separates the fields of delimited text.
        encoding: the encoding of text, by Python's name.
        transaction_column: its name in the data, if there is one; several names have commas between them.
        item_column: likewise.
        unit_column: likewise.
        sheet: in a workbook, the name of the sheet, or its number from 1; None if there is only one.
        query: what was asked of a database.
        where: the condition that rows have to meet to be read.
        skip_lines: how many lines at the beginning are left out, blank ones not counted.
        skip_columns: the numbers, from 1 on and with commas between them, of the fields of basket CSV or the columns of
            a one-hot table that are left out.
        item_separator: what separates the items of a list in a cell; None if each cell is one item.
        guessed: the parts that were guessed from the data because nobody typed them.
    """

    format: str
    kind: str = "text"
    separator: str | None = None
    encoding: str | None = None
    transaction_column: str | None = None
    item_column: str | None = None
    unit_column: str | None = None
    sheet: str | None = None
    where: str | None = None
    query: str | None = None
    skip_lines: int | None = None
    skip_columns: str | None = None
    item_separator: str | None = None
    guessed: tuple[str, ...] = ()

    @property
    def headerless(self) -> bool:
        """Whether a long text has no header, so that its columns are called by their numbers."""
        columns = (self.transaction_column, self.item_column)
        return self.format == "long" and self.kind == "text" and all(name and are_numbers(name) for name in columns)

    def naming(
        self, columns: Columns, *, transaction: str | None = None, item: str | None = None, unit: str | None = None
    ) -> Layout:
        """This layout with the names of its columns; those that the caller did not name count as guessed."""
        found = {"transaction_column": (transaction, columns.transaction), "item_column": (item, columns.item)}
        guesses = [part for part, (name, typed) in found.items() if name is not None and typed is None]
        return replace(
            self,
            transaction_column=transaction,
            item_column=item,
            unit_column=unit,
            where=None if columns.where is None else columns.where.text,
            guessed=(*self.guessed, *guesses),
        )

    def guessed_before(self, parts: Sequence[str]) -> Layout:
        """This layout with more parts counted as guessed: an earlier release guessed them."""
        return replace(self, guessed=(*self.guessed, *(part for part in parts if part not in self.guessed)))

    def describe(self) -> str:
        """The layout in words, without a full stop.

        >>> Layout(format="long", separator=";", transaction_column="tid", item_column="item").describe()
        "long CSV, separated by semicolons: transaction column 'tid', item column 'item'"
        """
        named = [
            f"{part.replace('_', ' ')} {name!r}"
            for part in ("transaction_column", "item_column", "unit_column")
            if (name := getattr(self, part)) is not None
        ]
        if self.kind == "memory":
            return "lists in memory"
        if self.format == "fimi":
            words, more = "FIMI: items separated by blanks, one transaction per line", self._left_out()
        elif self.format == "lists":
            words, more = f"{self._holder()} with lists", named
        elif self.format == "one-hot":
            words, more = f"one-hot {self._holder()}", [*self._left_out(), "one column per item", *named]
        else:
            lists = (
                [] if self.item_separator is None else [f"lists separated by {spoken(self.item_separator)} in cells"]
            )
            words, more = f"{self.format} {self._holder()}", [*self._left_out(), *lists, *named]
        encoded = "" if self.encoding in (None, "utf-8") else f" ({self.encoding})"
        some = "" if self.where is None else f"; only rows where {self.where}"
        between = ", " if self.format == "fimi" else ": "
        return f"{words}{encoded}{between if more else ''}{', '.join(more)}{some}"

    @property
    def transaction(self) -> str:
        """What a transaction is, in words."""
        if self.kind == "memory":
            return "one list"
        if self.format == "long":
            several = "," in (self.transaction_column or "")
            columns = "values of columns" if several else "value of column"
            return f"all rows with the same {columns} {self.transaction_column!r}"
        return "one line" if self.format in ("fimi", "basket") else "one row"

    def settings(self) -> dict[str, Any]:
        """The options that make `read_transactions` read other data by this layout without guessing."""
        if self.kind == "memory":
            return {}
        found = {part: getattr(self, part) for part in TYPED}
        return {
            part: r"\t" if part.endswith("separator") and value == "\t" else value
            for part, value in found.items()
            if value is not None
        }

    def guesses_as_typed(self) -> str:
        """The guessed parts as command-line options; empty if nothing was guessed.

        >>> Layout(format="basket", separator=",", guessed=("format", "separator")).guesses_as_typed()
        '--format basket --separator ,'
        """
        return typed(self.guesses())

    def guesses(self) -> dict[str, str]:
        """The guessed parts that are options, by their names."""
        return self._parts(self.guessed)

    def as_typed(self) -> str:
        """The layout as command-line options."""
        return typed(self._parts(TYPED))

    def _parts(self, names: Sequence[str]) -> dict[str, str]:
        settings = self.settings()
        return {name: str(settings[name]) for name in names if name in settings}

    def record(self) -> dict[str, Any]:
        """The layout as plain values for JSON; `of_record` reads them back."""
        record = {**asdict(self), "guessed": list(self.guessed)}
        return {part: value for part, value in record.items() if part not in LATER or value is not None}

    @classmethod
    def of_record(cls, record: object) -> Layout | None:
        """The layout that `record` wrote; None if `record` did not write this."""
        names = {field.name for field in fields(cls)}
        if not isinstance(record, Mapping) or not names - LATER <= record.keys() <= names:
            return None
        if not isinstance(record["guessed"], list):
            return None
        texts = [value for name, value in record.items() if name not in ("guessed", "skip_lines")]
        known = all(value is None or isinstance(value, str) for value in texts) and record["format"] and record["kind"]
        known = known and isinstance(record.get("skip_lines"), int | None)
        if not known or not all(isinstance(part, str) for part in record["guessed"]):
            return None
        return cls(**{**record, "guessed": tuple(record["guessed"])})

    def _left_out(self) -> list[str]:
        """What is left out of a text, in words."""
        parts = []
        if self.headerless:
            parts.append("no header")
        if self.skip_lines is not None:
            parts.append("without the first line" if self.skip_lines == 1 else f"without {self.skip_lines} first lines")
        if self.skip_columns is not None:
            plural = "s" if "," in self.skip_columns else ""
            parts.append(f"without column{plural} {self.skip_columns.replace(',', ', ')}")
        return parts

    def _holder(self) -> str:
        if self.query is not None:
            return f"{self.kind} (query {self.query!r})"
        if self.kind != "text":
            return self.kind if self.sheet is None else f"{self.kind} (sheet {self.sheet!r})"
        return f"CSV, separated by {spoken(self.separator or ',')}"


IN_MEMORY = Layout(format="lists", kind="memory")
"""The layout of transactions from Python lists."""


def spoken(separator: str) -> str:
    """The separator in words."""
    return SPOKEN.get(separator, repr(separator))
