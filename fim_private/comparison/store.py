"""The folder of a comparison: finished cells survive an interruption, and only one process writes at a time.

`cells.jsonl` gets one line per finished cell, and each line is flushed to the disk. If a crash cuts a line short, its
cell is run again; if it cuts the first line, nothing was finished, and the file is begun anew. A whole line that no
comparison writes is refused. When all cells are finished, `results.parquet` replaces the lines: a table with one row
per trial.
"""

from __future__ import annotations

import fcntl
import json
import math
import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import asdict, fields
from pathlib import Path
from typing import Any

import polars as pl

from fim_private.comparison.measures import TrialMeasures
from fim_private.comparison.settings import Cell
from fim_private.comparison.trials import Row
from fim_private.errors import InputError, UsageError
from fim_private.mechanisms.registry import COMPARATORS, REGISTRY
from fim_private.writing import for_owner, write_whole

Key = tuple[Any, ...]

SCHEMA = {
    "data": pl.String,
    "mechanism": pl.String,
    "size": pl.Int64,
    "top": pl.Int64,
    "epsilon": pl.String,
    "universe_items": pl.Int64,
    "padded": pl.Boolean,
    "ran": pl.String,
    "trial": pl.Int64,
    "named": pl.Int64,
    "precision": pl.Float64,
    "precision_named": pl.Float64,
    "false_negative_rate": pl.Float64,
    "rank_loss": pl.Float64,
    "count_loss": pl.Float64,
    "empty": pl.Boolean,
    "shortfall": pl.Int64,
    "count_error": pl.Float64,
    "seconds": pl.Float64,
}
assert {field.name for field in fields(TrialMeasures)} <= SCHEMA.keys()  # noqa: S101 - the schema must hold every measure

KINDS: dict[Any, Any] = {pl.String: str, pl.Int64: int, pl.Boolean: bool, pl.Float64: float}
"""The class of each type's values."""
UNKNOWN = {"universe_items", "precision_named", "shortfall", "count_error"}
"""What may be None."""
SHARES = {"precision", "precision_named", "false_negative_rate", "rank_loss", "count_loss"}
"""What lies between 0 and 1."""

_KEYS = ("data", *Cell.__dataclass_fields__)
"""The columns that say which cell a row is of."""

RESULTS, LINES = "results.parquet", "cells.jsonl"
_LONGEST = 2**20
"""No first line that a comparison writes is as long."""


def key_of(data: str, cell: Cell) -> Key:
    """The key that identifies a cell in the table."""
    return (data, *asdict(cell).values())


