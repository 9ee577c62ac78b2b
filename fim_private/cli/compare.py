"""`fim-private compare`: mechanisms side by side on public data, or on the curator's, and a report of it."""

from __future__ import annotations

import os
import re
import shlex
import sys
import tomllib
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from fim_private.cli import options
from fim_private.cli.interruption import InterruptedByUser
from fim_private.cli.progress import bar, phases, say
from fim_private.errors import InputError, UsageError
from fim_private.privacy import NeighbouringRelation

if TYPE_CHECKING:
    from fim_private.comparison.settings import Settings
    from fim_private.report.material import Source
    from fim_private.transactions import Transactions

DEFAULTS: dict[str, Any] = {
    "files": [],
    "sizes": [1, 2, 3],
    "tops": [1, 5, 10, 20, 50, 100],
    "epsilons": ["0.1", "0.25", "0.5", "1", "2"],
    "delta": "1e-6",
    "trials": 50,
    "mechanisms": [],
    "universe_items": "occurring",
    "max_items": 10,
    "neighbours": "add-remove",
    "unit_column": None,
    "seed": None,
    "title": None,
    "output": None,
    "format": "auto",
    "separator": None,
    "transaction_column": None,
    "item_column": None,
    "drop_rows_without_unit": False,
}
"""What a configuration file may set; options of the command line go before it."""

WORDS = ("unit_column", "title", "output", "format", "separator", "transaction_column", "item_column", "neighbours")
FLAGS = ("drop_rows_without_unit",)

_RUN, _READ = "What to run", "How to read the files"


def _listed(panel: str, words: str) -> Any:
    return typer.Option(metavar="A,B,...", help=words, rich_help_panel=panel)


