"""`fim-private plan`: what each mechanism will spend where, and the margin it needs; nothing is read."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from fim_private.cli import options
from fim_private.cli.completion import MECHANISMS, one_of
from fim_private.cli.progress import say
from fim_private.errors import BudgetError
from fim_private.privacy import NeighbouringRelation

if TYPE_CHECKING:
    from fim_private.plan import Plan


def plan(
    size: options.Size,
    epsilon: options.Epsilon,
    delta: options.Delta,
    top: options.Top = None,
    min_count: options.MinCount = None,
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
            autocompletion=one_of(*MECHANISMS),
            help="One mechanism only; all that apply otherwise.",
            rich_help_panel="What to find",
        ),
    ] = None,
    select: options.Select = None,
    repeat: options.Repeat = False,
    no_fallback: options.NoFallback = False,
    universe_items: options.UniverseItems = None,
    universe_file: options.UniverseFile = None,
    as_json: options.AsJson = False,
    quiet: options.Quiet = False,
) -> None:
    """Show what each mechanism would spend where, and the lead in counts it needs. No data is read.

    Example: fim-private plan --size 2 --top 10 --epsilon 1 --delta 1e-6 --unit transaction
    """
    privacy_unit = options.privacy_unit(unit, unit_column, merge=merge, max_transactions=max_transactions)
    universe = options.declared_universe(universe_items, universe_file)
    from fim_private.mechanisms.registry import AUTO, REGISTRY

    if min_count is not None or select is not None:
        mechanism = mechanism or AUTO
    if mechanism is not None or repeat or no_fallback:
        names = [options.mechanism_name(mechanism or "lmm", repeat=repeat, no_fallback=no_fallback)]
    else:
        names = [
            row.name
            for row in REGISTRY.values()
            if (universe.items is not None or not row.needs_universe) and (max_items is not None or not row.needs_cap)
        ]

    def plan_for(name: str) -> Plan:
        return options.plan_of(
            size=size,
            top=top,
            epsilon=epsilon,
            delta=delta,
            unit=privacy_unit,
            neighbours=neighbours,
            universe=universe,
            max_items=max_items,
            mechanism=name,
            select=select,
            min_count=min_count,
        )

    plans, refused = [], []
    for name in names:
        try:
            plans.append(plan_for(name))
        except BudgetError as refusal:
            refused.append((name, refusal))
    if not plans:
        raise refused[0][1]
    from fim_private.release.planned import plan_record, privacy_record
    from fim_private.report.statement import plan_text
    from fim_private.report.tables import table

    if as_json:
        import json

        records = [{"plan": plan_record(plan), "privacy": privacy_record(plan)} for plan in plans]
        typer.echo(json.dumps(records, ensure_ascii=False, indent=2))
        return
    typer.echo(f"{_asked(size, top, min_count)}, protecting {privacy_unit.describe()}. Nothing is read or spent.\n")
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


def _asked(size: int, top: int | None, min_count: int | None) -> str:
    which = f"The top {top:,} itemsets of size {size}" if top is not None else f"Itemsets of size {size}"
    return which if min_count is None else f"{which} with a noisy count above {min_count:,}"


def _lead(counts: int | None) -> str:
    return "-" if counts is None else f"{counts:,}"
