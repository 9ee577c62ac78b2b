"""The options that several commands share: the groups `Question`, `Reading` and `Delivery`, and single options."""

from __future__ import annotations

import math
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
from fim_private.privacy import Budget, NeighbouringRelation, PrivacyUnit, Together, exact

if TYPE_CHECKING:
    from fim_private import plan

DEFAULT_COUNT_SHARE = "0.2"
"""The share of epsilon that released counts take; the rest finds the itemsets.

On web shop, supermarket, outlet and web sessions, more than this makes intervals a little narrower and names fewer of
the itemsets."""

_what = partial(typer.Option, rich_help_panel="What to find")
_promise = partial(typer.Option, rich_help_panel="The promise")
_read = partial(typer.Option, rich_help_panel="How to read the file")
_out = partial(typer.Option, rich_help_panel="Output")
to_file = partial(_out, "--output", "-o", metavar="FILE")


def _settings_of_layout(context: typer.Context, path: Path | None) -> Path | None:
    from fim_private.cli.layout_file import settings_of_layout

    return settings_of_layout(context, path)


def _no_data_set(files: list[str]) -> list[str]:
    """The names of files. A missing file with the name of a data set is refused, and the error says where that is."""
    from fim_private.cli.completion import dataset_names

    for file in files:
        # A file that is there costs no look at the catalogue. Path's `exists` would raise for long names.
        if "/" not in file and not os.path.exists(file) and file in dataset_names(file):  # noqa: PTH110
            raise InputError(
                f"There is no file {file}, but there is a data set of that name.",
                f'Give "$(fim-private datasets path {file})".',
            )
    return files


Files = Annotated[
    list[str],
    typer.Argument(
        metavar="FILE",
        callback=_no_data_set,
        help="The basket file, or - for standard input. Several files or a quoted glob ('shop-*.csv') are read as one. "
        "With --query: a database, as in postgresql://HOST/NAME.",
    ),
]
ReleaseFile = Annotated[
    str,
    typer.Argument(
        metavar="RELEASE", help="A release that `mine -o` wrote: .json or .parquet, or - for JSON on standard input."
    ),
]

MaxItems = Annotated[
    int | None,
    _what(
        metavar="B",
        help="Keep at most B items of each transaction (of each unit, if units are counted), chosen at random, besides "
        "those of --must-contain. This saves work and costs no privacy. But counts get smaller, so fewer itemsets may "
        "be named.",
    ),
]
Select = Annotated[
    str | None,
    _what(
        metavar="peel|counts",
        autocompletion=one_of("peel", "counts"),
        help="items-first only: peel picks itemsets one by one, counts measures all of them with noise.",
    ),
]
UniverseItems = Annotated[
    int | None,
    _what(metavar="N", help="Declare that at most N different items can occur; which ones stays private."),
]
Sensitivity = Annotated[int, _promise(metavar="M", help="The largest number of transactions of one unit.")]
Epsilon = Annotated[
    str,
    _promise(
        metavar="NUMBER",
        help="The privacy budget, such as 1; smaller protects more. One unit makes any set of answers at most "
        "e^epsilon times as likely, plus delta.",
    ),
]
Delta = Annotated[
    str,
    _promise(
        metavar="NUMBER",
        help="How much one unit may add to the probability of any set of answers. Choose it far below 1 divided by "
        "the number of units, such as 1e-6.",
    ),
]
UnitColumn = Annotated[
    str | None,
    _promise(
        metavar="COLUMN",
        help="The column that names the owner of each transaction, such as the customer. The owner is then protected. "
        "In basket CSV: its number, such as 1, or its name in the first line.",
    ),
]
TogetherOption = Annotated[
    str | None,
    _promise(
        metavar="basket|unit",
        autocompletion=one_of(*Together),
        help="With --unit-column: count the units that hold the items together in one basket (basket, the default), or "
        "in all their baskets merged (unit).",
    ),
]
Neighbours = Annotated[
    NeighbouringRelation,
    _promise(
        help="What is hidden of a unit: whether it is in the data and what it holds (add-remove), or only what it "
        "holds (replace)."
    ),
]

Html = Annotated[Path | None, _out(metavar="FILE", help="Also write one page for a browser.")]
Title = Annotated[str | None, _out(metavar="TEXT", help="The title of the page.")]
Overwrite = Annotated[bool, _out("--overwrite", help="Replace what is there already.")]
AsJson = Annotated[bool, _out("--json", help="Print JSON instead of a table.")]
Explain = Annotated[bool, _out("--explain", help="Print the whole promise below the answer, not five lines of it.")]
Quiet = Annotated[bool, _out("--quiet", "-q", help="Print only the result.")]


