"""JSON Lines: one object per itemset with rank, items, all its numbers, and seeded."""

from __future__ import annotations

import json
from pathlib import Path

from fim_private.release.files.format import Format, Itemsets, itemsets_of
from fim_private.release.release import Release, each_once


def _write(release: Release, path: Path) -> None:
    release.to_polars().write_ndjson(path)


def _read(data: bytes) -> Itemsets:
    rows = [json.loads(line, object_pairs_hook=each_once) for line in data.decode().split("\n") if line.strip()]
    json.dumps(rows, ensure_ascii=False).encode()  # half letters, which JSON can name, are no text
    return itemsets_of(rows)


FORMAT = Format(name="JSON Lines", ending=".jsonl", write=_write, read=_read)
