"""This project: all itemsets unordered, all in order, how many have which count, and the first thousand."""

from __future__ import annotations

from typing import Any

from benchmarks.peers.protocol import Itemsets, Peer, by_name, too_many
from fim_private.counting import count_histogram, count_itemsets, find_itemsets, top_itemsets
from fim_private.transactions.dataset import Transactions
from fim_private.transactions.reading import read_transactions


def _itemsets(transactions: Transactions, found: Any) -> Itemsets:
    return by_name(transactions.vocabulary.to_list(), *found.reveal_to_curator())


FULL = Peer(
    delivers="arrays with every member of every itemset, and counts, in no order",
    load=read_transactions,
    count=lambda transactions, size, floor: find_itemsets(transactions, size, floor).reveal_in_parts_to_curator(),
    number=lambda parts: sum(len(counts) for _, counts in parts),
    itemsets=lambda transactions, parts: {
        itemset: count for part in parts for itemset, count in by_name(transactions.vocabulary.to_list(), *part).items()
    },
)
FIND = Peer(
    delivers="arrays of itemsets and counts, in no order; members that itemsets share stand there once",
    load=read_transactions,
    count=find_itemsets,
    number=len,
    itemsets=_itemsets,
)
ORDERED = Peer(
    delivers="arrays of itemsets and counts, in order of count and then of items",
    load=read_transactions,
    count=count_itemsets,
    number=len,
    itemsets=_itemsets,
    refuses=too_many(200_000_000, "which take over 5 GB to bring into order"),
)
HISTOGRAM = Peer(
    delivers="how many itemsets have which count; no itemsets",
    load=read_transactions,
    count=lambda transactions, size, _floor: count_histogram(transactions, size),
    number=len,
    refuses=lambda work: "counts everything, whatever the floor" if work.floor > 1 else None,
)
TOP = Peer(
    delivers="the 1,000 most frequent itemsets and counts, in order",
    load=read_transactions,
    count=lambda transactions, size, _floor: top_itemsets(transactions, size, 1000),
    number=lambda _found: None,
    refuses=lambda work: "finds the first 1,000, whatever the floor" if work.floor > 1 else None,
)
