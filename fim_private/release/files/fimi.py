"""FIMI output, as the programs of the FIMI workshops write it: items separated by blanks, then the count in brackets.

    milk bread (1234)

It holds items and counts in the order of the ranks, and nothing else. Blanks, control characters and percent signs in
names are written as in web addresses (`%20`), so that a name stays one word. A single percent sign is an empty name.
"""

from __future__ import annotations

import re
from pathlib import Path
from urllib.parse import quote, unquote

from fim_private.release.files.format import Format, Itemsets
from fim_private.release.release import Release, ReleasedItemset

LINE = re.compile(r"(?P<items>.*\S) +\((?P<count>-?[0-9]{1,18})\) *")
EMPTY = "%"


def _write(release: Release, path: Path) -> None:
    lines = [f"{' '.join(map(_word, itemset.items))} ({itemset.count})\n" for itemset in release.itemsets]
    path.write_text("".join(lines), encoding="utf-8", newline="\n")


def _read(data: bytes) -> Itemsets:
    itemsets: list[ReleasedItemset] = []
    for line in data.decode().split("\n"):
        if line.strip():
            match = LINE.fullmatch(line.removesuffix("\r"))
            if match is None:
                raise ValueError("a line does not end in a count in brackets")
            names = tuple(_name(word) for word in match["items"].split(" ") if word)
            itemsets.append(ReleasedItemset(rank=len(itemsets) + 1, items=names, count=int(match["count"])))
    return Itemsets(itemsets=tuple(itemsets))


def _word(name: str) -> str:
    return "".join(_escaped(letter) for letter in name) or EMPTY


def _escaped(letter: str) -> str:
    plain = letter.isprintable() and not letter.isspace() and letter != "%"
    return letter if plain else quote(letter, safe="")


def _name(word: str) -> str:
    return "" if word == EMPTY else unquote(word, errors="strict")


FORMAT = Format(name="FIMI", ending=".fimi", write=_write, read=_read, needs_counts=True, marks_seeded=False)
