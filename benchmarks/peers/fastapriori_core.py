"""fastapriori (Rust): two columns of codes, given to its compiled core without its frames, which is its best."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Any

import fastapriori._fastapriori_rs as core
import numpy as np

from benchmarks.peers.protocol import Itemsets, Peer, Work, by_name
from benchmarks.peers.reading import Long, read_long


def _load(path: Path) -> tuple[Long, Any, Any]:
    long = read_long(path)
    return long, long.transaction.astype(np.int64), np.ascontiguousarray(long.item)


def _count(data: Any, size: int, floor: int, *, eclat: bool) -> tuple[Any, Any]:
    long, transaction, item = data
    support = (floor - 0.5) / long.transactions
    if size == 2:
        found = core.rust_compute_pairs(transaction, item, len(long.names), support)
        return (found["item_A"], found["item_B"]), found["instances"]
    if eclat:
        found = core.rust_eclat_pipeline(transaction, item, size, len(long.names), support)
    else:
        found = core.rust_compute_pipeline(transaction, item, size, len(long.names), support, np.empty(0), None)
    return tuple(found["itemsets"].T), found["counts"]


def _both_ways(result: Any) -> int:
    members, counts = result
    return len(counts) if len(members) > 2 else int(np.count_nonzero(members[0] < members[1]))


def _itemsets(data: Any, result: Any) -> Itemsets:
    members, counts = result
    return by_name(data[0].names, np.stack(members, axis=1), counts)


def _refuses(work: Work, *, eclat: bool) -> str | None:
    if eclat and work.size == 2:
        return "counts pairs as fastapriori does"
    most = 3_000_000 if work.size > 2 else 50_000_000
    if work.itemsets is not None and work.itemsets > most:
        return f"{work.itemsets:,} itemsets, over a minute (7 million triples: more than 40 s)"
    return None


APRIORI, ECLAT = (
    Peer(
        delivers="arrays of items and counts, of pairs also seven measures"
        if not eclat
        else "arrays of items and counts",
        load=_load,
        count=partial(_count, eclat=eclat),
        number=_both_ways,
        itemsets=_itemsets,
        refuses=partial(_refuses, eclat=eclat),
    )
    for eclat in (False, True)
)
