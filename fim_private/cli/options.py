"""The options that several commands share, and their translation into values of the program."""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from fim_private.cli.completion import FORMATS, mechanism_names, one_of
from fim_private.cli.help import Command
from fim_private.errors import InputError, UsageError
from fim_private.privacy import Budget, NeighbouringRelation, PrivacyUnit

if TYPE_CHECKING:
    from fim_private.constraints import Constraints
    from fim_private.plan import Plan, Universe
    from fim_private.transactions import ReadingNotes

DEFAULT_COUNT_SHARE = "0.3"
"""Of epsilon, for released counts; the rest finds the itemsets."""

_WHAT, _PROMISE, _READ, _OUT = "What to find", "The promise", "How to read the file", "Output"


def _no_data_set(file: str) -> str:
    """The name of a file; one that is not there and means a data set of the catalogue gets told where that is."""
    from fim_private.cli.completion import dataset_names

    # A file that is there, as it nearly always is, costs no look at the catalogue; Path's would raise for long names.
    if "/" not in file and not os.path.exists(file) and file in dataset_names(file):  # noqa: PTH110
        raise InputError(
            f"There is no file {file}, but a data set of that name.", f'Give "$(fim-private datasets path {file})".'
        )
    return file


File = Annotated[
    str, typer.Argument(metavar="FILE", callback=_no_data_set, help="The basket file; - reads standard input.")
]

ReleaseFile = Annotated[
    str, typer.Argument(metavar="RELEASE", help="A release that `mine -o` wrote: .json or .parquet; - reads JSON.")
]