def compare(
    files: Annotated[
        list[str] | None,
        typer.Argument(metavar="FILE...", help="Basket files, or names of the catalogue's data sets on this machine."),
    ] = None,
    config: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="A TOML file with any of these settings; options go before it."),
    ] = None,
    output: Annotated[
        Path | None, typer.Option("--output", "-o", metavar="FOLDER", help="Where the report goes: reports/NAME.")
    ] = None,
    sizes: Annotated[str | None, _listed(_RUN, "Itemset sizes; 1,2,3 otherwise.")] = None,
    tops: Annotated[str | None, _listed(_RUN, "Values of k; 1,5,10,20,50,100 otherwise.")] = None,
    epsilons: Annotated[str | None, _listed(_RUN, "Total budgets; 0.1,0.25,0.5,1,2 otherwise.")] = None,
    delta: Annotated[str | None, typer.Option(help="The same for all; 1e-6 otherwise.", rich_help_panel=_RUN)] = None,
    trials: Annotated[int | None, typer.Option(help="Runs of each cell; 50 otherwise.", rich_help_panel=_RUN)] = None,
    mechanisms: Annotated[str | None, _listed(_RUN, "Names of mechanisms; all otherwise.")] = None,
    universe_items: Annotated[
        str | None,
        typer.Option(
            metavar="N",
            help="Number of items declared to mechanisms that need it, or: occurring (which is not private).",
            rich_help_panel=_RUN,
        ),
    ] = None,
    max_items: Annotated[
        int | None,
        typer.Option(
            metavar="B",
            help="Items kept of a transaction for mechanisms that need a cap; 10 otherwise.",
            rich_help_panel=_RUN,
        ),
    ] = None,
    neighbours: Annotated[
        NeighbouringRelation | None, typer.Option(help="add-remove otherwise.", rich_help_panel=_RUN)
    ] = None,
    seed: Annotated[
        int | None, typer.Option(help="Of all runs; drawn and written down otherwise.", rich_help_panel=_RUN)
    ] = None,
    title: Annotated[str | None, typer.Option(help="Of the report.", rich_help_panel=_RUN)] = None,
    processes: Annotated[
        int | None, typer.Option(min=1, max=256, help="How many run at once; one a core otherwise.")
    ] = None,
    curator: Annotated[
        bool,
        typer.Option("--curator", help="I may see the exact counts of these files; needed for all but public data."),
    ] = False,
    unit_column: Annotated[
        str | None,
        typer.Option(
            metavar="COLUMN",
            help="The column that says whose a transaction is; its transactions are merged.",
            rich_help_panel=_READ,
        ),
    ] = None,
    format: Annotated[  # noqa: A002 - the option's name
        str | None,
        typer.Option(help="auto, fimi, basket, long, lists or one-hot.", rich_help_panel=_READ),
    ] = None,
    separator: options.Separator = None,
    transaction_column: options.TransactionColumn = None,
    item_column: options.ItemColumn = None,
    drop_rows_without_unit: options.DropRowsWithoutUnit = False,
    quiet: options.Quiet = False,
) -> None:
    """Compare mechanisms on a data set, run after run, and write a report. It shows exact counts: not private.

    Example: fim-private compare online-retail-customers --trials 20 -o reports/customers

    An interrupted comparison goes on where it was when the same command is given again.
    """
    typed = {name: value for name, value in locals().items() if name in DEFAULTS}
    typed |= {
        name: [part.strip() for part in typed[name].split(",") if part.strip()]
        for name in ("sizes", "tops", "epsilons", "mechanisms")
        if typed[name] is not None
    }
    chosen = {**DEFAULTS, **_configured(config), **{name: value for name, value in typed.items() if value}}
    if chosen["output"] is None or not chosen["files"]:
        raise UsageError("A comparison needs a file and a folder.", "Give FILE and --output reports/NAME.")
    folder = Path(chosen["output"])
    from fim_private.comparison.exact_counts import count_all
    from fim_private.comparison.run import run
    from fim_private.comparison.settings import check
    from fim_private.version import __version__

    settings = _settings(chosen, folder)
    with phases(quiet=quiet) as progress:
        sources, data, public = _read(chosen, progress)
        if not (public or curator):
            raise UsageError(
                "A comparison shows exact counts, and not all of these files are known to be public.",
                "If you may see them, add --curator, and keep the report to yourself.",
            )
        for transactions in data:
            check(settings, len(transactions.vocabulary))
        counts = [
            count_all(source.name, transactions, settings, progress)
            for source, transactions in zip(sources, data, strict=True)
        ]
    fingerprint = {"version": __version__, "files": {source.name: source.checksum for source in sources}}
    try:
        with bar("runs", quiet=quiet) as advance:
            table = run(
                settings,
                counts,
                folder,
                fingerprint=fingerprint,
                processes=processes or len(os.sched_getaffinity(0)),
                advance=advance,
            )
    except InterruptedByUser:
        say("Finished cells are kept: the same command goes on from there.", quiet=quiet)
        raise
    from fim_private.report.comparison import CURATOR, PUBLIC, write_report
    from fim_private.report.material import Material

    with phases(quiet=quiet) as progress:
        progress("writing the report")
        material = Material(
            title=chosen["title"] or f"Private itemset mining on {', '.join(source.name for source in sources)}",
            settings=settings,
            counts=tuple(counts),
            sources=tuple(sources),
            table=table,
            command=_command(chosen["files"], config, folder, settings.seed),
            public=public,
        )
        write_report(material, folder)
    say(PUBLIC if public else CURATOR, quiet=quiet)
    typer.echo(f"{folder / 'index.html'}")


def _configured(path: Path | None) -> dict[str, Any]:
    """The settings of a TOML file."""
    if path is None:
        return {}
    try:
        found = tomllib.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise InputError(f"{path} cannot be read: {error.strerror}.", "Correct --config.") from None
    except ValueError as error:
        raise InputError(f"{path} is not TOML: {error}.", "Correct it; strings stand in quotes.") from None
    unknown = sorted(set(found) - set(DEFAULTS))
    if unknown:
        raise UsageError(
            f"{path} has settings that do not exist: {', '.join(unknown)}.", f"There are: {', '.join(DEFAULTS)}."
        )
    for name, value in found.items():
        if name in WORDS and not isinstance(value, str):
            raise UsageError(f"In {path}, {name} is not text.", f'Write {name} = "..." with quotes.')
        if name in FLAGS and not isinstance(value, bool):
            raise UsageError(f"In {path}, {name} is neither true nor false.", f"Write {name} = true or false.")
        if any(isinstance(part, list | dict) for part in _list(value)) or isinstance(value, dict):
            raise UsageError(f"In {path}, {name} is neither a value nor a plain list.", f'Write {name} = ["a", "b"].')
    return found


