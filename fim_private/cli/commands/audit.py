"""`fim-private audit`: compare a mechanism's claim with the worst case that an exact search finds. No data is read."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from fim_private.cli import options
from fim_private.cli.completion import mechanism_names
from fim_private.cli.files import check_folder
from fim_private.cli.progress import phases, say
from fim_private.cli.replay import is_from
from fim_private.errors import UsageError
from fim_private.privacy import Budget, NeighbouringRelation

if TYPE_CHECKING:
    from fim_private.plan import Plan

UNIVERSE, MAX_ITEMS = 100, 10
"""Assumed for mechanisms that need them, unless the command says otherwise."""
OF_A_PLAN = ("top", "size", "neighbours", "sensitivity", "universe_items", "max_items", "select")
"""The settings of one plan, which a report of all mechanisms chooses itself."""


def audit(
    context: typer.Context,
    mechanism: Annotated[
        str,
        typer.Argument(
            metavar="MECHANISM",
            autocompletion=mechanism_names("all", audited=True),
            help="A mechanism that `fim-private plan` lists, or all.",
        ),
    ],
    epsilon: options.Epsilon = "1",
    delta: options.Delta = "1e-6",
    top: Annotated[int, typer.Option(metavar="K", help="The number of itemsets to pick, at most 10.")] = 1,
    size: Annotated[int, typer.Option(help="The number of items in each itemset.")] = 2,
    neighbours: options.Neighbours = NeighbouringRelation.ADD_REMOVE,
    sensitivity: options.Sensitivity = 1,
    universe_items: options.UniverseItems = None,
    max_items: options.MaxItems = None,
    select: options.Select = None,
    seed: Annotated[int, typer.Option(help="The seed of the search's random steps. No noise is drawn.")] = 1,
    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", metavar="FOLDER", help="With all: write a report to this folder."),
    ] = None,
    overwrite: options.Overwrite = False,
    as_json: options.AsJson = False,
    quiet: options.Quiet = False,
) -> None:
    """Check a mechanism's privacy claim: search for data sets that break it, by exact probabilities.

    The same search must catch versions of the mechanism with a mistake made on purpose (broken twins).

    Example: fim-private audit limited-domain --epsilon 1 --delta 1e-6 --top 3

    The exit code is 1 if the claim is broken or a broken twin is not caught.
    """
    from fim_private.mechanisms.registry import AUTO, REGISTRY, find

    if output is not None and mechanism != "all":
        raise UsageError("A report covers all mechanisms.", "Give `fim-private audit all --output FOLDER`.")
    given = [name for name in OF_A_PLAN if is_from(context, name, "COMMANDLINE")]
    if output is not None and given:
        option = f"--{given[0].replace('_', '-')}"
        raise UsageError(f"The report has plans of its own, and none with the {option} given.", f"Leave {option} out.")
    if mechanism == AUTO:
        raise UsageError("auto is not a mechanism: it takes one of the others.", "Name the mechanism, or all.")
    names = list(REGISTRY) if mechanism == "all" else [find(mechanism).name]
    unit = options.unit_with(sensitivity)
    budget = Budget(epsilon, delta)

    def plan_for(name: str) -> Plan:
        from fim_private.plan import Universe, make_plan

        row = find(name)
        listed = Universe(items=UNIVERSE, listed=True) if universe_items is None else Universe(items=universe_items)
        return make_plan(
            size=size,
            top=top,
            budget=budget,
            unit=unit,
            relation=neighbours,
            universe=listed if row.needs_universe else None,
            max_items=(max_items or MAX_ITEMS) if row.needs_cap else max_items,
            mechanism=name,
            select=select if row.reads_counts else None,
        )

    from fim_private.audit.verdict import audit as audited
    from fim_private.randomness import SeededRandomness
    from fim_private.report.audit.verdicts import verdict_record, verdict_text
    from fim_private.report.plan_text import plan_text

    if output is not None:
        from fim_private.report.audit.report import VERDICTS, write_audit
        from fim_private.report.document.write import FILES

        check_folder(output, names=(*FILES, VERDICTS), overwrite=overwrite)

        with phases(quiet=quiet) as progress:
            sound = write_audit(output, budget=budget, seed=seed, progress=progress)
        say(f"Written to {output}.", quiet=quiet)
        raise typer.Exit(0 if sound else 1)
    plans = [plan_for(name) for name in names]
    records, sound = [], True
    for plan in plans:
        with phases(quiet=quiet) as progress:
            verdict = audited(plan, randomness=SeededRandomness(seed), progress=progress)
        sound &= verdict.holds and verdict.twins_caught
        if as_json:
            records.append(verdict_record(verdict))
        else:
            typer.echo(f"{plan_text(plan)}\n{_assumed(plan)}\n{verdict_text(verdict)}\n")
    if as_json:
        typer.echo(json.dumps(records[0] if len(records) == 1 else records, indent=2))
    if not sound:
        raise typer.Exit(1)


def _assumed(plan: Plan) -> str:
    """The universe and the cap that the plan was made with."""
    lines = []
    if plan.universe.anonymous:
        lines.append(f"  with anonymous names for at most {plan.universe.items:,} items (--universe-items)\n")
    elif plan.universe.items is not None:
        lines.append(f"  over a public list of {plan.universe.items:,} items\n")
    if plan.max_items is not None:
        lines.append(f"  with at most {plan.max_items:,} items kept per transaction (--max-items)\n")
    return "".join(lines)
