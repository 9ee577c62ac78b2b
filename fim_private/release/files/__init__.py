"""Releases on disk, in the format that the ending names. A file is complete or it is not there.

JSON and Parquet carry the whole release, with plan and promise, and are read back as one (`read_release`). The others
carry the list alone (`read_itemsets`): a CSV with remarks above it, or a second file beside it, would trip up what
reads CSV. What a format has no place for is said in its module; what it cannot do without is asked for beforehand.
"""

from __future__ import annotations

import csv
import os
from collections.abc import Callable
from pathlib import Path

from fim_private.errors import InputError, UsageError
from fim_private.plan import Plan
from fim_private.release.files import comma_separated, fimi, json_document, json_lines, parquet, spmf
from fim_private.release.files.format import Format, Itemsets
from fim_private.release.files.whole import write_whole
from fim_private.release.record import Release
from fim_private.transactions.source import load

FORMATS = {
    row.ending: row
    for row in (
        json_document.FORMAT,
        json_lines.FORMAT,
        comma_separated.FORMAT,
        parquet.FORMAT,
        spmf.FORMAT,
        fimi.FORMAT,
    )
}
SUFFIXES = tuple(FORMATS)
READ_INSTEAD = "Give a .json or .parquet file that `fim-private mine -o` wrote."

__all__ = [
    "FORMATS",
    "SUFFIXES",
    "Format",
    "Itemsets",
    "check_carries",
    "check_folder",
    "check_writable",
    "read_itemsets",
    "read_release",
    "write_release",
    "write_whole",
]


def check_writable(path: Path) -> None:
    """Find out before anything is spent whether a release could be written there.

    Raises:
        UsageError: the ending is not one that can be written, or the folder does not take files.
    """
    _format_of(path)
    check_folder(path)


def check_folder(path: Path) -> None:
    """Find out whether a file of this name could be written.

    Raises:
        UsageError: the folder does not take files, or the name is a folder's.
    """
    folder = path.parent
    # Path's own would raise where a name is too long.
    if not os.path.isdir(folder) or not os.access(folder, os.W_OK) or os.path.isdir(path):  # noqa: PTH112
        raise UsageError(
            f"No file can be written at {path}.",
            "Give a file name in a folder that exists and may be written to.",
        )


def check_carries(path: Path, plan: Plan, *, seeded: bool) -> None:
    """Find out before anything is spent whether the format can carry what the plan will release.

    Raises:
        UsageError: the format needs counts and the plan gives none, or it has no place for the mark of seeded runs.
    """
    kind = _format_of(path)
    if kind.needs_counts and not plan.gives_counts:
        raise UsageError(
            f"{kind.name} output has a count on each line, and this plan releases none.",
            f"Ask for counts, or write one of: {_endings(lambda other: not other.needs_counts)}.",
        )
    if seeded and not kind.marks_seeded:
        raise UsageError(
            f"{kind.name} output has no place to say that a run was seeded and is not private.",
            f"Leave out the seed, or write one of: {_endings(lambda other: other.marks_seeded)}.",
        )


def write_release(release: Release, path: Path) -> None:
    """Write the release in the format that the ending names, replacing a file of that name in one step.

    Raises:
        InputError: the file system refuses, or the format cannot carry this release (see its module).
    """
    kind = _format_of(path)
    if kind.needs_counts and any(itemset.count is None for itemset in release.itemsets):
        raise InputError(f"{kind.name} output has a count on each line, and this release has not.", "Write JSON.")
    if release.seeded and not kind.marks_seeded:
        raise InputError(f"{kind.name} output has no place for the mark of seeded runs.", "Write JSON.")
    try:
        write_whole(path, lambda part: kind.write(release, part))
    except OSError as error:
        raise InputError(
            f"The release could not be written to {path}: {error.strerror}.",
            "What was printed is all there is, and its cost is spent: save it from there.",
        ) from None


def read_release(source: str | Path) -> Release:
    """The whole release from JSON or Parquet, whatever the ending; "-" is standard input, gzip is undone.

    Raises:
        InputError: it cannot be read, or is no release, or only its itemsets.
    """
    content = load(source)
    if content.is_parquet:
        return parquet.read_release(content.data)
    try:
        return Release.from_json(content.data.decode())
    except UnicodeDecodeError:
        raise InputError(f"{content.name} is not a release.", READ_INSTEAD) from None


def read_itemsets(path: str | Path) -> Itemsets:
    """The itemsets of a file in any of the formats, told by its ending; gzip is undone.

    Raises:
        UsageError: the ending names no format.
        InputError: the file cannot be read, or is not of its format. No message holds its text.
    """
    path = Path(path)
    kind = _format_of(path.with_suffix("") if path.suffix == ".gz" else path)
    # Where there is nothing to stand above a list, an empty file is an empty list.
    data = b"" if path.is_file() and not path.stat().st_size else load(path).data
    try:
        return kind.read(data)
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError, csv.Error):
        raise InputError(
            f"{path} does not hold itemsets as {kind.name}.", "Check the file, or give it the ending of its format."
        ) from None


def _format_of(path: Path) -> Format:
    kind = FORMATS.get(path.suffix.lower())
    if kind is None:
        raise UsageError("The file's ending does not name a format.", f"Choose one of: {', '.join(SUFFIXES)}.")
    return kind


def _endings(wanted: Callable[[Format], bool]) -> str:
    return ", ".join(ending for ending, kind in FORMATS.items() if wanted(kind))
