"""`fim-private budget`: ledgers, which hold the privacy budget of a data set over all its releases."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from fim_private.cli.completion import one_of
from fim_private.cli.help import Commands
from fim_private.cli.progress import say
from fim_private.cli.run_ledger import opened
from fim_private.errors import UsageError
from fim_private.privacy import Budget

if TYPE_CHECKING:
    from fractions import Fraction

    from fim_private.ledger import Entry, State

app = Commands(
    name="budget",
    help="Share one privacy budget among several releases: create a ledger, show it, change its total.",
)

File = Annotated[Path, typer.Argument(metavar="LEDGER", help="The ledger's file, on a local disk.")]
AsJson = Annotated[bool, typer.Option("--json", help="Print JSON, with exact fractions.")]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="Print only the result.")]
"""All commands take it, so that a script may add it to each."""


@app.command()
def create(
    ledger: File,
    epsilon: Annotated[str, typer.Option(metavar="NUMBER", help="The epsilon that all releases may cost together.")],
    delta: Annotated[
        str, typer.Option(metavar="NUMBER", help="The delta that all releases may cost together; 0 is allowed.")
    ],
    dataset: Annotated[
        str | None, typer.Option(metavar="NAME", help="A name for the data set, shown to people.")
    ] = None,
    composition: Annotated[
        str,
        typer.Option(
            metavar="auto|basic|renyi|both",
            autocompletion=one_of("auto", "basic", "renyi", "both"),
            help="How costs add up. basic adds the guarantees. renyi is sharper for many small releases. both admits "
            "what either of them admits, with half of delta for each. auto takes basic or both, whichever suits the "
            "first release.",
        ),
    ] = "auto",
    _quiet: Quiet = False,
) -> None:
    """Create a ledger. Its total is the most that all releases charged to it may cost.

    Example: fim-private budget create shop.ledger --epsilon 3 --delta 1e-5 --dataset "shop 2026"

    Then charge releases to it: fim-private mine FILE ... --ledger shop.ledger
    """
    from fim_private.ledger import Ledger
    from fim_private.report.ledger_text import state_text

    made = Ledger.create(ledger, epsilon=epsilon, delta=delta, dataset=dataset, composition=composition)
    typer.echo(state_text(made.state()))


@app.command()
def show(ledger: File, as_json: AsJson = False, quiet: Quiet = False) -> None:
    """Show the total, what is spent and what remains.

    Example: fim-private budget show shop.ledger
    """
    from fim_private.report.ledger_text import state_text

    state = opened(ledger, quiet=quiet).state()
    if as_json:
        _print_json(_state_record(state))
    else:
        typer.echo(state_text(state))


@app.command()
def history(ledger: File, as_json: AsJson = False, quiet: Quiet = False) -> None:
    """Show every charged release and every total that was set, oldest first. Times are UTC.

    A release that is charged but not delivered was interrupted or is still running. Its cost is spent.

    Example: fim-private budget history shop.ledger
    """
    from fim_private.report.document.text import table
    from fim_private.report.ledger_text import history_rows

    entries = opened(ledger, quiet=quiet).history()
    if as_json:
        _print_json([_entry_record(entry) for entry in entries])
        return
    head, *rows = history_rows(entries)
    typer.echo(table(head, rows, right=[False, False, True, True, False, False, False]))


@app.command("set")
def set_total(
    ledger: File,
    epsilon: Annotated[
        str | None, typer.Option(metavar="NUMBER", help="The new epsilon; unchanged if left out.")
    ] = None,
    delta: Annotated[str | None, typer.Option(metavar="NUMBER", help="The new delta; unchanged if left out.")] = None,
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Raise the total without being asked.")] = False,
    quiet: Quiet = False,
) -> None:
    """Change the total. The change is recorded with its time. The total cannot go below what is spent.

    The command prints the old total and the new one. A higher total also weakens the promise for earlier releases: the
    new total then holds for them too. So the command asks before it raises the total, unless --yes is given.

    Example: fim-private budget set shop.ledger --epsilon 4
    """
    if epsilon is None and delta is None:
        raise UsageError("No new total was given.", "Give --epsilon, --delta or both.")
    from fim_private.ledger.decision import with_total
    from fim_private.report.document.text import stated
    from fim_private.report.ledger_text import state_text, stated_budget

    kept = opened(ledger, quiet=quiet)
    state = kept.state()
    before = state.budget
    wanted = Budget(before.epsilon if epsilon is None else epsilon, before.delta if delta is None else delta)
    later = with_total(state, wanted)
    unasked = yes or (wanted.epsilon <= before.epsilon and wanted.delta <= before.delta)
    say(f"The total goes from {stated_budget(before)} to {stated_budget(wanted)}.", quiet=quiet and unasked)
    if (most := state.failing_epsilon) is not None and not later.rule().pays(state.spent):
        say(
            f"Above epsilon {stated(most)}, the total at the first release, costs are only added up. Nothing is left "
            "by Renyi composition, which makes many small releases cheaper.",
            quiet=quiet and unasked,
        )
    if not unasked:
        question = "A higher total weakens the promise for earlier releases too. Raise it?"
        if sys.stdin is None or not sys.stdin.isatty() or not typer.confirm(question, err=True):
            raise UsageError("The total was not changed.", "Add --yes to raise it.")
    typer.echo(state_text(kept.set_total(epsilon=epsilon, delta=delta, before=before)))


def _state_record(state: State) -> dict[str, Any]:
    from fim_private.ledger.refusal import remaining

    rule = state.rule()
    left = remaining(rule, state.spent)
    return {
        "dataset": state.dataset,
        "total": _pair(state.budget.epsilon, state.budget.delta),
        "unit_column": state.unit_column,
        "neighbours": None if state.relation is None else str(state.relation),
        "composition": state.composition,
        "basic_share": None if state.basic_share is None else str(state.basic_share),
        "renyi_order": None if state.order is None else str(state.order + 1),
        "renyi_allowed": None if rule.bound is None else str(rule.bound),
        "releases": state.releases,
        "undelivered": state.undelivered,
        "spent": {name: str(value) for name, value in vars(state.spent).items()},
        "remaining": _pair(left.epsilon, left.delta),
    }


def _entry_record(entry: Entry) -> dict[str, Any]:
    layout = None if entry.layout is None else entry.layout.record()
    record = {**vars(entry), **_pair(entry.epsilon, entry.delta), "layout": layout}
    return {name: value for name, value in record.items() if value is not None}


def _pair(epsilon: Fraction, delta: Fraction) -> dict[str, str]:
    return {"epsilon": str(epsilon), "delta": str(delta)}


def _print_json(value: object) -> None:
    from fim_private.printable import json_text

    typer.echo(json_text(value, indent=2))
