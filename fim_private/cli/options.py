"""The options that several commands share: the question, the file to read, and single ones; what each group means."""

from __future__ import annotations

import os
import re
from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from fim_private.cli.completion import FORMATS, mechanism_names, one_of
from fim_private.cli.engine import Read, reader
from fim_private.cli.help import Command
from fim_private.errors import InputError, UsageError
from fim_private.privacy import Budget, NeighbouringRelation, PrivacyUnit

if TYPE_CHECKING:
    from fim_private import plan

DEFAULT_COUNT_SHARE = "0.3"
"""Of epsilon, for released counts; the rest finds the itemsets."""

_what = partial(typer.Option, rich_help_panel="What to find")
_promise = partial(typer.Option, rich_help_panel="The promise")
_read = partial(typer.Option, rich_help_panel="How to read the file")
_out = partial(typer.Option, rich_help_panel="Output")


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

MaxItems = Annotated[
    int | None,
    _what(
        metavar="B",
        help="Keep a random choice of at most B items of each transaction (beside those of --must-contain): less work, "
        "no privacy cost.",
    ),
]
Select = Annotated[
    str | None,
    _what(
        metavar="peel|counts",
        autocompletion=one_of("peel", "counts"),
        help="items-first only: pick itemsets one by one, or count all of them with noise.",
    ),
]
UniverseItems = Annotated[
    int | None,
    _what(metavar="N", help="Declare the number of items there are. Their names are then taken as public."),
]
Sensitivity = Annotated[int, _promise(metavar="M", help="Delta: how many transactions a unit has at most.")]
Epsilon = Annotated[
    str,
    _promise(
        metavar="NUMBER",
        help="Privacy budget: one unit makes any set of answers at most e^epsilon times as likely, plus delta.",
    ),
]
Delta = Annotated[
    str,
    _promise(
        metavar="NUMBER",
        help="What one unit may add to any probability: far below one over the number of units, such as 1e-6.",
    ),
]
UnitColumn = Annotated[
    str | None,
    _promise(metavar="COLUMN", help="The column that says whose a transaction is; that person is then the unit."),
]
Neighbours = Annotated[NeighbouringRelation, _promise(help="Whether a unit is added or removed, or replaced.")]

Html = Annotated[Path | None, _out(metavar="FILE", help="Also write it as one page for a browser.")]
Overwrite = Annotated[bool, _out("--overwrite", help="Let --output replace a file that is there.")]
AsJson = Annotated[bool, _out("--json", help="Print JSON instead of a table.")]
Quiet = Annotated[bool, _out("--quiet", "-q", help="Print the result and nothing else.")]


