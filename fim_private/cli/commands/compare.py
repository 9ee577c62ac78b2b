"""`fim-private compare`: run mechanisms side by side on public data, or on the curator's, and write a report."""

from __future__ import annotations

import json
import os
import re
import shlex
import sys
from collections.abc import Sequence
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from fim_private.cli import options
from fim_private.cli.completion import dataset_names
from fim_private.cli.experiment import Experiment
from fim_private.cli.interruption import InterruptedByUser
from fim_private.cli.option_groups import spread, without
from fim_private.cli.progress import Phases, bar, phases, say, spoken
from fim_private.cli.replay import replayed_guesses, settings_of_file, shown_file
from fim_private.errors import UsageError

if TYPE_CHECKING:
    from polars import DataFrame

    from fim_private.comparison.exact_counts import ExactCounts
    from fim_private.comparison.settings import Settings
    from fim_private.report.comparison.results import Source
    from fim_private.transactions.dataset import Transactions


@spread
def compare(
    context: typer.Context,
    files: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="FILES",
            autocompletion=dataset_names,
            help="Basket files, or names of data sets (see `fim-private datasets list`) that are on this machine. With "
            "--query: a database.",
        ),
    ] = None,
    config: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            is_eager=True,
            callback=settings_of_file,
            help="A TOML file with any of these settings. Options on the command line override the file.",
        ),
    ] = None,
    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", metavar="FOLDER", help="The folder for the report, such as reports/NAME."),
    ] = None,
    *,
    experiment: Experiment,
    processes: Annotated[
        int | None,
        typer.Option(min=1, max=256, help="The number of runs at the same time. The default is one per core."),
    ] = None,
    curator: Annotated[
        bool,
        typer.Option(
            "--curator",
            help="Confirm that you may see the exact counts of these files. Only public data sets do not need this.",
        ),
    ] = False,
    unit_column: options.UnitColumn = None,
    together: options.TogetherOption = None,
    reading: Annotated[options.Reading, without("engine", "master")],
    overwrite: options.Overwrite = False,
    quiet: options.Quiet = False,
) -> None:
    """Compare mechanisms on a data set over many runs, and write a report. Not private: it shows exact counts.

    Example: fim-private compare online-retail-customers --trials 20 -o reports/customers

    If a comparison is interrupted, give the same command again: it goes on where it stopped.
    """
    if output is None or not files:
        raise UsageError("A comparison needs a file and a folder.", "Give FILE and --output reports/NAME.")
    if "-" in files:
        raise UsageError("A comparison reads each file twice, and standard input only once.", "Give the file by name.")
    _check_folder(output, overwrite=overwrite)
    settings = experiment.settings(output, unit_column, together)
    guessed = replayed_guesses(context)
    arguments = reading.arguments(unit_column, guessed)
    with phases(quiet=quiet) as progress:
        sources, data, public = _read(files, arguments, progress)
        for transactions in data:
            reading.check_format(transactions.notes.layout, guessed)
        if not (public or curator):
            raise UsageError(
                "A comparison shows exact counts, and some of these files are not known to be public.",
                "If you may see the counts, add --curator, and keep the report to yourself.",
            )
        counts = _count(settings, sources, data, progress)
        fingerprint = _fingerprint(sources, data, arguments)
    table = _run(settings, fingerprint, counts, output, processes=processes, public=public, quiet=quiet)
    from fim_private.report.comparison.report import CURATOR, PUBLIC, write_report
    from fim_private.report.comparison.results import ComparisonResults

    with phases(quiet=quiet) as progress:
        progress("writing the report")
        results = ComparisonResults(
            title=experiment.title or f"Private itemset mining on {', '.join(source.name for source in sources)}",
            settings=settings,
            counts=tuple(counts),
            sources=tuple(sources),
            table=table,
            command=_command(files, config, reading.layout, output, settings.seed),
            public=public,
        )
        write_report(results, output)
    say(PUBLIC if public else CURATOR, quiet=quiet)
    typer.echo(f"{output / 'index.html'}")


def _check_folder(folder: Path, *, overwrite: bool) -> None:
    from fim_private.cli.files import check_folder
    from fim_private.comparison.store import LINES, RESULTS, Store
    from fim_private.report.document.write import FILES

    ours = Store.seed_of(folder) is not None or Store.cut_at_once(folder)
    check_folder(folder, names=(*FILES, LINES, RESULTS), ours=ours, overwrite=overwrite)


def _count(
    settings: Settings, sources: Sequence[Source], data: Sequence[Transactions], progress: Phases
) -> list[ExactCounts]:
    """Check that every cell can be planned; then count each file exactly."""
    from fim_private.comparison.exact_counts import count_all
    from fim_private.comparison.settings import check

    progress("planning all runs")
    for transactions in data:
        check(settings, len(transactions.vocabulary))
    return [
        count_all(source.name, transactions, settings, progress)
        for source, transactions in zip(sources, data, strict=True)
    ]


