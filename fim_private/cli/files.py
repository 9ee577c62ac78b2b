"""Checks on the files that a command names: none is read twice, and no output replaces what the command needs."""

from __future__ import annotations

import os
from pathlib import Path

from fim_private.errors import UsageError


def check_output(output: Path | None, *others: str | Path | None, overwrite: bool) -> None:
    """Check, before anything is spent, that a release can be written there and replaces none of the other files."""
    from fim_private.release.files import check_writable

    if output is not None:
        keep_apart(output, *others)
        check_writable(output, overwrite=overwrite)


def standard_input_once(*files: str | Path | None) -> None:
    """Refuse inputs that are one: two from standard input, or the data as the list of items, whose lines are published.

    Raises:
        UsageError: two of them are one.
    """
    # `os.path` makes no error of names that are too long.
    there = [str(file) for file in files if file is not None and os.path.isfile(file)]  # noqa: PTH113
    if any(os.path.samefile(there[0], other) for other in there[1:]):  # noqa: PTH121
        raise UsageError(
            "The data and the list of items are one file.",
            "Give a public list of items, one per line. Its lines are published as they are.",
        )
    if sum(str(file) == "-" for file in files) > 1:
        raise UsageError("Standard input cannot be read as two files.", "Give one of them by name.")


def keep_apart(output: Path | None, *others: str | Path | None) -> None:
    """Refuse to write over a file that the same command reads, writes or uses as a ledger. Links are followed.

    Raises:
        UsageError: the output is one of these files.
    """
    for other in others:
        if output is None or other is None or str(other) == "-":
            continue
        # Compare the files on the disk; if one does not exist yet, compare the paths.
        both_exist = os.path.exists(output) and os.path.exists(other)  # noqa: PTH110 - no error for names too long
        if output.samefile(other) if both_exist else os.path.realpath(output) == os.path.realpath(other):
            raise UsageError(
                f"{output} is named twice: writing the output would replace a file that this command needs.",
                "Give the output another name.",
            )