def _settings(chosen: dict[str, Any], folder: Path) -> Settings:
    from fim_private.comparison.settings import Settings
    from fim_private.comparison.store import Store
    from fim_private.mechanisms.registry import REGISTRY
    from fim_private.randomness import SecureRandomness

    universe = chosen["universe_items"]
    seed = chosen["seed"]
    if seed is None:
        seed = Store.seed_of(folder)
    if seed is None:
        seed = SecureRandomness().bits(32)
    try:
        return Settings(
            sizes=_whole(chosen["sizes"], "sizes"),
            tops=_whole(chosen["tops"], "tops"),
            epsilons=tuple(str(epsilon) for epsilon in _list(chosen["epsilons"])),
            delta=str(chosen["delta"]),
            trials=_whole([chosen["trials"]], "trials")[0],
            mechanisms=tuple(map(str, _list(chosen["mechanisms"]))) or tuple(REGISTRY),
            universe_items=None if universe == "occurring" else _whole([universe], "universe-items")[0],
            max_items=_whole([chosen["max_items"]], "max-items")[0],
            relation=NeighbouringRelation(chosen["neighbours"]),
            unit_column=chosen["unit_column"],
            seed=_whole([seed], "seed")[0],
        )
    except ValueError:
        raise UsageError(
            "There is no such neighbouring relation.", "Choose --neighbours add-remove or replace."
        ) from None


def _list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else [value]


def _whole(values: Any, what: str) -> tuple[int, ...]:
    try:
        numbers = tuple(int(str(value)) for value in _list(values))
    except ValueError:
        numbers = (-1,)
    if any(number < 0 for number in numbers):
        raise UsageError(f"{what} has to be of whole numbers.", f"Write --{what} as in 1 or 1,2,3.")
    return numbers


def _read(chosen: dict[str, Any], progress: Any) -> tuple[list[Source], list[Transactions], bool]:
    """Each file with where it comes from, and whether all of them are in the catalogue."""
    from hashlib import sha256
    from io import BytesIO

    from fim_private.catalogue import load_catalogue, path_of, recognised
    from fim_private.report.material import Source
    from fim_private.transactions import read_transactions
    from fim_private.transactions.source import load

    sources, data = [], []
    public = True
    for name in map(str, _list(chosen["files"])):
        progress(f"reading {name}")
        path = path_of(name) if not Path(name).exists() and name in load_catalogue() else Path(name)
        content = load(path).data
        known = recognised(content)
        public &= known is not None
        sources.append(
            Source(
                name=known.name if known else _anchor(path.name),
                file=path.name,
                checksum=sha256(content).hexdigest(),
                description=known.description if known else "A file of the curator's.",
                citation=known.citation if known else "",
            )
        )
        data.append(
            read_transactions(
                BytesIO(content),
                format=chosen["format"],
                separator=chosen["separator"],
                transaction_column=chosen["transaction_column"],
                item_column=chosen["item_column"],
                unit_column=chosen["unit_column"],
                drop_rows_without_unit=chosen["drop_rows_without_unit"],
            )
        )
    if len({source.name for source in sources}) < len(sources):
        raise UsageError("Two of the files have the same name or content.", "Give each data set once.")
    return sources, data, public


def _anchor(file: str) -> str:
    """A file's name as the name of a data set: letters, digits and hyphens."""
    name = re.sub(r"[^a-z0-9]+", "-", file.lower().split(".")[0]).strip("-")
    return name if name[:1].isalpha() else f"data-{name}".rstrip("-")


def _command(files: list[str], config: Path | None, folder: Path, seed: int) -> str:
    """What repeats this run; files by name alone, for their folders are nobody's business who reads the report."""
    if config is not None:
        names = [Path(file).name for file in files]
        return shlex.join(["fim-private", "compare", *names, "--config", config.as_posix(), "--seed", str(seed)])
    shown = {str(file): Path(str(file)).name for file in files} | {str(folder): folder.name}
    words = [shown.get(word, word) for word in sys.argv[2:]]
    return shlex.join(["fim-private", "compare", *words, *([] if "--seed" in words else ["--seed", str(seed)])])
