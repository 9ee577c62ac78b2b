from __future__ import annotations

import tracemalloc
from itertools import combinations

import numpy as np
import pytest

from fim_private.mining import likely_itemsets as module
from fim_private.mining.likely_itemsets import joined_itemsets, likely_pairs

RANDOM = np.random.default_rng(5)
TOTAL = 150
"""So few transactions that the rarest pair decides for some itemsets, and the product for others."""


@pytest.mark.parametrize("most", [1, 7, 30, 55, 10_000])
def test_the_likeliest_pairs_are_those_of_brute_force(most: int) -> None:
    counts = np.exp(RANDOM.normal(4, 1.5, 11))
    everything = sorted(combinations(range(11), 2), key=lambda pair: -np.prod(counts[list(pair)]))
    assert [tuple(found) for found in likely_pairs(counts, most).tolist()] == everything[:most]


def test_ties_at_the_end_are_left_out_rather_than_cut_by_chance() -> None:
    assert len(likely_pairs(np.ones(10), 20)) == 0
    assert likely_pairs(np.array([4.0, 4, 2, 2, 2]), 6).tolist() == [[0, 1]]
    assert likely_pairs(np.ones(10), 45).shape == (45, 2)


@pytest.mark.parametrize("items", [0, 1])
def test_too_few_items_make_no_pair(items: int) -> None:
    assert likely_pairs(np.ones(items), 10).shape == (0, 2)


@pytest.mark.parametrize("size", [2, 3, 4])
def test_joined_itemsets_have_all_their_pairs(size: int) -> None:
    items = 9
    item_counts = RANDOM.uniform(50, 100, items)
    every = np.array(list(combinations(range(items), 2)), np.int32)
    pairs = every[RANDOM.permutation(len(every))[:24]]
    pair_counts = RANDOM.uniform(5, 40, len(pairs))
    given = {tuple(pair): count for pair, count in zip(pairs.tolist(), pair_counts.tolist(), strict=True)}

    def predicted(itemset: tuple[int, ...]) -> float:
        shares = [given[pair] / TOTAL for pair in combinations(itemset, 2)]
        share = float(np.prod(shares)) / float(np.prod(item_counts[list(itemset)] / TOTAL)) ** (size - 2)
        return TOTAL * min(share, *shares)

    joined = [
        itemset
        for itemset in combinations(range(items), size)
        if all(pair in given for pair in combinations(itemset, 2))
    ]
    expected = sorted(joined, key=lambda itemset: -predicted(itemset))
    found, logs = joined_itemsets(pairs, pair_counts, item_counts, size, 10_000, total=TOTAL)
    assert np.exp(logs) == pytest.approx([predicted(itemset) for itemset in expected])
    assert sorted(map(tuple, found.tolist())) == sorted(expected)
    assert np.exp(logs) == pytest.approx([predicted(tuple(itemset)) for itemset in found.tolist()])
    few, _ = joined_itemsets(pairs, pair_counts, item_counts, size, 3, total=TOTAL)
    assert few.tolist() == found[:3].tolist()


def test_no_pairs_make_no_triples() -> None:
    assert joined_itemsets(np.empty((0, 2), np.int32), np.empty(0), np.ones(4), 3, 10, total=9)[0].shape == (0, 3)


def test_itemsets_that_are_not_kept_take_no_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    """Half a million triples of pairs, of which ten are kept, in one block or in many."""
    items = 150
    pairs = np.array(list(combinations(range(items), 2)), np.int32)
    given = pairs, RANDOM.uniform(5, 40, len(pairs)), RANDOM.uniform(50, 100, items)
    whole = joined_itemsets(*given, 3, 10, total=TOTAL)
    monkeypatch.setattr(module, "_BLOCK", 2**14)
    monkeypatch.setattr(module, "ON_THE_WAY", 10)
    tracemalloc.start()
    found, logs = joined_itemsets(*given, 3, 10, total=TOTAL)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert found.tolist() == whole[0].tolist()
    assert logs.tolist() == whole[1].tolist()
    assert peak < 8_000_000
