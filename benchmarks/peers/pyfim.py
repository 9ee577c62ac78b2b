"""pyfim (C): baskets as tuples of strings; itemsets as a list of tuples, or only how many have which count."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import fim

from benchmarks.peers.protocol import Itemsets, Peer, too_many
from benchmarks.peers.reading import separator_of


def _load(path: Path) -> list[tuple[str, ...]]:
    separator = separator_of(path)
    with path.open(encoding="utf-8") as file:
        return [tuple(line.rstrip("\n").split(separator)) for line in file]


def _itemsets(_baskets: Any, found: Any) -> Itemsets:
    return {tuple(sorted(items)): int(count) for items, count in found}


_MANY = too_many(8_000_000, "each two Python tuples: too much memory")


def _miner(mine: Callable[..., Any]) -> Peer:
    return Peer(
        delivers="a list of (tuple of items, count)",
        load=_load,
        count=lambda baskets, size, floor: mine(baskets, supp=-floor, zmin=size, zmax=size, report="a"),
        number=len,
        itemsets=_itemsets,
        refuses=_MANY,
    )


ECLAT = _miner(fim.eclat)
FPGROWTH = _miner(fim.fpgrowth)
SPECTRUM = Peer(
    delivers="how many itemsets have which count; no itemsets",
    load=_load,
    count=lambda baskets, size, floor: fim.eclat(baskets, supp=-floor, zmin=size, zmax=size, report="="),
    number=lambda found: round(sum(number for _size, _count, number in found)),
    refuses=lambda work: "2 M baskets or more are not held as Python tuples" if work.transactions > 2_000_000 else None,
)
