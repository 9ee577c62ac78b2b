"""JSON: the whole release, as `Release.to_json` gives it."""

from __future__ import annotations

from pathlib import Path

from fim_private.errors import InputError
from fim_private.release.files.format import Format, Itemsets
from fim_private.release.release import Release


def _write(release: Release, path: Path) -> None:
    path.write_text(release.to_json() + "\n", encoding="utf-8", newline="\n")


def _read(data: bytes) -> Itemsets:
    try:
        release = Release.from_json(data.decode())
    except InputError as error:
        raise ValueError(error.what) from None
    return Itemsets(itemsets=release.itemsets, seeded=release.seeded)


FORMAT = Format(name="JSON", ending=".json", write=_write, read=_read)
