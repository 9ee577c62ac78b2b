"""`fim-private plan`: what each mechanism will spend where, and the margin it needs; nothing is read."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from fim_private.cli import options
from fim_private.cli.completion import mechanism_names
from fim_private.cli.progress import say
from fim_private.errors import BudgetError
from fim_private.privacy import NeighbouringRelation

if TYPE_CHECKING:
    from fim_private.plan import Plan


def plan(
    *,
    size: options.Size = None,
    sizes: options.Sizes = None,
    per_size: options.PerSize = False,
    top: options.Top = None,
    min_count: options.MinCount = None,
    release_counts: options.ReleaseCounts = False,
    count_share: options.CountShare = None,
    raw_counts: options.RawCounts = False,
    public_transactions: options.PublicTransactions = None,
    epsilon: options.Epsilon,
    delta: options.Delta,
    unit: options.Unit = None,
    unit_column: options.UnitColumn = None,
    merge: options.Merge = False,
    max_transactions: options.MaxTransactions = None,
    neighbours: options.Neighbours = NeighbouringRelation.ADD_REMOVE,
    max_items: options.MaxItems = None,
    mechanism: Annotated[
        str | None,
        typer.Option(
            metavar="NAME",
            autocompletion=mechanism_names("auto"),
            help="One mechanism only; all that apply otherwise.",
            rich_help_panel="What to find",
        ),
    ] = None,
    select: options.Select = None,
    repeat: options.Repeat = False,
    no_fallback: options.NoFallback = False,
    universe_items: options.UniverseItems = None,
    universe_file: options.UniverseFile = None,
    must_contain: options.MustContain = None,
    exclude: options.Exclude = None,
    html: options.Html = None,
    as_json: options.AsJson = False,
    quiet: options.Quiet = False,
) -> None:
    """Show what each mechanism would spend where, and the lead in counts it needs. No data is read.

    Example: fim-private plan --size 2 --top 10 --epsilon 1 --delta 1e-6 --unit transaction

    As a page to talk about: add --html plan.html
    """
    privacy_unit = options.privacy_unit(unit, unit_column, merge=merge, max_transactions=max_transactions)
    options.keep_apart(html, universe_file)
    asked = options.itemset_sizes(size, sizes)
    universe = options.declared_universe(universe_items, universe_file)
    constraints = options.constraints_of(must_contain, exclude)
    from fim_private.mechanisms.registry import AUTO, REGISTRY

    if min_count is not None or select is not None:
        mechanism = mechanism or AUTO
    if mechanism is not None or repeat or no_fallback:
        names = [options.mechanism_name(mechanism or "lmm", repeat=repeat, no_fallback=no_fallback)]
    else:
        names = [
            row.name
            for row in REGISTRY.values()
            if (universe.items is not None or not row.needs_universe)
            and (max_items is not None or not row.needs_cap)
            and (len(asked) == 1 or per_size or not row.finds_items)
        ]

    def plan_for(name: str) -> Plan:
        return options.plan_of(
            sizes=asked,
            top=top,
            epsilon=epsilon,
            delta=delta,
            unit=privacy_unit,
            neighbours=neighbours,
            universe=universe,
            constraints=constraints,
            max_items=max_items,
            mechanism=name,
            select=select,
            min_count=min_count,
            share=options.count_share(count_share, release_counts=release_counts),
            raw_counts=raw_counts,
            public_transactions=public_transactions,
            per_size=per_size,
        )

    plans, refused = [], []
    for name in names:
        try:
            plans.append(plan_for(name))
        except BudgetError as refusal:
            refused.append((name, refusal))
    if not plans:
        raise refused[0][1]
    from fim_private.plan.record import plan_record
    from fim_private.release.promise import privacy_record
    from fim_private.report.document.text import printable, table, wrapped
    from fim_private.report.statement import plan_text

    question = _asked(asked, top, min_count, printable(constraints.describe()), per_size=per_size)
    if html is not None:
        _write_page(html, question, plans, refused, plans[0] if len(plans) == 1 else plan_for(AUTO), quiet=quiet)
    if as_json:
        import json

        records = [{"plan": plan_record(plan), "privacy": privacy_record(plan)} for plan in plans]
        typer.echo(json.dumps(records, ensure_ascii=False, indent=2))
        return
    typer.echo(wrapped([f"{question}, protecting {privacy_unit.describe()}. Nothing is read or spent."]) + "\n")
    if len(plans) == 1:
        typer.echo(plan_text(plans[0]))
    else:
        typer.echo(
            table(
                ["mechanism", "lead needed over the bulk", "or over a near place"],
                [[plan.mechanism_name, _lead(plan.lead), _lead(plan.near_lead)] for plan in plans],
                right=[False, True, True],
            )
        )
        say(
            "\nLeads are in transactions, to be found 19 times in 20. The bulk: itemsets that do not occur, or a\n"
            "place far down the ranking. One mechanism in full: --mechanism NAME. This is what --mechanism auto "
            "takes:\n",
            quiet=quiet,
        )
        typer.echo(plan_text(plan_for(AUTO)))
    for name, reason in refused:
        say(f"\n{name} cannot be used: {reason}", quiet=quiet)
    if universe.items is None and len(names) > 1:
        say(
            "\nexponential and its relatives join the list with a declared universe (--universe-items or "
            "--universe-file).",
            quiet=quiet,
        )


def _write_page(
    path: Path, asked: str, plans: list[Plan], refused: list[tuple[str, BudgetError]], chosen: Plan, *, quiet: bool
) -> None:
    from fim_private.report.document.write import write_page
    from fim_private.report.pages.plan import plan_document

    reasons = [(name, str(reason)) for name, reason in refused]
    write_page(plan_document(asked, chosen, plans if len(plans) > 1 else (), reasons), path)
    say(f"Written to {path}.\n", quiet=quiet)


def _asked(sizes: tuple[int, ...], top: int | None, min_count: int | None, constraints: str, *, per_size: bool) -> str:
    *smaller, largest = sizes
    what = f"size {largest}"
    if smaller:
        listed = f"{', '.join(map(str, smaller))} and {largest}"
        what = f"each of the sizes {listed}" if per_size else f"sizes {listed} together"
    which = f"The top {top:,} itemsets of {what}" if top is not None else f"Itemsets of {what}"
    if min_count is not None:
        which += f" with a noisy count above {min_count:,}"
    return f"{which} {constraints}" if constraints else which


def _lead(counts: int | None) -> str:
    return "-" if counts is None else f"{counts:,}"
