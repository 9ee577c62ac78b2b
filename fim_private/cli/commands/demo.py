"""`fim-private demo`: mine the data set that ships, with every step explained; or show a lesson by name."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from fim_private.cli import options
from fim_private.cli.options import assignments
from fim_private.errors import UsageError

SIZE, TOP, EPSILON, DELTA = 2, 5, "1", "1e-6"
LIST, ALL = "list", "all"


def demo(
    name: Annotated[
        str | None,
        typer.Argument(metavar="NAME", help=f"The name of a lesson, or '{LIST}' to list them."),
    ] = None,
    changes: Annotated[
        list[str] | None,
        typer.Option(
            "--set", metavar="CONTROL=VALUE", help="Change a control of the lesson. May be given several times."
        ),
    ] = None,
    answer: Annotated[bool, typer.Option("--answer", help="Print only the answer to the lesson's question.")] = False,
    output: Annotated[
        Path | None,
        typer.Option(
            "-o", "--output", metavar="FOLDER", help=f"Write the lesson, or '{ALL}' of them, as pages to this folder."
        ),
    ] = None,
    overwrite: options.Overwrite = False,
    quiet: options.Quiet = False,
) -> None:
    """Mine the data set that ships (purchases of 4,372 customers) privately, and explain every step.

    With a NAME: show one of the short lessons. Lessons repeat the same noise, so they are not private.

    Example: fim-private demo

    To list the lessons: fim-private demo list

    To try one: fim-private demo margin --set gap=280
    """
    if name in {None, LIST} and (changes or answer or output):
        raise UsageError(
            "Only lessons take --set, --answer and --output.", "Name a lesson; `fim-private demo list` lists them."
        )
    if name is not None:
        _lesson(name, changes or [], answer=answer, output=output, overwrite=overwrite, quiet=quiet)
    else:
        _main_job(quiet=quiet)


def _lesson(name: str, changes: list[str], *, answer: bool, output: Path | None, overwrite: bool, quiet: bool) -> None:
    from fim_private.cli.files import check_page, refuse_page_as_folder
    from fim_private.cli.progress import say
    from fim_private.demos.course import DEMOS, find_demo
    from fim_private.demos.page import page_of, write_page
    from fim_private.demos.terminal import to_text
    from fim_private.report.document.text import table

    if name == LIST:
        rows = [[lesson.name, f"{lesson.minutes} min", lesson.summary] for lesson in DEMOS]
        typer.echo(table(["name", "reading", "lesson"], rows, right=[False, True, False]))
        say(
            "\nTo show one: fim-private demo NAME. The lessons are also pages (reports/demos) and a notebook "
            "(make notebooks).",
            quiet=quiet,
        )
        return
    if name == ALL and output is None:
        raise UsageError("All lessons can only be written as pages.", "Give --output FOLDER, or name one lesson.")
    chosen = list(DEMOS) if name == ALL else [find_demo(name)]
    if output is not None:
        if changes or answer:
            raise UsageError("A page already shows all values of its control.", "Leave out --set and --answer.")
        refuse_page_as_folder(output)
        if output.is_dir():
            for lesson in chosen:
                check_page(page_of(lesson, output), overwrite=overwrite)
        pages = [(lesson, page_of(lesson, output)) for lesson in DEMOS]
        beside = tuple(page.name for lesson, page in pages if lesson in chosen or page.is_file())
        for lesson in chosen:
            say(f"Written: {write_page(lesson, output, beside=beside, overwrite=overwrite)}", quiet=quiet)
        return
    moved = assignments(changes, example="epsilon=2")
    lesson = chosen[0]
    if answer:
        control, found = lesson.controls[0].name, lesson.answer(moved)
        typer.echo(f"{control}={found}" if found else f"no value of {control}")
    else:
        typer.echo(to_text(lesson, lesson.settings(moved)))


def _main_job(*, quiet: bool) -> None:
    from fim_private.catalogue.entries import path_of
    from fim_private.cli.progress import phases, say
    from fim_private.counting import top_itemsets
    from fim_private.mining.mine import mine_as_planned
    from fim_private.plan import make_plan
    from fim_private.printable import printable
    from fim_private.privacy import Budget, PrivacyUnit
    from fim_private.report.document.text import table
    from fim_private.report.plan_text import plan_text
    from fim_private.report.promise_text import promise
    from fim_private.report.tables import JOINT, release_table
    from fim_private.transactions.reading import read_transactions

    path = path_of("online-retail-customers")
    plan = make_plan(size=SIZE, top=TOP, budget=Budget(EPSILON, DELTA), unit=PrivacyUnit())
    say(
        "The data: customers of a UK web shop over 13 months. Each line holds all that one customer ordered\n"
        "or returned (Chen 2015, UCI Online Retail, CC BY 4.0). So a transaction is a whole customer.\n\n"
        f"The question: which {TOP} pairs of goods do the most customers buy?\n"
        "The answer must not expose any single customer.\n\n"
        f"The plan is made before the data is read:\n{plan_text(plan)}\n",
        quiet=quiet,
    )
    with phases(quiet=quiet) as progress:
        progress("reading and counting")
        transactions = read_transactions(path)
        release = mine_as_planned(transactions, plan)
        itemsets, counts = top_itemsets(transactions, SIZE, TOP).reveal_to_curator()
    typer.echo(release_table(release))
    say(f"\n{promise(plan)}\n", quiet=quiet)
    truth = [tuple(transactions.vocabulary[code] for code in itemset) for itemset in itemsets.tolist()]
    hits = len(set(truth) & {itemset.items for itemset in release.itemsets})
    rows = [
        [f"{count:,}", JOINT.join(map(printable, items))] for items, count in zip(truth, counts.tolist(), strict=True)
    ]
    say(
        f"This data set is public, so we may compare with the exact counts:\n{hits} of the pairs above are among the "
        f"true top {TOP}. This is the truth, which must stay secret for private data:\n"
        + table(["customers", "pair"], rows, right=[True, False])
        + "\n\nRun this again: the list changes a little each time. With private data, each run costs budget again.\n"
        "To list the lessons: fim-private demo list. To mine your own data:\n"
        f"  fim-private mine FILE --size {SIZE} --top {TOP} --epsilon {EPSILON} --delta {DELTA} --unit transaction",
        quiet=quiet,
    )