@dataclass(frozen=True, kw_only=True)
class Question:
    """What is asked: `fim_private.plan.Question`, as it is typed."""

    size: Annotated[int | None, _what(help="Number of items of each itemset.")] = None
    sizes: Annotated[
        str | None,
        _what(metavar="1-3", help="Several sizes instead, as in 1-3 or 1,2: the top over all of them together."),
    ] = None
    per_size: Annotated[
        bool,
        _what(
            "--per-size",
            help="The top of each of the --sizes, from the one budget, instead of that of all together.",
        ),
    ] = False
    top: Annotated[int | None, _what(metavar="K", help="How many itemsets.")] = None
    min_count: Annotated[
        int | None,
        _what(
            metavar="C",
            help="Only itemsets whose noisy count exceeds C (items-first); --top may then be left out.",
        ),
    ] = None
    release_counts: Annotated[
        bool,
        _what(
            "--release-counts",
            help="Release the itemsets' counts too, with noise and 95 % intervals; [SHARE] of epsilon may follow, "
            "0.3 otherwise.",
        ),
    ] = False
    count_share: Annotated[str | None, _what(metavar="SHARE", help="The same, with this share of epsilon.")] = None
    raw_counts: Annotated[
        bool,
        _what(
            "--raw-counts",
            help="Leave released counts as they were drawn: negative ones, and supersets above their subsets, too.",
        ),
    ] = False
    public_transactions: Annotated[
        int | None,
        _what(
            metavar="N",
            help="Declare the number of transactions to be public: released counts then come with supports.",
        ),
    ] = None
    epsilon: Epsilon
    delta: Delta
    unit: Annotated[
        str | None,
        _promise(
            metavar="transaction",
            help="What is protected: 'transaction' if each is somebody else's; otherwise give --unit-column.",
        ),
    ] = None
    unit_column: UnitColumn = None
    merge: Annotated[
        bool, _promise("--merge", help="Merge a unit's transactions into one (the default with --unit-column).")
    ] = False
    max_transactions: Annotated[
        int | None,
        _promise(metavar="M", help="Keep a random choice of at most M transactions of a unit instead of merging them."),
    ] = None
    neighbours: Neighbours = NeighbouringRelation.ADD_REMOVE
    max_items: MaxItems = None
    mechanism: Annotated[
        str | None,
        _what(
            metavar="NAME",
            autocompletion=mechanism_names("auto"),
            help="A name of the list that `fim-private plan` prints; auto: the one that needs the smallest lead.",
        ),
    ] = "auto"
    select: Select = None
    repeat: Annotated[bool, _what("--repeat", help="lmm only: search a margin anew for each pick.")] = False
    no_fallback: Annotated[
        bool, _what("--no-fallback", help="lmm only: answer nothing where no margin is certified.")
    ] = False
    universe_items: UniverseItems = None
    universe_file: Annotated[
        str | None,
        _what(
            "--universe-file",
            "--items-file",
            metavar="FILE",
            help="Look at the items listed here alone, one a line; the list is public, and declares the universe "
            "(--items-file is the same).",
        ),
    ] = None
    must_contain: Annotated[
        list[str] | None,
        _what(
            metavar="ITEM",
            help="Only itemsets that contain this item (may be given again: all of them). A smaller search.",
        ),
    ] = None
    exclude: Annotated[
        list[str] | None,
        _what(metavar="ITEM", help="Leave this item out (may be given again). Items named here and above are public."),
    ] = None

    def asked(self) -> plan.Question:
        """The question, checked.

        Raises:
            UsageError: an option is missing or out of range, or two contradict each other.
            InputError: the list of items cannot be read.
        """
        from fim_private.constraints import Constraints
        from fim_private.plan import Question as Asked

        return Asked.of(
            unit=self.privacy_unit(),
            size=itemset_sizes(self.size, self.sizes),
            top=self.top,
            budget=Budget(self.epsilon, self.delta),
            relation=self.neighbours,
            universe=self.universe(),
            constraints=Constraints(must_contain=self.must_contain or (), exclude=self.exclude or ()),
            max_items=self.max_items,
            mechanism=self._mechanism_name(),
            select=self.select,
            min_count=self.min_count,
            count_share=self.count_share or (DEFAULT_COUNT_SHARE if self.release_counts else None),
            raw_counts=self.raw_counts,
            public_transactions=self.public_transactions,
            per_size=self.per_size,
        )

    def privacy_unit(self) -> PrivacyUnit:
        """The unit that the options describe.

        Raises:
            UsageError: no unit was named, or two options contradict each other.
        """
        if self.merge and self.max_transactions is not None:
            raise UsageError(
                "A unit's transactions are either merged or capped.",
                "Give --merge or --max-transactions, not both.",
            )
        if self.unit is not None and self.unit_column is not None:
            raise UsageError(
                "The unit is either each transaction or what a column says.",
                "Give --unit transaction or --unit-column, not both.",
            )
        if self.unit_column is not None:
            return PrivacyUnit(column=self.unit_column, max_transactions=self.max_transactions)
        if self.unit is None:
            raise UsageError(
                "It was not said what is to be protected.",
                "Give --unit transaction if each transaction is somebody else's, or --unit-column COLUMN.",
            )
        if self.unit != "transaction" or self.merge or self.max_transactions is not None:
            raise UsageError(
                "It is not known which transactions belong to one unit.",
                "Name the column that says so with --unit-column, or give --unit transaction alone.",
            )
        return PrivacyUnit()

    def universe(self) -> plan.Universe:
        """The universe that the options declare, or the open one.

        Raises:
            UsageError: it was declared twice.
            InputError: the file cannot be read.
        """
        from fim_private.plan import Universe

        if self.universe_file is None:
            return Universe(items=self.universe_items)
        if self.universe_items is not None:
            raise UsageError("The universe was declared twice.", "Give --universe-items or --universe-file, not both.")
        from fim_private.transactions import read_item_names

        return Universe(names=tuple(read_item_names(self.universe_file)))

    def _mechanism_name(self) -> str:
        """The registry's name for the mechanism and its switches."""
        mechanism = self.mechanism or "auto"
        if not (self.repeat or self.no_fallback):
            return mechanism
        if mechanism not in {"lmm", "auto"} or (self.repeat and self.no_fallback):
            raise UsageError(
                "--repeat and --no-fallback are switches of the mechanism lmm, one at a time (--repeat has no "
                "fallback).",
                "Leave one out, or leave out --mechanism.",
            )
        return "lmm-repeat" if self.repeat else "lmm-no-fallback"


