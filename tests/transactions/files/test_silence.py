"""Nothing that a library prints while it reads is shown, and its files are left alone."""

from __future__ import annotations

import sys
from pathlib import Path

import polars as pl

from tests import processes

READ = """
from fim_private import read_transactions
print(len(read_transactions("lists.parquet", format="lists")))
"""


def test_a_program_without_standard_streams_reads_as_any_other(tmp_path: Path) -> None:
    """The numbers of streams that are closed belong to other files, such as the event queue of Polars."""
    (tmp_path / "read.py").write_text(READ)
    pl.DataFrame({"items": [["milk", "tea"], ["tea"]]}).write_parquet(tmp_path / "lists.parquet")
    for closed in ("2>&-", "<&- 2>&-"):
        done = processes.run(["sh", "-c", f'exec "$0" read.py {closed}', sys.executable], seconds=30, cwd=tmp_path)
        assert done.stdout == b"2\n", closed
