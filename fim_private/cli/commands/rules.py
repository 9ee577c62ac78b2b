"""`fim-private rules`: association rules from a release with counts."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from fim_private.cli import options
from fim_private.cli.completion import one_of
from fim_private.cli.files import check_page, keep_apart
from fim_private.cli.progress import say
from fim_private.errors import InputError, UsageError, did_you_mean

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from fim_private.release import Release
    from fim_private.rules import AssociationRules

ENDINGS = (".csv", ".json", ".jsonl", ".parquet")


def rules(
    release: options.ReleaseFile,
    min_confidence: Annotated[
        float, typer.Option(metavar="SHARE", help="The smallest confidence to show, from 0 to 1.")
    ] = 0.5,
    min_lift: Annotated[
        float | None,
        typer.Option(metavar="NUMBER", help="The smallest lift to show. Needs a public number of transactions."),
    ] = None,
    lhs: Annotated[
        list[str] | None,
        typer.Option(metavar="ITEM", help="Show only rules that start from this item. May be given several times."),
    ] = None,
    rhs: Annotated[
        list[str] | None,
        typer.Option(metavar="ITEM", help="Show only rules that lead to this item. May be given several times."),
    ] = None,
    sort: Annotated[
        str,
        typer.Option(
            metavar="MEASURE",
            autocompletion=one_of("confidence", "lift", "leverage", "conviction", "count"),
            help="Which comes first: the largest confidence, lift, leverage, conviction or count.",
        ),
    ] = "confidence",
    html: options.Html = None,
    title: options.Title = None,
    output: Annotated[
        Path | None,
        options.to_file(
            help="Also write the rules to this file, with all measures and intervals: .csv, .json, .jsonl or .parquet."
        ),
    ] = None,
    overwrite: options.Overwrite = False,
    as_json: options.AsJson = False,
    quiet: options.Quiet = False,
) -> None:
    """Show the association rules that follow from released counts. Only the release is read, so this costs nothing.

    Example: fim-private rules release.json --min-confidence 0.5

    To make a page of rules about one item: fim-private rules release.json --rhs MILK --html rules.html

    To write rules with a high lift to a table: fim-private rules release.json --min-lift 1.2 -o rules.csv
    """
    from fim_private.release.files import read_release
    from fim_private.report.document.write import write_page
    from fim_private.report.pages.rules import rules_document
    from fim_private.report.rules_table import rules_remarks, rules_table
    from fim_private.rules import association_rules

    keep_apart(html, output)
    check_page(html, release, overwrite=overwrite)
    if output is not None:
        if output.suffix.lower() not in ENDINGS:
            raise UsageError("The ending of the output file is not a known format.", f"Use {', '.join(ENDINGS)}.")
        check_page(output, release, overwrite=overwrite)
    source = read_release(release)
    found = association_rules(
        source, min_confidence=min_confidence, min_lift=min_lift, lhs=lhs or (), rhs=rhs or (), sort=sort
    ).telling()
    if html is not None:
        html = write_page(rules_document(source, found, title=title), html, overwrite=overwrite)
    if output is not None:
        output = _write(found, output, overwrite=overwrite)
    typer.echo(_json(found) if as_json else rules_table(found, source))
    for path in (html, output):
        if path is not None:
            say(f"\nWritten to {path}.", quiet=quiet)
    if not found.rules and min_confidence > 0 and any(len(itemset.items) > 1 for itemset in source.itemsets):
        least = f"Only rules with a confidence of at least {min_confidence:g} are shown."
        say(f"\n{least} A smaller --min-confidence may show more.", quiet=quiet)
    for remark in (*_unknown(source, [*(lhs or ()), *(rhs or ())]), *rules_remarks(found, source)):
        say(f"\n{remark}", quiet=quiet)


def _unknown(release: Release, items: Iterable[str]) -> Iterator[str]:
    """A remark on each item that no itemset of the release holds: it may be misspelt. The names are public."""
    from fim_private.printable import printable

    names = {name for itemset in (*release.itemsets, *release.subsets) for name in itemset.items}
    for item in items:
        if item not in names:
            yield printable(f"No itemset of this release holds {item!r}. {did_you_mean(item, sorted(names))}").rstrip()


def _json(found: AssociationRules) -> str:
    """The frame as a list of objects. JSON has no infinite number, so the text "Infinity" stands for one."""
    import math

    from fim_private.printable import json_text

    def plain(value: object) -> object:
        return "Infinity" if isinstance(value, float) and math.isinf(value) else value

    rows = [{name: plain(value) for name, value in row.items()} for row in found.to_polars().to_dicts()]
    return json_text(rows, indent=2)


def _write(found: AssociationRules, path: Path, *, overwrite: bool) -> Path:
    import json

    import polars as pl

    from fim_private.printable import json_text
    from fim_private.release.files import write_derived
    from fim_private.release.files.comma_separated import json_cell

    frame = found.to_polars()

    def write(part: Path) -> None:
        match path.suffix.lower():
            case ".json":
                part.write_text(_json(found) + "\n", encoding="utf-8")
            case ".jsonl":
                lines = (json_text(row) for row in json.loads(_json(found)))
                part.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
            case ".parquet":
                frame.write_parquet(part)
            case _:
                # Names may hold any separator, so that a side of a rule is a list in JSON here.
                sides = [
                    pl.Series(side, list(map(json_cell, frame[side].to_list())), dtype=pl.String)
                    for side in ("antecedents", "consequents")
                ]
                frame.with_columns(sides).write_csv(part)

    try:
        return write_derived(path, write, overwrite=overwrite)
    except OSError as error:
        raise InputError(
            f"The rules could not be written to {path}: {error.strerror}.", "Give --output another name."
        ) from None
