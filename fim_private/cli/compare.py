"""`fim-private compare`: mechanisms side by side on public data, or on the curator's, and a report of it."""

from __future__ import annotations

import os
import re
import shlex
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from fim_private.cli import options
from fim_private.cli.completion import FORMATS, dataset_names, one_of
from fim_private.cli.configuration import DEFAULTS, configured, listed, settings_of
from fim_private.cli.interruption import InterruptedByUser
from fim_private.cli.progress import bar, phases, say
from fim_private.errors import InputError, UsageError
from fim_private.privacy import NeighbouringRelation

if TYPE_CHECKING:
    from polars import DataFrame

    from fim_private.report.comparison.material import Source
    from fim_private.transactions import Transactions

_RUN, _READ = "What to run", "How to read the files"


def _listed(panel: str, words: str) -> Any:
    return typer.Option(metavar="A,B,...", help=words, rich_help_panel=panel)


def compare(
    files: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="FILE...",
            autocompletion=dataset_names,
            help="Basket files, or names of the catalogue's data sets on this machine.",
        ),
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
    long_tops: Annotated[
        str | None, _listed(_RUN, "More values of k, for mechanisms that name long lists in little time.")
    ] = None,
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
    defaults_table: Annotated[
        str | None,
        typer.Option(
            metavar="FILE",
            help="The table of benchmarks/items_first_defaults.py, to be shown in the report.",
            rich_help_panel=_RUN,
        ),
    ] = None,
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
        typer.Option(
            metavar="NAME",
            autocompletion=one_of(*FORMATS),
            help="auto, fimi, basket, long, lists or one-hot.",
            rich_help_panel=_READ,
        ),
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
        for name in ("sizes", "tops", "long_tops", "epsilons", "mechanisms")
        if typed[name] is not None
    }
    if typed.get("mechanisms") == []:
        raise UsageError("No mechanism was named.", "Name some, as in lmm,exponential, or leave out --mechanisms.")
    chosen = {
        **DEFAULTS,
        **configured(config),
        **{name: value for name, value in typed.items() if value is not None and value is not False},
    }
    if chosen["output"] is None or not chosen["files"]:
        raise UsageError("A comparison needs a file and a folder.", "Give FILE and --output reports/NAME.")
    folder = Path(chosen["output"])
    from fim_private.comparison.exact_counts import count_all
    from fim_private.comparison.run import run
    from fim_private.comparison.settings import check
    from fim_private.version import __version__

    settings = settings_of(chosen, folder)
    defaults = _defaults(chosen["defaults_table"])
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
                owner_only=not public,
            )
    except InterruptedByUser:
        say("Finished cells are kept: the same command goes on from there.", quiet=quiet)
        raise
    from fim_private.report.comparison.material import Material
    from fim_private.report.comparison.report import CURATOR, PUBLIC, write_report

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
            defaults=defaults,
        )
        write_report(material, folder)
    say(PUBLIC if public else CURATOR, quiet=quiet)
    typer.echo(f"{folder / 'index.html'}")


def _defaults(path: str | None) -> DataFrame | None:
    import polars as pl

    if path is None:
        return None
    try:
        return pl.read_parquet(path)
    except (OSError, pl.exceptions.PolarsError):
        raise InputError(f"{path} cannot be read.", "Correct --defaults-table, or leave it out.") from None


def _read(chosen: dict[str, Any], progress: Any) -> tuple[list[Source], list[Transactions], bool]:
    """Each file with where it comes from, and whether all of them are in the catalogue."""
    from hashlib import sha256

    from fim_private.catalogue import load_catalogue, path_of, recognised
    from fim_private.report.comparison.material import Source
    from fim_private.transactions import read_transactions
    from fim_private.transactions.source import load

    sources, data = [], []
    public = True
    for name in map(str, listed(chosen["files"])):
        progress(f"reading {name}")
        path = path_of(name) if name in load_catalogue() and not Path(name).exists() else Path(name)
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
                path,
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
