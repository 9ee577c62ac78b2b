"""Do all peers find the same itemsets with the same counts? One by one, pairs and triples of every data set.

    python -m benchmarks.agree [--data FOLDER] [DATA SET ...]

At a floor, for the peers that cannot do without. Stops with an error at the first that does not agree.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterator
from pathlib import Path

from benchmarks.data import SOURCES, count_lines, prepare
from benchmarks.peers import OURS, load_peer
from benchmarks.peers.protocol import Itemsets, Work

FLOORS = {"mushroom": 0.2, "groceries": 0.002, "online-retail-sales-baskets": 0.02}
"""Share of the transactions, where not the usual one."""

USUAL = 0.005
CHECKED = (OURS, "fim_private, in order", "pyfim eclat", "pyfim fpgrowth", "rusket fpgrowth", "rusket eclat",
           "fastapriori", "fastapriori eclat", "mlxtend fpgrowth", "scipy", "polars", "DuckDB")  # fmt: skip


def itemsets_of(name: str, path: Path, work: Work) -> Itemsets | str:
    """What a peer finds, or why it does not look."""
    try:
        peer = load_peer(name)
    except ImportError as error:
        return f"not installed ({error.name})"
    reason = peer.refuses(work)
    if reason is not None or peer.itemsets is None:
        return reason or "delivers no itemsets"
    data = peer.load(path)
    found = peer.itemsets(data, peer.count(data, work.size, work.floor))
    peer.close(data)
    return found


def compare(path: Path, work: Work, peers: tuple[str, ...] = CHECKED) -> Iterator[tuple[str, str]]:
    """Each peer with what came of it.

    Errors:
        ValueError: one finds other itemsets, or other counts, than this project.
    """
    ours = itemsets_of(OURS, path, work)
    for name in peers:
        found = itemsets_of(name, path, work)
        if isinstance(found, str):
            yield name, found
        elif found != ours:
            raise ValueError(f"{name} finds other itemsets of size {work.size} in {path.name} than {OURS}.")
        else:
            yield name, f"{len(found):,} itemsets, the same"


def check(names: list[str], folder: Path) -> list[tuple[str, int, int, str, str]]:
    """Data set, size, floor, peer and what came of it, for all peers; raises ValueError as `compare` does."""
    rows = []
    for name in names:
        path = prepare(name, folder)
        transactions = count_lines(path)
        floor = max(2, round(FLOORS.get(name, USUAL) * transactions))
        for size in (2, 3):
            work = Work(size=size, floor=floor, transactions=transactions)
            rows += [(name, size, floor, peer, outcome) for peer, outcome in compare(path, work)]
    return rows


def main() -> None:
    """The command."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", default=list(SOURCES), metavar="DATA SET")
    parser.add_argument("--data", type=Path, default=Path("../shared/data"))
    parser.add_argument("--json", action="store_true", help="print one line of JSON")
    given = parser.parse_args()
    try:
        rows = check(given.names, given.data)
    except ValueError as error:
        sys.exit(str(error))
    if given.json:
        print(json.dumps(rows))
        return
    for name, size, floor, peer, outcome in rows:
        print(f"{name:28} size {size}  count >= {floor:5}  {peer:24} {outcome}")


if __name__ == "__main__":
    main()
