"""The options that several commands share, and their translation into values of the program."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from fim_private.cli.completion import FORMATS, MECHANISMS, one_of
from fim_private.errors import InputError, UsageError
from fim_private.privacy import Budget, NeighbouringRelation, PrivacyUnit

if TYPE_CHECKING:
    from fim_private.plan import Plan, Universe
    from fim_private.transactions import ReadingNotes

_WHAT, _PROMISE, _READ, _OUT = "What to find", "The promise", "How to read the file", "Output"


def _no_data_set(file: str) -> str:
    """The name of a file; one that is not there and means a data set of the catalogue gets told where that is."""
    from pathlib import Path

    from fim_private.cli.completion import dataset_names

    if "/" not in file and not Path(file).exists() and file in dataset_names(file):
        raise InputError(
            f"There is no file {file}, but a data set of that name.", f'Give "$(fim-private datasets path {file})".'
        )
    return file


File = Annotated[
    str, typer.Argument(metavar="FILE", callback=_no_data_set, help="The basket file; - reads standard input.")
]

Size = Annotated[int, typer.Option(help="Number of items of each itemset.", rich_help_panel=_WHAT)]
Top = Annotated[int | None, typer.Option(metavar="K", help="How many itemsets.", rich_help_panel=_WHAT)]
MinCount = Annotated[
    int | None,
    typer.Option(
        metavar="C",
        help="Only itemsets whose noisy count exceeds C (items-first); --top may then be left out.",
        rich_help_panel=_WHAT,
    ),
]
Select = Annotated[
    str | None,
    typer.Option(
        metavar="peel|counts",
        autocompletion=one_of("peel", "counts"),
        help="items-first only: pick itemsets one by one, or count all of them with noise.",
        rich_help_panel=_WHAT,
    ),
]
MaxItems = Annotated[
    int | None,
    typer.Option(
        metavar="B",
        help="Keep a random choice of at most B items of each transaction: less work, no privacy cost.",
        rich_help_panel=_WHAT,
    ),
]
Mechanism = Annotated[
    str,
    typer.Option(
        metavar="NAME",
        autocompletion=one_of(*MECHANISMS),
        help="A name of the list that `fim-private plan` prints; auto: the one that needs the smallest lead.",
        rich_help_panel=_WHAT,
    ),
]
Repeat = Annotated[
    bool,
    typer.Option("--repeat", help="lmm only: search a margin anew for each pick.", rich_help_panel=_WHAT),
]
NoFallback = Annotated[
    bool,
    typer.Option("--no-fallback", help="lmm only: answer nothing where no margin is certified.", rich_help_panel=_WHAT),
]
UniverseItems = Annotated[
    int | None,
    typer.Option(
        metavar="N",
        help="Declare the number of items there are. Their names are then taken as public.",
        rich_help_panel=_WHAT,
    ),
]
UniverseFile = Annotated[
    str | None,
    typer.Option(
        metavar="FILE",
        help="Declare the public list of items, one a line; other items are left out.",
        rich_help_panel=_WHAT,
    ),
]

Sensitivity = Annotated[
    int,
    typer.Option(metavar="M", help="Delta: how many transactions a unit has at most.", rich_help_panel=_PROMISE),
]
Epsilon = Annotated[
    str,
    typer.Option(
        metavar="NUMBER",
        help="Privacy budget: one unit changes any probability by a factor of e^epsilon at most.",
        rich_help_panel=_PROMISE,
    ),
]
Delta = Annotated[
    str,
    typer.Option(
        metavar="NUMBER",
        help="The probability that this fails, far below one over the number of units, such as 1e-6.",
        rich_help_panel=_PROMISE,
    ),
]
Unit = Annotated[
    str | None,
    typer.Option(
        metavar="transaction",
        help="What is protected: 'transaction' if each is somebody else's; otherwise give --unit-column.",
        rich_help_panel=_PROMISE,
    ),
]
UnitColumn = Annotated[
    str | None,
    typer.Option(
        metavar="COLUMN",
        help="The column that says whose a transaction is; that person is then the unit.",
        rich_help_panel=_PROMISE,
    ),
]
Merge = Annotated[
    bool,
    typer.Option(
        "--merge",
        help="Merge a unit's transactions into one (the default with --unit-column).",
        rich_help_panel=_PROMISE,
    ),
]
MaxTransactions = Annotated[
    int | None,
    typer.Option(
        metavar="M",
        help="Keep a random choice of at most M transactions of a unit instead of merging them.",
        rich_help_panel=_PROMISE,
    ),
]
Neighbours = Annotated[
    NeighbouringRelation,
    typer.Option(help="Whether a unit is added or removed, or replaced.", rich_help_panel=_PROMISE),
]

Format = Annotated[
    str,
    typer.Option(
        metavar="NAME",
        autocompletion=one_of(*FORMATS),
        help="auto, fimi, basket, long, lists or one-hot.",
        rich_help_panel=_READ,
    ),
]
Separator = Annotated[
    str | None,
    typer.Option(metavar="TEXT", help="What separates items or columns; found out otherwise.", rich_help_panel=_READ),
]
Encoding = Annotated[str, typer.Option(help="The file's text encoding.", rich_help_panel=_READ)]
TransactionColumn = Annotated[
    str | None,
    typer.Option(metavar="COLUMN", help="Long tables: which transaction a row belongs to.", rich_help_panel=_READ),
]
ItemColumn = Annotated[
    str | None,
    typer.Option(metavar="COLUMN", help="Long tables and Parquet lists: the item.", rich_help_panel=_READ),
]
DropRowsWithoutUnit = Annotated[
    bool,
    typer.Option("--drop-rows-without-unit", help="Leave out rows that name no unit.", rich_help_panel=_READ),
]

Engine = Annotated[
    str,
    typer.Option(
        metavar="local|spark",
        autocompletion=one_of("local", "spark"),
        help="What reads and counts: this process, or Spark (see the README).",
        rich_help_panel=_READ,
    ),
]
Master = Annotated[
    str | None,
    typer.Option(
        metavar="URL",
        help="Spark's master, such as local[4], spark://host:7077 or yarn; all cores of this machine otherwise.",
        rich_help_panel=_READ,
    ),
]

AsJson = Annotated[bool, typer.Option("--json", help="Print JSON instead of a table.", rich_help_panel=_OUT)]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="Print the result and nothing else.", rich_help_panel=_OUT)]


def privacy_unit(
    unit: str | None, unit_column: str | None, *, merge: bool, max_transactions: int | None
) -> PrivacyUnit:
    """The unit that the options describe.

    Raises:
        UsageError: no unit was named, or two options contradict each other.
    """
    if merge and max_transactions is not None:
        raise UsageError(
            "A unit's transactions are either merged or capped.",
            "Give --merge or --max-transactions, not both.",
        )
    if unit_column is not None:
        return PrivacyUnit(column=unit_column, max_transactions=max_transactions)
    if unit is None:
        raise UsageError(
            "It was not said what is to be protected.",
            "Give --unit transaction if each transaction is somebody else's, or --unit-column COLUMN.",
        )
    if unit != "transaction" or merge or max_transactions is not None:
        raise UsageError(
            "It is not known which transactions belong to one unit.",
            "Name the column that says so with --unit-column, or give --unit transaction alone.",
        )
    return PrivacyUnit()


def mechanism_name(mechanism: str, *, repeat: bool, no_fallback: bool) -> str:
    """The registry's name for a mechanism and its switches.

    Raises:
        UsageError: a switch was given that the mechanism does not have.
    """
    if not (repeat or no_fallback):
        return mechanism
    if mechanism not in {"lmm", "auto"} or (repeat and no_fallback):
        raise UsageError(
            "--repeat and --no-fallback are switches of the mechanism lmm, one at a time (--repeat has no fallback).",
            "Leave one out, or leave out --mechanism.",
        )
    return "lmm-repeat" if repeat else "lmm-no-fallback"


def declared_universe(items: int | None, file: str | None) -> Universe:
    """The universe that the options declare, or the open one.

    Raises:
        UsageError: it was declared twice.
        InputError: the file cannot be read.
    """
    from fim_private.plan import Universe

    if items is not None and file is not None:
        raise UsageError("The universe was declared twice.", "Give --universe-items or --universe-file, not both.")
    if file is None:
        return Universe(items=items)
    from fim_private.transactions import read_item_names

    names = read_item_names(file)
    return Universe(names=tuple(names))


def plan_of(
    *, size: int, top: int | None, epsilon: str, delta: str, unit: PrivacyUnit, neighbours: NeighbouringRelation,
    universe: Universe, max_items: int | None, mechanism: str, select: str | None, min_count: int | None,
) -> Plan:  # fmt: skip
    """The plan that the options ask for."""
    from fim_private.plan import make_plan

    return make_plan(
        size=size,
        top=top,
        budget=Budget(epsilon, delta),
        unit=unit,
        relation=neighbours,
        universe=universe,
        max_items=max_items,
        mechanism=mechanism,
        select=select,
        min_count=min_count,
    )


def reading_notes(notes: ReadingNotes) -> list[str]:
    """What was found and mended while reading, in words; for whoever holds the data, not part of a release."""
    mended = [
        f"{number:,} {what}"
        for number, what in (
            (notes.blanks, "blank items dropped"),
            (notes.duplicates, "repeated items inside a transaction merged"),
            (notes.empty, "empty transactions left out"),
            (notes.rows_without_unit, "rows without a unit left out"),
        )
        if number
    ]
    lines = [f"Read as {notes.format}."]
    if mended:
        lines.append(f"While reading (for the holder of the data, not part of the release): {'; '.join(mended)}.")
    return lines
