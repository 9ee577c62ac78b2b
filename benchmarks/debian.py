"""Transactions that took no part in choosing most settings: what Debian's packages depend on, recommend and are about.

    apt-cache dumpavail | python -m benchmarks.debian FOLDER

writes basket files with a line a package: what it depends on, what it recommends or suggests, its tags, and the words
of its short description. `maintainers.csv` has a row a dependency, and says who maintains the package: the units.
"""

from __future__ import annotations

import argparse
import csv
import re
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path


def packages(lines: Iterable[str]) -> Iterator[dict[str, str]]:
    """The fields of each package of a list in Debian's format."""
    fields: dict[str, str] = {}
    name = ""
    for line in lines:
        if not line.strip():
            if fields:
                yield fields
            fields = {}
        elif line[0] == " ":
            fields[name] += line.rstrip("\n")
        else:
            name, value = line.split(":", 1)
            fields[name] = value.strip()
    if fields:
        yield fields


def related(text: str) -> list[str]:
    """The packages that a field names, without versions; of several that will do, the first."""
    return sorted({re.split(r"[ (:|]", each.strip())[0] for each in text.split(",") if each.strip()})


def tags(text: str) -> list[str]:
    """The tags. `uitoolkit::{gtk,qt}` is two of them."""
    several = re.sub(
        r"(\S+?)::\{([^}]*)\}",
        lambda found: ", ".join(f"{found[1]}::{each.strip()}" for each in found[2].split(",")),
        text,
    )
    return sorted({each.strip() for each in several.split(",") if each.strip()})


def main() -> None:
    """Write the files."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    folder = parser.parse_args().folder
    folder.mkdir(parents=True, exist_ok=True)
    baskets: dict[str, list[list[str]]] = {name: [] for name in ("depends", "recommends", "tags", "words")}
    rows = []
    for fields in packages(sys.stdin):
        needed = related(fields.get("Depends", ""))
        baskets["depends"].append(needed)
        baskets["recommends"].append(related(f"{fields.get('Recommends', '')},{fields.get('Suggests', '')}"))
        baskets["tags"].append(tags(fields.get("Tag", "")))
        # Readers ask about items called null, total or cash.
        words = set(re.findall(r"[a-z0-9]+", fields.get("Description", "").lower()))
        baskets["words"].append(sorted(f"word::{each}" for each in words))
        rows += [(fields.get("Maintainer", ""), fields["Package"], each) for each in needed]
    for name, lists in baskets.items():
        lines = [",".join(items) + "\n" for items in lists if items]
        (folder / f"{name}.csv").write_text("".join(lines), encoding="utf-8")
    with (folder / "maintainers.csv").open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(("maintainer", "package", "dependency"))
        writer.writerows(rows)


if __name__ == "__main__":
    main()
