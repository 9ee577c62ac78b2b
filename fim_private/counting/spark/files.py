"""The files of a source, as Spark finds them, and what has to be the same in all of them.

Left to itself, Spark takes the columns of one Parquet file for those of all, makes columns of folders named NAME=VALUE,
leaves out files of other folders, and, if the session says so, files that it cannot read.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from urllib.parse import unquote

from pyspark.sql import DataFrame

from fim_private.counting.spark.session import Cluster, plain_failures
from fim_private.errors import FimPrivateError, InputError, UsageError

ALL_OR_NOTHING = {"ignoreCorruptFiles": False, "ignoreMissingFiles": False, "mergeSchema": False}
"""Options for every reading, whatever the session says: it gives all files, or fails."""

AT_ONCE = 8
"""How many Parquet files are asked for their columns at the same time."""


def files_of(cluster: Cluster, sources: Sequence[str]) -> list[str]:
    """The paths of all files of all sources, in name order; Spark takes each back as a source of its own.

    Raises:
        InputError: there is no such file, or none at all.
        UsageError: there are folders inside a source, or two sources have the same file.
    """
    found = [file for source in sources for file in _files_of_one(cluster, source)]
    if len(set(found)) < len(found):
        raise UsageError(
            "A file is named twice: each of its baskets would count twice, and be protected half as well.",
            "Name each file once.",
        )
    return found


def _files_of_one(cluster: Cluster, source: str) -> list[str]:
    with plain_failures():
        every = _text(cluster, [source], deep=True).inputFiles()
    try:
        with plain_failures():
            found = _text(cluster, [source])
            flat = found.columns == ["value"] and sorted(found.inputFiles()) == sorted(every)
    except FimPrivateError:  # some folders are named NAME=VALUE, and others are not
        flat = False
    if not flat:
        raise UsageError(
            f"{source} has folders inside, and Spark would make columns of them or leave their files out.",
            "Name the folders that hold the files, for example FOLDER/*/*.",
        )
    if not every:
        raise InputError(f"{source} is empty.", "Check that the right file was given and that it was written in full.")
    return [_as_source(file) for file in sorted(every)]


def text_lines(cluster: Cluster, sources: Sequence[str]) -> DataFrame:
    """The lines of all files, with Spark's column `_metadata`.

    Raises:
        InputError: Spark finds no file there.
    """
    with plain_failures():
        return _text(cluster, sources)


def parquet_rows(cluster: Cluster, sources: Sequence[str], files: Sequence[str]) -> DataFrame:
    """The rows of all files, which must have the same columns: names, in their case, and types. The order is free.

    Raises:
        InputError: a file is no Parquet file, or the files do not have the same columns.

    Cost: Spark reads the end of every file, one small task per file.
    """

    def columns(file: str) -> dict[str, str]:
        with plain_failures():
            return {field.name: field.dataType.simpleString() for field in read.parquet(file).schema}

    read = cluster.session.read.options(**ALL_OR_NOTHING)
    try:
        with plain_failures():
            rows = read.parquet(*sources)
        with ThreadPoolExecutor(AT_ONCE) as pool:
            first, *others = pool.map(columns, files)
    except FimPrivateError:
        raise InputError(
            f"{', '.join(sources)} starts as a Parquet file, and Spark cannot read it as one.",
            "Write it again with distinct column names, or save the table as CSV.",
        ) from None
    if any(other != first for other in others):
        raise InputError(
            "The files do not have the same columns: names, their case or types differ.",
            "Write the files again with the same columns, or give those that agree.",
        )
    return rows


def _text(cluster: Cluster, sources: Sequence[str], *, deep: bool = False) -> DataFrame:
    return cluster.session.read.options(**ALL_OR_NOTHING).text(list(sources), recursiveFileLookup=deep)


def _as_source(file: str) -> str:
    """The path of a file that Spark tells as a URI, as Spark reads paths: unchanged, except for the marks of globs."""
    return re.sub(r"([\\*?\[\]{}])", r"\\\1", unquote(file))
