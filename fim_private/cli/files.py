"""The files that a command names: none is read twice, or written over what the command needs."""

from __future__ import annotations

import os
from pathlib import Path

from fim_private.errors import UsageError


def check_output(output: Path | None, *others: str | Path | None, overwrite: bool) -> None:
    """Find out before anything is spent whether a release can be written there, over none of the other files."""
    from fim_private.release.files import check_writable

    if output is not None:
        keep_apart(output, *others)
        check_writable(output, overwrite=overwrite)


def standard_input_once(*files: str | Path | None) -> None:
    """Refuse two files from one standard input.

    Raises:
        UsageError: there are two.
    """
    if sum(str(file) == "-" for file in files) > 1:
        raise UsageError("Two files are to come from standard input.", "Give one of them by name.")


def keep_apart(output: Path | None, *others: str | Path | None) -> None:
    """Refuse to write over a file that the same command reads, writes, or keeps books in; links are followed.

    Raises:
        UsageError: it would.
    """
    for other in others:
        if output is None or other is None or str(other) == "-":
            continue
        # As they are on the disk, or, where one is not yet there, as they would be.
        both_exist = os.path.exists(output) and os.path.exists(other)  # noqa: PTH110 - no error for names too long
        if output.samefile(other) if both_exist else os.path.realpath(output) == os.path.realpath(other):
            raise UsageError(
                f"{output} is named twice: writing to it would replace what this command needs there.",
                "Give the output another name.",
            )
