"""polars: a self-join of a frame of two columns for each further member, grouped, with the streaming engine."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import polars as pl

from benchmarks.peers.protocol import Itemsets, Peer, Work, by_name
from benchmarks.peers.reading import read_long


def _load(path: Path) -> tuple[pl.DataFrame, list[str]]:
    long = read_long(path)
    return pl.DataFrame({"transaction": long.transaction, "item_1": long.item}), long.names


def _count(data: Any, size: int, floor: int) -> pl.DataFrame:
    frame = data[0].lazy()
    if floor > 1:
        items = frame.group_by("item_1").agg(pl.len().alias("count")).filter(pl.col("count") >= floor)
        frame = frame.join(items.select("item_1"), on="item_1", how="semi")
    joined = frame
    for member in range(2, size + 1):
        other = frame.rename({"item_1": f"item_{member}"})
        joined = joined.join(other, on="transaction").filter(pl.col(f"item_{member - 1}") < pl.col(f"item_{member}"))
    counted = joined.group_by(*(f"item_{member}" for member in range(1, size + 1))).agg(pl.len().alias("count"))
    found: pl.DataFrame = counted.filter(pl.col("count") >= floor).collect(engine="streaming")
    return found


def _itemsets(data: Any, found: pl.DataFrame) -> Itemsets:
    return by_name(data[1], found.drop("count").to_numpy(), found["count"].to_numpy())


def refuses_joins(work: Work) -> str | None:
    """What nobody would do with joins."""
    if work.size > 3:
        return "a join for each member: not for sizes above 3"
    if work.transactions > 2_000_000:
        return "ten times the work of a million transactions, and more memory than there is"
    return None


JOIN = Peer(
    delivers="a frame of items and counts",
    load=_load,
    count=_count,
    number=len,
    itemsets=_itemsets,
    refuses=refuses_joins,
)
