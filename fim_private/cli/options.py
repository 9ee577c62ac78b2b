"""The options that several commands share: the groups `Reading` and `Delivery`, and single options.

The group `Question` has a file of its own, `question_options.py`.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Collection
from contextlib import AbstractContextManager
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from fim_private.cli.completion import dataset_names, one_of
from fim_private.cli.engine import Read, reader
from fim_private.cli.help import Command
from fim_private.errors import InputError, UsageError
from fim_private.privacy import NeighbouringRelation, PrivacyUnit, Together
from fim_private.transactions.layout import FORMATS

if TYPE_CHECKING:
    from fim_private.transactions.layout import Layout

what = partial(typer.Option, rich_help_panel="What to find")
promise = partial(typer.Option, rich_help_panel="The promise")
_read = partial(typer.Option, rich_help_panel="How to read the file")
_out = partial(typer.Option, rich_help_panel="Output")
to_file = partial(_out, "--output", "-o", metavar="FILE")


def _settings_of_layout(context: typer.Context, path: Path | None) -> Path | None:
    from fim_private.cli.layout_file import settings_of_layout

    return settings_of_layout(context, path)


def _no_data_set(files: list[str]) -> list[str]:
    """The names of files. A missing file with the name of a data set is refused, and the error says where that is."""
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
    what(
        metavar="B",
        help="Keep at most B items of each transaction (of each unit, if units are counted), chosen at random, besides "
        "those of --must-contain. This saves work and costs no privacy. But counts get smaller, so fewer itemsets may "
        "be named.",
    ),
]
Select = Annotated[
    str | None,
    what(
        metavar="peel|counts",
        autocompletion=one_of("peel", "counts"),
        help="items-first only: peel picks itemsets one by one, counts measures all of them with noise.",
    ),
]
UniverseItems = Annotated[
    int | None,
    what(metavar="N", help="Declare that at most N different items can occur; which ones stays private."),
]
Sensitivity = Annotated[int, promise(metavar="M", help="The largest number of transactions of one unit.")]
Epsilon = Annotated[
    str,
    promise(
        metavar="NUMBER",
        help="The privacy budget, such as 1; smaller protects more. One unit makes any set of answers at most "
        "e^epsilon times as likely, plus delta.",
    ),
]
Delta = Annotated[
    str,
    promise(
        metavar="NUMBER",
        help="How much one unit may add to the probability of any set of answers. Choose it far below 1 divided by "
        "the number of units, such as 1e-6.",
    ),
]
UnitColumn = Annotated[
    str | None,
    promise(
        metavar="COLUMN",
        help="The column that names the owner of each transaction, such as the customer. The owner is then protected. "
        "In basket CSV: its number, such as 1, or its name in the first line.",
    ),
]
TogetherOption = Annotated[
    str | None,
    promise(
        metavar="basket|unit",
        autocompletion=one_of(*Together),
        help="With --unit-column: count the units that hold the items together in one basket (basket, the default), or "
        "in all their baskets merged (unit).",
    ),
]
Neighbours = Annotated[
    NeighbouringRelation,
    promise(
        help="What is hidden about a unit: whether it is in the data and what it holds (add-remove), or only what it "
        "holds (replace)."
    ),
]

Html = Annotated[Path | None, _out(metavar="FILE", help="Also write one page for a browser.")]
Title = Annotated[str | None, _out(metavar="TEXT", help="The title of the page.")]
Overwrite = Annotated[bool, _out("--overwrite", help="Replace what is there already.")]
AsJson = Annotated[bool, _out("--json", help="Print JSON instead of a table.")]
Explain = Annotated[bool, _out("--explain", help="Print the whole promise below the answer, not its short form.")]
Quiet = Annotated[bool, _out("--quiet", "-q", help="Print only the result.")]


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
    encoding: Annotated[str, _read(help="The file's text encoding, such as cp1252 or utf-16-le.")] = "utf-8"
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
        _read(
            metavar="1,3",
            help="In basket files and one-hot tables: leave out these fields of each line, such as an id or a total.",
        ),
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

    def arguments(self, unit_column: str | None, guessed: Collection[str] = ()) -> dict[str, Any]:
        """The arguments of a reader, besides the file.

        Args:
            unit_column: the column of units, if there is one.
            guessed: the parts that an earlier run guessed. A format among them settles no doubt about this data, so it
                is guessed again, and `check_format` compares.
        """
        options = {name: value for name, value in asdict(self).items() if name not in {"layout", "engine", "master"}}
        return {"unit_column": unit_column, **options, **({"format": "auto"} if "format" in guessed else {})}

    def check_format(self, found: Layout, guessed: Collection[str]) -> None:
        """Refuse, with an InputError, data that looks like another format than the one that an earlier run guessed."""
        if "format" in guessed and found.format != self.format:
            raise InputError(
                f"The data looks like {found.describe()}, but the format {self.format} was guessed from earlier data.",
                f"If it is {self.format} all the same, give --format {self.format}. Otherwise leave --config and "
                "--layout out, and give the options.",
            )

    def reader(self, progress: Callable[[float], None]) -> AbstractContextManager[Read]:
        """The engine's reader."""
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
        promise(
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
    """A unit with at most this many transactions, where no data is read and its column may have any name."""
    return PrivacyUnit() if transactions == 1 else PrivacyUnit(column="unit", max_transactions=transactions)


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
