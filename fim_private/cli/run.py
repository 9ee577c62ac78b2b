"""What `mine` and `tune` share: checks, the ledger, reading, the work, delivery and closing notes."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from fim_private.cli.files import check_output
from fim_private.cli.interruption import held
from fim_private.cli.options import Delivery, Reading
from fim_private.cli.progress import phases, say
from fim_private.cli.question_options import Question
from fim_private.cli.run_ledger import RunLedger
from fim_private.cli.streams import goes_nowhere, print_release
from fim_private.errors import InputError
from fim_private.privacy import Budget, Together

if TYPE_CHECKING:
    from fim_private.accounting.cost import Priced
    from fim_private.counting import TransactionDatabase
    from fim_private.plan import Plan
    from fim_private.release import Release
    from fim_private.transactions.dataset import ReadingNotes

Result = TypeVar("Result")
Handed = TypeVar("Handed", bound="Release | None")
NOTHING = "No run reached the threshold: no itemset is named."


def check_delivery(delivery: Delivery, plans: Sequence[Plan], *inputs: str | Path | None) -> None:
    """Check, before anything is spent, that the release can be delivered as the options say.

    Args:
        delivery: the options.
        plans: the plans of which one is released.
        inputs: the other files of the run; the output must not replace them.

    Raises:
        UsageError: the output is a file that the run needs or cannot hold the release, or a seed meets a ledger.
        InputError: the output cannot be written.
    """
    from fim_private.mining.mine import refuse_seed
    from fim_private.release.files import check_carries

    check_output(delivery.output, delivery.ledger, *inputs, overwrite=delivery.overwrite)
    if delivery.output is not None:
        for plan in plans:
            check_carries(delivery.output, plan, seeded=delivery.seed is not None)
    if delivery.ledger is not None and delivery.seed is not None:
        refuse_seed()


def ask_about_single_items(database: TransactionDatabase, plans: Sequence[Plan]) -> None:
    """Refuse, before anything is spent, to look in transactions of one item for several.

    Raises:
        InputError: nearly every transaction of the units holds one item, and the units are not merged.
    """
    from fim_private.transactions.formats.doubt import refuse
    from fim_private.transactions.formats.item_doubts import single_items_of_units

    several = any(max(plan.sizes) > 1 and plan.question.together is not Together.UNIT for plan in plans)
    if several and database.notes.single_items:
        refuse(single_items_of_units(database.notes.layout))


def warn_if_weak(question: Question) -> None:
    """Warn, even if the command is to be quiet, where the budget is so large that nobody is protected."""
    from fim_private.report.promise_text import weak_promise

    warning = weak_promise(Budget(question.epsilon, question.delta))
    if warning is not None:
        say(warning)


def carry_out(
    work: Callable[..., Result], files: list[str], plan: Priced, *, reading: Reading, delivery: Delivery, command: str,
    guessed: Sequence[str], released: Callable[[Result], Handed],
    check: Callable[[TransactionDatabase], None],
) -> tuple[Result, Handed, RunLedger]:  # fmt: skip
    """Read the file, do the work, hand over the release, and say how the file was read.

    Args:
        work: called with the data, `seed`, `command`, `charge`, `progress` and `guessed`.
        files: the basket files.
        plan: its cost is charged to the ledger.
        reading: how to read.
        delivery: where to charge and to deliver.
        command: the command for the record.
        guessed: the parts of the layout that an earlier run guessed.
        check: called with the data before anything is charged.
        released: takes the release out of the work's result. It gives None if nothing is released.

    Returns:
        The work's result, the release that was handed over, and the ledger of the run.
    """
    from fim_private.transactions.curator_text import warnings

    with RunLedger(delivery.ledger, plan, command, quiet=delivery.quiet) as run_ledger:
        with phases(quiet=delivery.quiet) as progress, reading.reader(progress.share) as read:
            progress("reading")
            database = read(files, **reading.arguments(plan.cost.unit.column, guessed))
            reading.check_format(database.notes.layout, guessed)
            for note in warnings(database.notes, database.vocabulary):
                say(note, quiet=delivery.quiet)
            check(database)
            charge = None if delivery.ledger is None else run_ledger.charge
            result = work(
                database, seed=delivery.seed, command=command, charge=charge, progress=progress, guessed=guessed
            )
        release = released(result)
        hand_over(lambda: _shown(release, as_json=delivery.as_json), run_ledger, delivery, release)
    say("", quiet=delivery.quiet)
    for note in _reading_notes(database.notes):
        say(note, quiet=delivery.quiet)
    return result, release, run_ledger


def hand_over(text: Callable[[], str], run_ledger: RunLedger, delivery: Delivery, release: Release | None) -> None:
    """Write a paid release, print it, and note in the ledger that it was handed over. If one way fails, take the other.

    The file is written first, because a slow reader of the output could delay the printing.

    Args:
        text: makes the text to print.
        run_ledger: the ledger, if there is one.
        delivery: names the file, if one was asked for.
        release: what to write. None if nothing is released.

    Raises:
        InputError: one way failed; the other was still tried.
    """
    output, quiet = delivery.output, delivery.quiet
    written: list[Path] = []
    printed = False

    def write() -> None:
        from fim_private.release.files import write_release

        if release is not None and output is not None:
            with held():
                written.append(write_release(release, output, overwrite=delivery.overwrite))
                run_ledger.deliver()

    def show() -> None:
        nonlocal printed
        print_release(text(), written=bool(written))
        printed = True
        if not goes_nowhere():
            run_ledger.deliver()

    failures: list[BaseException] = []
    for way in (write, show):
        try:
            way()
        except BaseException as failure:
            failures.append(failure)
    if written and written[0] != output:
        say(f"\nAnother program wrote {output} in the meantime. The release is in {written[0]}.")
    elif written:
        say(f"\nWritten to {output}.", quiet=quiet)
    elif release is None and output is not None:
        say(f"\n{output} was not written.")
    lost = not (written or printed)  # the ledger may have failed to note what was handed over
    if lost and len(failures) == 2 and all(isinstance(failure, InputError) for failure in failures):
        raise InputError(
            f"The release could neither be written to {output} nor printed.",
            "The release is lost, and its cost is spent.",
        )
    if failures:
        raise failures[0]


def conclude(remarks: Iterable[str | None], delivery: Delivery, run_ledger: RunLedger) -> None:
    """Print the remarks on a release, as far as they apply (None does not), and what is left in the ledger."""
    for remark in filter(None, remarks):
        say(f"\n{remark}", quiet=delivery.quiet)
    if delivery.ledger is not None and not delivery.quiet:
        say(f"\n{run_ledger.remaining()}")


def _shown(release: Release | None, *, as_json: bool) -> str:
    from fim_private.report.tables import release_table

    if release is None:
        return json.dumps({"itemsets": [], "reason": NOTHING}) if as_json else NOTHING
    return release.to_json() if as_json else release_table(release)


def _reading_notes(notes: ReadingNotes) -> list[str]:
    """What was found and mended while reading, in words. This is for the holder of the data, not part of a release."""
    mended = [
        f"{what} ({number:,})"
        for number, what in (
            (notes.blanks, "blank items dropped"),
            (notes.duplicates, "repeated items inside a transaction merged"),
            (notes.empty, "empty transactions left out"),
            (notes.rows_left_out, "rows left out by --where"),
            (notes.rows_without_unit, "rows without a unit left out"),
        )
        if number
    ]
    read_from = f", from {notes.files:,} files" if notes.files > 1 else ""
    lines = [f"Read as {notes.layout.describe()}{read_from}."]
    if mended:
        lines.append(f"While reading (for the holder of the data, not part of the release): {'; '.join(mended)}.")
    return lines
