"""Releases on disk. The file's ending names the format. A file is complete or it is not there.

JSON and Parquet carry the whole release, with plan and promise, and `read_release` reads it back. The other formats
carry the list alone (`read_itemsets`): programs that read CSV do not expect remarks above the table. Each format's
module says what it leaves out. What a format requires is checked before the release is made.
"""

from __future__ import annotations

import csv
import tempfile
from collections.abc import Callable
from pathlib import Path

from fim_private.errors import FimPrivateError, InputError, UsageError
from fim_private.plan import Plan
from fim_private.release.files import comma_separated, fimi, json_document, json_lines, parquet, spmf
from fim_private.release.files.derived import check_derived, refuse_ledger, write_derived
from fim_private.release.files.format import Format, Itemsets
from fim_private.release.release import Release, ReleasedItemset
from fim_private.transactions.files.source import PARQUET, load, opened
from fim_private.writing import check_place, write_whole

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
WHOLE = {json_document.FORMAT, parquet.FORMAT}
"""The formats that carry the whole release."""
READ_INSTEAD = "Give a .json or .parquet file that `fim-private mine -o` wrote."

__all__ = [
    "FORMATS",
    "SUFFIXES",
    "Format",
    "Itemsets",
    "check_carries",
    "check_derived",
    "check_writable",
    "read_itemsets",
    "read_release",
    "subsets_left_out",
    "write_derived",
    "write_release",
]


def check_writable(path: Path, *, overwrite: bool = True) -> None:
    """Check, before any budget is spent, that a release can be written there.

    Raises:
        UsageError: the ending names no format, the folder does not take files, or a file is there that may not be
            replaced.
    """
    _format_of(path)
    check_place(path, overwrite=overwrite)
    refuse_ledger(path)


def check_carries(path: Path, plan: Plan, *, seeded: bool) -> None:
    """Check, before any budget is spent, that the format can carry what the plan will release.

    A release of one itemset is written as a trial, so that missing or broken libraries show now.

    Raises:
        InputError: a library fails to write the format.
        UsageError: the format needs counts and the plan gives none, or it has no place for the mark of seeded runs.
    """
    kind = _format_of(path)
    if kind.needs_counts and not plan.gives_counts:
        raise UsageError(
            f"{kind.name} output has a count on each line, and this plan releases none.",
            f"Add --release-counts, or write one of: {_endings(lambda other: not other.needs_counts)}.",
        )
    if seeded and not kind.marks_seeded:
        raise UsageError(
            f"{kind.name} output has no place to say that a run was seeded and is not private.",
            f"Leave out the seed, or write one of: {_endings(lambda other: other.marks_seeded)}.",
        )
    if plan.question.with_subsets and kind not in WHOLE:
        raise UsageError(f"{kind.name} output has no place for the counts of subsets.", "Write .json or .parquet.")
    trial = Release(
        itemsets=(ReleasedItemset(rank=1, items=("item",), count=1),),
        mechanism="",
        privacy={},
        plan={},
        seeded=False,
        version="",
    )
    with tempfile.TemporaryDirectory() as folder:
        try:
            kind.write(trial, Path(folder, "trial"))
        except Exception as error:
            raise InputError(
                f"{kind.name} output cannot be written on this machine ({type(error).__name__}).",
                f"Update polars, or write {json_document.FORMAT.name}.",
            ) from None


def write_release(release: Release, path: str | Path, *, overwrite: bool = True) -> Path:
    """Write the release in the format that the ending names.

    Args:
        release: what to write.
        path: the file's name. A device or a FIFO is written in place.
        overwrite: replace a file of that name in one step. Otherwise take the next free name.

    Returns:
        where the file is.

    Raises:
        InputError: the file system refuses, or the library that writes the format fails (see its module).
        UsageError: the format needs counts that the release lacks, or it has no place for the mark of seeded runs.
    """
    path = Path(path)
    kind = _format_of(path)
    if kind.needs_counts and any(itemset.count is None for itemset in release.itemsets):
        raise UsageError(f"{kind.name} output has a count on each line, and this release has no counts.", "Write JSON.")
    if release.seeded and not kind.marks_seeded:
        raise UsageError(f"{kind.name} output has no place for the mark of seeded runs.", "Write JSON.")
    try:
        return write_whole(path, lambda part: kind.write(release, part), overwrite=overwrite)
    except FimPrivateError:
        raise
    except Exception as error:
        reason = getattr(error, "strerror", None) or type(error).__name__
        raise InputError(
            f"The release could not be written to {path}: {reason}.",
            "The printed output is the only copy, and its cost is spent: save it from there.",
        ) from None


def subsets_left_out(release: Release, path: Path) -> str | None:
    """What to say of counts of subsets for which the format has no place; None if it carries all."""
    kind = _format_of(path)
    if not release.subsets or kind in WHOLE:
        return None
    return f"{kind.name} output has no place for the counts of subsets: it leaves out {len(release.subsets):,}."


def read_release(source: str | Path) -> Release:
    """The whole release from JSON or Parquet, whatever the ending. "-" is standard input; gzip is unpacked.

    Raises:
        InputError: the file cannot be read, is not a release, or holds only the itemsets.
    """
    with opened(source) as reading:
        # A file of baskets, or a device, may be larger than the memory.
        if not reading.head.lstrip().startswith((b"{", PARQUET)):
            raise InputError(f"{reading.name} is not a release.", READ_INSTEAD)
        content = reading.content()
    if content.is_parquet:
        return parquet.read_release(content.data)
    try:
        return Release.from_json(content.data.decode())
    except UnicodeDecodeError:
        raise InputError(f"{content.name} is not a release.", READ_INSTEAD) from None


def read_itemsets(path: str | Path) -> Itemsets:
    """The itemsets of a file in any of the formats. The ending names the format; gzip is unpacked.

    Raises:
        UsageError: the ending names no format.
        InputError: the file cannot be read, or is not of its format. No message holds its text.
    """
    path = Path(path)
    kind = _format_of(path.with_suffix("") if path.suffix == ".gz" else path)
    # In formats without a header, an empty file is an empty list.
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
