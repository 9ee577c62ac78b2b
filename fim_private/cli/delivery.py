"""Hand over a paid release: write it to a file and print it. If one way fails, the other is still taken."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from fim_private.cli.interruption import held
from fim_private.cli.progress import say
from fim_private.cli.run_ledger import RunLedger
from fim_private.cli.streams import goes_nowhere, print_release
from fim_private.errors import InputError

if TYPE_CHECKING:
    from fim_private.release import Release


def hand_over(
    text: Callable[[], str],
    run_ledger: RunLedger,
    *,
    release: Release | None = None,
    output: Path | None = None,
    overwrite: bool = False,
    quiet: bool = False,
) -> None:
    """Write the release, print it, and note in the ledger that it was handed over.

    The file is written first, because a slow reader of the output could delay the printing.

    Args:
        text: makes the text to print.
        run_ledger: the ledger, if there is one.
        release: what to write. None if nothing is released.
        output: the file, if one was asked for.
        overwrite: replace an existing file.
        quiet: do not mention the file.

    Raises:
        InputError: one way failed; the other was still tried.
    """
    written: list[Path] = []

    def write() -> None:
        from fim_private.release.files import write_release

        if release is not None and output is not None:
            with held():
                written.append(write_release(release, output, overwrite=overwrite))
                run_ledger.deliver()

    def show() -> None:
        print_release(text(), written=bool(written))
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
    if len(failures) == 2 and all(isinstance(failure, InputError) for failure in failures):
        raise InputError(
            f"The release could neither be written to {output} nor printed.",
            "The release is lost, and its cost is spent.",
        )
    if failures:
        raise failures[0]
