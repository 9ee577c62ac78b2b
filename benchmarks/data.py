"""The data sets as files that every reader reads alike, in a folder outside version control."""

from __future__ import annotations

import gzip
from pathlib import Path

from benchmarks.peers.reading import separator_of

CACHE = Path(__file__).parent.parent / ".bench"

SOURCES = {name: f"{name}.dat.gz" for name in ("retail", "T10I4D100K", "bms-webview-2", "kosarak-head", "mushroom")} | {
    name: f"{name}.csv.gz" for name in ("groceries", "online-retail-sales-baskets")
}
"""Files in the folder of data."""

GENERATED = {
    "generated-10k": 10_000,
    "generated-100k": 100_000,
    "generated-1M": 1_000_000,
    "generated-10M": 10_000_000,
    "generated-100M": 100_000_000,
}
"""Baskets in each."""


def prepare(name: str, folder: Path, cache: Path = CACHE) -> Path:
    """The file of a data set, made if it is not there yet.

    Args:
        name: of the data set.
        folder: where the sources are.
        cache: where the files go.

    Errors:
        FileNotFoundError: the source is not in the folder.
    """
    cache.mkdir(parents=True, exist_ok=True)
    if name in GENERATED:
        path = cache / f"{name}.dat"
        if not path.exists():
            from benchmarks.generate import generate  # noqa: PLC0415 - numba, for those only who need it

            generate(path, GENERATED[name])
        return path
    source = folder / SOURCES[name]
    path = cache / source.name.removesuffix(".gz")
    if not path.exists() or path.stat().st_mtime < source.stat().st_mtime:
        part = path.with_name(path.name + ".part")
        with gzip.open(source, "rt", encoding="utf-8") as lines, part.open("w", encoding="utf-8", newline="\n") as file:
            file.writelines(_plain(line, separator_of(path)) for line in lines)
        part.replace(path)
    return path


def _plain(line: str, separator: str) -> str:
    """The line with every item once and nothing else; nothing if there is none."""
    items = dict.fromkeys(item.strip() for item in line.split(separator) if item.strip())
    return separator.join(items) + "\n" if items else ""


def count_lines(path: Path) -> int:
    """The number of transactions of a prepared file."""
    with path.open("rb") as file:
        return sum(block.count(b"\n") for block in iter(lambda: file.read(1 << 24), b""))
