"""`fim-private desk`: the whole way from a file to a published page, in a browser on this machine."""

from pathlib import Path
from typing import Annotated

import typer

from fim_private.errors import InputError, UsageError


def desk(
    file: Annotated[
        list[str] | None,
        typer.Argument(metavar="FILE", help="The basket file, or several. Without it, the data that ships is opened."),
    ] = None,
    folder: Annotated[Path, typer.Option(metavar="FOLDER", help="Where answers are written.")] = Path("releases"),
    no_browser: Annotated[bool, typer.Option("--no-browser", help="Print the address, and open no browser.")] = False,
) -> None:
    """Open a page on this machine that leads from a file to a published page. Every step shows its command.

    Nothing leaves this machine, and nothing is spent before you confirm it. Install: pip install 'fim_private[desk]'

    Example: fim-private desk invoices.csv
    """
    from fim_private.catalogue.entries import path_of
    from fim_private.transactions.files.source import is_address
    from fim_private.transactions.sources.several import files_named

    try:
        from fim_private.cli.desk.answer import started
        from fim_private.cli.desk.serve import serve
    except ModuleNotFoundError:
        raise UsageError("The desk needs marimo.", "Install it: pip install 'fim_private[desk]'") from None
    files = file or [str(path_of("online-retail-customers"))]
    for one in files_named(files):
        if not is_address(one) and not Path(one).exists():
            raise InputError(f"There is no file {one}.", "Check the path.")
    folder.mkdir(parents=True, exist_ok=True)
    started.update(files=files, folder=folder)
    serve(browser=not no_browser)
