"""`fim-private datasets`: list the public data sets, find their files, and download them."""

from __future__ import annotations

import sys
from contextlib import ExitStack
from typing import TYPE_CHECKING, Annotated

import typer

from fim_private.cli.completion import dataset_names
from fim_private.cli.help import Commands

if TYPE_CHECKING:
    from fim_private.catalogue.entries import Dataset

app = Commands(name="datasets", help="List public data sets, download them, and find their files.")

Name = Annotated[
    str,
    typer.Argument(metavar="NAME", autocompletion=dataset_names, help="A name that `fim-private datasets list` shows."),
]


@app.command("list")
def list_datasets(
    as_json: Annotated[bool, typer.Option("--json", help="Print all that is known of them, as JSON.")] = False,
) -> None:
    """List the public data sets that the program knows.

    Example: fim-private datasets list
    """
    from fim_private.catalogue.entries import load_catalogue

    datasets = list(load_catalogue().values())
    if as_json:
        import json

        typer.echo(json.dumps([_record(dataset) for dataset in datasets], indent=2))
        return
    from rich.console import Console
    from rich.table import Table

    table = Table(box=None, pad_edge=False)
    table.add_column("name", no_wrap=True)
    table.add_column("transactions", justify="right", no_wrap=True)
    table.add_column("items", justify="right", no_wrap=True)
    table.add_column("where", no_wrap=True)
    table.add_column("licence")
    for dataset in datasets:
        figures = f"{dataset.transactions:,}", f"{dataset.items:,}"
        table.add_row(dataset.name, *figures, _where(dataset), dataset.licence)
    # A file or a pipe has no width. There, each data set gets one line.
    at_terminal = sys.stdout is not None and sys.stdout.isatty()
    Console(width=None if at_terminal else 160, highlight=False).print(table)


@app.command("path")
def print_path(name: Name) -> None:
    """Print the path of a data set's file.

    Example: fim-private datasets path online-retail-customers
    """
    from fim_private.catalogue.entries import path_of

    typer.echo(path_of(name))


@app.command("fetch")
def fetch_dataset(
    name: Name,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="Show no progress.")] = False,
) -> None:
    """Download a data set, check it, and print the path of its file. It is not downloaded twice.

    Downloads are kept in your cache folder. The variable FIM_PRIVATE_CACHE names another folder.

    Example: fim-private datasets fetch retail
    """
    from rich.console import Console
    from rich.progress import BarColumn, DownloadColumn, Progress, TextColumn, TimeRemainingColumn

    from fim_private.catalogue.fetching import fetch

    columns = TextColumn("{task.description}", markup=False), BarColumn(), DownloadColumn(), TimeRemainingColumn()
    bar = Progress(*columns, console=Console(stderr=True), disable=quiet)
    task = bar.add_task(name, total=None)
    with ExitStack() as shown:

        def show(received: int, total: int | None) -> None:
            # The bar is shown only now, when something is really downloaded.
            if not (quiet or bar.live.is_started):
                shown.enter_context(bar)
            bar.update(task, completed=received, total=total)

        path = fetch(name, progress=show)
    typer.echo(path)


def _where(dataset: Dataset) -> str:
    if dataset.local():
        return "ships with it" if dataset.file else "downloaded"
    return "by hand" if dataset.page else "to fetch"


def _record(dataset: Dataset) -> dict[str, object]:
    """An entry of the catalogue, with the path of its file if that is on this machine."""
    from dataclasses import asdict

    path = dataset.local()
    record = {key: value for key, value in asdict(dataset).items() if value is not None and key != "file"}
    return {**record, "where": _where(dataset), "path": str(path) if path else None}