def _fingerprint(sources: Sequence[Source], data: Sequence[Transactions], arguments: dict[str, Any]) -> dict[str, Any]:
    """What the exact counts depend on: the program, the files, and how they are read."""
    from fim_private.version import __version__

    return {
        "version": __version__,
        "files": {source.name: source.checksum for source in sources},
        "layouts": {
            source.name: transactions.notes.layout.record() for source, transactions in zip(sources, data, strict=True)
        },
        "reading": arguments,
    }


def _run(
    settings: Settings, fingerprint: dict[str, Any], counts: Sequence[ExactCounts], folder: Path, *,
    processes: int | None, public: bool, quiet: bool,
) -> DataFrame:  # fmt: skip
    """The table of all trials. Trials of an interrupted run are kept."""
    from fim_private.comparison.run import run

    at_once = processes or len(os.sched_getaffinity(0))

    def expect(runs: int, seconds: float) -> None:
        say(
            f"{runs:,} runs, {at_once} at a time. With nothing else to do, this machine takes about {spoken(seconds)}, "
            "and some more for the report.",
            quiet=quiet,
        )

    try:
        with bar("runs", quiet=quiet) as advance:
            return run(
                settings,
                counts,
                folder,
                fingerprint=fingerprint,
                processes=at_once,
                advance=lambda done, every: advance(done * settings.trials, every * settings.trials),
                expect=expect,
                owner_only=not public,
            )
    except InterruptedByUser:
        say("What is finished is kept. Give the same command again to go on.", quiet=quiet)
        raise


def _read(
    files: Sequence[str], arguments: dict[str, Any], progress: Phases
) -> tuple[list[Source], list[Transactions], bool]:
    """The source of each file, its transactions, and whether all files are in the catalogue."""
    sources, data = [], []
    public = True
    for name in files:
        progress(f"reading {shown_file(name)}")
        asked = arguments["query"] is not None
        source, transactions, known = (_rows_of_query if asked else _one_file)(name, arguments)
        sources.append(source)
        data.append(transactions)
        public &= known
    if len({source.name for source in sources}) < len(sources):
        raise UsageError("Two of the files have the same name or content.", "Give each data set once.")
    return sources, data, public


def _one_file(name: str, arguments: dict[str, Any]) -> tuple[Source, Transactions, bool]:
    """A file's source, its transactions, and whether the catalogue has it."""
    from fim_private.catalogue.entries import load_catalogue, path_of, recognised
    from fim_private.report.comparison.results import Source
    from fim_private.transactions.files.source import load
    from fim_private.transactions.reading import read_transactions

    path = path_of(name) if name in load_catalogue() and not Path(name).exists() else Path(name)
    content = load(path, archives=True).data
    known = recognised(content)
    source = Source(
        name=known.name if known else _anchor(path.name),
        file=path.name,
        checksum=sha256(content).hexdigest(),
        description=known.description if known else "A file from the curator.",
        citation=known.citation if known else "",
    )
    return source, read_transactions(path, **arguments), known is not None


def _rows_of_query(name: str, arguments: dict[str, Any]) -> tuple[Source, Transactions, bool]:
    """The source of a query's rows, and their transactions. The checksum is of these, not of the database."""
    from fim_private.report.comparison.results import Source
    from fim_private.transactions.reading import read_transactions

    transactions = read_transactions(name, **arguments)
    # The checksum of rows does not depend on how many bytes their codes take.
    arrays = (transactions.offsets, transactions.items.astype("int32"), transactions.units)
    content = sha256(json.dumps(transactions.vocabulary.to_list()).encode())
    for array in arrays:
        content.update(b"" if array is None else array.tobytes())
    shown = shown_file(name)
    source = Source(
        name=_anchor(shown), file=shown, checksum=content.hexdigest(), description="A query's rows, from the curator."
    )
    return source, transactions, False


def _anchor(file: str) -> str:
    """A name for the data set, made from the file's name: letters, digits and hyphens."""
    name = re.sub(r"[^a-z0-9]+", "-", file.lower().split(".")[0]).strip("-")
    return name if name[:1].isalpha() else f"data-{name}".rstrip("-")


def _command(files: list[str], config: Path | None, layout: Path | None, folder: Path, seed: int) -> str:
    """The command that repeats this run. Folders are left out: they do not concern the report's reader."""
    if config is not None:
        words = [*map(shown_file, files), "--config", config.name if config.is_absolute() else config.as_posix()]
        words += [] if layout is None else ["--layout", layout.name]
        return shlex.join(["fim-private", "compare", *words, "--seed", str(seed)])
    shown = {file: shown_file(file) for file in files} | {str(folder): folder.name}
    shown |= {} if layout is None else {str(layout): layout.name}
    words = []
    for word in sys.argv[2:]:
        option, given, value = word.partition("=") if word.startswith("--") else ("", "", word)
        words.append(f"{option}{given}{shown.get(value, value)}")
    return shlex.join(["fim-private", "compare", *words, *([] if "--seed" in words else ["--seed", str(seed)])])
