from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

PROGRAM = """
from fim_private.counting import count_itemsets
from fim_private.transactions import transactions_from_lists
print(len(count_itemsets(transactions_from_lists([["a", "b", "c"]] * 3), 2)))
"""


def test_counting_works_where_no_cache_can_be_written(tmp_path: Path) -> None:
    """The cache's folder is a file, so that even root cannot write into it."""
    blocked = tmp_path / "file"
    blocked.write_text("")
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM],
        env={**os.environ, "NUMBA_CACHE_DIR": str(blocked / "cache")},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.strip() == "3"
