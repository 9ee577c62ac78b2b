"""`fim-private show`: a release as a table, as bars, as a page, or in another format."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer

from fim_private.cli import options
from fim_private.cli.files import check_output, check_page, keep_apart
from fim_private.cli.progress import say


def show(
    release: options.ReleaseFile,
    plot: Annotated[
        bool, typer.Option("--plot", help="Also draw the counts as bars.", rich_help_panel="Output")
    ] = False,
    html: options.Html = None,
    title: options.Title = None,
    output: Annotated[
        Path | None,
        options.to_file(
            help="Also write the release in another format: .json, .parquet, .jsonl, .csv, .spmf or .fimi."
        ),
    ] = None,
    overwrite: options.Overwrite = False,
    explain: options.Explain = False,
    quiet: options.Quiet = False,
) -> None:
    """Show a release: its itemsets and its promise. Only the release is read, so this costs nothing.

    Example: fim-private show release.json

    To make a page to publish: fim-private show release.json --html page.html
    """
    from fim_private.release.files import read_release, subsets_left_out, write_release
    from fim_private.report.document.text import wrapped
    from fim_private.report.document.write import write_page
    from fim_private.report.pages.release import release_document
    from fim_private.report.promise_in_short import statement
    from fim_private.report.remarks import counts_note, keep_note
    from fim_private.report.tables import release_bars, release_table

    keep_apart(html, output)
    check_output(output, release, overwrite=overwrite)
    check_page(html, release, overwrite=overwrite)
    shown = read_release(release)
    if html is not None:
        html = write_page(release_document(shown, title=title), html, overwrite=overwrite)
    if output is not None:
        output = write_release(shown, output, overwrite=overwrite)
    typer.echo(release_table(shown))
    if plot:
        bars = release_bars(shown, block=_block())
        if bars:
            typer.echo(f"\n{bars}")
        else:
            say("\nThere are no counts to draw.", quiet=quiet)
    for path in (html, output):
        if path is not None:
            say(f"\nWritten to {path}.", quiet=quiet)
    lost = None if output is None else subsets_left_out(shown, output)
    if lost is not None:
        say(lost, quiet=quiet)
    for note in (keep_note(shown), counts_note(shown)):
        if note is not None:
            say(f"\n{wrapped(note)}", quiet=quiet)
    say(f"\n{statement(shown, in_full=explain)}", quiet=quiet)


def _block() -> str:
    """The character that bars are made of: a full block if the terminal can show it."""
    try:
        "█".encode(sys.stdout.encoding or "ascii")
    except (UnicodeEncodeError, LookupError):
        return "#"
    return "█"
