"""`fim-private plan`: what each mechanism will spend where, and the margin it needs; nothing is read."""

from __future__ import annotations

from typing import Annotated

import typer

from fim_private.cli import options
from fim_private.cli.progress import say
from fim_private.errors import BudgetError
from fim_private.privacy import NeighbouringRelation


def plan(
    size: options.Size,
    top: options.Top,
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
        typer.Option(help="One mechanism only; all that apply otherwise.", rich_help_panel="What to find"),
    ] = None,
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
    from fim_private.mechanisms.registry import REGISTRY

    if mechanism is not None or repeat or no_fallback:
        names = [options.mechanism_name(mechanism or "lmm", repeat=repeat, no_fallback=no_fallback)]
    else:
        names = [row.name for row in REGISTRY.values() if universe.items is not None or not row.needs_universe]
    plans, refused = [], []
    for name in names:
        try:
            plans.append(
                options.plan_of(
                    size=size,
                    top=top,
                    epsilon=epsilon,
                    delta=delta,
                    unit=privacy_unit,
                    neighbours=neighbours,
                    universe=universe,
                    max_items=max_items,
                    mechanism=name,
                )
            )
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
    typer.echo(
        f"The top {top:,} itemsets of size {size}, protecting {privacy_unit.describe()}. Nothing is read or spent.\n"
    )
    if len(plans) > 1:
        leads = [[plan.mechanism_name, f"{plan.mechanism.margins[0].counts:,}"] for plan in plans]
        typer.echo(table(["mechanism", "lead needed, in transactions"], leads, right=[False, True]) + "\n")
    typer.echo("\n\n".join(plan_text(plan) for plan in plans))
    for name, reason in refused:
        say(f"\n{name} cannot be used: {reason}", quiet=quiet)
    if universe.items is None and len(names) > 1:
        say(
            "\nexponential joins the list with a declared universe (--universe-items or --universe-file).",
            quiet=quiet,
        )