@dataclass(frozen=True, kw_only=True)
class Question:
    """The question as it is typed; `asked` makes a `fim_private.plan.Question` of it."""

    size: Annotated[int | None, _what(help="The number of items in each itemset.")] = None
    sizes: Annotated[
        str | None,
        _what(
            metavar="1-3",
            help="Several sizes instead of --size, such as 1-3 or 1,2. They share one ranking and one --top.",
        ),
    ] = None
    per_size: Annotated[
        bool,
        _what(
            "--per-size",
            help="Find the top of each of the --sizes separately. The sizes share the budget.",
        ),
    ] = False
    by: Annotated[
        str,
        _what(
            metavar="count|leverage",
            autocompletion=one_of("count", "leverage"),
            help="Rank by count, or pairs by leverage: how many more transactions hold both items than if one item "
            "did not depend on the other (items-first only).",
        ),
    ] = "count"
    top: Annotated[int | None, _what(metavar="K", help="The number of itemsets to find.")] = None
    min_count: Annotated[
        int | None,
        _what(
            metavar="C",
            help="Find only itemsets whose noisy count exceeds C (items-first only). --top may then be left out.",
        ),
    ] = None
    min_support: Annotated[
        str | None,
        _what(
            metavar="SHARE",
            help="Instead of --min-count: find the itemsets that at least this share of --public-transactions holds.",
        ),
    ] = None
    release_counts: Annotated[
        bool,
        _what(
            "--release-counts",
            help="Also release the itemsets' counts, with noise and 95 % intervals. This share of epsilon is kept for "
            "them (0.2, or what follows, as in --release-counts 0.5). They get all that the choice leaves.",
        ),
    ] = False
    count_share: Annotated[str | None, _what(metavar="SHARE", help="The same as --release-counts SHARE.")] = None
    raw_counts: Annotated[
        bool,
        _what(
            "--raw-counts",
            help="Show released counts as they were drawn. Without this option they are made consistent: whole "
            "numbers, none negative, no itemset above its subsets.",
        ),
    ] = False
    with_subsets: Annotated[
        bool,
        _what(
            "--with-subsets",
            help="With --release-counts: also count all subsets of the itemsets, so that rules have confidences. All "
            "counts share the budget, so each has more noise.",
        ),
    ] = False
    public_transactions: Annotated[
        int | None,
        _what(
            metavar="N",
            help="Declare that there are N transactions (or units, if these are counted), and that this number is "
            "public. Released counts then come with supports (count divided by N).",
        ),
    ] = None
    epsilon: Epsilon
    delta: Delta
    unit: Annotated[
        str | None,
        _promise(
            metavar="transaction",
            help="The unit that is protected: 'transaction' if each belongs to a different person. Otherwise give "
            "--unit-column.",
        ),
    ] = None
    unit_column: UnitColumn = None
    together: TogetherOption = None
    merge: Annotated[
        bool, _promise("--merge", help="Merge all transactions of a unit into one. The same as --together unit.")
    ] = False
    max_transactions: Annotated[
        int | None,
        _promise(
            metavar="M",
            help="Count transactions, not units: keep at most M transactions of each unit, chosen at random.",
        ),
    ] = None
    neighbours: Neighbours = NeighbouringRelation.ADD_REMOVE
    max_items: MaxItems = None
    mechanism: Annotated[
        str | None,
        _what(
            metavar="NAME",
            autocompletion=mechanism_names("auto"),
            help="A mechanism that `fim-private plan` lists. auto chooses one, and the plan says why.",
        ),
    ] = "auto"
    select: Select = None
    repeat: Annotated[bool, _what("--repeat", help="lmm only: search for a margin again for each pick.")] = False
    no_fallback: Annotated[
        bool, _what("--no-fallback", help="lmm only: name nothing where no margin is certified.")
    ] = False
    universe_items: UniverseItems = None
    universe_file: Annotated[
        str | None,
        _what(
            "--universe-file",
            "--items-file",
            metavar="FILE",
            help="A public list of items, one per line. Only these items are looked at, and they declare the "
            "universe. Both names of the option mean the same.",
        ),
    ] = None
    must_contain: Annotated[
        list[str] | None,
        _what(
            metavar="ITEM",
            help="Find only itemsets that contain this item. Given several times: itemsets that contain all of these "
            "items. The search is then smaller.",
        ),
    ] = None
    exclude: Annotated[
        list[str] | None,
        _what(
            metavar="ITEM",
            help="Leave this item out. May be given several times. Items named here or with --must-contain are public.",
        ),
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
            together=self.held_together(),
            size=itemset_sizes(self.size, self.sizes),
            top=self.top,
            budget=Budget(self.epsilon, self.delta),
            relation=self.neighbours,
            universe=self.universe(),
            constraints=Constraints(must_contain=self.must_contain or (), exclude=self.exclude or ()),
            max_items=self.max_items,
            mechanism=self._mechanism_name(),
            select=self.select,
            min_count=self._least_count(),
            count_share=self.count_share or (DEFAULT_COUNT_SHARE if self.release_counts else None),
            raw_counts=self.raw_counts,
            with_subsets=self.with_subsets,
            public_transactions=self.public_transactions,
            per_size=self.per_size,
            by=self.by,
        )

    def _least_count(self) -> int | None:
        """The count above which itemsets are asked for: what was typed, or just below the least support."""
        if self.min_support is None:
            return self.min_count
        if self.min_count is not None:
            raise UsageError("--min-count and --min-support say the same twice.", "Give one of them.")
        share = exact(self.min_support, "the least support")
        if not 0 < share <= 1:
            raise UsageError("The least support is out of range.", "Choose it between 0 and 1, such as 0.01.")
        if self.public_transactions is None:
            raise UsageError(
                "A support is a share of the transactions, and their exact number is secret.",
                "Give --public-transactions N if their number may be known, or a count with --min-count.",
            )
        return max(1, math.ceil(share * self.public_transactions) - 1)

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
                "The command does not say what to protect.",
                "Give --unit transaction if each transaction belongs to a different person, or --unit-column COLUMN.",
            )
        if self.unit != "transaction" or self.merge or self.max_transactions is not None:
            raise UsageError(
                "The command does not say which transactions belong to the same unit.",
                "Name the column with the owner by --unit-column, or give --unit transaction alone.",
            )
        return PrivacyUnit()

    def held_together(self) -> str | None:
        """What a unit holds together, as typed; None for the default.

        Raises:
            UsageError: two options contradict each other.
        """
        if self.merge and self.together not in (None, Together.UNIT):
            raise UsageError("--merge is the same as --together unit.", "Give --merge or --together, not both.")
        return Together.UNIT if self.merge else self.together

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
                "--repeat and --no-fallback are for the mechanism lmm, and only one of them can be given.",
                "Leave one out, or leave out --mechanism.",
            )
        return "lmm-repeat" if self.repeat else "lmm-no-fallback"


