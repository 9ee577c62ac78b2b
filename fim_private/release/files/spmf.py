r"""SPMF output: item numbers separated by blanks, then the count. Lines above give the names of the numbers.

    @CONVERTED_FROM_TEXT
    @ITEM=1=bread
    @ITEM=2=milk
    1 2 #SUP: 1234

The library SPMF (Fournier-Viger and others) writes itemsets in this form. Its databases name items by such lines, and
its converter of results looks for names there. Its readers skip lines that begin with `#`, `%` or `@`. Items are
numbered in item order, which SPMF expects inside a line. The file holds items and counts in the order of the ranks, and
nothing else. If a name holds a line break, line breaks are written as `\n` and `\r`, backslashes are doubled, and a
line above says so.
"""

from __future__ import annotations

import re
from pathlib import Path

from fim_private.release.files.format import Format, Itemsets
from fim_private.release.release import SEEDED_NOTE, Release, ReleasedItemset
from fim_private.transactions.item_codes import name_order

HEAD = "@CONVERTED_FROM_TEXT"
NAME = "@ITEM="
SEEDED = f"# {SEEDED_NOTE}"
ESCAPED = r"# In names \n and \r stand for line breaks, and \\ for a backslash."
ESCAPES = {"\\": r"\\", "\n": r"\n", "\r": r"\r"}
LETTERS = {escape: letter for letter, escape in ESCAPES.items()}
COUNT = re.compile(r" *(-?[0-9]{1,18})( .*)?")


def _write(release: Release, path: Path) -> None:
    names = sorted({item for itemset in release.itemsets for item in itemset.items}, key=name_order)
    number = {name: place for place, name in enumerate(names, start=1)}
    head = [HEAD, *([SEEDED] if release.seeded else [])]
    if any("\n" in name or "\r" in name for name in names):
        head.append(ESCAPED)
        names = ["".join(ESCAPES.get(letter, letter) for letter in name) for name in names]
    lines = [
        *head,
        *(f"{NAME}{place}={name}" for place, name in enumerate(names, start=1)),
        *(
            f"{' '.join(str(number[item]) for item in itemset.items)} #SUP: {itemset.count}"
            for itemset in release.itemsets
        ),
    ]
    path.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8", newline="\n")


def _read(data: bytes) -> Itemsets:
    names: dict[str, str] = {}
    itemsets: list[ReleasedItemset] = []
    seeded = escaped = False
    for line in data.decode().split("\n"):
        if line.startswith(NAME):
            number, _, name = line.removeprefix(NAME).partition("=")
            names[number] = re.sub(r"\\[\\nr]", lambda match: LETTERS[match[0]], name) if escaped else name
        elif line.startswith(("#", "%", "@")) or not line.strip():
            seeded, escaped = seeded or line == SEEDED, escaped or line == ESCAPED
        else:
            words, mark, rest = line.removesuffix("\r").partition("#SUP:")
            count = COUNT.fullmatch(rest)
            items = tuple(names.get(word, word) for word in words.split(" ") if word)
            if not mark or count is None or not items:
                raise ValueError("a line is not items and their count")
            itemsets.append(ReleasedItemset(rank=len(itemsets) + 1, items=items, count=int(count[1])))
    return Itemsets(itemsets=tuple(itemsets), seeded=seeded)


FORMAT = Format(name="SPMF", ending=".spmf", write=_write, read=_read, needs_counts=True)
