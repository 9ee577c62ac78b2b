"""Counting as slowly as it can be understood: the oracle of these tests."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from itertools import combinations

Itemset = tuple[int, ...]


def brute_force(baskets: Sequence[set[int]], size: int, floor: int = 1) -> list[tuple[Itemset, int]]:
    """All itemsets with their counts, in order of (count descending, codes ascending)."""
    counts = Counter(itemset for basket in baskets for itemset in combinations(sorted(basket), size))
    kept = [(itemset, count) for itemset, count in counts.items() if count >= floor]
    return sorted(kept, key=lambda line: (-line[1], line[0]))
