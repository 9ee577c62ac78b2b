from __future__ import annotations

from collections import Counter
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fim_private.counting import SeveralSizes, count_histogram, count_itemsets, top_itemsets
from fim_private.transactions.item_codes import transactions_from_lists

ITEMS = "abcdef"
baskets = st.lists(st.frozensets(st.sampled_from(ITEMS), min_size=1).map(sorted), max_size=12)
some_sizes = st.sets(st.integers(1, 4), min_size=1).map(sorted)

Ranking = list[tuple[int, tuple[str, ...]]]


def by_hand(lists: list[list[str]], sizes: list[int]) -> Ranking:
    """(count, itemset) of all that occur: by count, then size, then items."""
    counts = Counter(itemset for items in lists for size in sizes for itemset in combinations(items, size))
    return sorted(
        ((count, itemset) for itemset, count in counts.items()), key=lambda line: (-line[0], len(line[1]), line[1])
    )


def as_ranking(counts: SeveralSizes, names: list[str], ranks: list[int]) -> Ranking:
    profile = counts.profile()
    levels = np.repeat(profile.levels, profile.multiplicities).tolist()
    return [
        (levels[rank], tuple(names[code] for code in row if code >= 0))
        for rank, row in zip(ranks, counts.itemsets_at(ranks).tolist(), strict=True)
    ]


@pytest.mark.slow
@given(baskets, some_sizes, st.integers(1, 40))
def test_the_first_of_all_sizes_together_are_those_of_brute_force(
    lists: list[list[str]], sizes: list[int], most: int
) -> None:
    transactions = transactions_from_lists(lists)
    names = transactions.vocabulary.to_list()
    counts = SeveralSizes([top_itemsets(transactions, size, most) for size in sizes], most)
    expected = by_hand(lists, sizes)
    assert len(counts) == min(most, len(expected))
    assert as_ranking(counts, names, list(range(len(counts)))) == expected[:most]
    assert counts.complete is (len(expected) <= most) or len(expected) == most
    assert counts.profile().complete == counts.complete
    assert counts.size == max(sizes)
    assert "hidden" in repr(counts)
    backwards = list(range(len(counts)))[::-2]
    assert as_ranking(counts, names, backwards) == [expected[rank] for rank in backwards]


@pytest.mark.slow
@given(baskets, some_sizes)
def test_all_itemsets_of_all_sizes_are_those_of_brute_force(lists: list[list[str]], sizes: list[int]) -> None:
    """Whether held or only tallied; among equals of one size a tally has an order of its own."""
    transactions = transactions_from_lists(lists)
    names = transactions.vocabulary.to_list()
    expected = by_hand(lists, sizes)
    for count in (count_itemsets, count_histogram):
        counts = SeveralSizes([count(transactions, size) for size in reversed(sizes)])
        assert counts.complete
        assert counts.profile().complete
        ranking = as_ranking(counts, names, list(range(len(counts))))
        assert sorted(ranking) == sorted(expected)
        assert [(number, len(itemset)) for number, itemset in ranking] == [
            (number, len(itemset)) for number, itemset in expected
        ]
        profile = counts.profile(zeros=7)
        assert profile.zeros == 7
        assert dict(zip(profile.levels, profile.multiplicities, strict=True)) == Counter(
            number for number, _ in expected
        )


def test_what_is_cut_off_is_not_complete() -> None:
    transactions = transactions_from_lists([["a", "b", "c"]])
    whole = [count_itemsets(transactions, size) for size in (1, 2)]
    assert [SeveralSizes(whole, most).complete for most in (None, 7, 6, 5)] == [True, True, True, False]
    part = [top_itemsets(transactions, 1, 2), whole[1]]
    assert not SeveralSizes(part, 9).complete
    assert len(SeveralSizes(whole, 5)) == 5
