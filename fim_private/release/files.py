"""Releases on disk: JSON, CSV, Parquet, JSON Lines. A file is complete or it is not there."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path

import polars as pl

from fim_private.errors import InputError, UsageError
from fim_private.release.record import Release

SUFFIXES = (".json", ".jsonl", ".csv", ".parquet")


def check_writable(path: Path) -> None:
    """Find out before anything is spent whether a release could be written there.

    Raises:
        UsageError: the ending is not one that can be written, or the folder does not take files.
    """
    if path.suffix.lower() not in SUFFIXES:
        raise UsageError(
            "The output file's ending does not say what to write.", f"Choose one of: {', '.join(SUFFIXES)}."
        )
    folder = path.parent
    if not folder.is_dir() or not os.access(folder, os.W_OK) or path.is_dir():
        raise UsageError(
            f"No file can be written at {path}.",
            "Give a file name in a folder that exists and may be written to.",
        )


def write_release(release: Release, path: Path) -> None:
    """Write the release in the format that the ending names, replacing a file of that name in one step.

    Columns of the tables: rank, item_1 ... item_r in CSV (`items`, a list, elsewhere), count, count_low,
    count_high, support, lead, seeded.

    Raises:
        InputError: the file system refuses.
    """
    path = path.resolve()  # a link stays a link
    try:
        with tempfile.NamedTemporaryFile(dir=path.parent, prefix=f".{path.name}.", delete=False) as scratch:
            part = Path(scratch.name)
        try:
            _write(release, path.suffix.lower(), part)
            # Temporary files are readable by their owner alone; a release is for others to read.
            part.chmod(0o644)
            part.replace(path)
        finally:
            part.unlink(missing_ok=True)
    except (OSError, pl.exceptions.PolarsError) as error:
        reason = getattr(error, "strerror", None) or "the disk is full or refuses"
        raise InputError(
            f"The release could not be written to {path}: {reason}.",
            "What was printed is all there is, and its cost is spent: save it from there.",
        ) from None


def _write(release: Release, suffix: str, path: Path) -> None:
    frame = release.to_polars()
    match suffix:
        case ".json":
            path.write_text(release.to_json() + "\n", encoding="utf-8")
        case ".jsonl":
            frame.write_ndjson(path)
        case ".parquet":
            frame.write_parquet(path, metadata={"fim_private": release.to_json()})
        case _:
            size = max(release.plan.get("sizes") or [release.plan["size"]])
            # A smaller itemset leaves the last columns blank.
            items = [
                pl.col("items").list.get(place, null_on_oob=True).alias(f"item_{place + 1}") for place in range(size)
            ]
            frame.select("rank", *items, *frame.columns[2:]).write_csv(path)
