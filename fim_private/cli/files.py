"""Checks on the files that a command names: none is read twice, and no output replaces what the command needs."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path, PurePath

from fim_private.errors import InputError, UsageError


def check_output(output: Path | None, *others: str | Path | None, overwrite: bool) -> None:
    """Check, before anything is spent, that a release can be written there and replaces none of the other files."""
    if output is not None:
        from fim_private.release.files import check_writable

        keep_apart(output, *others)
        check_writable(output, overwrite=overwrite)


def check_page(page: Path | None, *others: str | Path | None, overwrite: bool) -> None:
    """Check that a page, or another file that can be made again, can be written and replaces none of the other files.

    Raises:
        UsageError: it cannot.
    """
    if page is not None:
        from fim_private.release.files import check_derived

        keep_apart(page, *others)
        check_derived(page, overwrite=overwrite)


def check_folder(folder: Path, *, names: Sequence[str], ours: bool = False, overwrite: bool) -> None:
    """Refuse to write a report among other files. Files whose names begin with a dot do not count.

    Args:
        folder: the report's folder; it need not exist.
        names: the files that will be written or replaced there.
        ours: whether the folder holds an earlier report.
        overwrite: write the report all the same.

    Raises:
        UsageError: the folder holds other files or is called as a page, or a release or a ledger has one of the names.
        InputError: a file is in its place.
    """
    from fim_private.release.files import check_derived

    refuse_page_as_folder(folder)
    for path in (folder / name for name in names):
        if os.path.exists(path):  # noqa: PTH110 - no error for names too long
            check_derived(path)
    try:
        filled = any(not name.startswith(".") for name in os.listdir(folder))  # noqa: PTH208 - a folder or nothing
    except NotADirectoryError:
        raise InputError(
            f"The folder {folder} cannot be made: a file is in its place.", "Give another folder with --output."
        ) from None
    except OSError:
        return  # it is made, or refused, where it is written
    if filled and not (ours or overwrite):
        raise UsageError(
            f"The folder {folder} holds other files, which a report could replace.",
            "Give another folder, or add --overwrite to write the report there.",
        )


def refuse_page_as_folder(folder: Path) -> None:
    """Refuse a new folder that is called as a page is.

    Raises:
        UsageError: it is.
    """
    if folder.suffix.lower() in {".html", ".htm", ".md"} and not os.path.isdir(folder):  # noqa: PTH112 - as above
        raise UsageError(f"--output names a folder here, and {folder} looks like a file.", "Leave its ending out.")


def keep_inputs_apart(files: Sequence[str], items: str | None) -> None:
    """Refuse data and a list of items from one place. The lines of the list are published as they are.

    Raises:
        UsageError: both come from standard input, or from one file.
    """
    if items is None:
        return
    if items == "-" and "-" in files:
        raise UsageError("Standard input cannot be read as two files.", "Give one of them by name.")
    if any(_are_one(file, items) or _is_among(Path(items), file) for file in files):
        raise UsageError(
            "The data and the list of items are one file.",
            "Give a public list of items, one per line. Its lines are published as they are.",
        )


def keep_apart(output: Path | None, *others: str | Path | None) -> None:
    """Refuse to write over a file that the same command reads, writes or uses as a ledger. Links are followed.

    Raises:
        UsageError: the output is one of these files, or in a folder or glob of data.
    """
    for other in others:
        if output is None or other is None:
            continue
        if _are_one(output, other):
            raise UsageError(
                f"{output} is named twice: writing the output would replace a file that this command needs.",
                "Give the output another name.",
            )
        if _is_among(output, other):
            raise UsageError(
                f"{output} is among the data: it would replace a part of them, or be read as one next time.",
                "Write the output to another folder.",
            )


def _are_one(one: str | Path, other: str | Path) -> bool:
    """Whether two names stand for one file. If one does not exist yet, compare the paths."""
    if "-" in {str(one), str(other)}:
        return False
    both_exist = os.path.exists(one) and os.path.exists(other)  # noqa: PTH110 - no error for names too long
    return Path(one).samefile(other) if both_exist else os.path.realpath(one) == os.path.realpath(other)


def _is_among(output: Path, source: str | Path) -> bool:
    """Whether a source of several files, which Spark reads, has this file or would have it."""
    place, files = PurePath(os.path.realpath(output)), os.path.realpath(source)
    if os.path.isdir(source):  # noqa: PTH112 - no error for names too long
        return str(place.parent) == files
    is_glob = not os.path.exists(source) and any(mark in str(source) for mark in "*?[")  # noqa: PTH110 - as above
    # A glob may also match the folder.
    return is_glob and (place.match(files) or place.parent.match(files))