@dataclass(frozen=True, kw_only=True)
class QuestionToSeveral(Question):
    """The same question. Without a mechanism's name it is for all mechanisms that apply."""

    mechanism: Annotated[
        str | None,
        _what(
            metavar="NAME",
            autocompletion=mechanism_names("auto"),
            help="Show this mechanism in full. Without this option, all that apply are listed.",
        ),
    ] = None


@dataclass(frozen=True, kw_only=True)
class Reading:
    """How the file is read: the arguments of `read_transactions`, a file with some of them, and the engine."""

    layout: Annotated[
        Path | None,
        _read(
            metavar="FILE",
            is_eager=True,
            callback=_settings_of_layout,
            help="A file with a layout, which `fim-private inspect -o FILE` writes: format, columns and filter. "
            "Options on the command line override it.",
        ),
    ] = None
    format: Annotated[
        str,
        _read(
            metavar="NAME",
            autocompletion=one_of(*FORMATS),
            help="auto, fimi, basket, long, lists or one-hot. What auto guesses from the data is taken as public.",
        ),
    ] = "auto"
    separator: Annotated[
        str | None,
        _read(
            metavar="TEXT",
            help="The text between items or columns. The default is a comma; --format auto guesses it.",
        ),
    ] = None
    sheet: Annotated[
        str | None,
        _read(metavar="NAME|NUMBER", help="In Excel workbooks of several sheets: the sheet to read. The first is 1."),
    ] = None
    encoding: Annotated[str, _read(help="The file's text encoding, such as latin-1 or utf-16-le.")] = "utf-8"
    skip_lines: Annotated[
        int | None,
        _read(
            metavar="N",
            help="Leave out the first N lines, such as a header, a title or a comment, also of an Excel sheet; blank "
            "lines do not count.",
        ),
    ] = None
    skip_columns: Annotated[
        str | None,
        _read(metavar="1,3", help="In basket files: leave out these fields of each line, such as an id or a date."),
    ] = None
    transaction_column: Annotated[
        str | None,
        _read(
            metavar="COLUMN",
            help="In long tables: the column that names a row's transaction, or several, as in InvoiceNo,Date. In a "
            "text without a header, give each column's number, from 1 on.",
        ),
    ] = None
    item_column: Annotated[
        str | None, _read(metavar="COLUMN", help="In long tables and Parquet lists: the column of items.")
    ] = None
    where: Annotated[
        str | None,
        _read(
            metavar="CONDITION",
            help='In tables: read only the rows that meet this condition, such as "Quantity > 0 AND InvoiceNo NOT LIKE '
            "'C%'\". Each row is decided by itself, so this costs no privacy.",
        ),
    ] = None
    query: Annotated[
        str | None,
        _read(
            metavar="SELECT",
            help="Read the rows that this query gives; FILE is then postgresql://..., or an SQLite or DuckDB file. "
            "Each row, and whether it is there, has to depend on one unit alone.",
        ),
    ] = None
    item_separator: Annotated[
        str | None,
        _read(
            metavar="TEXT", help="The text between the items of a cell that holds a list of them, in basket and long."
        ),
    ] = None
    drop_rows_without_unit: Annotated[
        bool,
        _read("--drop-rows-without-unit", help="Leave out rows that name no unit. Without this they are refused."),
    ] = False
    engine: Annotated[
        str,
        _read(
            metavar="local|spark",
            autocompletion=one_of("local", "spark"),
            help="Where the data is read and counted: in this process, or on Spark (see docs/guide.md).",
        ),
    ] = "local"
    master: Annotated[
        str | None,
        _read(
            metavar="URL",
            help="The Spark master, such as local[4], spark://host:7077 or yarn. The default is all cores of this "
            "machine.",
        ),
    ] = None

    def arguments(self, unit_column: str | None) -> dict[str, Any]:
        """The arguments of a reader, besides the file.

        Args:
            unit_column: the column that the question names.
        """
        return {
            "unit_column": unit_column,
            **{name: value for name, value in asdict(self).items() if name not in {"layout", "engine", "master"}},
        }

    def reader(self, progress: Callable[[float], None]) -> AbstractContextManager[Read]:
        """The engine's reader.

        Args:
            progress: called with the share of the file that was read, if that is known.
        """
        return reader(self.engine, self.master, progress)