Size = Annotated[int | None, typer.Option(help="Number of items of each itemset.", rich_help_panel=_WHAT)]
Sizes = Annotated[
    str | None,
    typer.Option(
        metavar="1-3",
        help="Several sizes instead, as in 1-3 or 1,2: the top over all of them together.",
        rich_help_panel=_WHAT,
    ),
]
PerSize = Annotated[
    bool,
    typer.Option(
        "--per-size",
        help="The top of each of the --sizes, from the one budget, instead of that of all together.",
        rich_help_panel=_WHAT,
    ),
]
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
ReleaseCounts = Annotated[
    bool,
    typer.Option(
        "--release-counts",
        help="Release the itemsets' counts too, with noise and 95 % intervals; [SHARE] of epsilon may follow, "
        "0.3 otherwise.",
        rich_help_panel=_WHAT,
    ),
]
CountShare = Annotated[
    str | None,
    typer.Option(metavar="SHARE", help="The same, with this share of epsilon.", rich_help_panel=_WHAT),
]
RawCounts = Annotated[
    bool,
    typer.Option(
        "--raw-counts",
        help="Leave released counts as they were drawn: negative ones, and supersets above their subsets, too.",
        rich_help_panel=_WHAT,
    ),
]
PublicTransactions = Annotated[
    int | None,
    typer.Option(
        metavar="N",
        help="Declare the number of transactions to be public: released counts then come with supports.",
        rich_help_panel=_WHAT,
    ),
]
MaxItems = Annotated[
    int | None,
    typer.Option(
        metavar="B",
        help="Keep a random choice of at most B items of each transaction (beside those of --must-contain): less work, "
        "no privacy cost.",
        rich_help_panel=_WHAT,
    ),
]
Mechanism = Annotated[
    str,
    typer.Option(
        metavar="NAME",
        autocompletion=mechanism_names("auto"),
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
        "--universe-file",
        "--items-file",
        metavar="FILE",
        help="Look at the items listed here alone, one a line; the list is public, and declares the universe "
        "(--items-file is the same).",
        rich_help_panel=_WHAT,
    ),
]
MustContain = Annotated[
    list[str] | None,
    typer.Option(
        metavar="ITEM",
        help="Only itemsets that contain this item (may be given again: all of them). A smaller search.",
        rich_help_panel=_WHAT,
    ),
]
Exclude = Annotated[
    list[str] | None,
    typer.Option(
        metavar="ITEM",
        help="Leave this item out (may be given again). Items named here and above are public.",
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
        help="Privacy budget: one unit makes any set of answers at most e^epsilon times as likely, plus delta.",
        rich_help_panel=_PROMISE,
    ),
]
Delta = Annotated[
    str,
    typer.Option(
        metavar="NUMBER",
        help="What one unit may add to any probability: far below one over the number of units, such as 1e-6.",
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
        help="auto, fimi, basket, long, lists or one-hot; what auto guesses from the data is taken as public.",
        rich_help_panel=_READ,
    ),
]
Separator = Annotated[
    str | None,
    typer.Option(
        metavar="TEXT",
        help="What separates items or columns; a comma otherwise, or with --format auto a guess.",
        rich_help_panel=_READ,
    ),
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

Keep = Annotated[
    str | None,
    typer.Option(
        metavar="WHICH",
        help="closed, non-redundant or maximal: leave out what a larger released itemset says as well, with as large a "
        "count, with nine tenths of it, or with any. Costs nothing; what is left out is paid for all the same.",
        rich_help_panel=_OUT,
    ),
]
Html = Annotated[
    Path | None,
    typer.Option(metavar="FILE", help="Also write it as one page for a browser.", rich_help_panel=_OUT),
]
Seed = Annotated[
    int | None,
    typer.Option(help="Repeat the same noise; the output is then NOT private.", rich_help_panel=_OUT),
]
ReleaseOutput = Annotated[
    Path | None,
    typer.Option(
        "--output",
        "-o",
        metavar="FILE",
        help="Also write the release: .json, .parquet, .jsonl, .csv, .spmf or .fimi.",
        rich_help_panel=_OUT,
    ),
]
Overwrite = Annotated[
    bool,
    typer.Option("--overwrite", help="Let --output replace a file that is there.", rich_help_panel=_OUT),
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
    if unit is not None and unit_column is not None:
        raise UsageError(
            "The unit is either each transaction or what a column says.",
            "Give --unit transaction or --unit-column, not both.",
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


class WithShare(Command):
    """A command whose --release-counts may be followed by a share, as in `--release-counts 0.3`."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """A number right after --release-counts is its share; anything else, such as a file's name, is not."""
        words: list[str] = []
        for word in args:
            if words and words[-1] == "--release-counts" and re.fullmatch(r"[0-9]*\.?[0-9]+(/[0-9]+)?", word):
                words.append("--count-share")
            words.append(word)
        return super().parse_args(ctx, words)


def count_share(share: str | None, *, release_counts: bool) -> str | None:
    """The share of epsilon that the counts may cost, as typed; None where none are released."""
    return share or (DEFAULT_COUNT_SHARE if release_counts else None)


def itemset_sizes(size: int | None, sizes: str | None) -> tuple[int, ...]:
    """The numbers of items that are asked for.

    Raises:
        UsageError: they were given twice, or not at all, or cannot be read.
    """
    if (size is None) == (sizes is None):
        raise UsageError(
            "It was not said how many items an itemset has." if size is None else "The itemset size was given twice.",
            "Give --size, such as 2, or --sizes, such as 1-3 or 1,2.",
        )
    if size is not None:
        return (size,)
    found: set[int] = set()
    for part in str(sizes).split(","):
        ends = re.fullmatch(r"\s*([0-9]{1,3})\s*(?:-\s*([0-9]{1,3})\s*)?", part)
        first, last = (0, -1) if ends is None else (int(ends[1]), int(ends[2] or ends[1]))
        if first > last:
            raise UsageError("The itemset sizes cannot be read.", "Write --sizes as in 1-3 or 1,2.")
        found.update(range(first, last + 1))
    return tuple(sorted(found))


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


def constraints_of(must_contain: list[str] | None, exclude: list[str] | None) -> Constraints:
    """The constraints that the options make."""
    from fim_private.constraints import Constraints

    return Constraints(must_contain=must_contain or (), exclude=exclude or ())


def plan_of(
    *, sizes: tuple[int, ...], top: int | None, epsilon: str, delta: str, unit: PrivacyUnit,
    neighbours: NeighbouringRelation, universe: Universe, constraints: Constraints, max_items: int | None,
    mechanism: str, select: str | None,
    min_count: int | None,
    share: str | None = None, raw_counts: bool = False, public_transactions: int | None = None,
    per_size: bool = False,
) -> Plan:  # fmt: skip
    """The plan that the options ask for."""
    from fim_private.plan import make_plan

    return make_plan(
        size=sizes,
        top=top,
        budget=Budget(epsilon, delta),
        unit=unit,
        relation=neighbours,
        universe=universe,
        constraints=constraints,
        max_items=max_items,
        mechanism=mechanism,
        select=select,
        min_count=min_count,
        count_share=share,
        raw_counts=raw_counts,
        public_transactions=public_transactions,
        per_size=per_size,
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
    lines = [f"Read as {notes.layout.describe()}."]
    if mended:
        lines.append(f"While reading (for the holder of the data, not part of the release): {'; '.join(mended)}.")
    return lines


def check_output(output: Path | None, *others: str | Path | None, overwrite: bool) -> None:
    """Find out before anything is spent whether a release can be written there, over none of the other files."""
    from fim_private.release.files import check_writable

    if output is not None:
        keep_apart(output, *others)
        check_writable(output, overwrite=overwrite)


def standard_input_once(*files: str | Path | None) -> None:
    """Refuse two files from one standard input.

    Raises:
        UsageError: there are two.
    """
    if sum(str(file) == "-" for file in files) > 1:
        raise UsageError("Two files are to come from standard input.", "Give one of them by name.")


def keep_apart(output: Path | None, *others: str | Path | None) -> None:
    """Refuse to write over a file that the same command reads, writes, or keeps books in; links are followed.

    Raises:
        UsageError: it would.
    """
    for other in others:
        if output is None or other is None or str(other) == "-":
            continue
        # As they are on the disk, or, where one is not yet there, as they would be.
        both_exist = os.path.exists(output) and os.path.exists(other)  # noqa: PTH110 - no error for names too long
        if output.samefile(other) if both_exist else os.path.realpath(output) == os.path.realpath(other):
            raise UsageError(
                f"{output} is named twice: writing to it would replace what this command needs there.",
                "Give the output another name.",
            )
