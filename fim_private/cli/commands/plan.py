"""`fim-private plan`: how each mechanism will spend the budget, and the lead it needs. No data is read."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Annotated

import typer

from fim_private.cli import options
from fim_private.cli.files import check_page
from fim_private.cli.option_groups import spread
from fim_private.cli.progress import phases, say
from fim_private.cli.question_options import DEFAULT_COUNT_SHARE, QuestionToSeveral
from fim_private.cli.run import warn_if_weak
from fim_private.errors import BudgetError, UsageError

if TYPE_CHECKING:
    from fim_private.plan import Plan
    from fim_private.plan.advice import Advice


@spread
def plan(
    *,
    question: QuestionToSeveral,
    about: Annotated[
        int | None,
        typer.Option(
            metavar="N",
            min=1,
            help="About how many transactions there are (customers, if a column names them), which is taken as public. "
            "The command then advises how many itemsets to ask for.",
            rich_help_panel="Advice",
        ),
    ] = None,
    items_per_unit: Annotated[
        str | None,
        typer.Option(
            metavar="NUMBER",
            help="With --about: about how many different items each of them holds (10 if not given), also public.",
            rich_help_panel="Advice",
        ),
    ] = None,
    html: options.Html = None,
    overwrite: options.Overwrite = False,
    as_json: options.AsJson = False,
    quiet: options.Quiet = False,
) -> None:
    """Show how each mechanism would spend the budget, and how far an itemset must lead to be named. No data is read.

    Example: fim-private plan --size 2 --top 10 --epsilon 1 --delta 1e-6 --unit transaction

    To learn how many itemsets to ask for: leave out --top, and add --about 4000 --items-per-unit 60

    To share the plan as a page: add --html plan.html
    """
    check_page(html, question.universe_file, overwrite=overwrite)
    warn_if_weak(question)
    advice, typed = None, question.top is not None
    if about is None and items_per_unit is not None:
        raise UsageError("--items-per-unit says nothing alone.", "Also give --about, the number of transactions.")
    if about is not None:
        with phases(quiet=quiet) as progress:
            progress("planning lists of several lengths")
            advice = advice_for(question, about, items_per_unit)
        if not typed:
            question = replace(question, top=advice.plain.most or 1)
    asked = question.asked()
    from fim_private.mechanisms.registry import AUTO, REGISTRY
    from fim_private.plan import plan_for
    from fim_private.report.document.text import wrapped
    from fim_private.report.pages.plan import plan_document, question_in_words

    one = question.mechanism is not None or asked.mechanism != AUTO
    names = [asked.mechanism] if one else [row.name for row in REGISTRY.values() if asked.suits(row)]
    plans: list[Plan] = []
    refused: dict[str, BudgetError] = {}
    with phases(quiet=quiet) as progress:
        for name in names:
            progress(f"planning {name}")
            try:
                plans.append(plan_for(replace(asked, mechanism=name)))
            except BudgetError as refusal:
                refused[name] = refusal
    if not plans:
        raise refused[names[0]]
    chosen = plans[0] if len(plans) == 1 else plan_for(asked)
    words = question_in_words(asked, top=question.top)
    if html is not None:
        from fim_private.report.document.write import write_page

        page = plan_document(words, chosen, plans if len(plans) > 1 else (), _reasons(refused), advice=advice)
        written = write_page(page, html, overwrite=overwrite)
        say(f"Written to {written}.\n", quiet=quiet)
    if as_json:
        _print_json(plans, advice)
        return
    if advice is not None:
        _print_advice(advice, quiet=quiet)
        if not typed:
            say("\nAdd --top to see how the budget is spent on that many.", quiet=quiet)
            return
        typer.echo("")
    unit = asked.unit.describe(asked.together)
    typer.echo(wrapped(f"{words}, protecting {unit}. No data is read, and nothing is spent.") + "\n")
    _print(plans, chosen, quiet=quiet)
    if refused:
        say("\n" + wrapped(*(_cannot(*reason) for reason in _reasons(refused)), indent="    "), quiet=quiet)
    if asked.universe.items is None and len(names) > 1:
        say(
            "\n"
            + wrapped(
                "With a public list of items (--universe-file), or the largest number of items that can occur "
                "(--universe-items), exponential and its relatives are listed too."
            ),
            quiet=quiet,
        )


def _reasons(refused: Mapping[str, BudgetError]) -> list[tuple[str, str]]:
    """Why mechanisms cannot be used, each reason once after the mechanisms that have it.

    It is said in options of the command line: as text, an error names arguments of Python.
    """
    found: dict[str, list[str]] = {}
    for name, refusal in refused.items():
        found.setdefault(f"{refusal.what} {refusal.next_step}", []).append(name)
    return [(", ".join(names), reason) for reason, names in found.items()]


def _cannot(names: str, reason: str) -> str:
    """A line about mechanisms that cannot be used."""
    return f"{names} cannot be used{', for the same reason' if ', ' in names else ''}: {reason}"


def _print(plans: list[Plan], chosen: Plan, *, quiet: bool) -> None:
    """Print the only plan; or a table of several, and then the one that --mechanism auto takes."""
    from fim_private.report.document.text import table
    from fim_private.report.plan_text import plan_text

    if len(plans) > 1:
        typer.echo(
            table(
                ["mechanism", "lead over the bulk", "or lead over the next place"],
                [[plan.mechanism_name, _lead(plan.lead), _lead(plan.near_lead)] for plan in plans],
                right=[False, True, True],
            )
        )
        say(
            f"\nIf all itemsets of the list have this lead, in {chosen.question.counted}, the whole list is named in\n"
            "19 of 20 runs. Itemsets with nearly the same count may still take each other's places. The bulk\n"
            "means itemsets that do not occur, or a place far down the ranking.\n"
            "--mechanism NAME shows one in full. --mechanism auto takes this one:\n",
            quiet=quiet,
        )
    typer.echo(plan_text(chosen))


def advice_for(question: QuestionToSeveral, about: int, items_per_unit: str | None) -> Advice:
    """How many itemsets to ask for, whatever --top says."""
    from fim_private.mechanisms.lengths import TYPICAL_LENGTH
    from fim_private.plan.advice import advise
    from fim_private.plan.shape import Shop

    asked = replace(question, top=question.top or 1, mechanism=question.mechanism or "auto").asked()
    return advise(asked, Shop.of(about, items_per_unit or TYPICAL_LENGTH), count_share=DEFAULT_COUNT_SHARE)


def _print_advice(advice: Advice, *, quiet: bool) -> None:
    from fim_private.report.advice_text import HEAD, RIGHT, SOURCE, advice_rows, advice_words, declared
    from fim_private.report.document.text import table, wrapped

    typer.echo(wrapped(f"How many to ask for, with {declared(advice)}:") + "\n")
    typer.echo(table(HEAD, advice_rows(advice), right=[True] * len(HEAD)))
    typer.echo("\n" + wrapped(*advice_words(advice)))
    few = [] if advice.shop.items else ["Where there are few different items, give their number with --universe-items."]
    say(f"\n{wrapped(RIGHT, SOURCE, *few)}", quiet=quiet)


def _print_json(plans: list[Plan], advice: Advice | None) -> None:
    from fim_private.plan.record import plan_record
    from fim_private.printable import json_text
    from fim_private.release.terms import privacy_record

    records = [{"plan": plan_record(plan), "privacy": privacy_record(plan)} for plan in plans]
    if advice is not None:
        from fim_private.report.advice_text import advice_record

        typer.echo(json_text({"advice": advice_record(advice), "plans": records}, indent=2))
        return
    typer.echo(json_text(records, indent=2))


def _lead(counts: int | None) -> str:
    return "-" if counts is None else f"{counts:,}"