@dataclass(frozen=True, kw_only=True)
class Delivery:
    """Where a release goes, and which ledger it is charged to."""

    seed: Annotated[int | None, _out(help="Draw the same noise every time. The output is then NOT private.")] = None
    output: Annotated[
        Path | None,
        to_file(help="Also write the release to this file: .json, .parquet, .jsonl, .csv, .spmf or .fimi."),
    ] = None
    overwrite: Overwrite = False
    ledger: Annotated[
        Path | None,
        _promise(
            metavar="LEDGER",
            help="Charge this ledger before any noise is drawn. It may refuse the run (see `fim-private budget`).",
        ),
    ] = None
    keep: Annotated[
        str | None,
        _out(
            metavar="WHICH",
            help="Leave out an itemset if a larger released itemset contains it and has as large a count (closed), "
            "at least nine tenths of its count (non-redundant) or any count (maximal). This changes no cost.",
        ),
    ] = None
    as_json: AsJson = False
    explain: Explain = False
    quiet: Quiet = False


class WithShare(Command):
    """A command whose --release-counts may be followed by a share, as in `--release-counts 0.3`."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Take a number right after --release-counts as its share, and nothing else, such as a file's name."""
        words: list[str] = []
        for word in args:
            if words and words[-1] == "--release-counts" and re.fullmatch(r"[0-9]*\.?[0-9]+(/[0-9]+)?", word):
                words.append("--count-share")
            words.append(word)
        return super().parse_args(ctx, words)


def unit_with(transactions: int) -> PrivacyUnit:
    """A unit with at most so many transactions, where no data is read and its column may have any name."""
    return PrivacyUnit() if transactions == 1 else PrivacyUnit(column="unit", max_transactions=transactions)


def itemset_sizes(size: int | None, sizes: str | None) -> tuple[int, ...]:
    """The numbers of items that are asked for.

    Raises:
        UsageError: the sizes were given twice, are missing or cannot be read.
    """
    if (size is None) == (sizes is None):
        raise UsageError(
            "The itemset size is missing." if size is None else "The itemset size was given twice.",
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
    """The values that options NAME=VALUE set, by name; hyphens in names become underscores.

    Args:
        texts: the options as typed; the last one for a name counts.
        example: an option for the error to show.

    Raises:
        UsageError: an option has no value.
    """
    found = {}
    for text in texts or ():
        name, separator, value = text.partition("=")
        if not separator:
            raise UsageError(f"--set {name} has no value.", f"Write --set as in --set {example}.")
        found[name.strip().replace("-", "_")] = value.strip()
    return found