@dataclass(frozen=True, kw_only=True)
class QuestionToSeveral(Question):
    """The same, to all mechanisms that apply where none is named."""

    mechanism: Annotated[
        str | None,
        _what(
            metavar="NAME",
            autocompletion=mechanism_names("auto"),
            help="One mechanism only; all that apply otherwise.",
        ),
    ] = None


@dataclass(frozen=True, kw_only=True)
class Reading:
    """How the file is read, and by what: the arguments of `read_transactions`, and the engine."""

    format: Annotated[
        str,
        _read(
            metavar="NAME",
            autocompletion=one_of(*FORMATS),
            help="auto, fimi, basket, long, lists or one-hot; what auto guesses from the data is taken as public.",
        ),
    ] = "auto"
    separator: Annotated[
        str | None,
        _read(
            metavar="TEXT",
            help="What separates items or columns; a comma otherwise, or with --format auto a guess.",
        ),
    ] = None
    encoding: Annotated[str, _read(help="The file's text encoding.")] = "utf-8"
    transaction_column: Annotated[
        str | None, _read(metavar="COLUMN", help="Long tables: which transaction a row belongs to.")
    ] = None
    item_column: Annotated[str | None, _read(metavar="COLUMN", help="Long tables and Parquet lists: the item.")] = None
    drop_rows_without_unit: Annotated[
        bool, _read("--drop-rows-without-unit", help="Leave out rows that name no unit.")
    ] = False
    engine: Annotated[
        str,
        _read(
            metavar="local|spark",
            autocompletion=one_of("local", "spark"),
            help="What reads and counts: this process, or Spark (see the README).",
        ),
    ] = "local"
    master: Annotated[
        str | None,
        _read(
            metavar="URL",
            help="Spark's master, such as local[4], spark://host:7077 or yarn; all cores of this machine otherwise.",
        ),
    ] = None

    def arguments(self, unit_column: str | None) -> dict[str, Any]:
        """What a reader is told, beside the file.

        Args:
            unit_column: as the question has it.
        """
        return {
            "unit_column": unit_column,
            **{name: value for name, value in asdict(self).items() if name not in {"engine", "master"}},
        }

    def reader(self, progress: Callable[[float], None]) -> AbstractContextManager[Read]:
        """The engine's reader.

        Args:
            progress: told what share of the file was read, where that is known.
        """
        return reader(self.engine, self.master, progress)


@dataclass(frozen=True, kw_only=True)
class Delivery:
    """Where a release goes, and what it is charged to."""

    seed: Annotated[int | None, _out(help="Repeat the same noise; the output is then NOT private.")] = None
    output: Annotated[
        Path | None,
        _out(
            "--output",
            "-o",
            metavar="FILE",
            help="Also write the release: .json, .parquet, .jsonl, .csv, .spmf or .fimi.",
        ),
    ] = None
    overwrite: Overwrite = False
    ledger: Annotated[
        Path | None,
        _promise(metavar="LEDGER", help="Charge this ledger first, and stop if it refuses (see `fim-private budget`)."),
    ] = None
    keep: Annotated[
        str | None,
        _out(
            metavar="WHICH",
            help="closed, non-redundant or maximal: leave out what a larger released itemset says as well, with as "
            "large a count, with nine tenths of it, or with any. Costs nothing; what is left out is paid for all the "
            "same.",
        ),
    ] = None
    as_json: AsJson = False
    quiet: Quiet = False


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


def assignments(texts: list[str] | None, *, example: str) -> dict[str, str]:
    """What each name is set to by options NAME=VALUE; hyphens in names are taken as underscores.

    Args:
        texts: as typed; of two for one name the last counts.
        example: of one, for the error.

    Raises:
        UsageError: one has no value.
    """
    found = {}
    for text in texts or ():
        name, separator, value = text.partition("=")
        if not separator:
            raise UsageError(f"--set {name} has no value.", f"Write --set as in --set {example}.")
        found[name.strip().replace("-", "_")] = value.strip()
    return found