class Store:
    """The finished cells of one folder.

    Args:
        folder: created if it does not exist.
        fingerprint: what finished cells depend on. A folder with cells of another comparison is refused.
        owner_only: make the files readable by their owner only.
    """

    def __init__(self, folder: Path, fingerprint: dict[str, Any], *, owner_only: bool = False) -> None:
        self._folder = folder
        self._fingerprint = fingerprint
        self._owner_only = owner_only
        self._rows: dict[Key, list[Row]] = {}
        with self._used():
            folder.mkdir(parents=True, exist_ok=True)
            self._load()

    @contextmanager
    def _used(self) -> Iterator[None]:
        """Blame the folder for what its file system refuses."""
        try:
            yield
        except OSError as error:
            raise InputError(
                f"The folder {self._folder} cannot be used: {error.strerror}.",
                "Make room there, or give another with --output. Finished runs are kept.",
            ) from None

    @contextmanager
    def locked(self) -> Iterator[None]:
        """Lock the folder against other processes. The lock ends with the process, even if it is killed.

        Raises:
            UsageError: another process is writing to the folder.
        """
        # Not through a link, and nothing that was there is cut: somebody else may have made the folder.
        with os.fdopen(os.open(self._folder / ".lock", os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW, 0o600), "r+") as lock:
            if not self._taken(lock.fileno()):
                raise UsageError(
                    f"Another comparison is writing to {self._folder}.", "Wait for it, or give another --output."
                )
            try:
                yield
            finally:
                (self._folder / ".lock").unlink(missing_ok=True)

    def _taken(self, lock: int) -> bool:
        """Whether the open file is locked now, and is still the one by its name.

        A comparison that ended meanwhile has removed the file. The next one makes and locks a new file.
        """
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            return os.path.samestat(os.fstat(lock), (self._folder / ".lock").lstat())
        except OSError:
            return False

    @staticmethod
    def seed_of(folder: Path) -> int | None:
        """The seed of the comparison that a folder holds, so that the comparison can go on with the same seed.

        None if the folder holds no comparison.
        """
        found = None
        with suppress(OSError, pl.exceptions.PolarsError, ValueError, RecursionError):
            if (folder / RESULTS).exists():
                found = json.loads(pl.read_parquet_metadata(folder / RESULTS)["fim_private"])
            else:
                found = _parsed(_first_line(folder))
        seed = found.get("seed") if isinstance(found, dict) and "trials" in found else None
        return seed if isinstance(seed, int) else None

    @staticmethod
    def cut_at_once(folder: Path) -> bool:
        """Whether a comparison was killed, or its disk was full, before its first line was written."""
        with suppress(OSError):
            line = _first_line(folder)
            whole = line.endswith("\n") or len(line) == _LONGEST
            return not line or (line.startswith("{") and not whole and _parsed(line) is None)
        return False

    @property
    def finished(self) -> frozenset[Key]:
        """The cells that do not have to be run again."""
        return frozenset(self._rows)

    def add(self, rows: list[Row]) -> None:
        """Keep a finished cell. It is on the disk when this returns.

        Raises:
            InputError: the disk refuses.
        """
        opener = for_owner if self._owner_only else None
        mode = "w" if self.cut_at_once(self._folder) else "a"
        # Path's own `open` takes no opener.
        with self._used(), open(self._folder / LINES, mode, encoding="utf-8", opener=opener) as file:
            # The line break comes first, so that a line cut short by a killed process does not spoil this one.
            file.write(json.dumps(self._fingerprint) if file.tell() == 0 else "")
            file.write("\n" + json.dumps(rows, separators=(",", ":")))
            file.flush()
            os.fsync(file.fileno())
        self._keep(rows)

    def table(self, keys: list[Key]) -> pl.DataFrame:
        """The rows of these cells, in this order."""
        return pl.DataFrame([row for key in keys for row in self._rows[key]], schema=SCHEMA, infer_schema_length=None)

    def finish(self, keys: list[Key]) -> pl.DataFrame:
        """Write the table of these cells in one step, in this order, and delete the lines.

        A table that is already there is left as it is, so that a report can be rendered again from it.
        """
        table = self.table(keys)
        if not (self._folder / LINES).exists() and self._is_there(table):
            return table
        metadata = {"fim_private": json.dumps(self._fingerprint)}
        with self._used():
            write_whole(
                self._folder / RESULTS,
                lambda part: table.write_parquet(part, metadata=metadata),
                owner_only=self._owner_only,
            )
            (self._folder / LINES).unlink(missing_ok=True)
        return table

    def _is_there(self, table: pl.DataFrame) -> bool:
        with suppress(OSError, pl.exceptions.PolarsError):
            return pl.read_parquet(self._folder / RESULTS).equals(table)
        return False

    def _keep(self, rows: list[Row]) -> None:
        self._rows[tuple(rows[0][name] for name in _KEYS)] = rows

    def _load(self) -> None:
        results, lines = self._folder / RESULTS, self._folder / LINES
        if results.exists():
            with suppress(pl.exceptions.PolarsError, ValueError, RecursionError):
                self._check(json.loads(pl.read_parquet_metadata(results).get("fim_private", "null")))
                # Earlier versions did not measure all that this one does.
                known = pl.concat([pl.DataFrame(schema=SCHEMA), pl.read_parquet(results)], how="diagonal")
                for part in known.partition_by(_KEYS, maintain_order=True):
                    self._keep(part.to_dicts())
        if lines.exists() and not self.cut_at_once(self._folder):
            # A damaged byte is one more damage of its line.
            head, *rest = lines.read_text(encoding="utf-8", errors="replace").split("\n")
            self._check(_parsed(head))
            for number, line in enumerate(rest, start=2):
                if (rows := _parsed(line)) is None:
                    continue
                if not _is_cell(rows, self._fingerprint["trials"]):
                    raise InputError(
                        f"Line {number} of {lines} is not what a comparison writes there: it was damaged or changed.",
                        "Remove this line, and its runs are made again; or give another --output.",
                    )
                self._keep(rows)

    def _check(self, found: Any) -> None:
        with suppress(RecursionError):
            if _without_unset(found) == _without_unset(self._fingerprint):
                return
        raise UsageError(
            f"{self._folder} holds a comparison with other data, options for reading it, trials, delta, universe, "
            "seed or program version.",
            "Give another --output, or remove that folder to begin anew.",
        )


def _first_line(folder: Path) -> str:
    with (folder / LINES).open(encoding="utf-8", errors="replace") as file:
        return file.readline(_LONGEST)


def _without_unset(fingerprint: Any) -> Any:
    """The fingerprint without what is not set. Earlier versions did not have all options that this one has."""
    if not isinstance(fingerprint, dict):
        return fingerprint
    return {name: _without_unset(value) for name, value in fingerprint.items() if value is not None}


def _parsed(line: str) -> Any:
    """The parsed line, or None if the line was cut short."""
    try:
        return json.loads(line)
    except (ValueError, RecursionError):
        return None


def _is_cell(rows: Any, trials: int) -> bool:
    """Whether these are rows that one cell can have: of every trial, in order, with figures that agree."""
    return (
        isinstance(rows, list)
        and all(_is_row(row, trial) for trial, row in enumerate(rows))
        and len(rows) == trials
        and len({tuple(row[name] for name in ("ran", *_KEYS)) for row in rows}) == 1
    )


def _is_row(row: Any, trial: int) -> bool:
    if not isinstance(row, dict) or row.keys() != SCHEMA.keys():
        return False
    for name, value in row.items():
        if value is None and name in UNKNOWN:
            continue
        if type(value) is not KINDS[SCHEMA[name]]:
            return False
        # Rounding may leave a loss just below 0. No comparison is true of NaN.
        if not isinstance(value, str) and not -1e-9 < value < (1 + 1e-9 if name in SHARES else 2**63):
            return False
    named, top = row["named"], row["top"]
    hits = round(row["precision"] * top)
    return (
        row["ran"] in REGISTRY | COMPARATORS
        and row["trial"] == trial
        and named <= top
        and row["empty"] == (named == 0)
        and row["precision_named"] == (hits / named if named else None)
        and math.isclose(hits, row["precision"] * top)
    )
