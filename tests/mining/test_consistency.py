from __future__ import annotations

from itertools import combinations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from fim_private.mining.consistency import consistent_counts

itemset = st.frozensets(st.integers(0, 5), min_size=1, max_size=4).map(lambda items: tuple(sorted(items)))
released = st.dictionaries(itemset, st.integers(-50, 300), max_size=20)


def made_consistent(counts: dict[tuple[int, ...], int]) -> dict[tuple[int, ...], int]:
    noisy = np.array(list(counts.values()), np.int64)
    return dict(zip(counts, consistent_counts(list(counts), noisy).tolist(), strict=True))


@given(released)
def test_nothing_is_more_frequent_than_what_it_contains(counts: dict[tuple[int, ...], int]) -> None:
    consistent = made_consistent(counts)
    assert all(isinstance(count, int) and count >= 0 for count in consistent.values())
    for one, other in combinations(consistent, 2):
        if set(one) < set(other):
            assert consistent[one] >= consistent[other]
        if set(other) < set(one):
            assert consistent[other] >= consistent[one]


@given(released)
def test_it_is_the_average_of_the_two_bounds(counts: dict[tuple[int, ...], int]) -> None:
    for itemset, count in made_consistent(counts).items():
        largest = max(noisy for other, noisy in counts.items() if set(other) >= set(itemset))
        smallest = min(noisy for other, noisy in counts.items() if set(other) <= set(itemset))
        assert count == max(0, round((largest + smallest) / 2))


@given(released)
def test_what_is_consistent_stays(counts: dict[tuple[int, ...], int]) -> None:
    once = made_consistent(counts)
    assert made_consistent(once) == once


@given(st.lists(st.integers(-50, 300), max_size=10))
def test_itemsets_of_one_size_are_cut_off_at_zero_and_left_alone(noisy: list[int]) -> None:
    counts = dict(zip(combinations(range(5), 2), noisy, strict=False))
    assert list(made_consistent(counts).values()) == [max(0, count) for count in counts.values()]
