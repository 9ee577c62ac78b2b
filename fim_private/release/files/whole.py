"""Files that are complete or not there."""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from pathlib import Path

import polars as pl


def write_whole(path: Path, write: Callable[[Path], object]) -> None:
    """Have a file written under another name, and give it its own in one step, replacing what was there.

    Args:
        path: the file; a link stays a link.
        write: given the path to write to.

    Raises:
        OSError: the file system refuses; nothing is left behind.
    """
    path = path.resolve()
    with tempfile.NamedTemporaryFile(dir=path.parent, prefix=f".{path.name}.", delete=False) as scratch:
        part = Path(scratch.name)
    try:
        write(part)
        # Temporary files are readable by their owner alone; what is published is for others to read.
        part.chmod(0o644)
        part.replace(path)
    except pl.exceptions.PolarsError:
        raise OSError(0, "the disk is full or refuses") from None
    finally:
        part.unlink(missing_ok=True)
